import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import pg from "pg";

const MIGRATIONS_DIR = fileURLToPath(new URL("../migrations", import.meta.url));
const LOCK = "causeway:migrate";

/**
 * Brings the database to this version's schema. Safe to run from several processes at once: they wait for one another on an advisory lock.
 * @throws when a migration fails; each runs in a transaction of its own, so the schema stays at the last one that succeeded.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "causeway migrate" });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [LOCK]);
    await runner({
      dbClient: client,
      dir: MIGRATIONS_DIR,
      direction: "up",
      migrationsTable: "schema_migrations",
      // The lock above is waited for; the library's own fails at once.
      noLock: true,
      singleTransaction: false,
      log: () => {},
    });
  } finally {
    await client.end();
  }
}

if (process.argv[1] !== undefined && fileURLToPath(import.meta.url) === process.argv[1]) {
  const databaseUrl = process.env["DATABASE_URL"];
  if (databaseUrl === undefined || databaseUrl === "") {
    process.stderr.write("DATABASE_URL is required\n");
    process.exitCode = 1;
  } else {
    await migrate(databaseUrl);
    process.stdout.write("the database schema is up to date\n");
  }
}
