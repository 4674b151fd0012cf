/**
 * A runtime of its own for each test, on either database, and charts small enough to read.
 */
import { localActor } from "@/lib/access/actor";
import { createRuntime, type Runtime, type RuntimeOptions } from "@/lib/runtime/runtime";
import type { Store } from "@/lib/store/store";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { JsonObject } from "@/lib/base/json";
import { freshDatabase, type Provider, type TestDatabase } from "./database";

export interface TestRuntime {
  runtime: Runtime;
  store: Store;
  database: TestDatabase;
  /** What went wrong in the background; a test that expects nothing checks that it is empty. */
  reported: unknown[];
  /** A second process on the same database, as far as one process can be two. */
  again(): Promise<{ runtime: Runtime; store: Store }>;
  end(): Promise<void>;
}

export async function freshRuntime(
  provider: Provider,
  options: Pick<RuntimeOptions, "invocations"> = {},
): Promise<TestRuntime> {
  const database = await freshDatabase(provider);
  const reported: unknown[] = [];
  const opened: Runtime[] = [];
  const again = async () => {
    const store = await openSqlStore({ url: database.url, connections: 8 });
    const runtime = createRuntime({ store, report: (error) => reported.push(error), ...options });
    opened.push(runtime);
    return { runtime, store };
  };
  const { runtime, store } = await again();
  return {
    runtime,
    store,
    database,
    reported,
    again,
    async end() {
      for (const each of opened) await each.close();
      await database.drop();
    },
  };
}

export const local = localActor;

/** Publishes `chart` under `id`. */
export async function publish(runtime: Runtime, id: string, chart: JsonObject): Promise<void> {
  const { revision } = await runtime.createChart(local, { id, text: JSON.stringify(chart) });
  await runtime.publishVersion(local, { chartId: id, revision });
}

/** Publishes `chart` as the next version of `id`. */
export async function publishNext(runtime: Runtime, id: string, chart: JsonObject): Promise<void> {
  const { revision: baseRevision, draft } = await runtime.getChart(local, { chartId: id });
  const next = { chartId: id, baseRevision, text: JSON.stringify(chart), layout: draft.layout };
  const { revision } = await runtime.saveDraft(local, next);
  await runtime.publishVersion(local, { chartId: id, revision });
}

/** Counts the `add`s it is sent. */
export const counter: JsonObject = {
  lockstep: 1,
  context: { count: 0 },
  initial: "counting",
  states: {
    counting: {
      on: {
        add: { actions: { assign: { count: "context.count + 1" } } },
        never: { guard: "context.count < 0", target: "done" },
        finish: "done",
      },
    },
    done: { type: "final" },
  },
};
