-- AlterTable
ALTER TABLE "tasks" ADD COLUMN "condition" TEXT;

-- CreateIndex
CREATE INDEX "tasks_condition_instance_id_idx" ON "tasks"("condition", "instance_id");

-- Those that are under way have one.
UPDATE "tasks" SET "condition" = CASE "kind" WHEN 'human' THEN 'human' WHEN 'lock' THEN 'lock' WHEN 'chart' THEN 'child' WHEN 'each' THEN 'child' ELSE 'task' END WHERE "status" IN ('pending', 'running');
