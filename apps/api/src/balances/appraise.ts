import type {
  ChargeableBalance,
  Currency,
  CurrencyClass,
  LedgerAsset,
  Position,
  PricedUnit,
  Standing,
} from "@causeway/domain";
import {
  ServiceError,
  amountToUsdDown,
  amountToUsdUp,
  assetKey,
  haircutUsd,
  unpricedHoldUsd,
} from "@causeway/domain";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { HeldAsset, WalletBook } from "./ledger.port.ts";
import type { Services } from "../db/services.port.ts";
import { doubtOf, type PriceServices } from "../markets/index.ts";

export interface AppraisalServices extends PriceServices, Pick<Services, "appBalance"> {
  readonly chains: Pick<ChainDirectory, "currency">;
}

/** A priced balance, and the part of its value that may back fast fills. */
export interface AppraisedBalance extends ChargeableBalance {
  readonly priceId: string;
  readonly class: CurrencyClass;
}

/**
 * The value that holds guarantee in one asset: the greater of its value at the time of the hold and its
 * current value, because a debit charges the current value. Includes a margin if the asset has no price.
 */
export type HeldWorth = Pick<Position, "priceId" | "class" | "heldUsd">;

/** Total value of balances, USD with 18 decimals. */
export function worthOf(
  balances: readonly AppraisedBalance[],
  held: readonly HeldWorth[],
): Pick<Standing, "balanceUsd" | "haircutUsd"> {
  const positions = balances.map(({ priceId, class: currencyClass, amount, unit }): Position => ({
    priceId,
    class: currencyClass,
    balanceUsd: amountToUsdDown(amount, unit),
    heldUsd: 0n,
  }));
  return {
    balanceUsd: positions.reduce((sum, { balanceUsd }) => sum + balanceUsd, 0n),
    haircutUsd: haircutUsd([...positions, ...held.map((worth): Position => ({ ...worth, balanceUsd: 0n }))]),
  };
}

/** The current value of a wallet's book. */
export interface Appraisal {
  /** Balances with a price, in the order in which they are charged. */
  readonly balances: readonly AppraisedBalance[];
  readonly held: readonly HeldWorth[];
  readonly standing: Standing;
  /** Set when a balance has no reliable price: it counts as zero, so "insufficient" is not certain. */
  readonly unpriced: ServiceError | undefined;
  /**
   * Set when a held volatile asset has no reliable price: it counts with a margin, so "insufficient" is not
   * certain.
   */
  readonly unpricedHold: ServiceError | undefined;
}

/**
 * Values the book at cached prices: a transaction must not wait for a price source.
 * @throws ServiceError PRICE_FETCH_FAILED when a debt has no reliable price
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
    balances.push({ asset: line.asset, amount: line.balance, unit, ...kindOf(currency) });
    owedUsd += amountToUsdUp(line.owed, unit);
  }
  const priced = book.held.map((asset) => priceHeld(services, asset));
  const held = priced.map(({ worth }) => worth);
  const heldUsd = held.reduce((sum, worth) => sum + worth.heldUsd, 0n);
  return {
    balances,
    held,
    standing: { ...worthOf(balances, held), owedUsd, heldUsd },
    unpriced,
    unpricedHold: priced.find((hold) => hold.unpriced !== undefined)?.unpriced,
  };
}

const kindOf = ({ priceId, class: currencyClass }: Currency): Pick<Position, "priceId" | "class"> => ({
  priceId,
  class: currencyClass,
});

/**
 * The class and asset of a held currency. A currency that is no longer configured counts as the most volatile
 * class.
 */
export function heldKind(
  { chains }: Pick<AppraisalServices, "chains">,
  asset: LedgerAsset,
): Pick<Position, "priceId" | "class"> {
  const currency = chains.currency(asset.chainId, asset.currency);
  return currency === undefined ? { priceId: assetKey(asset), class: "minor" } : kindOf(currency);
}

function priceHeld(
  services: AppraisalServices,
  { asset, amount, usd }: HeldAsset,
): { readonly worth: HeldWorth; readonly unpriced: ServiceError | undefined } {
  const kind = heldKind(services, asset);
  const currency = services.chains.currency(asset.chainId, asset.currency);
  const worth = { ...kind, heldUsd: usd };
  if (kind.class === "stable") return { worth, unpriced: undefined };
  if (currency === undefined)
    return { worth: { ...worth, heldUsd: unpricedHoldUsd(usd, undefined) }, unpriced: unlistedHold(asset) };
  const unit = unitInMemory(services, currency);
  if (unit instanceof ServiceError) {
    const priceUsd = services.prices.lastUsd?.(currency);
    const lastUsd =
      priceUsd === undefined ? undefined : amountToUsdUp(amount, { decimals: currency.decimals, priceUsd });
    return { worth: { ...worth, heldUsd: unpricedHoldUsd(usd, lastUsd) }, unpriced: unit };
  }
  const nowUsd = amountToUsdUp(amount, unit);
  return { worth: nowUsd > usd ? { ...worth, heldUsd: nowUsd } : worth, unpriced: undefined };
}

function unlistedHold({ chainId, currency }: LedgerAsset): ServiceError {
  return new ServiceError(
    "PRICE_FETCH_FAILED",
    `A fast fill holds currency ${currency} on chain ${chainId}, but that currency is not configured; the operator must configure it again`,
  );
}

/**
 * A debt reduces what is available for every purpose. If its currency is no longer listed, the debt cannot be
 * valued, so the balance must not be charged.
 */
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
    `The app balance owes ${owed} base units of ${asset.currency} on chain ${asset.chainId}, which app balances no longer support; the operator must set supportsBridging of that currency again`,
  );
}

/**
 * The cached price, or the error to throw. A missing price is fetched for the next try. A price that quotes
 * would refuse counts as missing, because any guess would favor one side.
 */
export function unitInMemory(services: PriceServices, currency: Currency): PricedUnit | ServiceError {
  const unit = gasUnitInMemory(services, currency);
  return unit instanceof ServiceError ? unit : (doubtOf(services, currency) ?? unit);
}

/**
 * Like {@link unitInMemory}, but accepts a price that quotes would refuse: gas is a small amount, and the
 * transaction was already sent.
 */
export function gasUnitInMemory(
  { prices }: Pick<PriceServices, "prices">,
  currency: Currency,
): PricedUnit | ServiceError {
  const unpriced = (cause?: unknown): ServiceError =>
    new ServiceError("PRICE_FETCH_FAILED", `No fresh price of ${currency.symbol}; try again`, { cause });
  try {
    const priceUsd = prices.usd(currency);
    if (typeof priceUsd === "bigint") return { decimals: currency.decimals, priceUsd };
    // The next caller gets the result of this fetch.
    priceUsd.catch(() => {});
    return unpriced();
  } catch (error) {
    return unpriced(error);
  }
}

/** Caches the prices that {@link appraise} needs; ignores failures. Call it before the transaction. */
export async function warmPrices({
  prices,
  appBalance,
}: Pick<Services, "prices" | "appBalance">): Promise<void> {
  await Promise.allSettled(appBalance.currencies.map(async (currency) => await prices.usd(currency)));
}
