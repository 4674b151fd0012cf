/**
 * Writes lib/store/generated: a Prisma client per database, and the migrations as a module, so that every bundle of the
 * server carries them. Skipped when nothing they are made of changed.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "lib/store/generated");
const stamp = join(out, "stamp");
const providers = ["sqlite", "postgresql"];

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Folders in name order, as Prisma applies them; the checksum is Prisma's own: SHA-256 of the file's bytes. */
function migrationsOf(provider) {
  const folder = join(root, "prisma", provider, "migrations");
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const bytes = readFileSync(join(folder, name, "migration.sql"));
      return { name, checksum: sha256(bytes), sql: bytes.toString("utf8") };
    });
}

const migrations = Object.fromEntries(providers.map((provider) => [provider, migrationsOf(provider)]));
const sources = [
  "prisma/models.prisma",
  ...providers.map((provider) => `prisma/${provider}/schema.prisma`),
  "node_modules/prisma/package.json",
  "scripts/generate-clients.mjs",
];
const now = sha256(
  JSON.stringify([migrations, ...sources.map((file) => readFileSync(join(root, file), "utf8"))]),
);
if (existsSync(stamp) && readFileSync(stamp, "utf8") === now) process.exit(0);

rmSync(out, { recursive: true, force: true });
for (const provider of providers) {
  const done = spawnSync(
    process.execPath,
    ["node_modules/prisma/build/index.js", "generate", "--no-hints", "--schema", `prisma/${provider}`],
    {
      cwd: root,
      encoding: "utf8",
      env: {
        ...process.env,
        // Prisma wants to download an engine that its generator never runs; any existing file stops it.
        PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: "1",
        CHECKPOINT_DISABLE: "1",
      },
    },
  );
  if (done.status !== 0) {
    process.stderr.write(`${done.stdout}\n${done.stderr}\n`);
    process.stderr.write(`lockstep: the ${provider} client could not be generated.\n`);
    process.exit(done.status ?? 1);
  }
}
mkdirSync(out, { recursive: true });
writeFileSync(
  join(out, "migrations.ts"),
  `/** Made by scripts/generate-clients.mjs from prisma/<provider>/migrations. */
export interface Migration {
  name: string;
  /** SHA-256 hex of the file's bytes, as in Prisma's _prisma_migrations. */
  checksum: string;
  sql: string;
}
export const migrations: Record<"sqlite" | "postgresql", Migration[]> = ${JSON.stringify(migrations, null, 2)};
`,
);
writeFileSync(stamp, now);
process.stderr.write("lockstep: database clients generated\n");
