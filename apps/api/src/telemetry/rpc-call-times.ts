import { durations, type NoteDuration } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import type { ObserveEndpoint } from "../chains/observe-endpoint.port.ts";

const BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/**
 * Times every call to an endpoint, by chain, host and outcome. The rest of a URL often holds a provider's
 * key.
 */
export function rpcCallTimes(registry: Registry): ObserveEndpoint {
  const seriesOf = durations(registry, {
    name: "causeway_rpc_call_seconds",
    help: "Duration of calls to chain endpoints by outcome: ok, refused by the node, or no usable response (fault)",
    boundsMs: BOUNDS_MS,
  });
  // Several connections to one endpoint share its series.
  const series = new Map<string, NoteDuration>();
  return (chain, url) => {
    const endpoint = hostOf(url);
    return (_method, outcome, tookMs) => {
      const key = `${chain} ${endpoint} ${outcome}`;
      let note = series.get(key);
      if (note === undefined) {
        note = seriesOf({ chain, endpoint, outcome });
        series.set(key, note);
      }
      note(tookMs);
    };
  };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}
