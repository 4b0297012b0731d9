import { expect, test } from "vitest";
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
