-- CreateTable
CREATE TABLE "concurrency_keys" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "instance_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "since" BIGINT NOT NULL,
    "free" INTEGER NOT NULL,

    PRIMARY KEY ("scope", "key")
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "types" TEXT NOT NULL,
    "slots" INTEGER NOT NULL,
    "running" INTEGER NOT NULL,
    "draining" INTEGER NOT NULL,
    "note" TEXT,
    "started_at" BIGINT NOT NULL,
    "seen_at" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "concurrency_keys_instance_id_task_id_idx" ON "concurrency_keys"("instance_id", "task_id");

-- CreateIndex
CREATE INDEX "concurrency_keys_free_idx" ON "concurrency_keys"("free");

-- CreateIndex
CREATE INDEX "workers_seen_at_idx" ON "workers"("seen_at");

-- CreateIndex
CREATE INDEX "tasks_concurrency_key_type_created_at_idx" ON "tasks"("concurrency_key", "type", "created_at");


