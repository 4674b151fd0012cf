/**
 * The text of a stateDiagram into what it states, line by line: states by id, arrows, blocks and their regions.
 *
 * Holds: a line that is no statement of a stateDiagram is an error with its line and column; depth, states and arrows
 *        are bounded. Colours, links and sizes are skipped: they draw, they do not mean.
 */
import type { Reports } from "../reports";
import { chartBounds } from "@/lib/statechart/validate";
import { decodeText } from "./mermaid-text";
import type { TextPosition } from "../text-position";

/** A region: what stands between the braces of a state, or between two `--` in them. */
export interface Block {
  /** The state it stands in; null for the diagram. */
  owner: string | null;
  parent: Block | null;
  depth: number;
}

export type PseudoKind = "choice" | "fork" | "join";

export interface ScannedState {
  id: string;
  at: TextPosition;
  /** Texts that it is described by, in order, each with its place among all that the diagram says. */
  titles: { text: string; turn: number }[];
  notes: string[];
  kind: PseudoKind | null;
  regions: Block[];
  /** Where it was spoken of; `declared`: where it was introduced by name. */
  mentions: Block[];
  declared: Block | null;
}

/** `null` is `[*]`. */
export interface Arrow {
  from: string | null;
  to: string | null;
  label: string;
  block: Block;
  at: TextPosition;
  /** Its place among all that the diagram says. */
  turn: number;
}

export interface Diagram {
  title: string | null;
  description: string | null;
  root: Block;
  /** The diagram's own regions; `root` is the first. */
  rootRegions: Block[];
  states: Map<string, ScannedState>;
  arrows: Arrow[];
}

