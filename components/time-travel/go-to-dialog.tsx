"use client";
/**
 * Goes to a seq: `g`, a number, Enter.
 */
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { formatCount } from "@/components/ui/time";

export function GoToDialog({
  total,
  onGo,
  onClose,
}: {
  total: number;
  onGo: (seq: number) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const seq = Number(text.replace(/[#,\s]/g, ""));
  const valid = Number.isInteger(seq) && seq >= 1 && seq <= total;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Go to event"
      width={360}
      initialFocus={field}
      testId="go-to-dialog"
    >
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (valid) onGo(seq);
        }}
      >
        <Field
          label="Seq"
          hint={`1 – ${formatCount(total)}`}
          className="flex-1"
          error={text !== "" && !valid ? `There are events 1 to ${formatCount(total)}.` : null}
        >
          {(wiring) => (
            <Input
              {...wiring}
              ref={field}
              mono
              inputMode="numeric"
              value={text}
              onChange={(event) => setText(event.target.value)}
              data-testid="go-to-seq"
            />
          )}
        </Field>
        <Button type="submit" variant="ink" disabled={!valid} className="mb-0.5">
          Go
        </Button>
      </form>
    </Dialog>
  );
}
