import type { ChargeableBalance, Currency, CurrencyClass, PricedUnit, Standing } from "@causeway/domain";
import { ServiceError, amountToUsdDown, amountToUsdUp, assetKey, haircutOf } from "@causeway/domain";
import type { WalletBook } from "../../ports/ledger.ts";
import type { Services } from "../../ports/services.ts";
import { doubtOf } from "../price-doubt.ts";
import type { PriceServices } from "../price-doubt.ts";

export type AppraisalServices = PriceServices & Pick<Services, "appBalance">;

/** A balance with a price, and how far its worth may back fast fills. */
export interface AppraisedBalance extends ChargeableBalance {
  readonly class: CurrencyClass;
}

/** What balances are worth together, USD with 18 decimals. */
export function worthOf(balances: readonly AppraisedBalance[]): Pick<Standing, "balanceUsd" | "haircutUsd"> {
  let balanceUsd = 0n;
  let haircutUsd = 0n;
  for (const { amount, unit, class: currencyClass } of balances) {
    const usd = amountToUsdDown(amount, unit);
    balanceUsd += usd;
    haircutUsd += haircutOf(currencyClass, usd);
  }
  return { balanceUsd, haircutUsd };
}

/** What a wallet's book is worth now. */
export interface Appraisal {
  /** Balances with a price, in the order in which charges take them. */
  readonly balances: readonly AppraisedBalance[];
  readonly standing: Standing;
  /** Set when a balance has no price that can be believed: it counts as nothing, and "not enough" cannot be said for certain. */
  readonly unpriced: ServiceError | undefined;
}

/**
 * Values the book at the prices in memory: inside a transaction nobody waits for a price source.
 * @throws ServiceError PRICE_FETCH_FAILED when something owed has no price that can be believed.
 */
export function appraise(services: AppraisalServices, book: WalletBook): Appraisal {
  const { chainId, currencies } = services.appBalance;
  refuseUnlistedDebts(services, book);
  const lines = new Map(book.lines.map((line) => [assetKey(line.asset), line]));
  const balances: AppraisedBalance[] = [];
  let unpriced: ServiceError | undefined;
  let owedUsd = 0n;
  for (const currency of currencies) {
    const line = lines.get(assetKey({ chainId, currency: currency.address }));
    if (line === undefined || (line.balance === 0n && line.owed === 0n)) continue;
    const unit = unitInMemory(services, currency);
    if (unit instanceof ServiceError) {
      if (line.owed > 0n) throw unit;
      unpriced = unit;
      continue;
    }
    balances.push({ asset: line.asset, amount: line.balance, unit, class: currency.class });
    owedUsd += amountToUsdUp(line.owed, unit);
  }
  return { balances, standing: { ...worthOf(balances), owedUsd, heldUsd: book.heldUsd }, unpriced };
}

/** A debt lessens every purpose, also in a currency that was taken off the list since: without it nothing may be promised out of the balance. */
function refuseUnlistedDebts(
  { appBalance: { chainId, currencies } }: AppraisalServices,
  book: WalletBook,
): void {
  const listed = new Set(currencies.map(({ address }) => assetKey({ chainId, currency: address })));
  const unlisted = book.lines.find(({ asset, owed }) => owed > 0n && !listed.has(assetKey(asset)));
  if (unlisted === undefined) return;
  const { asset, owed } = unlisted;
  throw new ServiceError(
    "PRICE_FETCH_FAILED",
    `The app balance owes ${owed} base units of ${asset.currency} on chain ${asset.chainId}, which app balances are not kept in any more: set supportsBridging of that currency again`,
  );
}

/**
 * The price in memory, or the error to throw; a missing price is being fetched for the next try. A price that quotes would not trade at counts
 * as none: any guess would be in somebody's favor, so balances vouch for nothing by it and charges and credits wait.
 */
export function unitInMemory(services: PriceServices, currency: Currency): PricedUnit | ServiceError {
  const unpriced = (cause?: unknown): ServiceError =>
    new ServiceError("PRICE_FETCH_FAILED", `There is no fresh price of ${currency.symbol}`, { cause });
  try {
    const priceUsd = services.prices.usd(currency);
    if (typeof priceUsd === "bigint")
      return doubtOf(services, currency) ?? { decimals: currency.decimals, priceUsd };
    // Its outcome concerns whoever asks next.
    priceUsd.catch(() => {});
    return unpriced();
  } catch (error) {
    return unpriced(error);
  }
}

/** Sees to it that the prices which {@link appraise} needs are in memory, as far as they can be had: for callers that may wait, before their transaction. */
export async function warmPrices({
  prices,
  appBalance,
}: Pick<Services, "prices" | "appBalance">): Promise<void> {
  await Promise.allSettled(appBalance.currencies.map(async (currency) => await prices.usd(currency)));
}
