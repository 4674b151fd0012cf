/**
 * The audit's statements.
 */
import type { AuditFilter, AuditReads, AuditRow } from "../audit";
import type { Reader } from "./connection";
import { join, sql } from "./statement";
import { audit } from "./tables";

export function auditReads(handle: Reader): AuditReads {
  return {
    listAudit(filter, after, limit) {
      const conditions = conditionsOf(filter);
      if (after) conditions.push(sql`("at", "id") < (${after.at}, ${after.id})`);
      return handle.query<AuditRow>(
        sql`SELECT ${audit.all} FROM ${audit.name} WHERE ${join(conditions, " AND ")} ORDER BY "at" DESC, "id" DESC LIMIT ${limit}`,
      );
    },
  };
}

function conditionsOf({ actor, action, target, outcome, from, to }: AuditFilter) {
  const conditions = [sql`1 = 1`];
  if (actor !== undefined) conditions.push(sql`"actor" = ${actor}`);
  if (action !== undefined) conditions.push(sql`"action" = ${action}`);
  if (target !== undefined) conditions.push(sql`"target" = ${target}`);
  if (outcome !== undefined) conditions.push(sql`"outcome" = ${outcome}`);
  if (from !== undefined) conditions.push(sql`"at" >= ${from}`);
  if (to !== undefined) conditions.push(sql`"at" < ${to}`);
  return conditions;
}
