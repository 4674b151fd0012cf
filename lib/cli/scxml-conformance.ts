/**
 * The public SCXML cases (@scion-scxml/test-framework: a document and a script of events with expected configurations)
 * through our importer, engine and virtual clock. What is excluded is found by rule, never by hand.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import type { Json } from "@/lib/base/json";
import { importChart } from "@/lib/formats/import-chart";
import type { ImportResult } from "@/lib/formats/import-result";
import { readXml, type XmlElement } from "@/lib/formats/scxml/read-xml";
import { compile } from "@/lib/statechart/compile";
import { Session } from "./session";

export interface ConformanceCase {
  /** Path of the document below the cases' folder, without extension. */
  name: string;
  document: string;
  script: CaseScript;
  /** Why the case is not run; null: it is. */
  excluded: string | null;
}

interface CaseScript {
  initialConfiguration: string[];
  events: { after?: number; event: { name: string; data?: Json }; nextConfiguration: string[] }[];
}

/** Elements whose cases wait: code is never run, and sessions that talk to each other come later. */
const excludedElements = ["script", "invoke", "send"];

const require = createRequire(import.meta.url);
/** Where the package's cases are installed. */
const casesFolder = (): string =>
  join(dirname(require.resolve("@scion-scxml/test-framework/package.json")), "test");

export function readCases(folder = casesFolder()): ConformanceCase[] {
  return filesBelow(folder)
    .filter((file) => file.endsWith(".scxml"))
    .flatMap((document): ConformanceCase[] => {
      const scriptFile = document.replace(/\.scxml$/, ".json");
      const name = relative(folder, document).replace(/\.scxml$/, "");
      let script: CaseScript;
      try {
        script = JSON.parse(readFileSync(scriptFile, "utf8")) as CaseScript;
      } catch {
        // A document without a script is part of another case.
        return [];
      }
      return [{ name, document, script, excluded: reasonToExclude(document, script) }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Plays a case; null when every configuration is as expected, else the first difference. */
export function playCase({ document, script }: ConformanceCase): string | null {
  const { chart, diagnostics, name } = importCase(document);
  if (chart === null) return `import failed: ${diagnostics[0]?.message ?? ""}`;
  const session = new Session(compile(chart), name === null ? {} : { name });
  const differs = (where: string, expected: string[], found: string[]): string | null => {
    const [want, got] = [expected, found].map((names) => names.toSorted().join(" "));
    return want === got ? null : `${where}: expected ${want}, got ${got}`;
  };
  const first = differs("start", script.initialConfiguration, session.start().configuration);
  if (first !== null) return first;
  for (const [index, { after, event, nextConfiguration }] of script.events.entries()) {
    if (after !== undefined) session.advance(after);
    const { configuration } = session.send(event.name, event.data);
    const difference = differs(`event ${index + 1} (${event.name})`, nextConfiguration, configuration);
    if (difference !== null) return difference;
  }
  return null;
}

function importCase(document: string): ImportResult {
  return importChart(readFileSync(document, "utf8"), {
    fileName: basename(document),
    load: (src) => {
      try {
        return readFileSync(join(dirname(document), src.replace(/^file:/, "")), "utf8");
      } catch {
        return null;
      }
    },
  });
}

function reasonToExclude(document: string, script: CaseScript): string | null {
  const parsed = readXml(readFileSync(document, "utf8"));
  if (!parsed.ok) return `not XML: ${parsed.message}`;
  const element = findElement(parsed.root, parsed.root.uri);
  if (element !== null) return `\`<${element}>\``;
  const { losses, chart, positions = {} } = importCase(document);
  const untranslated = losses.find(({ message }) => message.includes("placeholder"));
  if (untranslated !== undefined) return untranslated.message;
  const expected = [
    script.initialConfiguration,
    ...script.events.map((step) => step.nextConfiguration),
  ].flat();
  const missing = chart === null ? undefined : expected.find((state) => !Object.hasOwn(positions, state));
  if (missing !== undefined)
    return `the case's script expects a state \`${missing}\` that its document does not have`;
  return null;
}

function findElement(element: XmlElement, uri: string): string | null {
  if (element.uri === uri && excludedElements.includes(element.name)) return element.name;
  for (const child of element.children) {
    const found = findElement(child, uri);
    if (found !== null) return found;
  }
  return null;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

/** docs/conformance.md: what is run, and each excluded case with what excludes it. */
export function conformanceReport(cases: readonly ConformanceCase[]): string {
  const excluded = cases.filter((one) => one.excluded !== null);
  const byReason = new Map<string, string[]>();
  for (const { name, excluded: reason } of excluded)
    byReason.set(reason ?? "", [...(byReason.get(reason ?? "") ?? []), name]);
  const sections = [...byReason]
    .sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1))
    .map(
      ([reason, names]) =>
        `### ${reason.replaceAll("\n", " ")}\n\n${names.map((name) => `- ${name}`).join("\n")}\n`,
    );
  return `# SCXML conformance

<!-- Written by scripts/scxml-conformance.mjs; a test compares it with what the script would write. -->

The public cases of \`@scion-scxml/test-framework\` 2.0.16 (a document, and a script of events with the configurations they
lead to) run in \`npm test\` through the importer, the engine and the virtual clock of \`lockstep run\`: see
\`lib/cli/scxml-conformance.test.ts\`.

${cases.length} cases have a script: ${cases.length - excluded.length} are run, ${excluded.length} excluded.

A case is excluded by rule, never by hand: its document holds \`<script>\`, \`<invoke>\` or \`<send>\`; an expression of it lies
outside the translated ECMAScript subset; or its script expects a state that its document does not have.

## Excluded cases

${sections.join("\n")}`;
}
