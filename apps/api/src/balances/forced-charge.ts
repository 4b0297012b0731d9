import type { LedgerEntry } from "@causeway/domain";
import { ServiceError, mergeEntries, splitCharge, usdToAmountUp } from "@causeway/domain";
import type { WalletBook } from "./ledger.port.ts";
import { appraise, unitInMemory } from "./appraise.ts";
import type { AppraisalServices } from "./appraise.ts";

/** Charges `usd` even if the wallet cannot cover it. `owedUsd`: what no balance covers. */
export interface ForcedCharge {
  readonly entries: readonly LedgerEntry[];
  readonly owedUsd: bigint;
}

/**
 * The entries of a mandatory charge: from the balances in their order; the rest is owed in the first
 * currency.
 * @throws ServiceError PRICE_FETCH_FAILED when a balance has no fresh price
 */
export function forcedCharge(
  services: AppraisalServices,
  book: WalletBook,
  usd: bigint,
  to: "fronted" | "fees",
): ForcedCharge {
  const { balances, unpriced } = appraise(services, book);
  const { parts, uncoveredUsd } = splitCharge(usd, balances);
  if (uncoveredUsd > 0n && unpriced) throw unpriced;
  const entries = mergeEntries([
    ...parts.flatMap(({ asset, amount }): LedgerEntry[] => [
      { account: "balance", asset, amount: -amount },
      { account: to, asset, amount },
    ]),
    ...owedEntries(services, uncoveredUsd, to),
  ]);
  return { entries, owedUsd: uncoveredUsd };
}

/** A debt in dollars is kept in the first currency. */
function owedEntries(services: AppraisalServices, usd: bigint, to: "fronted" | "fees"): LedgerEntry[] {
  const { chainId, currencies } = services.appBalance;
  const [first] = currencies;
  if (usd === 0n || first === undefined) return [];
  const unit = unitInMemory(services, first);
  if (unit instanceof ServiceError) throw unit;
  const asset = { chainId, currency: first.address };
  const amount = usdToAmountUp(usd, unit);
  return [
    { account: "owed", asset, amount: -amount },
    { account: to, asset, amount },
  ];
}
