import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { getTableName, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as schema from "../../../apps/api/src/db/schema.tables.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

test("a migrated database has exactly the tables and columns of the schema", async () => {
  const described = Object.values(schema)
    .filter((value) => is(value, PgTable))
    .flatMap((table) =>
      getTableConfig(table).columns.map(
        (column) =>
          `${getTableName(table)}.${column.name} ${column.getSQLType().replace(", ", ",")}${column.notNull ? " not null" : ""}`,
      ),
    );
  const { rows } = await client.query<{ column: string }>(
    `select format('%s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end)
       as column
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'schema_migrations'`,
  );
  expect(rows.map(({ column }) => column).toSorted()).toEqual(described.toSorted());
});

test("a migrated database has the indexes of the schema, with their columns and conditions", async () => {
  const definitions =
    await definitionsIn(`select format('%s: %s', t.relname, pg_get_indexdef(i.indexrelid)) as definition
     from pg_index i join pg_class t on t.oid = i.indrelid
     where t.relnamespace = current_schema()::regnamespace and not t.relispartition`);
  expect(definitions.migrated).toEqual(definitions.described);
});

test("a migrated database has the keys, references and checks of the schema", async () => {
  const definitions =
    await definitionsIn(`select format('%s: %s', t.relname, pg_get_constraintdef(c.oid)) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid
     where t.relnamespace = current_schema()::regnamespace and not t.relispartition and c.contype <> 't'`);
  expect(definitions.migrated).toEqual(definitions.described);
});

/** Runs a catalog query on the migrated tables and on tables created from the schema. */
async function definitionsIn(query: string): Promise<{ migrated: string[]; described: string[] }> {
  const readDefinitions = async (): Promise<string[]> => {
    const { rows } = await client.query<{ definition: string }>(query);
    return rows
      .map(({ definition }) => definition.replaceAll(/\b(public|described)\.|ONLY /g, ""))
      .toSorted();
  };
  const migrated = (await readDefinitions()).filter(
    (definition) => !definition.startsWith("schema_migrations:"),
  );
  const empty = generateDrizzleJson({});
  const statements = await generateMigration(empty, generateDrizzleJson(schema, empty.id));
  await client.query("create schema described; set search_path = described");
  try {
    for (const statement of statements) await client.query(statement.replaceAll('"public".', '"described".'));
    return { migrated, described: await readDefinitions() };
  } finally {
    await client.query("set search_path = public; drop schema described cascade");
  }
}
