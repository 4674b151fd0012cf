-- AlterTable
ALTER TABLE "workers" ADD COLUMN "lost_at" BIGINT;
ALTER TABLE "workers" ADD COLUMN "stepping" TEXT;

-- CreateTable
CREATE TABLE "suspects" (
    "instance_id" TEXT NOT NULL PRIMARY KEY,
    "item" TEXT NOT NULL,
    "deaths" INTEGER NOT NULL,
    "at" BIGINT NOT NULL
);
