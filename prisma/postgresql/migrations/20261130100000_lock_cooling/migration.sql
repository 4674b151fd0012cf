-- AlterTable
ALTER TABLE "locks" ADD COLUMN     "cool_ms" INTEGER,
ADD COLUMN     "cool_session" TEXT,
ADD COLUMN     "cool_until" BIGINT,
ADD COLUMN     "hold_until" BIGINT;

-- AlterTable
ALTER TABLE "lock_waiters" ADD COLUMN     "cool_ms" INTEGER,
ADD COLUMN     "hold_max_ms" INTEGER;

-- CreateIndex
CREATE INDEX "locks_cool_until_idx" ON "locks"("cool_until");
