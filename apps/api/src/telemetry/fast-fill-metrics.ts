import { Counter, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { EventName, Facts } from "../db/events.port.ts";

/** From well below the block time of the fastest chains to far beyond any fast fill. */
const SECONDS = [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 10, 30, 120, 600];

/**
 * Counts fast-fill events: refusals by rule, holds by outcome, and the time from acceptance to the broadcast
 * of the fill.
 */
export function fastFillMetrics(registry: Registry): (event: EventName, facts: Facts) => void {
  const registers = [registry];
  const refusals = new Counter({
    name: "causeway_fast_fill_refusals_total",
    help: "Refused fast fills by rule",
    labelNames: ["rule"],
    registers,
  });
  const holds = new Counter({
    name: "causeway_holds_total",
    help: "Changes of holds: place, release, reinstate, makePermanent, return",
    labelNames: ["act"],
    registers,
  });
  const broadcast = new Histogram({
    name: "causeway_fast_fill_broadcast_seconds",
    help: "Time from the acceptance of a fast fill to the first broadcast of its payment",
    buckets: SECONDS,
    registers,
  });
  return (event, { rule, act, tookMs }) => {
    if (event === "fast_fill_refused") refusals.inc({ rule: String(rule) });
    else if (event === "fast_fill_accepted") holds.inc({ act: "place" });
    else if (event === "hold_moved") holds.inc({ act: String(act) });
    else if (event === "fast_fill_broadcast" && typeof tookMs === "number") broadcast.observe(tookMs / 1000);
  };
}
