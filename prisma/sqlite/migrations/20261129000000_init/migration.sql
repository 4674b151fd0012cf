-- CreateTable
CREATE TABLE "clock" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "tx" BIGINT NOT NULL,
    "tx_base" BIGINT NOT NULL,
    "high_water_ms" BIGINT NOT NULL,
    "offset_ms" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "charts" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "draft_text" TEXT NOT NULL,
    "draft_layout" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "saved_at" BIGINT NOT NULL,
    "saved_by" TEXT NOT NULL,
    "version" INTEGER,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "updated_by" TEXT NOT NULL,
    "change_tx" BIGINT NOT NULL,
    "change_n" INTEGER NOT NULL
);

-- CreateTable
CREATE TABLE "chart_versions" (
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "layout" TEXT NOT NULL,
    "note" TEXT,
    "published_at" BIGINT NOT NULL,
    "published_by" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,

    PRIMARY KEY ("chart_id", "version")
);

-- CreateTable
CREATE TABLE "instances" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "incarnation" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "semantics" INTEGER NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" BIGINT NOT NULL,
    "priority" INTEGER NOT NULL,
    "rank" BIGINT NOT NULL,
    "business_key" TEXT,
    "partition" INTEGER NOT NULL,
    "configuration" TEXT NOT NULL,
    "snapshot" TEXT NOT NULL,
    "state_hash" TEXT NOT NULL,
    "snapshot_seq" BIGINT NOT NULL,
    "log_bytes" INTEGER NOT NULL,
    "last_event" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "ended_at" BIGINT,
    "deleted_at" BIGINT
);

-- CreateTable
CREATE TABLE "instance_labels" (
    "instance_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    PRIMARY KEY ("instance_id", "key")
);

-- CreateTable
CREATE TABLE "instance_states" (
    "instance_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,

    PRIMARY KEY ("instance_id", "state")
);

-- CreateTable
CREATE TABLE "event_log" (
    "instance_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "incarnation" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "at" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "cause" TEXT,
    "message_id" TEXT,
    "dedupe_key" TEXT,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,
    "status" TEXT NOT NULL,
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "semantics" INTEGER NOT NULL,
    "exited" TEXT NOT NULL,
    "entered" TEXT NOT NULL,
    "patch" TEXT NOT NULL,
    "state_hash" TEXT NOT NULL,
    "trace" TEXT NOT NULL,
    "logs" TEXT NOT NULL,
    "error_code" TEXT,
    "error_message" TEXT,
    "change_tx" BIGINT NOT NULL,
    "change_n" INTEGER NOT NULL,

    PRIMARY KEY ("instance_id", "seq")
);

-- CreateTable
CREATE TABLE "snapshots" (
    "instance_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "incarnation" INTEGER NOT NULL,
    "at" BIGINT NOT NULL,
    "version" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    PRIMARY KEY ("instance_id", "seq")
);

-- CreateTable
CREATE TABLE "mailbox" (
    "instance_id" TEXT NOT NULL,
    "enqueued_tx" BIGINT NOT NULL,
    "enqueued_n" INTEGER NOT NULL,
    "incarnation" INTEGER NOT NULL,
    "message_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "cause" TEXT,
    "enqueued_at" BIGINT NOT NULL,
    "dedupe_scope" TEXT,
    "dedupe_key" TEXT,
    "expected_seq" BIGINT,
    "fences" TEXT,

    PRIMARY KEY ("instance_id", "enqueued_tx", "enqueued_n")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "instance_id" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "incarnation" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "cause" TEXT,
    "enqueued_at" BIGINT NOT NULL,
    "at" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,

    PRIMARY KEY ("instance_id", "message_id")
);

-- CreateTable
CREATE TABLE "dedupe_results" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "message_id" TEXT,
    "result" TEXT,
    "at" BIGINT NOT NULL,

    PRIMARY KEY ("scope", "key")
);

-- CreateTable
CREATE TABLE "timers" (
    "instance_id" TEXT NOT NULL,
    "timer_id" TEXT NOT NULL,
    "incarnation" INTEGER NOT NULL,
    "due_at" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT,
    "label" TEXT NOT NULL,

    PRIMARY KEY ("instance_id", "timer_id")
);

