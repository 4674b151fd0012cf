-- CreateTable
CREATE TABLE "schedules" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "revision" INTEGER NOT NULL,
    "cron" TEXT NOT NULL,
    "time_zone" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "chart_id" TEXT,
    "misfire" TEXT NOT NULL,
    "misfire_max" INTEGER NOT NULL,
    "paused" INTEGER NOT NULL,
    "next_at" BIGINT,
    "ticks" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "created_by" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "updated_by" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "schedule_ticks" (
    "schedule_id" TEXT NOT NULL,
    "tick" TEXT NOT NULL,
    "n" BIGINT NOT NULL,
    "due_at" BIGINT NOT NULL,
    "at" BIGINT NOT NULL,
    "outcome" TEXT NOT NULL,
    "missed" INTEGER NOT NULL,
    "actor" TEXT NOT NULL,
    "instance_id" TEXT,
    "message_id" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,

    PRIMARY KEY ("schedule_id", "tick")
);

-- CreateIndex
CREATE INDEX "schedules_next_at_idx" ON "schedules"("next_at");

-- CreateIndex
CREATE INDEX "schedules_chart_id_id_idx" ON "schedules"("chart_id", "id");

-- CreateIndex
CREATE INDEX "schedule_ticks_schedule_id_n_idx" ON "schedule_ticks"("schedule_id", "n");
