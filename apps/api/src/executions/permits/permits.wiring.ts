import { parseUnits } from "viem";
import { createPermitSignatures } from "../../chains/permit-signatures.adapter.ts";
import type { PermitPolicy } from "../../chains/permits.port.ts";
import type { ApiConfig } from "../../config/config.ts";
import type { Services } from "../../db/services.port.ts";
import type { ExecutePermitServices } from "./execute-permit.ts";

/** The time window in which the pending and failed permits of a user are counted. */
const WINDOW_MS = 60 * 60_000;

/** How the API verifies permits, and how many it accepts. */
export function permitAcceptance({
  config: { permits },
  chains,
}: Pick<Services, "chains"> & {
  readonly config: Pick<ApiConfig, "permits">;
}): Pick<ExecutePermitServices, "permitSignatures" | "permitPolicy"> {
  const permitPolicy: PermitPolicy = {
    dailyUsd: parseUnits(permits.dailyUsd, 18),
    perUser: permits.perUser,
    windowMs: WINDOW_MS,
  };
  return { permitSignatures: createPermitSignatures(chains), permitPolicy };
}
