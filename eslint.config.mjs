/**
 * Lint: typed rules for all of ours, React and Next rules for what is seen. Layout of code is Prettier's business alone.
 */
import next from "eslint-config-next/core-web-vitals";
import tseslint from "typescript-eslint";

const rooms = ["{app,components,lib,e2e,bench}/**/*.{ts,tsx}", "*.ts"];

export default tseslint.config(
  {
    ignores: [
      "node_modules",
      "dist",
      ".next",
      ".cache",
      ".lockstep",
      "lib/store/generated",
      "next-env.d.ts",
      "playwright-report",
      "test-results",
    ],
  },
  ...next,
  {
    files: rooms,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      // React handlers may be async; what they await must catch its own errors.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "lib/config.ts is the only reader of process.env." },
      ],
    },
  },
  {
    // What starts processes and tools reads the environment it hands on.
    files: [
      "lib/config.ts",
      "**/*.test.{ts,tsx}",
      "lib/testing/**",
      "e2e/**",
      "*.config.ts",
      "bench/**",
      "proxy.ts",
      "instrumentation.ts",
    ],
    rules: { "no-restricted-properties": "off" },
  },
);
