/**
 * JSON (RFC 8259) with the place of every fault: what JSON.parse cannot tell, and the same in every browser.
 *
 * Holds: depth and number of values are bounded; a duplicate key and the key `__proto__` are faults, for both lose or
 *        hide data silently later; nothing is thrown out of parseJson.
 * Does not: know what the JSON means.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { importBounds } from "./import-result";
import { positionAt, type TextPosition } from "./text-position";

export type ParsedJson =
  | {
      ok: true;
      value: Json;
      /** Key order as written, of the objects whose order JavaScript does not keep (keys like "10"). */
      keyOrder: ReadonlyMap<JsonObject, readonly string[]>;
      /** Where each object begins. */
      offsets: ReadonlyMap<JsonObject, number>;
    }
  | { ok: false; message: string; at: TextPosition };

export interface ParseJsonOptions {
  /** Refuses whole numbers beyond ±(2⁵³−1) too: they would be kept as others. */
  exactNumbers?: boolean;
}

export function parseJson(text: string, { exactNumbers = false }: ParseJsonOptions = {}): ParsedJson {
  const parser = new Parser(text, exactNumbers);
  try {
    const value = parser.document();
    return { ok: true, value, keyOrder: parser.keyOrder, offsets: parser.offsets };
  } catch (error) {
    if (error instanceof JsonFault)
      return { ok: false, message: error.message, at: positionAt(text, error.offset) };
    throw error;
  }
}

class JsonFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainString = /[^"\\\u0000-\u001f]*/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Parser {
  readonly keyOrder = new Map<JsonObject, readonly string[]>();
  readonly offsets = new Map<JsonObject, number>();
  private at = 0;
  private values = 0;

  constructor(
    private readonly text: string,
    private readonly exactNumbers: boolean,
  ) {}

  document(): Json {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail(`nothing may follow the JSON value, but ${this.found()} does`);
    return value;
  }

  private value(depth: number): Json {
    if (depth > importBounds.depthMax) this.fail(`nested deeper than ${importBounds.depthMax} levels`);
    if (++this.values > importBounds.valuesMax) this.fail(`more than ${importBounds.valuesMax} values`);
    this.space();
    const char = this.text[this.at];
    if (char === "{") return this.object(depth);
    if (char === "[") return this.array(depth);
    if (char === '"') return this.string();
    if (this.word("true")) return true;
    if (this.word("false")) return false;
    if (this.word("null")) return null;
    return this.number();
  }

  private object(depth: number): JsonObject {
    const object: JsonObject = {};
    const keys: string[] = [];
    this.offsets.set(object, this.at);
    this.at++;
    this.space();
    if (this.take("}")) return object;
    for (;;) {
      this.space();
      const keyAt = this.at;
      if (this.text[this.at] !== '"') this.fail(`expected a key in double quotes, found ${this.found()}`);
      const key = this.string();
      if (key === "__proto__") this.fail('the key "__proto__" is not allowed', keyAt);
      if (Object.hasOwn(object, key)) this.fail(`the key ${JSON.stringify(key)} stands twice`, keyAt);
      this.space();
      if (!this.take(":")) this.fail(`expected ":" after the key, found ${this.found()}`);
      object[key] = this.value(depth + 1);
      keys.push(key);
      this.space();
      if (this.take("}")) break;
      if (!this.take(",")) this.fail(`expected "," or "}", found ${this.found()}`);
    }
    if (keys.some(isArrayIndex)) this.keyOrder.set(object, keys);
    return object;
  }

  private array(depth: number): Json[] {
    const array: Json[] = [];
    this.at++;
    this.space();
    if (this.take("]")) return array;
    for (;;) {
      array.push(this.value(depth + 1));
      this.space();
      if (this.take("]")) return array;
      if (!this.take(",")) this.fail(`expected "," or "]", found ${this.found()}`);
    }
  }

  private string(): string {
    const start = this.at++;
    let result = "";
    for (;;) {
      plainString.lastIndex = this.at;
      const plain = plainString.exec(this.text)?.[0] ?? "";
      result += plain;
      this.at += plain.length;
      const char = this.text[this.at];
      if (char === undefined) this.fail("the text ends inside this string", start);
      this.at++;
      if (char === '"') return result;
      if (char !== "\\")
        this.fail("a line break or control character inside a string; write \\n", this.at - 1);
      result += this.escape();
    }
  }

  private escape(): string {
    const char = this.text[this.at++] ?? "";
    if (char !== "u") {
      if (!Object.hasOwn(escapes, char)) this.fail(`\\${char} is not an escape of JSON`, this.at - 2);
      return escapes[char] ?? "";
    }
    const hex = this.text.slice(this.at, this.at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.fail("\\u needs four hexadecimal digits", this.at - 2);
    this.at += 4;
    return String.fromCharCode(parseInt(hex, 16));
  }

  private number(): number {
    numberPattern.lastIndex = this.at;
    const digits = numberPattern.exec(this.text)?.[0];
    if (digits === undefined) this.fail(`expected a value, found ${this.found()}`);
    const value = Number(digits);
    if (!Number.isFinite(value)) this.fail(`${digits} is too large for a number`);
    if (this.exactNumbers && Number.isInteger(value) && !Number.isSafeInteger(value))
      this.fail(
        `${digits} can't be kept exactly: whole numbers go to ±${Number.MAX_SAFE_INTEGER}; write it as text`,
      );
    this.at += digits.length;
    return value;
  }

  private word(word: string): boolean {
    if (!this.text.startsWith(word, this.at) || /[\w$]/.test(this.text[this.at + word.length] ?? ""))
      return false;
    this.at += word.length;
    return true;
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  private found(): string {
    const char = this.text[this.at];
    return char === undefined
      ? "the end of the text"
      : JSON.stringify(String.fromCodePoint(this.text.codePointAt(this.at) ?? 0));
  }

  private fail(message: string, offset = this.at): never {
    throw new JsonFault(message, offset);
  }
}

/** Keys that JavaScript moves to an object's front. */
export const isArrayIndex = (key: string): boolean =>
  /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
