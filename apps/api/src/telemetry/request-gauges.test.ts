import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { StateUnderWay } from "../requests/requests-under-way.port.ts";
import { requestGauges } from "./request-gauges.ts";

test("publishes count and age per state of open requests; keeps the last values when they cannot be read", async () => {
  const registry = new Registry();
  let rows: () => readonly StateUnderWay[] = () => [
    { state: "fillable", count: 3, oldestMs: 40_000 },
    { state: "refunding", count: 0, oldestMs: undefined },
  ];
  requestGauges(registry, async () => await Promise.resolve().then(rows), { nowMs: () => 100_000 });
  const shown = [
    'causeway_requests_under_way{state="fillable"} 3',
    'causeway_requests_under_way{state="refunding"} 0',
    'causeway_requests_oldest_seconds{state="fillable"} 60',
    'causeway_requests_oldest_seconds{state="refunding"} 0',
  ];
  const text = await registry.metrics();
  for (const line of shown) expect(text).toContain(line);
  rows = () => {
    throw new Error("the database is unreachable");
  };
  const later = await registry.metrics();
  for (const line of shown) expect(later).toContain(line);
});
