-- What waits for an instance that takes nothing now is out of the way of those who look for work.
ALTER TABLE "mailbox" ADD COLUMN "rank" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "mailbox" ADD COLUMN "parked" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "timers" ADD COLUMN "parked" INTEGER NOT NULL DEFAULT 0;
DROP INDEX "timers_due_at_idx";
CREATE INDEX "timers_parked_due_at_idx" ON "timers"("parked", "due_at");
CREATE INDEX "mailbox_parked_rank_idx" ON "mailbox"("parked", "rank");
CREATE INDEX "mailbox_parked_instance_id_idx" ON "mailbox"("parked", "instance_id");
-- Message ids grow with time: an index that begins with them is written at its end.
DROP INDEX "event_log_instance_id_message_id_idx";
CREATE INDEX "event_log_message_id_idx" ON "event_log"("message_id");
-- Room for the next version of a row on its own page: an update that changes no indexed column then touches no index.
ALTER TABLE "instances" SET (fillfactor = 70);
