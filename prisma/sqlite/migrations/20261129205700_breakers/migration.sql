-- What a worker says of its breakers and its share, and what operators ask of it.
ALTER TABLE "workers" ADD COLUMN "breakers" TEXT NOT NULL DEFAULT '[]';
ALTER TABLE "workers" ADD COLUMN "partitions" TEXT;
ALTER TABLE "workers" ADD COLUMN "drain_asked" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "workers" ADD COLUMN "resets" TEXT NOT NULL DEFAULT '[]';
