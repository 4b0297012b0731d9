import { expect, test } from "vitest";
import { createPool } from "./pool.postgres.ts";
import { watchServer } from "./server-watch.postgres.ts";

test("a server is new for a minute after it replaced another one, but not if it is the first", () => {
  let nowMs = 0;
  const watch = watchServer(() => nowMs);
  expect(watch.isNew("first")).toBe(false);
  expect(watch.isNew("second")).toBe(true);
  nowMs = 59_999;
  expect(watch.isNew("second")).toBe(true);
  nowMs = 60_000;
  expect(watch.isNew("second")).toBe(false);
  expect(watch.isNew("first")).toBe(true);
});

test("a server is new until connections to the former one that stay idle are closed", async () => {
  const pool = createPool("postgres://127.0.0.1/none", {
    max: 1,
    statementTimeoutMs: 1_000,
    applicationName: "test",
  });
  const { idleTimeoutMillis } = pool.options;
  await pool.end();
  let nowMs = 0;
  const watch = watchServer(() => nowMs);
  watch.isNew("first");
  watch.isNew("second");
  nowMs = idleTimeoutMillis ?? Number.POSITIVE_INFINITY;
  expect(watch.isNew("second")).toBe(true);
});
