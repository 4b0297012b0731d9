import type { ObserveCall } from "@causeway/chains";
import { durations, type NoteDuration } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { QUESTION_BOUNDS_MS } from "./question-bounds.ts";

/**
 * The time of every call to a node, and by its count the calls themselves. No label tells where a node is.
 */
export function timedCalls(registry: Registry): (chain: string) => ObserveCall {
  const seriesOf = durations(registry, {
    name: "oracle_rpc_call_seconds",
    help: "Duration of JSON-RPC calls to chain nodes by outcome: ok, refused by the node, or no usable response (fault)",
    boundsMs: QUESTION_BOUNDS_MS,
  });
  return (chain) => {
    // Methods are this program's own words, so there are few.
    const known = new Map<string, NoteDuration>();
    return (method, outcome, tookMs) => {
      const key = `${method} ${outcome}`;
      let note = known.get(key);
      if (note === undefined) {
        note = seriesOf({ chain, method, outcome });
        known.set(key, note);
      }
      note(tookMs);
    };
  };
}
