/**
 * For Prisma's own command line: DATABASE_URL chooses the provider's folder. The server itself migrates at its start
 * (lib/store/sql/migrate.ts) and does not read this.
 */
import { defineConfig } from "prisma/config";
import { readConfig } from "./lib/config";

const { database, databaseUrl, shadowDatabaseUrl } = readConfig();

export default defineConfig({
  schema: `prisma/${database}`,
  migrations: { path: `prisma/${database}/migrations` },
  datasource: { url: databaseUrl, ...(shadowDatabaseUrl === undefined ? {} : { shadowDatabaseUrl }) },
});
