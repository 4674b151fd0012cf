/**
 * The filters of instances as SQL, for lists and counts alike.
 *
 * Holds: a filter is answered from indexed columns and rows, never by looking into JSON. What few instances have is looked up
 *        from its own rows, and only those instances are read; what many have is asked of the newest instances, by key.
 */
import { must } from "@/lib/base/assert";
import type { InstanceFilter } from "../instances";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { sql, type Sql } from "./statement";
import { instances } from "./tables";

/** To be put after FROM and WHERE; columns are named as those of the table `instances`. */
export interface FilteredInstances {
  from: Sql;
  conditions: Sql[];
}

/** Something that instances have, each in a row of its own. */
interface Trait {
  /** After FROM: the rows of those that have it, as `t`. */
  rows: Sql;
  /** Whether the row of `instances` at hand has it. */
  has: Sql;
}

/** What no more instances have is rare. */
export const rareMax = 1_000;

export async function filteredInstances(
  handle: Reader,
  dialect: Dialect,
  filter: InstanceFilter,
): Promise<FilteredInstances> {
  const traits = traitsOf(filter);
  const found = await Promise.all(traits.map(({ rows }) => handle.query<{ id: string }>(rarely(rows))));
  const conditions = plainConditions(filter);
  const rare: string[][] = [];
  for (const [index, rows] of found.entries()) {
    if (rows.length <= rareMax) rare.push(rows.map(({ id }) => id));
    else conditions.push(must(traits[index], "one answer a trait").has);
  }
  const [first, ...more] = rare.map((ids) => new Set(ids));
  if (!first) return { from: instances.name, conditions };
  const ids = [...first].filter((id) => more.every((others) => others.has(id)));
  return { from: onlyThose(dialect, ids), conditions };
}

const rarely = (rows: Sql): Sql => sql`SELECT t."instance_id" AS "id" FROM ${rows} LIMIT ${rareMax + 1}`;

/** The limit keeps the planners from looking for them along another index. */
export const onlyThose = (dialect: Dialect, ids: readonly string[]): Sql =>
  sql`(SELECT * FROM ${instances.name} WHERE "id" IN ${dialect.texts(ids)} LIMIT ${ids.length}) AS ${instances.name}`;

function traitsOf({ state, labels = [], fields = [], condition }: InstanceFilter): Trait[] {
  const traits: Trait[] = labels.map(({ key, value }) => ({
    rows: sql`"instance_labels" AS t WHERE t."key" = ${key} AND t."value" = ${value}`,
    has: sql`(SELECT l."value" FROM "instance_labels" AS l WHERE l."instance_id" = "instances"."id" AND l."key" = ${key}) = ${value}`,
  }));
  for (const { chartId, field, value } of fields) {
    traits.push({
      rows: sql`"instance_fields" AS t WHERE t."chart_id" = ${chartId} AND t."field" = ${field} AND t."value" = ${value}`,
      has: sql`(SELECT f."value" FROM "instance_fields" AS f WHERE f."instance_id" = "instances"."id" AND f."field" = ${field}) = ${value}`,
    });
  }
  if (condition !== undefined && condition !== "key") {
    // A process of an earlier version ends tasks without taking it off them.
    const those = sql`"condition" = ${condition} AND "status" IN ('pending', 'running')`;
    traits.push({
      rows: sql`"tasks" AS t WHERE ${those}`,
      has: sql`(SELECT 1 FROM "tasks" AS t WHERE ${those} AND t."instance_id" = "instances"."id" LIMIT 1) = 1`,
    });
  }
  if (state !== undefined) {
    traits.push({
      rows: sql`"instance_states" AS t WHERE t."state" = ${state}`,
      has: sql`(SELECT s."state" FROM "instance_states" AS s WHERE s."state" = ${state} AND s."instance_id" = "instances"."id") IS NOT NULL`,
    });
  }
  return traits;
}

function plainConditions(filter: InstanceFilter): Sql[] {
  const conditions = [sql`"deleted_at" IS NULL`];
  if (filter.chartId !== undefined) conditions.push(sql`"chart_id" = ${filter.chartId}`);
  if (filter.status !== undefined) conditions.push(sql`"status" = ${filter.status}`);
  if (filter.condition === "key") conditions.push(sql`"status" = 'queued'`);
  if (filter.businessKey !== undefined) conditions.push(sql`"business_key" = ${filter.businessKey}`);
  if (filter.parent !== undefined) {
    conditions.push(sql`"id" IN (SELECT "child_id" FROM "children" WHERE "parent_id" = ${filter.parent})`);
  }
  if (filter.idPrefix !== undefined && filter.idPrefix !== "") {
    conditions.push(sql`substr("id", 1, ${filter.idPrefix.length}) = ${filter.idPrefix}`);
  }
  return conditions;
}
