import type { Secret } from "@causeway/config";
import type { MetricsAccess } from "@causeway/service-kit";

/** Access to `/metrics` of a process; `otherwise` applies when METRICS_TOKEN is not set. */
export function metricsAccess(token: Secret | undefined, otherwise: "open" | "closed"): MetricsAccess {
  return token === undefined ? otherwise : { token: token.reveal() };
}
