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

test("a migrated database has the tables and columns of the schema, and no others", async () => {
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
