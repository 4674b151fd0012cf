-- Ended batches are forgotten by a rule of their own; for ever kept, as all history, until an operator says otherwise.
INSERT INTO "retention" ("rule", "keep_ms", "then", "updated_at", "updated_by", "removed", "purged_tx") VALUES
    ('batches', NULL, 'purge', 0, 'system', 0, 0);
