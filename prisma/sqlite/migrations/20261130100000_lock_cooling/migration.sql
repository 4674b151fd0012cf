-- AlterTable
ALTER TABLE "locks" ADD COLUMN "cool_ms" INTEGER;
ALTER TABLE "locks" ADD COLUMN "cool_session" TEXT;
ALTER TABLE "locks" ADD COLUMN "cool_until" BIGINT;
ALTER TABLE "locks" ADD COLUMN "hold_until" BIGINT;

-- AlterTable
ALTER TABLE "lock_waiters" ADD COLUMN "cool_ms" INTEGER;
ALTER TABLE "lock_waiters" ADD COLUMN "hold_max_ms" INTEGER;

-- CreateIndex
CREATE INDEX "locks_cool_until_idx" ON "locks"("cool_until");
