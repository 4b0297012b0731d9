import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { fillTimes } from "./fill-times.ts";

test("times fills from deposit to block by origin and destination", async () => {
  const registry = new Registry();
  const measure = fillTimes(registry);
  const chains = { originChain: "base", destinationChain: "optimism" };
  measure("fill_mined", { ...chains, tookMs: 1_500 });
  measure("fill_mined", { ...chains, tookMs: 40_000 });
  measure("fill_burnt", { ...chains, tookMs: 40_000 });
  const text = await registry.metrics();
  const labels = 'origin="base",destination="optimism"';
  expect(text).toContain(`causeway_fill_seconds_bucket{le="2",${labels}} 1`);
  expect(text).toContain(`causeway_fill_seconds_bucket{le="60",${labels}} 2`);
  expect(text).toContain(`causeway_fill_seconds_count{${labels}} 2`);
});
