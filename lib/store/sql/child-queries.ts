/**
 * Children's statements: each over a whole batch, each found by key.
 */
import type {
  ChildReads,
  ChildRow,
  ChildStatus,
  ChildTransaction,
  ChildWrites,
  FamilyKey,
  ListedChild,
} from "../children";
import type { TaskRow } from "../tasks";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { empty, raw, sql, type Handle, type RowStatement, type Sql } from "./statement";
import { children, columnName, insertInto, tasks, updateOf } from "./tables";

const familyColumns = ["parentId", "parentIncarnation", "parentTask"];
const keyColumns = [...familyColumns, "place"];
const ofFamily = ({ parentId, parentIncarnation, parentTask }: FamilyKey): Sql =>
  sql`"parent_id" = ${parentId} AND "parent_incarnation" = ${parentIncarnation} AND "parent_task" = ${parentTask}`;

export function childReads(handle: Reader): ChildReads {
  return {
    findDueFamilies: (now, limit) =>
      handle.query<TaskRow>(sql`SELECT ${tasks.all} ${dueFamilies(now)} ORDER BY "due_at" LIMIT ${limit}`),
    async findOrphans(limit) {
      const rows = await handle.query<{ childId: string; atOnce: number }>(
        sql`SELECT ${children.pick("childId")}, ${isCutOff} AS "atOnce" ${orphans} LIMIT ${limit}`,
      );
      return rows.map(({ childId, atOnce }) => ({ childId, atOnce: atOnce === 1 }));
    },
    listFamily(family, status, after, limit) {
      const those = status === null ? empty : sql`AND "status" = ${status}`;
      const behind = after === null ? empty : sql`AND "place" > ${after}`;
      return handle.query<ListedChild>(
        sql`SELECT c.*, i."chart_id" AS "chartId", i."version" AS "version", i."status" AS "instanceStatus", i."configuration" AS "configuration" FROM (SELECT ${children.all} FROM ${children.name} WHERE ${ofFamily(family)} ${those} ${behind} ORDER BY "place" LIMIT ${limit}) AS c LEFT JOIN "instances" AS i ON i."id" = c."childId" AND i."deleted_at" IS NULL ORDER BY c."place"`,
      );
    },
    countFamily: (family) =>
      handle.query<{ status: ChildStatus; count: number }>(
        sql`SELECT "status", count(*) AS "count" FROM ${children.name} WHERE ${ofFamily(family)} GROUP BY "status" ORDER BY "status"`,
      ),
    async countChildren(parentId) {
      const [row] = await handle.query<{ count: number }>(
        sql`SELECT count(*) AS "count" FROM ${children.name} WHERE "parent_id" = ${parentId}`,
      );
      return row?.count ?? 0;
    },
  };
}

/** Looked up one by one: orphans are few. */
const ofInstance = (id: string, what: string): string =>
  `(SELECT ${what} FROM "instances" AS i WHERE i."id" = ${id})`;
/** Its parent was ended at once, and so are those below it; deleted is one that has another life as well. */
const isCutOff = raw(
  `COALESCE(${ofInstance(
    `"children"."parent_id"`,
    `CASE WHEN i."status" = 'terminated' OR i."deleted_at" IS NOT NULL OR i."incarnation" <> "children"."parent_incarnation" THEN 1 ELSE 0 END`,
  )}, 1)`,
);
const statusOfChild = raw(
  ofInstance(
    `"children"."child_id"`,
    `CASE WHEN i."deleted_at" IS NULL THEN i."status" ELSE 'terminated' END`,
  ),
);
/** One that cleans up, or undoes what it did, ends by itself. */
export const orphans = sql`FROM ${children.name} WHERE "status" = 'orphan' AND (${statusOfChild} IN ('queued', 'running', 'suspended', 'failed', 'stuck') OR (${statusOfChild} IN ('cancelling', 'compensating') AND ${isCutOff} = 1))`;
export const dueFamilies = (now: number | Sql): Sql =>
  sql`FROM ${tasks.name} WHERE "due_at" <= ${now} AND "kind" IN ('chart', 'each', 'lock')`;

export function childTransaction(handle: Handle, dialect: Dialect): ChildTransaction {
  return {
    async findChildren(keys) {
      if (keys.length === 0) return [];
      const wanted = dialect.records(keys, {
        parentId: "text",
        parentIncarnation: "int",
        parentTask: "text",
        place: "int",
      });
      return handle.query<ChildRow>(
        sql`SELECT ${children.all} FROM ${children.name} WHERE ("parent_id", "parent_incarnation", "parent_task", "place") IN (SELECT r."parentId", r."parentIncarnation", r."parentTask", r."place" FROM ${wanted})`,
      );
    },
    readFamily: (family) =>
      handle.query<ChildRow>(
        sql`SELECT ${children.all} FROM ${children.name} WHERE ${ofFamily(family)} ORDER BY "place"`,
      ),
  };
}

/** A step's part. After its tasks: who begins children holds the task, so that nobody begins any once it is over. */
export function writeStepChildren(
  handle: Handle,
  dialect: Dialect,
  writes: ChildWrites & { emptied: readonly string[] },
): void {
  const { childrenBegun, childrenEnded, childrenLeft, emptied } = writes;
  if (childrenBegun.length > 0) handle.postRows(insertInto(dialect, children), childrenBegun);
  if (childrenEnded.length > 0) {
    handle.postRows(updateOf(dialect, children, keyColumns, ["status", "result", "error"]), childrenEnded);
  }
  if (childrenLeft.length > 0) handle.postRows(leaving(dialect, familyColumns), childrenLeft);
  if (emptied.length > 0) {
    handle.postRows(
      leaving(dialect, ["parentId"]),
      emptied.map((parentId) => ({ parentId })),
    );
  }
}

const leaving = (dialect: Dialect, key: readonly string[]): RowStatement => {
  const rows = dialect.rowsTable(
    Object.fromEntries(key.map((name) => [name, children.columns[name] ?? "text"])),
  );
  const matches = key.map((name) => `"children".${columnName(name)} = ${dialect.cell(name)}`).join(" AND ");
  return {
    table: children.name.sql,
    text: `UPDATE "children" SET "status" = 'orphan' ${rows === null ? "" : `FROM ${rows}`} WHERE ${matches} AND "status" = 'running'`,
  };
};
