import type { LedgerEntry } from "@causeway/domain";
import { ServiceError, mergeEntries, splitCharge, usdToAmountUp } from "@causeway/domain";
import type { WalletBook } from "./ledger.port.ts";
import { appraise, unitInMemory } from "./appraise.ts";
import type { AppraisalServices } from "./appraise.ts";

/** The entries of a mandatory charge. `owedUsd` is the part that no balance covers, USD with 18 decimals. */
export interface ChargeWithDebt {
  readonly entries: readonly LedgerEntry[];
  readonly owedUsd: bigint;
}

/**
 * Charges `usd` (18 decimals) even if the wallet cannot cover it: first from the balances, in their order.
 * The rest is owed in the first currency.
 * @throws ServiceError PRICE_FETCH_FAILED when a balance has no fresh price
 */
export function chargeOrOwe(
  services: AppraisalServices,
  book: WalletBook,
  usd: bigint,
  account: "fronted" | "fees",
): ChargeWithDebt {
  const { balances, unpriced } = appraise(services, book);
  const { parts, uncoveredUsd } = splitCharge(usd, balances);
  if (uncoveredUsd > 0n && unpriced) throw unpriced;
  const entries = mergeEntries([
    ...parts.flatMap(({ asset, amount }): LedgerEntry[] => [
      { account: "balance", asset, amount: -amount },
      { account, asset, amount },
    ]),
    ...owedEntries(services, uncoveredUsd, account),
  ]);
  return { entries, owedUsd: uncoveredUsd };
}

/** Records a debt in USD in the first currency. */
function owedEntries(services: AppraisalServices, usd: bigint, account: "fronted" | "fees"): LedgerEntry[] {
  const { chainId, currencies } = services.appBalance;
  const [first] = currencies;
  if (usd === 0n || first === undefined) return [];
  const unit = unitInMemory(services, first);
  if (unit instanceof ServiceError) throw unit;
  const asset = { chainId, currency: first.address };
  const amount = usdToAmountUp(usd, unit);
  return [
    { account: "owed", asset, amount: -amount },
    { account, asset, amount },
  ];
}
