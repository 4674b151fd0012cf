-- CreateTable
CREATE TABLE "tasks" (
    "instance_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "incarnation" INTEGER NOT NULL,
    "invoke_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "queue" TEXT,
    "input" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "rank" BIGINT NOT NULL,
    "ready_at" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "attempts_max" INTEGER NOT NULL,
    "fence" INTEGER NOT NULL,
    "retry" TEXT NOT NULL,
    "timeout_ms" BIGINT,
    "attempt_until" BIGINT,
    "overall_until" BIGINT,
    "due_at" BIGINT,
    "worker" TEXT,
    "token" TEXT,
    "lease_until" BIGINT,
    "progress" TEXT,
    "concurrency_key" TEXT,
    "compensate" TEXT,
    "result" TEXT,
    "error" TEXT,
    "created_at" BIGINT NOT NULL,
    "started_at" BIGINT,
    "updated_at" BIGINT NOT NULL,
    "ended_at" BIGINT,

    PRIMARY KEY ("instance_id", "task_id")
);

-- CreateIndex
CREATE INDEX "tasks_queue_rank_idx" ON "tasks"("queue", "rank");

-- CreateIndex
CREATE INDEX "tasks_queue_ready_at_idx" ON "tasks"("queue", "ready_at");

-- CreateIndex
CREATE INDEX "tasks_due_at_idx" ON "tasks"("due_at");

-- CreateIndex
CREATE UNIQUE INDEX "tasks_token_key" ON "tasks"("token");


