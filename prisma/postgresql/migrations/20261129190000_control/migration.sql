-- An instance session: while it is open, only its own messages are applied.
ALTER TABLE "instances" ADD COLUMN "session" TEXT;
-- A dead letter that was sent again.
ALTER TABLE "dead_letters" ADD COLUMN "retried_as" TEXT;
CREATE INDEX "dead_letters_at_idx" ON "dead_letters"("at");
