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
import { childCharts } from "@/lib/play/child-charts";
import { World } from "@/lib/play/world";
import { compile } from "@/lib/statechart/compile";

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

/** What a document holds that is not played: code is never run, and HTTP is an optional way to send. */
const isExcluded = ({ name, attributes }: XmlElement): string | null =>
  name === "script"
    ? "`<script>`"
    : name === "send" && /#BasicHTTPEventProcessor\/?$/.test(attributes.get("type") ?? "")
      ? "`<send>` over HTTP (the optional BasicHTTPEventProcessor)"
      : null;

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

/**
 * Plays a case; null when every configuration is as expected, else the first difference. The framework compares at the
 * end of the macrostep of the script's own event (or of the start): what that sent is played after it, and `after` lets
 * the virtual clock pass before the event.
 */
export function playCase({ document, script }: ConformanceCase): string | null {
  const { chart, diagnostics, name } = importCase(document);
  if (chart === null) return `import failed: ${diagnostics[0]?.message ?? ""}`;
  const load = loadBeside(document);
  const world = new World(
    { machine: compile(chart), ...(name === null ? {} : { name }) },
    { findChart: childCharts({ read: (text) => importChart(text, { load }), load }) },
  );
  const configuration = (): string[] => world.root.snapshot?.configuration ?? [];
  const differs = (where: string, expected: string[], found: string[]): string | null => {
    const [want, got] = [expected, found].map((names) => names.toSorted().join(" "));
    return want === got ? null : `${where}: expected ${want}, got ${got}`;
  };
  world.start();
  const first = differs("start", script.initialConfiguration, configuration());
  if (first !== null) return first;
  for (const [index, { after, event, nextConfiguration }] of script.events.entries()) {
    world.settle();
    if (after !== undefined) {
      const until = world.nowMs + after;
      world.runUntil(until);
      world.nowMs = until;
    }
    world.send(event.name, event.data);
    const difference = differs(`event ${index + 1} (${event.name})`, nextConfiguration, configuration());
    if (difference !== null) return difference;
  }
  return null;
}

function importCase(document: string): ImportResult {
  return importChart(readFileSync(document, "utf8"), {
    fileName: basename(document),
    load: loadBeside(document),
  });
}

const loadBeside =
  (document: string) =>
  (src: string): string | null => {
    try {
      return readFileSync(join(dirname(document), src.replace(/^file:/, "")), "utf8");
    } catch {
      return null;
    }
  };

function reasonToExclude(document: string, script: CaseScript): string | null {
  const parsed = readXml(readFileSync(document, "utf8"));
  if (!parsed.ok) return `not XML: ${parsed.message}`;
  const element = findExcluded(parsed.root, parsed.root.uri);
  if (element !== null) return element;
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

function findExcluded(element: XmlElement, uri: string): string | null {
  const reason = element.uri === uri ? isExcluded(element) : null;
  if (reason !== null) return reason;
  for (const child of element.children) {
    const found = findExcluded(child, uri);
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

A case is excluded by rule, never by hand: its document holds \`<script>\`, or sends over HTTP (an optional processor); an
expression of it lies outside the translated ECMAScript subset; or its script expects a state that its document does not
have. Configurations are compared at the end of the macrostep of the script's own event, as the framework defines it; what
that event sent is played after it, and the script's \`after\` lets virtual time pass.

## Excluded cases

${sections.join("\n")}`;
}
