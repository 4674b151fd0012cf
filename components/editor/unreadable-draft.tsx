"use client";
/**
 * A draft whose text is no chart (left so by another tool): shown as code until it can be drawn.
 */
import { useState } from "react";
import type { Chart } from "@/lib/statechart/document";
import { Button } from "@/components/ui/button";
import { PageHeader } from "@/components/ui/page-header";
import { ErrorPanel } from "@/components/ui/states";
import { CodeField } from "./code-field";
import { readDraft } from "./read-draft";

export function UnreadableDraft({
  chartId,
  text,
  onMended,
}: {
  chartId: string;
  text: string;
  onMended: (chart: Chart) => void;
}) {
  const [edited, setEdited] = useState(text);
  const { chart, diagnostics } = readDraft(edited);
  const [first] = diagnostics;
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-testid="unreadable-draft">
      <PageHeader
        crumbs={[{ label: "Charts", href: "/charts" }]}
        title={chartId}
        actions={
          <Button variant="ink" disabled={chart === null} onClick={() => chart && onMended(chart)}>
            Draw it
          </Button>
        }
      />
      {chart === null ? (
        <ErrorPanel className="m-3" title="This draft can't be drawn yet">
          {first?.at.line === undefined ? "" : `Line ${first.at.line}, column ${first.at.column ?? 1}: `}
          {first?.message ?? "The text is no lockstep/1 chart."}
        </ErrorPanel>
      ) : null}
      <div className="min-h-0 flex-1">
        <CodeField
          value={edited}
          onChange={setEdited}
          language="json"
          label="The draft as JSON"
          bare
          height="100%"
        />
      </div>
    </div>
  );
}
