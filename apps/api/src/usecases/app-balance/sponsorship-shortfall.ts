import { formatUsd } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { Services } from "../../ports/services.ts";
import type { Shortfall } from "./reserve-fees.ts";

/** Why an app balance cannot sponsor the fees of a quote. */
export function shortfallText(
  { appBalance }: { readonly appBalance: Pick<Services["appBalance"], "currencies"> },
  wallet: Address,
  { availableUsd, requiredUsd, missing }: Shortfall,
): string {
  const balance = `the app balance of ${wallet} has $${formatUsd(availableUsd)}`;
  const transferred = `$${formatUsd(requiredUsd)} of app fees, swap costs or rate are to be sponsored`;
  if (missing === "balance")
    return `${balance}, and these fees are $${formatUsd(requiredUsd)}: nothing is sponsored in part`;
  if (missing === "unheld") return `${balance} that is not held for fast fills, and ${transferred}`;
  const stablecoins = appBalance.currencies.filter((one) => one.class === "stable");
  const symbols = stablecoins.map(({ symbol }) => symbol).join(", ");
  return `${balance} in stablecoins, and ${transferred}: only stablecoins pay these (${symbols || "none is configured"})`;
}
