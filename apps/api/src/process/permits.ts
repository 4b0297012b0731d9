import { parseUnits } from "viem";
import type { ApiConfig } from "../config/config.ts";
import { createPermitSignatures } from "../chains/permit-signatures.adapter.ts";
import { createTokenPermits } from "../chains/token-permits.adapter.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import type { PermitPolicy, PermitTokens } from "../chains/permits.port.ts";
import type { RouteServices } from "../http/route-services.port.ts";
import type { Services } from "../db/services.port.ts";
import { executePermit } from "../executions/permits/execute-permit.ts";

/** Signatures of one user are counted over so long. */
const WINDOW_MS = 60 * 60_000;

/** What quotes ask tokens about signatures, and how a signature is taken. */
export function permitServices(
  services: Services,
  { permits }: Pick<ApiConfig, "permits">,
): { readonly permitTokens: PermitTokens } & Pick<RouteServices, "executePermit"> {
  const permitPolicy: PermitPolicy = {
    dailyUsd: parseUnits(permits.dailyUsd, 18),
    perUser: permits.perUser,
    windowMs: WINDOW_MS,
  };
  const permitSignatures = createPermitSignatures(services.chains);
  return {
    permitTokens: createTokenPermits(services.chains, monotonicClock),
    executePermit: (posted, keep) =>
      executePermit({ ...services, permitSignatures, permitPolicy }, posted, keep),
  };
}
