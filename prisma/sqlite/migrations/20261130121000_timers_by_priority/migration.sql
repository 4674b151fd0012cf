-- Due timers are found priority by priority, as messages are by their rank.
ALTER TABLE "timers" ADD COLUMN "priority" INTEGER NOT NULL DEFAULT 0;
UPDATE "timers" SET "priority" = (SELECT i."priority" FROM "instances" AS i WHERE i."id" = "timers"."instance_id") WHERE "instance_id" IN (SELECT "id" FROM "instances" WHERE "priority" > 0);
DROP INDEX "timers_parked_due_at_idx";
CREATE INDEX "timers_parked_priority_due_at_idx" ON "timers"("parked", "priority", "due_at");
