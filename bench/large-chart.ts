/**
 * A chart of as many states as asked for: areas, each a parallel of regions with nested states; several transitions a state,
 * their guards and assignments in CEL. Deterministic; no two expressions are the same text, so that nothing is won by
 * remembering them.
 */
import type { Chart, StateNode, TransitionObject } from "@/lib/statechart/document";

const leavesPerGroup = 6;
const groupsPerRegion = 4;
const regionsPerArea = 3;

export function largeChart(states: number): Chart {
  const areas: Record<string, StateNode> = {};
  // An area: itself, its regions, their groups, their leaves.
  const areaSize = 1 + regionsPerArea * (1 + groupsPerRegion * (1 + leavesPerGroup));
  const areaCount = Math.max(1, Math.round((states - 1) / areaSize));
  for (let index = 0; index < areaCount; index++)
    areas[`area${index}`] = area(index, (index + 1) % areaCount);
  const context = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`n${index}`, index]));
  return {
    lockstep: 1,
    context: { ...context, total: 0.5, name: "none", log: [] },
    guards: { rich: "context.total > 100", named: "context.name != 'none'" },
    actions: { note: { log: "context.total", label: "total" } },
    initial: "area0",
    states: { ...areas, end: { type: "final" } },
    on: { stop: ".end" },
  };
}

function area(index: number, next: number): StateNode {
  const regions = Object.fromEntries(
    Array.from({ length: regionsPerArea }, (_, region) => [`region${region}`, regionOf(index, region)]),
  );
  return {
    type: "parallel",
    states: regions,
    on: { next: `area${next}`, leave: { guard: "rich", target: `area${next}` } },
  };
}

function regionOf(area: number, region: number): StateNode {
  const groups = Object.fromEntries(
    Array.from({ length: groupsPerRegion }, (_, group) => [
      `group${group}`,
      groupOf((area * regionsPerArea + region) * groupsPerRegion + group, (group + 1) % groupsPerRegion),
    ]),
  );
  return { initial: "group0", states: groups };
}

function groupOf(number: number, next: number): StateNode {
  const leaves = Object.fromEntries(
    Array.from({ length: leavesPerGroup }, (_, leaf) => [
      `step${leaf}`,
      leafOf(number * leavesPerGroup + leaf, `step${(leaf + 1) % leavesPerGroup}`),
    ]),
  );
  return { initial: "step0", states: leaves, on: { skip: `group${next}` } };
}

function leafOf(number: number, next: string): StateNode {
  const one = `n${number % 40}`;
  const two = `n${(number * 7 + 3) % 40}`;
  const forward: TransitionObject = {
    target: next,
    guard: `context.${one} >= ${number} && event.amount < context.total`,
    actions: {
      assign: {
        [one]: `context.${two} + ${number}`,
        total: `context.total + double(event.amount) * ${number}.5`,
      },
    },
  };
  return {
    entry: number % 3 === 0 ? "note" : { assign: { [two]: `context.${one} % ${number + 2}` } },
    on: {
      pay: [
        forward,
        { guard: `context.log.size() > ${number} || context.${two} == ${number}`, target: next },
      ],
      set: { actions: { assign: { name: `'s' + string(${number} + context.${one})` } } },
      back: { guard: "named", target: next },
    },
    ...(number % 5 === 0 ? { after: { [`${number + 1}s`]: next } } : {}),
  };
}
