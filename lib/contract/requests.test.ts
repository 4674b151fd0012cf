/**
 * What every request's schemas have in common, found by walking all of them.
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { keyCharsMax } from "@/lib/base/limits";
import { batchSelection, countBatchBody } from "./batches";
import { endpoints, type Endpoint } from "./endpoints";
import { instanceQuery, startInstanceBody } from "./instances";
import { createScheduleBody } from "./schedules";

interface Found {
  schema: z.core.$ZodType;
  at: string;
}

/** The schema and all within it, each once. */
function* within(schema: z.core.$ZodType, at: string, seen = new Set<z.core.$ZodType>()): Generator<Found> {
  if (seen.has(schema)) return;
  seen.add(schema);
  yield { schema, at };
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      for (const [name, each] of Object.entries(def.shape)) yield* within(each, `${at}.${name}`, seen);
      return;
    case "array":
      yield* within(def.element, `${at}[]`, seen);
      return;
    case "record":
      yield* within(def.keyType, `${at}{}`, seen);
      yield* within(def.valueType, `${at}{}`, seen);
      return;
    case "union":
      for (const each of def.options) yield* within(each, at, seen);
      return;
    case "optional":
    case "nullable":
      yield* within(def.innerType, at, seen);
      return;
    case "pipe":
      yield* within(def.in, at, seen);
      yield* within(def.out, at, seen);
      return;
    default:
      // JSON values (lazy) fit whatever JSON.parse gives.
      return;
  }
}

const requests = Object.entries(endpoints as Record<string, Endpoint>).flatMap(([name, endpoint]) => [
  ...within(endpoint.params, `${name} path`),
  ...within(endpoint.query, `${name} query`),
  ...(endpoint.body ? within(endpoint.body, `${name} body`) : []),
]);
const typeOf = ({ schema }: Found) => (schema as z.core.$ZodTypes)._zod.def.type;

test("a choice of shapes says what it wants, wherever one is", () => {
  const unions = requests.filter((found) => typeOf(found) === "union");
  expect(unions.length).toBeGreaterThanOrEqual(4);
  for (const { schema, at } of unions) {
    for (const wrong of [7, {}, { nonsense: true }]) {
      const { error } = z.safeParse(schema, wrong);
      expect(error?.issues[0]?.message, at).toMatch(/^must be /);
    }
  }
  expect(countBatchBody.safeParse({ selection: {} }).error?.issues[0]).toMatchObject({
    path: ["selection"],
    message: "must be {instanceIds: [1 to 1,000 ids]} or {filter: {…}}",
  });
  const { error } = createScheduleBody.safeParse({ id: "s", cron: "* * * * *", action: { kind: "dance" } });
  expect(error?.issues[0]).toMatchObject({ path: ["action", "kind"], message: 'must be "start" or "send"' });
});

test("a number in a path or a query is decimal digits alone", () => {
  const numbers = Object.entries(endpoints as Record<string, Endpoint>).flatMap(([name, { params, query }]) =>
    [params, query].flatMap((schema) =>
      Object.entries((schema as z.ZodObject).shape)
        .filter(([, each]) => z.safeParse(each as z.ZodType, "1").data === 1)
        .map(([field, each]) => ({ at: `${name}.${field}`, schema: each as z.ZodType })),
    ),
  );
  expect(numbers.length).toBeGreaterThanOrEqual(10);
  for (const { at, schema } of numbers) {
    for (const wrong of [
      "1e0",
      "0x1",
      "1.0",
      "+1",
      "-1",
      " 1",
      "1 ",
      "",
      "١",
      "1_0",
      "Infinity",
      "9".repeat(17),
    ]) {
      expect(schema.safeParse(wrong).success, `${at} takes "${wrong}"`).toBe(false);
    }
  }
});

test("a business key is searched for as long as a start or a chart may make it", () => {
  const key = "k".repeat(keyCharsMax);
  const takers = {
    list: (businessKey: string) => instanceQuery.safeParse({ businessKey }).success,
    batch: (businessKey: string) => batchSelection.safeParse({ filter: { businessKey } }).success,
    start: (businessKey: string) => startInstanceBody.safeParse({ chartId: "c", businessKey }).success,
  };
  for (const [who, takes] of Object.entries(takers)) {
    expect([who, takes(key), takes(`${key}k`)]).toEqual([who, true, false]);
  }
});

test("a text in a path or a query that no column can hold is refused, and so is one in a batch's filter", () => {
  for (const [name, { params, query }] of Object.entries(endpoints as Record<string, Endpoint>)) {
    for (const schema of [params, query]) {
      for (const [field, each] of Object.entries((schema as z.ZodObject).shape)) {
        for (const wrong of ["\0", "a\0", "a\ud800"]) {
          expect(z.safeParse(each as z.ZodType, wrong).success, `${name}.${field}`).toBe(false);
        }
      }
    }
  }
  expect(batchSelection.safeParse({ filter: { idPrefix: "a\0" } }).success).toBe(false);
  expect(batchSelection.safeParse({ filter: { idPrefix: "a" } }).success).toBe(true);
});
