import { formatUsd, judgeFees, ServiceError, transferredUsd } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { AppBalancePolicy } from "../../balances/app-balance.port.ts";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { Clock } from "../../db/clock.port.ts";
import type { SponsorKey, SponsorReads } from "../../balances/sponsors.port.ts";
import { appraise, planCharge, shortfallText, warmPrices } from "../../balances/index.ts";
import type { PriceServices } from "../../markets/index.ts";
import { utcDay } from "../../db/utc-day.ts";

export interface SponsorServices extends PriceServices {
  readonly clock: Clock;
  readonly chains: Pick<ChainDirectory, "currency">;
  readonly appBalance?: AppBalancePolicy | undefined;
  /** Undefined: sponsorship is not enabled. */
  readonly sponsors?: SponsorReads | undefined;
}

/**
 * Checks that the sponsor could pay the quoted fees now. Reserves nothing: the fill charges the
 * sponsor, and if the balance is too low by then, the deposit is refunded.
 * @throws ServiceError INSUFFICIENT_FUNDS, INVALID_REQUEST (a budget of the key), PRICE_FETCH_FAILED
 */
export async function judgeSponsor(
  { clock, chains, prices, quotePolicy, appBalance, sponsors }: SponsorServices,
  key: SponsorKey,
  { user, sponsorship }: Pick<RequestTerms, "user" | "sponsorship">,
): Promise<void> {
  if (sponsorship === undefined) return;
  if (sponsors === undefined || appBalance === undefined)
    throw new ServiceError("UNSUPPORTED_EXECUTION_TYPE", "subsidizeFees is not enabled on this service", {
      field: "subsidizeFees",
    });
  const { wallet, usd } = sponsorship;
  const budget = { keyId: key.id, day: utcDay(clock.nowMs()), user, target: undefined };
  const [book, spending] = await Promise.all([
    sponsors.book(wallet),
    sponsors.spending(budget),
    warmPrices({ prices, appBalance }),
  ]);
  const refusal = judgeFees(key.rules, usd, spending);
  if (refusal !== undefined)
    throw new ServiceError("INVALID_REQUEST", `Not sponsored (${refusal.rule}): ${refusal.message}`, {
      field: "subsidizeFees",
      data: { rule: refusal.rule, costUsd: formatUsd(usd) },
    });
  const planned = planCharge(appraise({ chains, prices, quotePolicy, appBalance }, book), {
    usd,
    transferredUsd: transferredUsd(sponsorship, usd),
    isTransferStable: true,
  });
  if (planned.kind === "insufficient")
    throw new ServiceError("INSUFFICIENT_FUNDS", shortfallText({ appBalance }, wallet, planned), {
      field: "subsidizeFees",
      data: { availableUsd: formatUsd(planned.availableUsd), requiredUsd: formatUsd(planned.requiredUsd) },
    });
}
