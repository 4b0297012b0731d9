import { Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { EventName, Facts } from "../db/events.port.ts";

/** From a deposit with one confirmation on a fast chain to one that waits for finality. */
const SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Times fills from the first sight of the deposit to the fill's block, confirmations included. */
export function fillTimes(registry: Registry): (event: EventName, facts: Facts) => void {
  const times = new Histogram({
    name: "causeway_fill_seconds",
    help: "Time from the detection of a deposit to the block that includes its fill, without fast fills",
    labelNames: ["origin", "destination"],
    buckets: SECONDS,
    registers: [registry],
  });
  return (event, { originChain, destinationChain, tookMs }) => {
    if (event === "fill_mined" && typeof tookMs === "number")
      times.observe({ origin: String(originChain), destination: String(destinationChain) }, tookMs / 1000);
  };
}
