"use client";
/**
 * What an instance waits for though it runs, and the way to it: the lock, or its children and how many of them are done.
 */
import type { Route } from "next";
import Link from "next/link";
import { conditionIcons, locksAwaited, namesIn, waitsFor } from "@/components/instances/control-words";
import { WithNames } from "@/components/instances/with-names";
import { Banner } from "@/components/ui/banner";
import type { InstanceView } from "@/lib/contract/instances";
import { doneWords, familiesOf } from "./family";
import { useTasks } from "./use-tasks";

export function WaitsBanner({ instance }: { instance: InstanceView }) {
  const [first] = instance.conditions;
  const text = waitsFor(instance);
  if (!first || text === null) return null;
  const [lock] = locksAwaited(first);
  return (
    <Banner tone="past" icon={conditionIcons[first.for]} testId="waits-banner">
      <WithNames text={text} names={namesIn(first)} />
      {first.for === "child" ? <Done instanceId={instance.id} taskId={first.taskId} /> : null}
      {lock === undefined ? null : (
        <>
          {" "}
          <Link className="underline" href={`/locks?key=${encodeURIComponent(lock)}` as Route}>
            Look at <span className="font-mono text-table">{lock}</span>
          </Link>
        </>
      )}
    </Banner>
  );
}

function Done({ instanceId, taskId }: { instanceId: string; taskId: string | null }) {
  const tasks = useTasks(instanceId);
  const family = familiesOf(tasks.data?.items ?? []).find((each) => each.taskId === taskId);
  const done = family ? doneWords(family) : null;
  return done === null ? null : <span className="tabular-nums"> {done}.</span>;
}
