import { Client } from "pg";

/** The database named by DATABASE_URL holds something that the local system must not destroy. */
export class DatabaseNotOurs extends Error {
  override readonly name = "DatabaseNotOurs";
  readonly code = "DATABASE_NOT_OURS";
}

const mark = "emptied at every start of the local system";

/**
 * Prepares a database that the user named. Local chains begin anew at every start, so what an earlier start
 * remembers about them is wrong: the schema is emptied, but only when it is empty already or an earlier start
 * marked it as its own.
 *
 * @throws DatabaseNotOurs when the database holds tables of someone else.
 */
export async function emptyGivenDatabase(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ tables: string; mark: string | null }>(
      `select (select count(*) from pg_tables where schemaname = 'public') as tables,
              (select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'public') as mark`,
    );
    const found = rows[0];
    if (found !== undefined && found.tables !== "0" && found.mark !== mark) {
      throw new DatabaseNotOurs(
        `the database has ${found.tables} tables that the local system did not create; use an empty database`,
      );
    }
    await client.query(
      `drop schema if exists public cascade; create schema public; comment on schema public is '${mark}'`,
    );
  } finally {
    await client.end();
  }
}
