/**
 * Where the two databases differ, by name. Everything else in this folder is one SQL text for both.
 */
import type { Provider } from "./connection";
import { empty, raw, sql, type Sql } from "./statement";

/** `change`: the writing transaction's number; `rank`: a message's place among all that wait. Both given by the database. */
export type ColumnType = "text" | "int" | "bigint" | "change" | "rank";
export type Columns = Record<string, ColumnType>;

export interface Dialect {
  readonly provider: Provider;
  /** Row locks, to put at a SELECT's end. SQLite needs none: a writing transaction is alone. */
  readonly forNoKeyUpdate: Sql;
  readonly forNoKeyUpdateSkipLocked: Sql;
  readonly forUpdate: Sql;
  readonly forShare: Sql;
  /** To be put behind a key that rows are locked in the order of: by bytes, as callers sort, whatever the database's collation. */
  readonly byBytes: Sql;
  /** The number of the transaction that runs this statement, growing in the order in which feeds may show it. */
  readonly changeTx: Sql;
  /** Rows given as one JSON parameter, as a table named r with quoted camel-case columns. */
  records(rows: readonly object[], columns: Columns): Sql;
  /** In a statement for many rows: one row's field. */
  cell(name: string): string;
  /** The rows as a table named r with quoted camel-case columns; null where each row is run by itself. */
  rowsTable(columns: Columns): string | null;
  /** A source of one line of `values` (made of cells) for each row. */
  fromRows(values: readonly string[], columns: Columns): string;
  /** A list of texts given as one JSON parameter, to put after IN. */
  texts(values: readonly string[]): Sql;
  /** The same as a table named p: "text", and "place", which grows along the list. */
  placed(values: readonly string[]): Sql;
}

const quoted = (name: string): string => `"${name}"`;

const columnList = (columns: Columns): string =>
  Object.entries(columns)
    .map(([name, type]) => `${quoted(name)} ${type}`)
    .join(", ");

const sqlite: Dialect = {
  provider: "sqlite",
  forNoKeyUpdate: empty,
  forNoKeyUpdateSkipLocked: empty,
  forUpdate: empty,
  forShare: empty,
  byBytes: empty,
  changeTx: sql`(SELECT tx FROM clock)`,
  records: (rows, columns) => {
    const list = Object.keys(columns).map((name) => `value ->> '$.${name}' AS ${quoted(name)}`);
    return sql`(SELECT ${raw(list.join(", "))} FROM json_each(${JSON.stringify(rows)})) AS r`;
  },
  cell: (name) => `@${name}`,
  rowsTable: () => null,
  fromRows: (values) => `VALUES (${values.join(", ")})`,
  texts: (values) => sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`,
  placed: (values) =>
    sql`(SELECT value AS "text", key AS "place" FROM json_each(${JSON.stringify(values)})) AS p`,
};

/** PostgreSQL's `changeTx`, beside the clock's row. */
export const changeTxOfClock = "pg_current_xact_id()::text::bigint + tx_base";

const postgresql: Dialect = {
  provider: "postgresql",
  forNoKeyUpdate: sql`FOR NO KEY UPDATE`,
  forNoKeyUpdateSkipLocked: sql`FOR NO KEY UPDATE SKIP LOCKED`,
  forUpdate: sql`FOR UPDATE`,
  forShare: sql`FOR SHARE`,
  byBytes: sql` COLLATE "C"`,
  changeTx: sql`(SELECT ${raw(changeTxOfClock)} FROM clock)`,
  records: (rows, columns) =>
    sql`json_to_recordset(${JSON.stringify(rows)}::json) AS r(${raw(columnList(columns))})`,
  cell: (name) => `r.${quoted(name)}`,
  rowsTable: (columns) => `json_to_recordset($1::json) AS r(${columnList(columns)})`,
  fromRows: (values, columns) =>
    `SELECT ${values.join(", ")} FROM json_to_recordset($1::json) AS r(${columnList(columns)})`,
  texts: (values) => sql`(SELECT jsonb_array_elements_text(${JSON.stringify(values)}::jsonb))`,
  placed: (values) =>
    sql`jsonb_array_elements_text(${JSON.stringify(values)}::jsonb) WITH ORDINALITY AS p("text", "place")`,
};

export const dialects: Record<Provider, Dialect> = { sqlite, postgresql };
