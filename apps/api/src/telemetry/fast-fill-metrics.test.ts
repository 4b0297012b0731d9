import { createLogger } from "@causeway/service-kit";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { loggedEvents } from "./logged-events.ts";

test("counts fast fills by refusal and by the outcome of their holds, and times them to their broadcast", async () => {
  const registry = new Registry();
  const events = loggedEvents(createLogger({ name: "test", level: "silent" }), registry);
  events.happened("fast_fill_refused", { rule: "appBalance" });
  events.happened("fast_fill_refused", { rule: "appBalance" });
  events.happened("fast_fill_refused", { rule: "belowMinimum" });
  events.happened("fast_fill_accepted", { usd: 1n });
  events.happened("hold_moved", { act: "release" });
  events.happened("fast_fill_broadcast", { tookMs: 150 });
  events.happened("attempt_broadcast", { tookMs: 9_000 });
  const text = await registry.metrics();
  for (const line of [
    'causeway_fast_fill_refusals_total{rule="appBalance"} 2',
    'causeway_fast_fill_refusals_total{rule="belowMinimum"} 1',
    'causeway_holds_total{act="place"} 1',
    'causeway_holds_total{act="release"} 1',
    'causeway_fast_fill_broadcast_seconds_bucket{le="0.1"} 0',
    'causeway_fast_fill_broadcast_seconds_bucket{le="0.2"} 1',
    "causeway_fast_fill_broadcast_seconds_count 1",
  ])
    expect(text).toContain(line);
});
