/**
 * Ways through a chart, as tests that `lockstep test` plays: the shortest to every configuration, all that come to no
 * situation twice, or a few that together take every transition there is a way to.
 *
 * Outside work is answered by stubs, time is virtual, events come with payloads from schemas and from the tests beside the
 * chart. A configuration is a set of active states; a situation is all that decides what happens next, context included.
 *
 * Holds: every path replays to the configuration it says; `taken` is exactly what the paths take; the search is bounded, and
 *        says so when a bound cut it short.
 */
import type { JsonObject } from "@/lib/base/json";
import type { Machine } from "@/lib/statechart/machine";
import type { ChartTest } from "./chart-test";
import { eventSamples } from "./event-samples";
import {
  Explorer,
  playInput,
  takenIn,
  type BoundHit,
  type Exploration,
  type ExploreBounds,
  type PathInput,
  type PlayOptions,
  type Situation,
  type Way,
} from "./explore";
import { Session, type SessionLine } from "./session";
import { parseStubs } from "./stubs";
import { stubVariants } from "./stub-variants";

export type PathKind = "shortest" | "simple" | "coverage";

export interface PathsOptions extends PlayOptions {
  kind: PathKind;
  /** The tests beside the chart: their payloads are sent, their stubs answer. */
  tests?: readonly ChartTest[];
  /** In place of those made from the chart. */
  stubs?: JsonObject;
  bounds?: Partial<PathBounds>;
}
export interface PathBounds extends ExploreBounds {
  pathsMax: number;
}

/** In the format of tests (chart-test.ts). */
export interface PathTest {
  name: string;
  stubs?: JsonObject;
  /** A way without inputs only looks at the start. */
  steps: (Partial<PathInput> & { expect: { configuration: string[]; status: string } })[];
}

export interface PathsResult {
  tests: PathTest[];
  /** Situations found. */
  situations: number;
  /** Ids of the transitions that the paths take, and of those that they do not. */
  taken: string[];
  untaken: string[];
  /** What cut the search short; null: all was seen. */
  bound: BoundHit | "paths" | null;
}

// A chart drawn by people has tens of configurations; what counts without end stops here, within seconds.
const boundsDefault: PathBounds = {
  statesMax: 1_000,
  depthMax: 40,
  inputsMax: 50_000,
  untilMs: 366 * 86_400_000,
  pathsMax: 500,
};

/** A path before it is written: its inputs and the world they meet. */
interface Path {
  stubs: JsonObject;
  inputs: readonly PathInput[];
}

export function paths(machine: Machine, options: PathsOptions): PathsResult {
  const { kind, tests = [], stubs, bounds, ...play } = options;
  const limits = { ...boundsDefault, ...bounds };
  const explorer = new Explorer(machine, eventSamples(machine, tests), play, limits);
  const variants = stubs === undefined ? stubVariants(machine) : [stubs];
  const explored = variants.map((variant) => explorer.explore(variant));
  const found = search(kind, explored, limits.pathsMax);
  const bound = explored.map((one) => one.bound).find((one) => one !== null) ?? null;
  return written(machine, play, found.paths, {
    situations: explored.reduce((sum, one) => sum + one.situations.length, 0),
    bound: bound ?? (found.cut ? "paths" : null),
  });
}

function search(
  kind: PathKind,
  explored: readonly Exploration[],
  pathsMax: number,
): { paths: Path[]; cut: boolean } {
  const all =
    kind === "shortest"
      ? shortest(explored)
      : kind === "simple"
        ? simple(explored, pathsMax)
        : covering(explored);
  return { paths: all.slice(0, pathsMax), cut: all.length > pathsMax };
}

/** To each configuration the fewest inputs, whatever the work's answers. */
function shortest(explored: readonly Exploration[]): Path[] {
  const best = new Map<string, Path>();
  for (const { stubs, situations } of explored) {
    for (const { line, inputs } of situations) {
      const place = JSON.stringify(line.configuration);
      const known = best.get(place);
      if (known === undefined || inputs.length < known.inputs.length) best.set(place, { stubs, inputs });
    }
  }
  return [...best.values()];
}

