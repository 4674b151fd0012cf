"use client";
/**
 * Toasts: one line in ink with, where there is one, the way back. What needs reading stays on the page instead.
 */
import { Toaster as Sonner, toast } from "sonner";

const shownMs = 6_000;

/** Says what happened; `undo` puts "Undo" beside it. */
export function showToast(message: string, undo?: { label?: string; run: () => void }): void {
  toast(message, undo ? { action: { label: undo.label ?? "Undo", onClick: undo.run } } : undefined);
}

export function Toaster() {
  return (
    <Sonner
      position="bottom-center"
      duration={shownMs}
      gap={8}
      style={{ zIndex: 900 }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            "flex w-full items-center gap-3 rounded-box bg-ink font-sans px-3.5 py-2.5 text-body text-on-ink shadow-2 data-[type=error]:border data-[type=error]:border-failed",
          content: "min-w-0 flex-1",
          actionButton: "border-l border-on-ink pl-3 font-semibold text-on-ink",
        },
      }}
    />
  );
}
