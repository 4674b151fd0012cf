/**
 * The floor plan as rules: who may import whom (README.md, "Floor plan"). Each room lists all that it may use; everything
 * else is refused, so that a new room starts with no rights. Type-only imports count.
 */
const room = (name) => `^lib/${name}/`;
const any = (...names) => names.map((n) => (n.includes(".") || n.startsWith("^") ? n : room(n)));

/** room → rooms it may import, with the reason its limit has. */
const plan = {
  base: [[], "base knows nobody: everything stands on it"],
  statechart: [["base"], "the engine is pure: it runs unchanged in browser, server and command line"],
  diagram: [["statechart", "base"], "a drawing knows the chart, never who shows it"],
  formats: [["statechart", "diagram", "base"], "text to chart and back; formats never import each other"],
  play: [["statechart", "base"], "a chart in memory: the same in command line and simulator, without files"],
  editor: [["statechart", "diagram", "base"], "document commands know no screen and no server"],
  contract: [
    ["statechart", "diagram", "base"],
    "what server and client promise each other depends on neither",
  ],
  store: [["statechart", "base"], "the store remembers; it decides nothing a chart or a verb should"],
  access: [["store", "base"], "who may do what, independent of what is asked"],
  observe: [["statechart", "base"], "watching changes nothing"],
  seeds: [["statechart", "diagram", "base"], "examples are data"],
  runtime: [
    ["statechart", "store", "access", "base"],
    "verbs decide what one transaction holds; they know no HTTP",
  ],
  invocations: [["runtime", "base"], "what a chart may ask of the world, behind the runtime's ports"],
  client: [["contract", "base"], "usable outside Next"],
  api: [
    ["contract", "formats", "runtime", "statechart", "access", "observe", "base", "^lib/compose.ts$"],
    "parse by contract, call the runtime, answer",
  ],
  cli: [
    ["formats", "diagram", "play", "statechart", "client", "contract", "base", "^lib/config.ts$"],
    "starts in 0.3 s: no server, no database",
  ],
  testing: [
    [
      "base",
      "statechart",
      "store",
      "access",
      "runtime",
      "contract",
      "diagram",
      "formats",
      "play",
      "^lib/compose.ts$",
      "^lib/config.ts$",
    ],
    "builders for tests, and what attacks every reader",
  ],
};

const allowances = Object.entries(plan).map(([name, [may, reason]]) => ({
  name: `room-${name}`,
  comment: reason,
  severity: "error",
  from: { path: room(name), pathNot: "\\.test\\.tsx?$" },
  to: { path: "^(app|components|lib|e2e|bench)/", pathNot: [room(name), ...any(...may)] },
}));

module.exports = {
  forbidden: [
    {
      name: "no-loops",
      comment: "A loop has no first room to understand; type-only loops count.",
      severity: "error",
      // Generated clients loop among themselves; nobody reads them.
      from: { pathNot: "^lib/store/generated/" },
      to: { circular: true },
    },
    ...allowances,
    {
      name: "compose",
      comment: "compose plugs the real parts together and knows no HTTP and no screen",
      severity: "error",
      from: { path: "^lib/compose.ts$" },
      to: {
        path: "^(app|components|lib|e2e)/",
        pathNot: [
          "^lib/config.ts$",
          ...any("runtime", "store", "invocations", "access", "observe", "seeds", "base"),
        ],
      },
    },
    {
      name: "embedded",
      comment: "the runtime in a process of one's own: no environment, no HTTP, no screen",
      severity: "error",
      from: { path: "^lib/embedded.ts$" },
      to: {
        path: "^(app|components|lib|e2e)/",
        pathNot: any("runtime", "store", "access", "contract", "base"),
      },
    },
    {
      name: "serve",
      comment: "the process that opens the door knows the configuration, not what is behind the door",
      severity: "error",
      from: { path: "^lib/serve.ts$" },
      to: { path: "^(app|components|lib)/", pathNot: ["^lib/config.ts$", ...any("base", "observe")] },
    },
    {
      name: "components",
      comment: "what is seen reaches the server only through the client",
      severity: "error",
      from: { path: "^components/", pathNot: "\\.test\\.tsx?$" },
      to: {
        path: "^(app|lib|e2e)/",
        pathNot: any("client", "contract", "editor", "formats", "play", "diagram", "statechart", "base"),
      },
    },
    {
      name: "ui-knows-no-charts",
      comment: "buttons, dialogs and tables are the same whatever they show",
      severity: "error",
      from: { path: "^components/ui/", pathNot: "\\.test\\.tsx?$" },
      to: { path: ["^components/(?!ui/)", room("(statechart|diagram|editor|formats)")] },
    },
    {
      name: "app-is-addresses",
      comment: "a URL and the screen or handler behind it; no logic",
      severity: "error",
      from: { path: "^app/" },
      to: { path: "^lib/", pathNot: [...any("api"), "^lib/compose.ts$"] },
    },
    {
      name: "react-flow-in-canvas-and-editor",
      comment: "one way to draw a chart",
      severity: "error",
      from: { path: "^(app|components|lib)/", pathNot: "^components/(canvas|editor)/" },
      to: { path: "node_modules/@xyflow/" },
    },
    {
      name: "prisma-behind-the-connection",
      comment: "one importer of Prisma and its drivers",
      severity: "error",
      from: {
        path: "^(app|components|lib)/",
        pathNot: [
          "^lib/store/sql/(connection|sqlite-adapter|postgres-pool|statement)[^/]*$",
          "^lib/store/generated/",
          "\\.test\\.ts$",
          "^lib/testing/",
        ],
      },
      to: { path: ["node_modules/(@prisma|prisma|better-sqlite3|pg)/", "^lib/store/generated/"] },
    },
    {
      name: "store-behind-its-interface",
      comment: "only compose, and embedded for itself, pick an implementation",
      severity: "error",
      from: {
        path: "^(app|components|lib)/",
        pathNot: ["^lib/store/", "^lib/(compose|embedded).ts$", "^lib/testing/", "\\.test\\.ts$"],
      },
      to: { path: "^lib/store/sql/" },
    },
    {
      name: "production-without-testing",
      comment: "builders and seeded faults stay out of the product",
      severity: "error",
      from: { path: "^(app|components|lib)/", pathNot: ["\\.test\\.tsx?$", "^lib/testing/"] },
      to: { path: "^lib/testing/" },
    },
    {
      name: "nothing-imports-app-or-cli",
      comment: "addresses and commands are where requests start",
      severity: "error",
      from: { path: "^(components|lib|e2e)/", pathNot: ["^lib/cli/"] },
      to: { path: ["^app/", "^lib/cli/"] },
    },
    {
      name: "pure-engine",
      comment:
        "no I/O in the engine, the drawing, the editor's model or the formats: they run in the browser",
      severity: "error",
      from: { path: room("(statechart|diagram|editor|formats|play)"), pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "formats-apart",
      comment: "a format knows the chart, never another format",
      severity: "error",
      from: { path: "^lib/formats/([^/]+)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^lib/formats/[^/]+/", pathNot: ["^lib/formats/$1/", "^lib/formats/(shared|common)/"] },
    },
    {
      name: "no-undeclared-package",
      comment: "what is imported is in package.json",
      severity: "error",
      from: { path: "^(app|components|lib)/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown", "unknown"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: ["^\\.next/", "^dist/", "^\\.cache/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".json"],
    },
    cache: { folder: ".cache/dependency-cruiser", strategy: "content" },
  },
};
