/**
 * Writes docs/conformance.md: which public SCXML cases are run, and what excludes the others.
 */
import { writeFileSync } from "node:fs";
import { buildDriver } from "./driver.mjs";

const { conformanceReport, readCases } = await buildDriver("lib/cli/scxml-conformance.ts");
writeFileSync("docs/conformance.md", conformanceReport(readCases()));
