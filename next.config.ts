/**
 * Next hosts the console and /api/v1. Standalone output: `npm start` runs the built server without the whole node_modules.
 */
import type { NextConfig } from "next";

const config: NextConfig = {
  output: "standalone",
  outputFileTracingRoot: import.meta.dirname,
  serverExternalPackages: ["better-sqlite3", "pg", "@prisma/client", "@prisma/adapter-pg"],
  typedRoutes: true,
  poweredByHeader: false,
  reactStrictMode: true,
};

export default config;
