-- Instances that entered and left each state in each minute, and how many were in it at the minute's end.
CREATE TABLE "fleet_deltas" (
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "minute" BIGINT NOT NULL,
    "entered" INTEGER NOT NULL,
    "left" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,

    PRIMARY KEY ("chart_id", "version", "state", "minute")
);
-- The newest totals; every state that was ever entered.
CREATE TABLE "fleet_totals" (
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "total" INTEGER NOT NULL,

    PRIMARY KEY ("chart_id", "version", "state")
);
-- Where in the feed of changes the entries of a minute lie.
CREATE TABLE "fleet_minutes" (
    "minute" BIGINT NOT NULL PRIMARY KEY,
    "from_tx" BIGINT NOT NULL,
    "to_tx" BIGINT NOT NULL
);
-- One row: the entries of transactions before it are counted.
CREATE TABLE "fleet_fold" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "tx" BIGINT NOT NULL,
    "at" BIGINT NOT NULL
);
INSERT INTO "fleet_fold" ("id", "tx", "at") VALUES (1, 0, 0);
