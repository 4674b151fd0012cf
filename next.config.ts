/**
 * Next hosts the console and /api/v1; lib/serve.ts starts it from `.next` and the installed packages.
 */
import type { NextConfig } from "next";

const config: NextConfig = {
  outputFileTracingRoot: import.meta.dirname,
  serverExternalPackages: ["better-sqlite3", "pg", "@prisma/client", "@prisma/adapter-pg"],
  typedRoutes: true,
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` has seen the types already, with the whole project's settings.
  typescript: { ignoreBuildErrors: true },
};

export default config;
