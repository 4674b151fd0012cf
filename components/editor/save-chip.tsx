"use client";
/**
 * Where the work is: Saved · Saving… · Unsaved, kept here · Conflict.
 */
import { CloudCheck, GitMerge, HardDrive, LoaderCircle } from "lucide-react";
import { RelativeTime } from "@/components/ui/time-text";
import { cn } from "@/components/ui/class-names";
import { useEditor } from "./editor-store";

export function SaveChip() {
  const save = useEditor((state) => state.save);
  const looks = {
    saved: { icon: CloudCheck, tone: "text-text-2" },
    saving: { icon: LoaderCircle, tone: "text-text-2" },
    unsaved: { icon: HardDrive, tone: "text-exited" },
    conflict: { icon: GitMerge, tone: "text-failed" },
  }[save.kind];
  return (
    <span
      role="status"
      data-testid="save-chip"
      data-state={save.kind}
      title={save.kind === "unsaved" ? save.reason : undefined}
      className={cn("flex h-5 shrink-0 items-center gap-1.5 text-hint whitespace-nowrap", looks.tone)}
    >
      <looks.icon size={13} aria-hidden />
      {save.kind === "saved" ? (
        <span>
          Saved <RelativeTime at={save.at} />
        </span>
      ) : save.kind === "saving" ? (
        "Saving…"
      ) : save.kind === "unsaved" ? (
        "Unsaved, kept here"
      ) : (
        `Conflict with ${save.theirs.savedBy}`
      )}
    </span>
  );
}
