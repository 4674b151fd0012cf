-- Whose invocation an instance is.
ALTER TABLE "instances" ADD COLUMN "parent" TEXT;
-- The instances that an invocation asks for.
CREATE TABLE "children" (
    "parent_id" TEXT NOT NULL,
    "parent_incarnation" INTEGER NOT NULL,
    "parent_task" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "child_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "result" TEXT,
    "error" TEXT,

    CONSTRAINT "children_pkey" PRIMARY KEY ("parent_id","parent_incarnation","parent_task","place")
);
CREATE INDEX "children_status_idx" ON "children"("status");
