-- Looked up are a state's instances, and one pair of both: never an instance's states. One index is enough.
DROP INDEX "instance_states_state_instance_id_idx";
ALTER TABLE "instance_states" DROP CONSTRAINT "instance_states_pkey";
ALTER TABLE "instance_states" ADD CONSTRAINT "instance_states_pkey" PRIMARY KEY ("state", "instance_id");