const arrowsMax = 20_000;
const idPattern = /^[^\s:"{}[\]<>]+$/;
const arrowLine =
  /^(\[\*\]|[^\s:"{}[\]<>]+?)(?::::[\w-]+)?\s*-->\s*(\[\*\]|[^\s:"{}[\]<>]+)(?::::[\w-]+)?\s*(?::(?!:)\s*(.*))?$/;
const stateLine = /^([^\s:"{}[\]<>]+)(?::::[\w-]+)?\s*(?::(?!:)\s*(.*))?$/;
// Longer lines are no one's drawing; the bound keeps every pattern fast.
const lineCharsMax = 10_000;

export function scanMermaid(text: string, reports: Reports): Diagram | null {
  const scanner = new Scanner(reports);
  return scanner.scan(text.split(/\r\n|\r|\n/));
}

class Scanner {
  private readonly root: Block = { owner: null, parent: null, depth: 0 };
  private readonly diagram: Diagram = {
    title: null,
    description: null,
    root: this.root,
    rootRegions: [this.root],
    states: new Map(),
    arrows: [],
  };
  private block = this.root;
  private opened: { id: string; at: TextPosition; outside: Block }[] = [];
  private failed = false;
  private hasStyles = false;
  private line = 0;
  private turn = 0;

  constructor(private readonly reports: Reports) {}

  scan(lines: string[]): Diagram | null {
    let started = false;
    this.line = this.frontMatter(lines);
    for (; this.line < lines.length && !this.failed; this.line++) {
      const raw = lines[this.line] ?? "";
      const statement = raw.trim();
      if (statement === "") continue;
      if (raw.length > lineCharsMax)
        return this.fail("too-large", `The line has more than ${lineCharsMax} characters.`, raw);
      if (statement.startsWith("%%{")) this.skipUntil(lines, "}%%");
      else if (statement.startsWith("%%")) continue;
      else if (!started) {
        const header = /^stateDiagram(?:-v2)?(?:\s+(.*))?$/i.exec(statement);
        if (header === null)
          return this.fail(
            "not-mermaid",
            `This is no state diagram: it starts with \`${clip(statement)}\`, not with \`stateDiagram-v2\`.`,
            raw,
          );
        started = true;
        if (header[1] !== undefined) this.statements(header[1], raw, lines);
      } else this.statements(statement, raw, lines);
    }
    if (this.failed) return null;
    const open = this.opened.at(-1);
    if (open !== undefined) {
      this.reports.error(
        "bad-mermaid",
        `The brace of the state \`${open.id}\` is not closed: add a line \`}\`.`,
        open.at,
      );
      return null;
    }
    if (!started) return this.fail("not-mermaid", "There is no `stateDiagram-v2` in the text.", "");
    if (this.hasStyles)
      this.reports.lose(
        "Colours, classes, links and sizes (classDef, class, style, click, scale) are left out.",
      );
    return this.diagram;
  }

  /** YAML between two `---` before the diagram: its title is the chart's name. */
  private frontMatter(lines: string[]): number {
    const first = lines.findIndex((line) => line.trim() !== "");
    if (lines[first]?.trim() !== "---") return 0;
    const end = lines.findIndex((line, index) => index > first && line.trim() === "---");
    if (end < 0) return 0;
    for (const line of lines.slice(first + 1, end)) {
      const title = /^title:\s*(\S.*)$/.exec(line)?.[1]?.trim();
      if (title !== undefined) this.diagram.title = /^(["'])(.*)\1$/s.exec(title)?.[2] ?? title;
    }
    return end + 1;
  }

  /** One line, which may open or close blocks besides its statement. */
  private statements(line: string, raw: string, lines: string[]): void {
    let rest = line;
    while (rest !== "" && !this.failed) {
      if (rest.startsWith("}")) {
        this.close(raw);
        rest = rest.slice(1).trim();
        continue;
      }
      const opens = /^state\s+(?:"[^"]*"\s*as\s+)?[^\s"{]+\s*\{/i.exec(rest)?.[0];
      if (opens !== undefined && opens.length < rest.length) {
        this.statement(opens, raw, lines);
        rest = rest.slice(opens.length).trim();
        continue;
      }
      // A brace at the end closes the block, where no label holds it.
      const closes = /^[^:"{]*$/.test(rest) && rest.endsWith("}") ? rest.indexOf("}") : -1;
      if (closes > 0) {
        this.statement(rest.slice(0, closes).trim(), raw, lines);
        rest = rest.slice(closes);
        continue;
      }
      this.statement(rest, raw, lines);
      return;
    }
  }

  private statement(text: string, raw: string, lines: string[]): void {
    if (/^direction\s+(?:TB|TD|BT|RL|LR)$/i.test(text) || /^hide\s+empty\s+description$/i.test(text)) return;
    if (/^accTitle\s*:/i.test(text)) return;
    const described = /^accDescr\s*:\s*(.*)$/i.exec(text)?.[1];
    if (described !== undefined) return void (this.diagram.description = decodeText(described).trim());
    if (/^accDescr\s*\{/i.test(text)) return this.describe(text, raw, lines);
    if (/^(?:classDef|class|style|click|scale)\s/i.test(text)) {
      this.hasStyles = true;
      return;
    }
    if (/^--$/.test(text)) return this.divide();
    if (/^note\s/i.test(text)) return this.note(text, raw, lines);
    if (/^state(?:\s|$)/i.test(text) && !/^state\s*(?:-->|:)/i.test(text)) return this.state(text, raw);
    const arrow = arrowLine.exec(text);
    if (arrow) return this.arrow(arrow[1] ?? "", arrow[2] ?? "", arrow[3] ?? "", raw);
    const spoken = stateLine.exec(text);
    if (spoken?.[1] !== undefined && !spoken[1].includes("-->")) {
      const state = this.find(spoken[1], raw);
      if (state === null) return;
      state.declared ??= this.block;
      const title = decodeText(spoken[2] ?? "").trim();
      if (title !== "") state.titles.push({ text: title, turn: this.turn++ });
      return;
    }
    this.fail(
      "bad-mermaid",
      `\`${clip(text)}\` is no line of a state diagram: write \`a --> b : event\`, \`state a\`, \`a : text\` or \`note right of a : text\`.`,
      raw,
    );
  }

  /** `accDescr {`, which may hold several lines. */
  private describe(text: string, raw: string, lines: string[]): void {
    const start = this.line;
    const content = [text.slice(text.indexOf("{") + 1)];
    while (!(content.at(-1) ?? "").includes("}")) {
      this.line++;
      if (this.line >= lines.length) {
        this.line = start;
        this.fail("bad-mermaid", "The brace of accDescr is not closed: add a line `}`.", raw);
        return;
      }
      content.push(lines[this.line] ?? "");
    }
    const parts = content
      .map((line) => decodeText(line.replace(/\}.*$/, "").trim()))
      .filter((line) => line !== "");
    this.diagram.description = parts.join("\n");
  }

  private state(text: string, raw: string): void {
    const parts =
      /^state\s+(?:"([^"]*)"\s*as\s+)?([^\s"{]+?)\s*(?:(?:<<|\[\[)\s*(\w+)\s*(?:>>|\]\])|(\{)|:(?!:)\s*(.*))?$/is.exec(
        text,
      );
    const titled = /^state\s+"([^"]*)"$/i.exec(text);
    if (parts?.[2] === undefined) {
      const why = titled
        ? 'give it an id: `state "text" as id`'
        : 'write `state id`, `state "text" as id`, `state id {` or `state id <<choice>>`';
      this.fail("bad-mermaid", `\`${clip(text)}\` declares no state: ${why}.`, raw);
      return;
    }
    const state = this.find(parts[2].replace(/:::[\w-]+$/, ""), raw);
    if (state === null) return;
    state.declared ??= this.block;
    for (const title of [parts[1], parts[5]])
      if (title !== undefined && title.trim() !== "")
        state.titles.push({ text: decodeText(title).trim(), turn: this.turn++ });
    const kind = parts[3]?.toLowerCase();
    if (kind === "choice" || kind === "junction") state.kind = "choice";
    else if (kind === "fork" || kind === "join") state.kind = kind;
    else if (kind !== undefined)
      this.reports.lose(`<<${kind}>> is unknown here: \`${state.id}\` is a plain state.`, {
        state: state.id,
        ...this.at(raw),
      });
    if (parts[4] !== undefined) this.open(state, raw);
  }

  private open(state: ScannedState, raw: string): void {
    if (state.regions.length > 0) {
      this.fail(
        "bad-mermaid",
        `The state \`${state.id}\` has its braces twice: put all of it into one pair.`,
        raw,
      );
      return;
    }
    if (this.block.depth + 1 >= chartBounds.depthMax) {
      this.fail("too-deep", `States are nested deeper than ${chartBounds.depthMax} levels.`, raw);
      return;
    }
    this.opened.push({ id: state.id, at: this.at(raw), outside: this.block });
    const block: Block = { owner: state.id, parent: this.block, depth: this.block.depth + 1 };
    state.regions.push(block);
    this.block = block;
  }

  private close(raw: string): void {
    const opened = this.opened.pop();
    if (opened === undefined) this.fail("bad-mermaid", "This brace closes no state: remove it.", raw);
    else this.block = opened.outside;
  }

  /** `--`: the next region of the state whose braces these are. */
  private divide(): void {
    const opened = this.opened.at(-1);
    const block: Block = {
      owner: this.block.owner,
      parent: this.block.parent,
      depth: this.block.depth,
    };
    const regions =
      opened === undefined ? this.diagram.rootRegions : this.diagram.states.get(opened.id)?.regions;
    regions?.push(block);
    this.block = block;
  }

  private note(text: string, raw: string, lines: string[]): void {
    const beside = /^note\s+(?:left|right)\s+of\s+([^\s:]+)\s*(?::\s*(.*))?$/is.exec(text);
    if (beside?.[1] === undefined) {
      const floating = /^note\s+"([^"]*)"\s*as\s+\S+$/i.exec(text);
      if (floating === null)
        this.fail("bad-mermaid", `\`${clip(text)}\` is no note: write \`note right of id : text\`.`, raw);
      else
        this.reports.lose(
          `The note "${clip(decodeText(floating[1] ?? ""))}" belongs to no state and is left out.`,
          this.at(raw),
        );
      return;
    }
    const state = this.find(beside[1], raw);
    const content: string[] = [];
    if (beside[2] !== undefined) content.push(beside[2]);
    else {
      const start = this.line;
      for (this.line++; !/^end\s+note$/i.test(lines[this.line]?.trim() ?? ""); this.line++) {
        if (this.line >= lines.length) {
          this.line = start;
          this.fail("bad-mermaid", "The note is not closed: add a line `end note`.", raw);
          return;
        }
        content.push(lines[this.line]?.trim() ?? "");
      }
    }
    state?.notes.push(decodeText(content.join("\n")).trim());
  }

  private arrow(from: string, to: string, label: string, raw: string): void {
    const end = (written: string): string | null | undefined =>
      written === "[*]" ? null : this.find(written, raw)?.id;
    const [source, target] = [end(from), end(to)];
    if (source === undefined || target === undefined) return;
    if (source === null && target === null) {
      this.fail("bad-mermaid", "`[*] --> [*]` leads from nothing to nothing: name a state.", raw);
      return;
    }
    if (this.diagram.arrows.length >= arrowsMax) {
      this.fail("too-large", `The diagram has more than ${arrowsMax} arrows.`, raw);
      return;
    }
    this.diagram.arrows.push({
      from: source,
      to: target,
      label: decodeText(label),
      block: this.block,
      at: this.at(raw),
      turn: this.turn++,
    });
  }

  private find(written: string, raw: string): ScannedState | null {
    const { states } = this.diagram;
    let state = states.get(written);
    if (state === undefined) {
      if (!idPattern.test(written) || written.includes("#") || written === "__proto__") {
        this.fail(
          "bad-id",
          `\`${clip(written)}\` cannot be a state's id: letters, digits, "_" and "." only.`,
          raw,
        );
        return null;
      }
      if (states.size >= chartBounds.statesMax) {
        this.fail("too-large", `The diagram has more than ${chartBounds.statesMax} states.`, raw);
        return null;
      }
      state = {
        id: written,
        at: this.at(raw),
        titles: [],
        notes: [],
        kind: null,
        regions: [],
        mentions: [],
        declared: null,
      };
      states.set(written, state);
    }
    if (!state.mentions.includes(this.block)) state.mentions.push(this.block);
    return state;
  }

  private skipUntil(lines: string[], end: string): void {
    while (this.line < lines.length && !(lines[this.line] ?? "").includes(end)) this.line++;
  }

  private at(raw: string): TextPosition {
    return { line: this.line + 1, column: raw.length - raw.trimStart().length + 1 };
  }

  private fail(code: string, message: string, raw: string): null {
    this.failed = true;
    this.reports.error(code, message, this.at(raw));
    return null;
  }
}

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
