/**
 * A migration's dry run in words, and the states that an instance may be moved to.
 */
import { formatCount } from "@/components/ui/time";
import type { MigrateResult, MigrationVerdict } from "@/lib/contract/instances";
import type { ChartTree } from "@/lib/diagram/chart-tree";

/** States that an instance can rest in: no history state, none with states inside. */
export const restable = (tree: ChartTree): string[] =>
  tree.states
    .filter(({ kind, depth }) => depth > 0 && (kind === "atomic" || kind === "final"))
    .map(({ name }) => name);

interface PlanRow {
  state: string;
  to: string | null;
  verdict: MigrationVerdict;
  whys: string[];
}

/** The active states, one row each with all that is said of it, and what else is in the way. */
export function planRows({ states }: MigrateResult["plan"]): { rows: PlanRow[]; blocks: PlanRow[] } {
  const rows: PlanRow[] = [];
  const blocks: PlanRow[] = [];
  for (const { state, to, verdict, why } of states) {
    const whys = why === null ? [] : [why];
    const known = [...rows, ...blocks].find((row) => row.state === state);
    if (known) Object.assign(known, { verdict, whys: [...known.whys, ...whys] });
    else (verdict === "blocked" ? blocks : rows).push({ state, to, verdict, whys });
  }
  return { rows, blocks };
}

export function migrationTitle({ verdict, states }: MigrateResult["plan"]): string {
  const open = states.filter((state) => state.verdict === "needs-mapping").length;
  switch (verdict) {
    case "ok":
      return "It can move as it is";
    case "needs-mapping":
      return `Say where ${formatCount(open)} ${open === 1 ? "state goes" : "states go"}`;
    case "blocked":
      return "It can’t move like this";
  }
}

/** Why the button is off; null: it is on. `verdict` null: not known yet. */
export function migrationHint(verdict: MigrationVerdict | null, reason: string): string | null {
  switch (verdict) {
    case null:
      return "Finding out…";
    case "blocked":
      return "Blocked: see above";
    case "needs-mapping":
      return "Choose where it goes first";
    case "ok":
      return reason === "" ? "Give a reason first" : null;
  }
}
