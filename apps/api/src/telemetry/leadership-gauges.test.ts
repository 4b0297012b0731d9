import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { leadershipGauges } from "./leadership-gauges.ts";

test("publishes what this worker leads, and the age of the last scan only while it leads", async () => {
  const registry = new Registry();
  const agoMs = new Map([["watch:1", 2_500]]);
  const tasks = [
    { label: "base", lock: "watch:1" },
    { label: "optimism", lock: "watch:2" },
    { label: "settlement", lock: "settlement" },
  ];
  leadershipGauges(registry, tasks, (lock) => agoMs.get(lock));
  const shown = await registry.metrics();
  for (const line of [
    'causeway_chain_leader{chain="base"} 1',
    'causeway_chain_leader{chain="optimism"} 0',
    'causeway_chain_scan_age_seconds{chain="base"} 2.5',
    "causeway_settlement_leader 0",
  ])
    expect(shown).toContain(line);
  expect(shown).not.toContain('causeway_chain_scan_age_seconds{chain="optimism"}');
  agoMs.clear();
  const later = await registry.metrics();
  expect(later).toContain('causeway_chain_leader{chain="base"} 0');
  expect(later).not.toContain("causeway_chain_scan_age_seconds{");
});
