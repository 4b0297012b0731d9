import type { Secret } from "@causeway/config";
import type { MetricsAccess } from "@causeway/service-kit";

/** Who may read `/metrics` of a process; `otherwise` applies when no METRICS_TOKEN is set. */
export function metricsAccess(token: Secret | undefined, otherwise: "open" | "closed"): MetricsAccess {
  return token === undefined ? otherwise : { token: token.reveal() };
}
