/**
 * What the parts of the XState importer share while they read one document.
 */
import type { Actions, Delay, Guard } from "@/lib/statechart/document";
import type { Reports } from "../reports";
import type { Expressions } from "./expressions";
import type { StateNames } from "./state-names";

export interface Reading {
  reports: Reports;
  names: StateNames;
  expressions: Expressions;
  /** Names used as guards, actions and delays; each gets a placeholder in the chart. */
  guards: Map<string, Guard>;
  actions: Map<string, Actions>;
  delays: Map<string, Delay>;
}

export const listOf = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

export const isText = (value: unknown): value is string => typeof value === "string";
