"use client";
/**
 * A page that broke while it was drawn: our defect. What runs on the server is not touched by it.
 */
import { Button } from "@/components/ui/button";
import { ErrorPanel } from "@/components/ui/states";

export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <div className="mx-auto w-full max-w-2xl p-8">
      <ErrorPanel
        title="This page broke"
        error={error}
        actions={
          <Button size="sm" onClick={reset}>
            Draw it again
          </Button>
        }
      >
        It is a defect of the console, not of your charts: nothing on the server was changed by it.
        {error.digest ? ` Log reference ${error.digest}.` : null}
      </ErrorPanel>
    </div>
  );
}
