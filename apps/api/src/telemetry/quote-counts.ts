import { ServiceError } from "@causeway/domain";
import { Counter } from "prom-client";
import type { Registry } from "prom-client";

/** Counts quotes by outcome, and refused ones by error code. Returns a wrapper for each quote. */
export function quoteCounts(registry: Registry): <T>(quote: Promise<T>) => Promise<T> {
  const counter = new Counter({
    name: "causeway_quotes_total",
    help: "Quotes by outcome (ok, refused, fault) and error code; requests that fail validation are not counted",
    labelNames: ["outcome", "code"],
    registers: [registry],
  });
  // Start at zero: Prometheus sees no increase in a series that begins at one.
  counter.inc({ outcome: "fault", code: "" }, 0);
  return async (quote) => {
    try {
      const answer = await quote;
      counter.inc({ outcome: "ok", code: "" });
      return answer;
    } catch (error) {
      if (error instanceof ServiceError) counter.inc({ outcome: "refused", code: error.code });
      else counter.inc({ outcome: "fault", code: "" });
      throw error;
    }
  };
}
