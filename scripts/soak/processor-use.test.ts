import { expect, test } from "vitest";
import { processorRemark } from "./processor-use.ts";

test("prints the processor time that each request used, by process and in total", () => {
  const before = { API: 1_000, worker: 2_000, Postgres: 500 };
  const after = { API: 1_500, worker: 3_000, Postgres: 1_250 };
  expect(processorRemark(before, after, 100)).toBe(
    "processor time per request: API 5.0 ms, worker 10.0 ms, Postgres 7.5 ms; together 22.5 ms",
  );
});
