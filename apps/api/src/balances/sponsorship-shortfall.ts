import { formatUsd } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { Shortfall } from "./reserve-fees.ts";

/** Explains why an app balance cannot sponsor the fees of a quote. */
export function shortfallText(
  { appBalance }: { readonly appBalance: Pick<Services["appBalance"], "currencies"> },
  wallet: Address,
  { availableUsd, requiredUsd, missing }: Shortfall,
): string {
  const balance = `The app balance of ${wallet} has $${formatUsd(availableUsd)}`;
  const sponsored = `$${formatUsd(requiredUsd)} of app fees, swap costs and the difference to fixedRate must be sponsored`;
  if (missing === "balance")
    return `${balance} available, but the fees are $${formatUsd(requiredUsd)}, which must be covered in full`;
  if (missing === "unheld") return `${balance} that is not held for fast fills, but ${sponsored}`;
  const stablecoins = appBalance.currencies.filter((currency) => currency.class === "stable");
  const symbols = stablecoins.map(({ symbol }) => symbol).join(", ");
  return `${balance} in stablecoins (${symbols || "none configured"}), but ${sponsored} in stablecoins`;
}
