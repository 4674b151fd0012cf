-- CreateIndex
CREATE INDEX "instances_chart_id_created_at_id_idx" ON "instances"("chart_id", "created_at", "id");
