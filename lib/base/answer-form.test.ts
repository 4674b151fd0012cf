import { expect, test } from "vitest";
import { formFields, formProblems } from "./answer-form";

const schema = {
  properties: {
    note: { type: "string", title: "Note", description: "for the driver", default: "none" },
    pallets: { type: "integer" },
    weight: { type: "number" },
    ok: { type: "boolean" },
    zone: { enum: ["A", "B"] },
    more: { type: "array" },
  },
  required: ["ok", "zone"],
};

test("each property is a field of its kind, what has none is a field of JSON", () => {
  expect(formFields(schema).map(({ name, kind, required }) => [name, kind, required])).toEqual([
    ["note", "text", false],
    ["pallets", "whole", false],
    ["weight", "number", false],
    ["ok", "boolean", true],
    ["zone", "choice", true],
    ["more", "json", false],
  ]);
  expect(formFields(schema)[0]).toMatchObject({ label: "Note", hint: "for the driver", initial: "none" });
  expect(formFields(undefined)).toMatchObject([{ name: null, kind: "json", required: false }]);
  expect(formFields({ type: "boolean" })).toMatchObject([{ name: null, kind: "boolean", required: true }]);
});

test("an answer is refused field by field, with what would be right", () => {
  expect(formProblems(schema, { ok: true, zone: "A", pallets: 2, beside: 1 })).toEqual([]);
  expect(formProblems(schema, { zone: "C", pallets: 2.5, weight: "x", note: 1 })).toEqual([
    { field: "note", message: "Note must be a text." },
    { field: "pallets", message: "pallets must be a whole number." },
    { field: "weight", message: "weight must be a number." },
    { field: "ok", message: "ok is needed." },
    { field: "zone", message: 'zone must be one of "A", "B".' },
  ]);
  expect(formProblems(schema, 5)).toEqual([{ field: null, message: "The answer must be an object." }]);
  expect(formProblems({ type: "integer" }, "x")).toMatchObject([{ field: null }]);
  expect(formProblems(undefined, null)).toEqual([]);
});
