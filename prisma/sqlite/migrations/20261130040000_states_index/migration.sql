-- Looked up are a state's instances, and one pair of both: never an instance's states. One tree is enough.
CREATE TABLE "new_instance_states" (
    "instance_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,

    PRIMARY KEY ("state", "instance_id")
) WITHOUT ROWID;
INSERT INTO "new_instance_states" ("instance_id", "state") SELECT "instance_id", "state" FROM "instance_states";
DROP TABLE "instance_states";
ALTER TABLE "new_instance_states" RENAME TO "instance_states";
