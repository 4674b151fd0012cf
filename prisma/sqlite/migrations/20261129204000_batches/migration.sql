-- CreateTable
CREATE TABLE "batches" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "verb" TEXT NOT NULL,
    "args" TEXT NOT NULL,
    "selection" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "rate_per_second" INTEGER,
    "total" INTEGER NOT NULL,
    "ok" INTEGER NOT NULL,
    "refused" INTEGER NOT NULL,
    "skipped" INTEGER NOT NULL,
    "cursor" TEXT,
    "next_at" BIGINT,
    "token" TEXT,
    "created_at" BIGINT NOT NULL,
    "created_by" TEXT NOT NULL,
    "ended_at" BIGINT
);

-- CreateTable
CREATE TABLE "batch_items" (
    "batch_id" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "instance_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "code" TEXT,
    "message" TEXT,
    "at" BIGINT,

    PRIMARY KEY ("batch_id", "place")
);

-- CreateIndex
CREATE INDEX "batches_next_at_idx" ON "batches"("next_at");

-- CreateIndex
CREATE INDEX "batches_created_at_id_idx" ON "batches"("created_at", "id");

-- CreateIndex
CREATE INDEX "batch_items_batch_id_status_place_idx" ON "batch_items"("batch_id", "status", "place");
