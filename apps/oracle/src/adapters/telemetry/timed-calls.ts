import type { ObserveCall } from "@causeway/chains";
import { durations, type NoteDuration } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { NODE_CALL_BUCKETS_MS } from "./node-call-buckets.ts";

/** Times and counts every call to a node. No label reveals its URL. */
export function timedCalls(registry: Registry): (chain: string) => ObserveCall {
  const seriesOf = durations(registry, {
    name: "oracle_rpc_call_seconds",
    help: "Duration of JSON-RPC calls to chain nodes by outcome: ok, refused by the node, or no usable response (fault)",
    boundsMs: NODE_CALL_BUCKETS_MS,
  });
  return (chain) => {
    // Method names are defined in this program, so there are few.
    const noteByKey = new Map<string, NoteDuration>();
    return (method, outcome, tookMs) => {
      const key = `${method} ${outcome}`;
      let note = noteByKey.get(key);
      if (note === undefined) {
        note = seriesOf({ chain, method, outcome });
        noteByKey.set(key, note);
      }
      note(tookMs);
    };
  };
}
