import type { ObserveCall } from "@causeway/chains";
import { Histogram } from "prom-client";
import type { Registry } from "prom-client";

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The time of every call to a node, and by its count the calls themselves. No label tells where a node is. */
export function timedCalls(registry: Registry): (chain: string) => ObserveCall {
  const times = new Histogram({
    name: "oracle_rpc_call_seconds",
    help: "Time until a JSON-RPC call to a chain's node ended: answered (ok), refused by the node, or without usable answer (fault)",
    labelNames: ["chain", "method", "outcome"],
    buckets: SECONDS,
    registers: [registry],
  });
  return (chain) => (method, outcome, tookMs) => times.observe({ chain, method, outcome }, tookMs / 1000);
}
