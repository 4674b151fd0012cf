/**
 * An instance's status: filled chip, sign and word. `stuck` is outlined: it is what the reader needs, not a resting state.
 */
import {
  Ban,
  Check,
  CircleX,
  Hourglass,
  ListEnd,
  OctagonX,
  Pause,
  TriangleAlert,
  Undo2,
  type LucideIcon,
} from "lucide-react";
import { Chip, type Tone } from "@/components/ui/chip";
import type { InstanceStatus } from "@/lib/contract/instances";

const looks: Record<InstanceStatus, { tone: Tone; icon?: LucideIcon; outline?: true }> = {
  running: { tone: "active" },
  queued: { tone: "neutral", icon: ListEnd },
  suspended: { tone: "neutral", icon: Pause },
  cancelling: { tone: "exited", icon: Hourglass, outline: true },
  compensating: { tone: "exited", icon: Undo2, outline: true },
  stuck: { tone: "failed", icon: TriangleAlert, outline: true },
  completed: { tone: "neutral", icon: Check },
  failed: { tone: "failed", icon: CircleX },
  cancelled: { tone: "neutral", icon: Ban },
  terminated: { tone: "neutral", icon: OctagonX },
};

export function StatusChip({ status }: { status: string }) {
  const look = looks[status as InstanceStatus] as (typeof looks)[InstanceStatus] | undefined;
  if (!look) return <Chip data-testid="status">{status}</Chip>;
  return (
    <Chip
      tone={look.tone}
      outline={look.outline ?? false}
      dot={!look.icon}
      {...(look.icon ? { icon: look.icon } : {})}
      data-testid="status"
    >
      {status}
    </Chip>
  );
}
