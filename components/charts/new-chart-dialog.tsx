"use client";
/**
 * A new chart by name: one empty state, so that there is something to draw from.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";
import { id as idSchema } from "@/lib/contract/common";
import type { Chart } from "@/lib/statechart/document";

export function NewChartDialog({
  taken,
  onClose,
  onCreated,
}: {
  /** Names that exist, as far as the page knows; the server has the last word. */
  taken: ReadonlySet<string>;
  onClose: () => void;
  onCreated: (chartId: string) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const id = name.trim();
  const parsed = idSchema.safeParse(id);
  const problem =
    id === ""
      ? null
      : taken.has(id)
        ? `There is a chart ${id} already. Choose another name, or open that one.`
        : parsed.success
          ? null
          : `${parsed.error.issues[0]?.message ?? "Not a name"}.`;
  const args = { id, text: JSON.stringify(firstDraft(id), null, 2) };
  const create = useCall({
    mutationFn: () => client.createChart(args),
    onSuccess: (chart) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.charts });
      onCreated(chart.id);
    },
  });
  const ready = id !== "" && problem === null && !create.isPending;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="New chart"
      initialFocus={field}
      width={440}
      testId="new-chart-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            disabled={!ready}
            line={() => curlOf("createChart", args, { baseUrl: window.location.origin })}
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="ink"
            type="submit"
            form="new-chart"
            disabled={!ready}
            data-testid="new-chart-submit"
          >
            {create.isPending ? "Creating…" : "Create"}
          </Button>
        </>
      }
    >
      <form
        id="new-chart"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) create.mutate();
        }}
      >
        <Field label="Name" hint="letters, digits and . _ : @ -" error={problem}>
          {(wiring) => (
            <Input
              {...wiring}
              ref={field}
              mono
              value={name}
              maxLength={128}
              placeholder="agv-mission"
              onChange={(event) => setName(event.target.value)}
              data-testid="new-chart-name"
            />
          )}
        </Field>
        <p className="mt-2 text-hint text-text-3">
          The name is its address and stays. It starts as a draft; nothing runs before it is published.
        </p>
        {create.error ? (
          <ErrorPanel className="mt-3.5" title={`Couldn’t create ${id}`} error={create.error} />
        ) : null}
      </form>
    </Dialog>
  );
}

const firstDraft = (id: string): Chart => ({ lockstep: 1, id, initial: "idle", states: { idle: {} } });
