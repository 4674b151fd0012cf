/**
 * How long one send takes: of a caller who is alone, beside the driver's floor; and of many at a given rate.
 */
import pg from "pg";
import { systemActor } from "@/lib/access/actor";
import type { Runtime } from "@/lib/runtime/runtime";
import { median, percentile, startToys, timed, toyEventsPerSecond } from "./toy";

const singles = 300;
const rounds = 9;
const warmUps = 10;

/**
 * Sends per second of a single caller, and inserts per second of one prepared statement, in turns; medians, the first rounds
 * left out on both sides.
 */
export async function singleAgainstFloor(
  runtime: Runtime,
  url: string,
): Promise<{ single: number; floor: number }> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("CREATE TABLE bench_floor (id INT, text TEXT)");
  const floor: number[] = [];
  const single: number[] = [];
  try {
    for (let round = -warmUps; round < rounds; round += 1) {
      const ids = await startToys(runtime, singles);
      const ours = await timed(ids, 1, (instanceId) =>
        runtime.sendEvent(systemActor, { instanceId, type: "start" }),
      );
      const insert = {
        name: "floor",
        text: "INSERT INTO bench_floor VALUES ($1, $2)",
        values: [1, "x".repeat(300)],
      };
      const bare = await timed(ids, 1, () => client.query(insert));
      if (round < 0) continue;
      single.push((singles * 1000) / ours);
      floor.push((singles * 1000) / bare);
    }
  } finally {
    await client.query("DROP TABLE bench_floor");
    await client.end();
  }
  return { single: median(single), floor: median(floor) };
}

/**
 * Sends at half of what `callers` get, whether earlier ones are answered or not; events per second, and how long each took, ms.
 * Medians of three rounds of `seconds`: whether a round meets a full collection of garbage is chance. Each is behind a
 * checkpoint, as on a server that has run for a while: a new one makes each segment of its write-ahead log when it comes to it, and every
 * commit waits some 50 ms for that. Each first finds what half is: a machine changes its speed from minute to minute.
 */
export async function latencyAtHalf(
  runtime: Runtime,
  url: string,
  callers: number,
  seconds: number,
): Promise<{ perSecond: number; p50: number; p99: number }> {
  const found: { perSecond: number; p50: number; p99: number }[] = [];
  const client = new pg.Client(url);
  await client.connect();
  for (let round = 0; round < 3; round += 1) {
    await client.query("CHECKPOINT");
    const full: number[] = [];
    for (let n = 0; n < 5; n += 1) full.push(await toyEventsPerSecond(runtime, 500, callers));
    const perSecond = median(full) / 2;
    found.push({ perSecond, ...(await roundAt(runtime, perSecond, seconds)) });
  }
  await client.end();
  const over = (figure: (one: (typeof found)[number]) => number) => median(found.map(figure));
  return {
    perSecond: over(({ perSecond }) => perSecond),
    p50: over(({ p50 }) => p50),
    p99: over(({ p99 }) => p99),
  };
}

async function roundAt(
  runtime: Runtime,
  perSecond: number,
  seconds: number,
): Promise<{ p50: number; p99: number }> {
  const ids = await startToys(runtime, Math.round(perSecond * seconds));
  const took: number[] = [];
  const sent: Promise<void>[] = [];
  const began = performance.now();
  for (const [index, instanceId] of ids.entries()) {
    const due = began + (index * 1000) / perSecond;
    while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1));
    sent.push(
      runtime.sendEvent(systemActor, { instanceId, type: "start" }).then(() => {
        took.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(sent);
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}
