-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "lost_at" BIGINT,
ADD COLUMN     "stepping" TEXT;

-- CreateTable
CREATE TABLE "suspects" (
    "instance_id" TEXT NOT NULL,
    "item" TEXT NOT NULL,
    "deaths" INTEGER NOT NULL,
    "at" BIGINT NOT NULL,

    CONSTRAINT "suspects_pkey" PRIMARY KEY ("instance_id")
);
