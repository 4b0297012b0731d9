import { expect, test } from "vitest";
import { cpuRemark } from "./cpu-usage.ts";

test("prints the CPU time that each request used, by process and in total", () => {
  const before = { API: 1_000, worker: 2_000, Postgres: 500 };
  const after = { API: 1_500, worker: 3_000, Postgres: 1_250 };
  expect(cpuRemark(before, after, 100)).toBe(
    "CPU time per request: API 5.0 ms, worker 10.0 ms, Postgres 7.5 ms; total 22.5 ms",
  );
});
