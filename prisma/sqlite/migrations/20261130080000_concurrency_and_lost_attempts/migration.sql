-- AlterTable
ALTER TABLE "instances" ADD COLUMN "concurrency_key" TEXT;

-- AlterTable
ALTER TABLE "tasks" ADD COLUMN "lost" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "concurrency_waits" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "since" BIGINT NOT NULL,
    "instance_id" TEXT NOT NULL,
    "then" TEXT NOT NULL,

    PRIMARY KEY ("scope", "key", "since", "instance_id")
);

-- CreateIndex
CREATE INDEX "concurrency_waits_instance_id_idx" ON "concurrency_waits"("instance_id");
