-- Instances that entered and left each state in each minute, and how many were in it at the minute's end.
CREATE TABLE "fleet_deltas" (
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "minute" BIGINT NOT NULL,
    "entered" INTEGER NOT NULL,
    "left" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,

    CONSTRAINT "fleet_deltas_pkey" PRIMARY KEY ("chart_id", "version", "state", "minute")
);
-- The newest totals; every state that was ever entered.
CREATE TABLE "fleet_totals" (
    "chart_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "total" INTEGER NOT NULL,

    CONSTRAINT "fleet_totals_pkey" PRIMARY KEY ("chart_id", "version", "state")
);
-- Where in the feed of changes the entries of a minute lie.
CREATE TABLE "fleet_minutes" (
    "minute" BIGINT NOT NULL,
    "from_tx" BIGINT NOT NULL,
    "to_tx" BIGINT NOT NULL,

    CONSTRAINT "fleet_minutes_pkey" PRIMARY KEY ("minute")
);
-- One row: the entries of transactions before it are counted.
CREATE TABLE "fleet_fold" (
    "id" INTEGER NOT NULL,
    "tx" BIGINT NOT NULL,
    "at" BIGINT NOT NULL,

    CONSTRAINT "fleet_fold_pkey" PRIMARY KEY ("id")
);
INSERT INTO "fleet_fold" ("id", "tx", "at") VALUES (1, 0, 0);