/** Every way that comes to no situation twice and ends where the configuration has just changed. */
function simple(explored: readonly Exploration[], pathsMax: number): Path[] {
  const found: Path[] = [];
  const seen = new Set<string>();
  for (const { stubs, situations } of explored) {
    const [start] = situations;
    if (start === undefined) continue;
    const onPath = new Set<Situation>([start]);
    const walk = (from: Situation, inputs: readonly PathInput[]): void => {
      for (const { input, to } of from.ways) {
        if (onPath.has(to) || found.length > pathsMax) continue;
        const longer = [...inputs, input];
        const sign = JSON.stringify(longer);
        // The same inputs under other answers are another path only if they end elsewhere.
        const end = JSON.stringify(to.line.configuration);
        if (end !== JSON.stringify(from.line.configuration) && !seen.has(sign + end)) {
          seen.add(sign + end);
          found.push({ stubs, inputs: longer });
        }
        onPath.add(to);
        walk(to, longer);
        onPath.delete(to);
      }
    };
    walk(start, []);
  }
  return found;
}

/** From the start to the nearest way with something new, on and on; then from the start again. */
function covering(explored: readonly Exploration[]): Path[] {
  const found: Path[] = [];
  const covered = new Set<string>();
  for (const exploration of explored) {
    const [start] = exploration.situations;
    if (start === undefined) continue;
    const atStart = exploration.takenAtStart.filter((id) => !covered.has(id));
    for (const id of atStart) covered.add(id);
    let isNew = atStart.length > 0;
    for (;;) {
      const inputs: PathInput[] = [];
      let at = start;
      for (;;) {
        const ways = nearestNew(at, covered);
        const last = ways.at(-1);
        if (last === undefined) break;
        for (const { input, taken } of ways) {
          inputs.push(input);
          for (const id of taken) covered.add(id);
        }
        at = last.to;
      }
      if (inputs.length === 0 && !isNew) break;
      isNew = false;
      found.push({ stubs: exploration.stubs, inputs });
      if (inputs.length === 0) break;
    }
  }
  return found;
}

/** The fewest ways from `from` whose last takes what is not yet covered; empty: there are none. */
function nearestNew(from: Situation, covered: ReadonlySet<string>): Way[] {
  const cameBy = new Map<Situation, { before: Situation; way: Way } | null>([[from, null]]);
  for (const at of cameBy.keys()) {
    for (const way of at.ways) {
      if (way.taken.some((id) => !covered.has(id))) return [...waysTo(at, cameBy), way];
      if (!cameBy.has(way.to)) cameBy.set(way.to, { before: at, way });
    }
  }
  return [];
}

function waysTo(
  end: Situation,
  cameBy: ReadonlyMap<Situation, { before: Situation; way: Way } | null>,
): Way[] {
  const ways: Way[] = [];
  for (let step = cameBy.get(end); step != null; step = cameBy.get(step.before)) ways.push(step.way);
  return ways.reverse();
}

// ---- as tests

function written(
  machine: Machine,
  options: PlayOptions,
  found: readonly Path[],
  seen: Pick<PathsResult, "situations" | "bound">,
): PathsResult {
  const taken = new Set<string>();
  const names = new Map<string, number>();
  const tests = found.map(({ stubs, inputs }) => {
    const lines = replayed(machine, options, stubs, inputs);
    for (const line of lines) for (const id of takenIn(line)) if (machine.transitions.has(id)) taken.add(id);
    const end = lines.at(-1)?.configuration ?? [];
    const place = end.join(", ") || "nothing";
    const count = (names.get(place) ?? 0) + 1;
    names.set(place, count);
    return {
      name: `to ${place}${count === 1 ? "" : ` (${count})`}`,
      ...(Object.keys(stubs).length === 0 ? {} : { stubs }),
      steps: stepsOf(inputs, lines),
    };
  });
  const untaken = [...machine.transitions.keys()].filter((id) => !taken.has(id));
  return { tests, taken: [...taken].sort(), untaken, ...seen };
}

function replayed(
  machine: Machine,
  options: PlayOptions,
  stubs: JsonObject,
  inputs: readonly PathInput[],
): SessionLine[] {
  const parsed = parseStubs(stubs);
  const session = new Session(machine, {
    ...options,
    ...("problem" in parsed ? {} : { stubs: parsed }),
    trace: true,
  });
  return [session.start(), ...inputs.map((input) => playInput(session, input))];
}

function stepsOf(inputs: readonly PathInput[], [start, ...lines]: readonly SessionLine[]): PathTest["steps"] {
  const expected = ({ configuration, status }: SessionLine) => ({ expect: { configuration, status } });
  if (inputs.length === 0) return start === undefined ? [] : [expected(start)];
  return lines.map((line, index) => ({ ...inputs[index], ...expected(line) }));
}
