/**
 * Steps unless they were overtaken, on SQLite: one short transaction that reads nothing which the process remembers.
 *
 * Holds: I1 a step's log entry is written only while seq and incarnation are as they were read, the instance runs, and no
 *        message has come before: one writer at a time makes that true until COMMIT. I2 what was logged is written whole.
 *        I10 time is read inside the write lock.
 */
import { noWrites, type OptimisticStep, type OptimisticSteps, type StepWrites } from "../steps";
import { beginOnSqlite } from "./clock";
import type { DatabaseConnection } from "./connection";
import type { Dialect } from "./dialect";
import { sql, type Handle, type RowStatement } from "./statement";
import { writeSteps } from "./step-queries";
import { columnName, eventLog } from "./tables";

export function optimisticBatch(
  connection: Pick<DatabaseConnection, "transaction">,
  dialect: Dialect,
  clock: (() => number) | undefined,
  committed: () => void,
): OptimisticSteps {
  const logUnlessOvertaken = logText(dialect);
  return {
    // A batch reads it inside its transaction.
    find: null,
    async write(steps, lagMaxMs) {
      const end = await connection.transaction(async (handle) => {
        const now = await beginOnSqlite(handle, clock);
        const isTimely = (lagMs: number) => lagMaxMs === null || (lagMs >= 0 && lagMs <= lagMaxMs);
        const timely = steps.filter(({ row }) => isTimely(now - row.at));
        const written = await log(handle, timely);
        await writeSteps(handle, dialect, () => 0, {
          ...noWrites(),
          stepped: rowsOf(written, false),
          restated: rowsOf(written, true),
          configurations: movesOf(written),
        });
        return { now, written: written.map(({ row }) => row.id) };
      });
      if (end.written.length > 0) committed();
      return end;
    },
  };

  /** Those whose entries were written. */
  async function log(handle: Handle, steps: readonly OptimisticStep[]): Promise<readonly OptimisticStep[]> {
    if (steps.length === 0) return steps;
    const entries = steps.map(({ log: entry }, n) => ({ ...entry, changeN: n + 1 }));
    const count = await handle.executeRows(logUnlessOvertaken, entries);
    if (count === steps.length) return steps;
    const ours = await handle.query<{ messageId: string }>(
      sql`SELECT "message_id" AS "messageId" FROM ${eventLog.name} WHERE "message_id" IN ${dialect.texts(entries.map(({ messageId }) => messageId ?? ""))} AND "change_tx" = ${dialect.changeTx}`,
    );
    const written = new Set(ours.map(({ messageId }) => messageId));
    return steps.filter(({ log: { messageId } }) => messageId !== null && written.has(messageId));
  }
}

function movesOf(steps: readonly OptimisticStep[]): StepWrites["configurations"] {
  const moves: StepWrites["configurations"] = [];
  for (const { row, moved } of steps) {
    if (moved) moves.push({ instanceId: row.id, left: moved.left, entered: moved.entered });
  }
  return moves;
}

const rowsOf = (steps: readonly OptimisticStep[], restated: boolean) =>
  steps.filter((step) => step.restated === restated).map(({ row }) => row);

function logText(dialect: Dialect): RowStatement {
  const names = Object.keys(eventLog.columns);
  const values = names.map((name) =>
    eventLog.columns[name] === "change" ? dialect.changeTx.sql : dialect.cell(name),
  );
  const [id, seq, incarnation] = ["instanceId", "seq", "incarnation"].map((name) => dialect.cell(name));
  return {
    table: eventLog.name.sql,
    text: `INSERT INTO ${eventLog.name.sql} (${names.map(columnName).join(", ")}) SELECT ${values.join(", ")} FROM "instances" WHERE "id" = ${id} AND "instances"."seq" = ${seq} - 1 AND "instances"."incarnation" = ${incarnation} AND "instances"."status" = 'running' AND "session" IS NULL AND NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = ${id})`,
  };
}
