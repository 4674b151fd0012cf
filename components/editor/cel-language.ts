/**
 * CEL in code fields: colours by token (the tokens' four hues), names that are known, brackets.
 */
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { celTokens } from "@/lib/diagram/cel-scan";

const keywords = new Set(["true", "false", "null", "in"]);
const roots = new Set([
  "context",
  "event",
  "input",
  "params",
  "_event",
  "_sessionid",
  "_name",
  "_ioprocessors",
]);

export const celLanguage = StreamLanguage.define<{ triple: string | null }>({
  name: "cel",
  startState: () => ({ triple: null }),
  token(stream) {
    const rest = stream.string.slice(stream.pos);
    const token = celTokens(rest)[0];
    if (!token) {
      stream.skipToEnd();
      return null;
    }
    stream.pos += Math.max(1, token.text.length);
    if (token.kind === "string") return "string";
    if (token.kind === "number") return "number";
    if (token.kind === "comment") return "comment";
    if (token.kind !== "name") return null;
    if (keywords.has(token.text)) return "keyword";
    if (roots.has(token.text)) return "variableName.special";
    return rest.slice(token.text.length).trimStart().startsWith("(") ? "keyword" : null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--taken)" },
  { tag: tags.string, color: "var(--active)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--exited)" },
  { tag: [tags.special(tags.variableName), tags.propertyName], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--text-3)" },
]);

/** Looks of every code field: light and dark by the variables. */
export const codeLooks = [
  EditorView.theme({
    "&": { backgroundColor: "transparent", color: "var(--text)", fontSize: "12px" },
    "&.cm-focused": { outline: "none" },
    ".cm-content": {
      fontFamily: "var(--font-geist-mono), monospace",
      padding: "6px 0",
      caretColor: "var(--text)",
    },
    ".cm-line": { padding: "0 8px", lineHeight: "18px" },
    ".cm-gutters": { backgroundColor: "transparent", color: "var(--text-3)", border: "none" },
    ".cm-lineNumbers .cm-gutterElement": { padding: "0 2px 0 10px", lineHeight: "18px", minWidth: "18px" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: "var(--accent-soft) !important",
    },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-placeholder": { color: "var(--text-3)" },
    ".cm-foldPlaceholder": { backgroundColor: "var(--surface-3)", border: "none", color: "var(--text-2)" },
    ".cm-matchingBracket": { backgroundColor: "var(--surface-3) !important", outline: "none" },
    ".cm-tooltip": {
      backgroundColor: "var(--surface)",
      border: "1px solid var(--border-2)",
      borderRadius: "6px",
      color: "var(--text)",
      fontSize: "11.5px",
    },
    ".cm-lintRange-error": {
      backgroundImage: "none",
      textDecoration: "underline wavy var(--failed)",
      textUnderlineOffset: "3px",
    },
  }),
  syntaxHighlighting(colours),
];
