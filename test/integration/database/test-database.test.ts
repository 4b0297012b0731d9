import pg from "pg";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { createTestDatabase, testRedis } from "../../support/database.ts";

test("each test file gets a migrated database that no other file sees", async () => {
  const [first, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const client = new pg.Client({ connectionString: first.url });
  const otherClient = new pg.Client({ connectionString: other.url });
  await Promise.all([client.connect(), otherClient.connect()]);
  try {
    const { rows } = await client.query("select count(*)::int as applied from schema_migrations");
    expect(rows[0].applied).toBeGreaterThan(0);
    await client.query("create table only_here (id int)");
    const { rowCount } = await otherClient.query("select from pg_tables where tablename = 'only_here'");
    expect(rowCount).toBe(0);
  } finally {
    await Promise.all([client.end(), otherClient.end()]);
    await Promise.all([first.drop(), other.drop()]);
  }
});

test("each test file has its own key prefix in the Redis of the run", async () => {
  const { url, prefix } = testRedis();
  expect(testRedis().prefix).not.toBe(prefix);
  const redis = new Redis(url);
  try {
    expect(await redis.ping()).toBe("PONG");
  } finally {
    redis.disconnect();
  }
});
