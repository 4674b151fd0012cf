/**
 * What a seed's database has removed, kept beside it by triggers that the simulated database alone has: the check looks at what
 * is left first, and then at the whole history again.
 */
import Database from "better-sqlite3";

export interface RemovedRows {
  /** Of what is left, and of `removed_TABLE`. */
  query<Row>(text: string, ...values: (string | number)[]): Row[];
  /** All of it, but tasks and families of instances that went with them. */
  putBack(): void;
  forget(): void;
  close(): void;
}

/** Which of a table's rows are kept, and which of those come back. */
const kept: Record<string, { when: string; back?: string }> = {
  event_log: { when: "1" },
  // A checkpoint has the place of the newest entry that it stands for.
  lock_log: { when: `OLD."type" <> 'CHECKPOINT'` },
  dead_letters: { when: "1" },
  tasks: { when: `OLD."ended_at" IS NOT NULL`, back: ofThisLife("instance_id", "incarnation") },
  children: { when: "1", back: ofThisLife("parent_id", "parent_incarnation") },
  batches: { when: "1" },
  instances: { when: "1" },
};

/** What went with its instance stays away. */
function ofThisLife(id: string, incarnation: string): string {
  return `EXISTS (SELECT 1 FROM "instances" AS i WHERE i."id" = "${id}" AND i."incarnation" = r."${incarnation}" AND i."deleted_at" IS NULL)`;
}

/** On SQLite. Call it when the emptier is open, for which these are no tables of the product. */
export function openRemovedRows(path: string): RemovedRows {
  const database = new Database(path, { timeout: 10_000 });
  const tables = Object.keys(kept);
  for (const [table, { when }] of Object.entries(kept)) {
    const columns = database
      .prepare(`SELECT "name" FROM pragma_table_info('${table}')`)
      .pluck()
      .all() as string[];
    const values = columns.map((column) => `OLD."${column}"`).join(", ");
    database.exec(
      `CREATE TABLE "removed_${table}" AS SELECT * FROM "${table}" WHERE 0;
       CREATE TRIGGER "remove_${table}" AFTER DELETE ON "${table}" WHEN ${when}
       BEGIN INSERT INTO "removed_${table}" VALUES (${values}); END`,
    );
  }
  const back = Object.entries(kept).map(
    ([table, { back: where = "1" }]) =>
      `INSERT OR ${table === "lock_log" ? "REPLACE" : "IGNORE"} INTO "${table}" SELECT * FROM "removed_${table}" AS r WHERE ${where}`,
  );
  const all = (statements: readonly string[]) =>
    void database.exec(`BEGIN; ${statements.join("; ")}; COMMIT`);
  return {
    query: <Row>(text: string, ...values: (string | number)[]) =>
      database.prepare(text).all(...values) as Row[],
    putBack: () => all(back),
    forget: () => all(tables.map((table) => `DELETE FROM "removed_${table}"`)),
    close: () => void database.close(),
  };
}
