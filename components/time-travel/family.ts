/**
 * An instance's children as its invocations see them: `chart` asks for one, `each` for one per item.
 *
 * Holds: the parts of a family add up to its total.
 */
import { formatCount } from "@/components/ui/time";
import type { ChildList } from "@/lib/contract/instances";
import type { TaskView } from "@/lib/contract/tasks";
import type { ChartTree } from "@/lib/diagram/chart-tree";
import { isUnfinished } from "./use-tasks";

export interface Family {
  taskId: string;
  invokeId: string;
  /** That invokes it. */
  state: string;
  kind: "chart" | "each";
  /** Of the children; null: the input names none. */
  chartId: string | null;
  /** Nobody waits for it any more. */
  over: boolean;
  total: number;
  running: number;
  succeeded: number;
  failed: number;
  /** Ended because nobody waited for them any more, or by an operator. */
  ended: number;
  waiting: number;
}

export function familiesOf(tasks: readonly TaskView[]): Family[] {
  return tasks.flatMap((task) => {
    if (task.kind !== "chart" && task.kind !== "each") return [];
    const input = recordOf(task.input);
    const progress = recordOf(task.progress);
    const counts = task.kind === "each" ? eachCounts(progress, task) : oneCounts(progress, task);
    return [
      {
        taskId: task.taskId,
        invokeId: task.invokeId,
        state: task.state,
        kind: task.kind,
        chartId: typeof input["chart"] === "string" ? input["chart"] : null,
        over: !isUnfinished(task),
        ...counts,
      },
    ];
  });
}

type Counts = Pick<Family, "total" | "running" | "succeeded" | "failed" | "ended" | "waiting">;

function eachCounts(progress: Record<string, unknown>, task: TaskView): Counts {
  const [total, started, succeeded, failed] = ["total", "started", "succeeded", "failed"].map((name) =>
    typeof progress[name] === "number" ? progress[name] : 0,
  ) as [number, number, number, number];
  const open = Math.max(0, started - succeeded - failed);
  const running = isUnfinished(task) ? open : 0;
  return { total, running, succeeded, failed, ended: open - running, waiting: Math.max(0, total - started) };
}

function oneCounts(progress: Record<string, unknown>, { status }: TaskView): Counts {
  const begun = typeof progress["instanceId"] === "string";
  const isOpen = status === "pending" || status === "running";
  return {
    total: 1,
    running: isOpen && begun ? 1 : 0,
    succeeded: status === "succeeded" ? 1 : 0,
    failed: status === "failed" ? 1 : 0,
    ended: status === "cancelled" ? 1 : 0,
    waiting: isOpen && !begun ? 1 : 0,
  };
}

/** The family as its list has it: read later than its task. */
export function recount(family: Family, counts: ChildList["counts"]): Family {
  const { running = 0, succeeded = 0, failed = 0, cancelled = 0, orphan = 0 } = counts;
  const begun = running + succeeded + failed + cancelled + orphan;
  if (begun === 0) return family;
  const total = Math.max(family.total, begun);
  return { ...family, total, running, succeeded, failed, ended: cancelled + orphan, waiting: total - begun };
}

/** `9,412 of 10,000 succeeded · 3 failed · 100 running`: what is not there is not said. */
export function familyWords(family: Family): string {
  const { total, succeeded, failed, running, ended, waiting, over } = family;
  const some = (count: number, what: string): string[] =>
    count > 0 ? [`${formatCount(count)} ${what}`] : [];
  const rest = [
    ...some(failed, "failed"),
    ...some(running, "running"),
    ...some(ended, "ended early"),
    ...some(waiting, over ? "never begun" : "not begun yet"),
  ];
  if (total === 0) return "no items";
  const done = total === 1 ? some(succeeded, "succeeded") : [countOf(succeeded, total)];
  return [...done, ...rest].join(" · ");
}

/** `11 of 40 children done`: ended one way or another; null: the family has nothing to count yet. */
export const doneWords = ({ total, succeeded, failed, ended }: Family): string | null =>
  total === 0
    ? null
    : `${formatCount(succeeded + failed + ended)} of ${formatCount(total)} ${total === 1 ? "child" : "children"} done`;

const countOf = (succeeded: number, total: number): string =>
  `${formatCount(succeeded)} of ${formatCount(total)} succeeded`;

/** Whether instances of the chart can have children. */
export const asksForChildren = (tree: ChartTree): boolean =>
  tree.states.some(({ node }) =>
    [node.invoke ?? []].flat().some(({ src }) => src === "chart" || src === "each"),
  );

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
