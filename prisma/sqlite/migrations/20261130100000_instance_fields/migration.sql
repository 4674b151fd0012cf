-- CreateTable
CREATE TABLE "instance_fields" (
    "instance_id" TEXT NOT NULL,
    "field" TEXT NOT NULL,
    "chart_id" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    PRIMARY KEY ("instance_id", "field")
);

-- CreateIndex
CREATE INDEX "instance_fields_chart_id_field_value_instance_id_idx" ON "instance_fields"("chart_id", "field", "value", "instance_id");
