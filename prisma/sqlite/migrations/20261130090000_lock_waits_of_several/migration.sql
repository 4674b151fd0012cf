-- AlterTable
ALTER TABLE "lock_waiters" ADD COLUMN "keys" TEXT;
