/**
 * A form made from a JSON Schema: the fields a person fills in, and what is wrong with an answer. Texts, numbers, booleans and
 * choices have fields; everything else is a field of JSON; a schema that is no object's is one such field.
 *
 * Holds: the page that shows the form and the server that takes the answer use the same rules.
 */
import { isJsonObject, type Json, type JsonObject } from "./json";

export interface FormField {
  /** Null: the answer as a whole. */
  name: string | null;
  label: string;
  hint: string | null;
  kind: "text" | "number" | "whole" | "boolean" | "choice" | "json";
  choices: Json[];
  required: boolean;
  initial: Json | undefined;
}

export function formFields(schema: Json | undefined): FormField[] {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties))
    return [fieldOf(null, isJsonObject(schema) ? schema : {}, isJsonObject(schema))];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) =>
    fieldOf(name, isJsonObject(property) ? property : {}, required.includes(name)),
  );
}

function fieldOf(name: string | null, schema: JsonObject, required: boolean): FormField {
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  const kinds: Record<string, FormField["kind"]> = {
    string: "text",
    number: "number",
    integer: "whole",
    boolean: "boolean",
  };
  const kind =
    choices.length > 0
      ? "choice"
      : ((typeof schema.type === "string" ? kinds[schema.type] : undefined) ?? "json");
  return {
    name,
    label: typeof schema.title === "string" ? schema.title : (name ?? "Answer"),
    hint: typeof schema.description === "string" ? schema.description : null,
    kind,
    choices,
    required,
    initial: schema.default,
  };
}

export interface FormProblem {
  /** Null: the answer as a whole. */
  field: string | null;
  message: string;
}

/** Fields that the schema doesn't name are let through: the form is what is asked for, not a fence. */
export function formProblems(schema: Json | undefined, answer: Json): FormProblem[] {
  const fields = formFields(schema);
  const [only] = fields;
  if (only?.name === null) return problemsOf(only, answer);
  if (!isJsonObject(answer)) return [{ field: null, message: "The answer must be an object." }];
  return fields.flatMap((field) => problemsOf(field, answer[field.name ?? ""]));
}

function problemsOf(field: FormField, value: Json | undefined): FormProblem[] {
  const { name, label, kind, choices, required } = field;
  if (value === undefined || value === null)
    return required ? [{ field: name, message: `${label} is needed.` }] : [];
  const same = (choice: Json) => JSON.stringify(choice) === JSON.stringify(value);
  const wrong: Record<FormField["kind"], string | null> = {
    text: typeof value === "string" ? null : "must be a text",
    number: typeof value === "number" ? null : "must be a number",
    whole: Number.isInteger(value) ? null : "must be a whole number",
    boolean: typeof value === "boolean" ? null : "must be true or false",
    choice: choices.some(same)
      ? null
      : `must be one of ${choices.map((each) => JSON.stringify(each)).join(", ")}`,
    json: null,
  };
  return wrong[kind] === null ? [] : [{ field: name, message: `${label} ${wrong[kind]}.` }];
}
