import { Client } from "pg";

/** The database at DATABASE_URL contains tables that the local system must not destroy. */
export class DatabaseNotOurs extends Error {
  override readonly name = "DatabaseNotOurs";
  readonly code = "DATABASE_NOT_OURS";
}

const OWN_SCHEMA_COMMENT = "emptied at every start of the local system";

/**
 * Prepares a database that the user provided. Local chains start from scratch, so data of an earlier run is
 * wrong: the schema is dropped and recreated, but only if it is empty or an earlier run marked it.
 *
 * @throws DatabaseNotOurs if the database contains any other tables
 */
export async function emptyExternalDatabase(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ tables: string; mark: string | null }>(
      `select (select count(*) from pg_tables where schemaname = 'public') as tables,
              (select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'public') as mark`,
    );
    const schema = rows[0];
    if (schema !== undefined && schema.tables !== "0" && schema.mark !== OWN_SCHEMA_COMMENT) {
      throw new DatabaseNotOurs(
        `the database has ${schema.tables} tables that the local system did not create; use an empty database`,
      );
    }
    await client.query(
      `drop schema if exists public cascade; create schema public; comment on schema public is '${OWN_SCHEMA_COMMENT}'`,
    );
  } finally {
    await client.end();
  }
}
