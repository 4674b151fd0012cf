-- How long what is over is kept, and how far the walk of each rule has come.
CREATE TABLE "retention" (
    "rule" TEXT NOT NULL PRIMARY KEY,
    "keep_ms" BIGINT,
    "then" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "updated_by" TEXT NOT NULL,
    "cursor" TEXT,
    "walk_began" BIGINT,
    "walk_ended" BIGINT,
    "removed" BIGINT NOT NULL,
    "purged_tx" BIGINT NOT NULL
);
INSERT INTO "retention" ("rule", "keep_ms", "then", "updated_at", "updated_by", "removed", "purged_tx") VALUES
    ('answers', 604800000, 'purge', 0, 'system', 0, 0),
    ('lock-answers', 604800000, 'purge', 0, 'system', 0, 0),
    ('completed', NULL, 'archive', 0, 'system', 0, 0),
    ('failed', NULL, 'archive', 0, 'system', 0, 0),
    ('cancelled', NULL, 'archive', 0, 'system', 0, 0),
    ('terminated', NULL, 'archive', 0, 'system', 0, 0),
    ('deleted', NULL, 'purge', 0, 'system', 0, 0),
    ('tombstones', NULL, 'purge', 0, 'system', 0, 0),
    ('event-log', NULL, 'purge', 0, 'system', 0, 0),
    ('lock-log', NULL, 'purge', 0, 'system', 0, 0),
    ('tasks', NULL, 'purge', 0, 'system', 0, 0),
    ('dead-letters', NULL, 'purge', 0, 'system', 0, 0),
    ('audit', NULL, 'purge', 0, 'system', 0, 0);
-- Logs of deleted instances, to be purged.
CREATE TABLE "doomed_logs" (
    "instance_id" TEXT NOT NULL,
    "up_to_seq" BIGINT NOT NULL,
    "deleted_at" BIGINT NOT NULL,
    "at_once" INTEGER NOT NULL,

    PRIMARY KEY ("instance_id", "up_to_seq")
);
CREATE INDEX "doomed_logs_at_once_deleted_at_idx" ON "doomed_logs"("at_once", "deleted_at");
INSERT INTO "doomed_logs" SELECT "id", "seq", "deleted_at", 0 FROM "instances" WHERE "deleted_at" IS NOT NULL;
