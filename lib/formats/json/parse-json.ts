/**
 * The parser's former address, for the one importer that still uses it (components/editor/action-text.ts).
 */
export { parseJson } from "../parse-json";