-- CreateTable
CREATE TABLE "locks" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "fence" BIGINT NOT NULL,
    "holder" TEXT,
    "session" TEXT,
    "acquired_at" BIGINT,
    "renewed_at" BIGINT,
    "expires_at" BIGINT,
    "ttl_ms" INTEGER,
    "expired" INTEGER NOT NULL,
    "log_seq" BIGINT NOT NULL,
    "next_ticket" BIGINT NOT NULL,
    "rejected_writes" INTEGER NOT NULL
);

-- CreateTable
CREATE TABLE "lock_log" (
    "key" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "at" BIGINT NOT NULL,
    "fence" BIGINT NOT NULL,
    "holder" TEXT,
    "session" TEXT,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "details" TEXT NOT NULL,
    "change_tx" BIGINT NOT NULL,
    "change_n" INTEGER NOT NULL,

    PRIMARY KEY ("key", "seq")
);

-- CreateTable
CREATE TABLE "lock_commands" (
    "key" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "idem" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "result" TEXT NOT NULL,
    "at" BIGINT NOT NULL,

    PRIMARY KEY ("key", "scope", "idem")
);

-- CreateTable
CREATE TABLE "lock_waiters" (
    "key" TEXT NOT NULL,
    "ticket" BIGINT NOT NULL,
    "session" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "ttl_ms" INTEGER NOT NULL,
    "since" BIGINT NOT NULL,
    "gives_up_at" BIGINT NOT NULL,
    "heartbeat_at" BIGINT NOT NULL,

    PRIMARY KEY ("key", "ticket")
);

-- CreateTable
CREATE TABLE "audit" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "at" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "details" TEXT NOT NULL
);

-- CreateIndex
CREATE INDEX "charts_change_tx_change_n_idx" ON "charts"("change_tx", "change_n");

-- CreateIndex
CREATE INDEX "instances_created_at_id_idx" ON "instances"("created_at", "id");

-- CreateIndex
CREATE INDEX "instances_chart_id_status_created_at_id_idx" ON "instances"("chart_id", "status", "created_at", "id");

-- CreateIndex
CREATE INDEX "instances_status_created_at_id_idx" ON "instances"("status", "created_at", "id");

-- CreateIndex
CREATE INDEX "instances_business_key_idx" ON "instances"("business_key");

-- CreateIndex
CREATE INDEX "instance_labels_key_value_instance_id_idx" ON "instance_labels"("key", "value", "instance_id");

-- CreateIndex
CREATE INDEX "instance_states_state_instance_id_idx" ON "instance_states"("state", "instance_id");

-- CreateIndex
CREATE INDEX "event_log_instance_id_message_id_idx" ON "event_log"("instance_id", "message_id");

-- CreateIndex
CREATE INDEX "event_log_change_tx_change_n_idx" ON "event_log"("change_tx", "change_n");

-- CreateIndex
CREATE INDEX "mailbox_instance_id_message_id_idx" ON "mailbox"("instance_id", "message_id");

-- CreateIndex
CREATE INDEX "timers_due_at_idx" ON "timers"("due_at");

-- CreateIndex
CREATE INDEX "locks_expires_at_idx" ON "locks"("expires_at");

-- CreateIndex
CREATE INDEX "locks_session_idx" ON "locks"("session");

-- CreateIndex
CREATE INDEX "locks_holder_idx" ON "locks"("holder");

-- CreateIndex
CREATE INDEX "lock_log_change_tx_change_n_idx" ON "lock_log"("change_tx", "change_n");

-- CreateIndex
CREATE INDEX "lock_waiters_session_idx" ON "lock_waiters"("session");

-- CreateIndex
CREATE INDEX "lock_waiters_gives_up_at_idx" ON "lock_waiters"("gives_up_at");

-- CreateIndex
CREATE UNIQUE INDEX "lock_waiters_key_session_key" ON "lock_waiters"("key", "session");

-- CreateIndex
CREATE INDEX "audit_at_id_idx" ON "audit"("at", "id");

-- CreateIndex
CREATE INDEX "audit_target_at_idx" ON "audit"("target", "at");


-- The one row of the clock.
INSERT INTO "clock" ("id", "tx", "tx_base", "high_water_ms", "offset_ms") VALUES (1, 0, 0, 0, 0);
