/**
 * What is sent to a database: a text with its values, or a text that is run for many rows at once.
 *
 * Holds: a Prepared's text is in the database's own dialect, made once, so that the server and the driver keep
 *        it prepared; an Sql is composed at its call, for what depends on the call's arguments.
 */
import { empty, join, raw, Sql, sqltag } from "@prisma/client/runtime/client";

export { empty, join, raw, Sql, sqltag as sql };

export interface Prepared {
  readonly text: string;
  readonly values: readonly unknown[];
}
export type Statement = Sql | Prepared;

/** One statement for any number of rows. SQLite runs it row by row, PostgreSQL takes all rows as one JSON parameter. */
export interface RowStatement {
  readonly text: string;
  /** The table that it changes. */
  readonly table: string;
}

/** Tests only: called before a statement is sent by the server process `pid`; gives the text that is sent. */
export type BeforeStatement = (pid: number, text: string) => Promise<string>;

/** Runs statements, in a transaction. */
export interface Handle {
  /** Rows as plain objects; whole numbers as numbers. */
  query<Row>(statement: Statement): Promise<Row[]>;
  /** How many rows it touched. */
  execute(statement: Statement): Promise<number>;
  /** How many rows it touched, over all `rows`. */
  executeRows(statement: RowStatement, rows: readonly object[]): Promise<number>;
  /** As executeRows, without waiting for the answer: when it fails, the transaction's end does. Saves round trips. */
  postRows(statement: RowStatement, rows: readonly object[]): void;
  /**
   * As postRows, for statements of which none reads what another of the same run of calls writes: PostgreSQL runs them as one
   * statement, as far as they change different tables.
   */
  postApart(statement: RowStatement, rows: readonly object[]): void;
}
