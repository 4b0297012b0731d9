import {
  amountToUsdDown,
  isConvertedAt,
  isOneAsset,
  isSaleBeyondHonor,
  pairClassOf,
  salePrice,
  ServiceError,
} from "@causeway/domain";
import type { Address, ChargePart, Currency, RequestId } from "@causeway/domain";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { appraise, gasUnitInMemory, unitInMemory, warmPrices } from "../../balances/index.ts";
import { addExposures, spreadBetween, spreadOf } from "../../markets/index.ts";

/** Native tokens that calls carry: the app balance buys them from the solver. */
export interface ValueSale {
  /** Currencies of the balance that the sale prices were computed for. */
  readonly paidIn: readonly Currency[];
  /** One entry per chain. */
  readonly sold: readonly SoldNative[];
}

export interface SoldNative {
  readonly native: Currency;
  /** The price behind the sale price, see {@link SalePrice}. */
  readonly priceUsd: bigint;
  /** USD with 18 decimals, before fees. */
  readonly usd: bigint;
}

/** USD with 18 decimals per whole native token. */
export interface SalePrice {
  readonly priceUsd: bigint;
  /** The same with the service fee and the spread. */
  readonly salePriceUsd: bigint;
}

/**
 * The currencies that a charge of this wallet can use: those with a balance and a reliable price.
 * @throws ServiceError PRICE_FETCH_FAILED if a currency it owes has no such price
 */
export async function payingCurrencies(
  services: Pick<Services, "appBalance" | "chains" | "clock" | "prices" | "quotePolicy" | "uow">,
  wallet: Address,
): Promise<readonly Currency[]> {
  await warmPrices(services);
  const book = await services.uow.run((tx) => tx.ledger.lockWallet(wallet, services.clock.nowMs()));
  const { balances } = appraise(services, book);
  const paying = new Set(balances.filter(({ amount }) => amount > 0n).map(({ asset }) => asset.currency));
  return services.appBalance.currencies.filter(({ address }) => paying.has(address));
}

/**
 * The price of the native tokens that a call carries, and the price including the highest service fee and
 * spread among the paying currencies.
 * @throws ServiceError PRICE_FETCH_FAILED if the prices do not allow a trade between two assets
 */
export async function salePriceOf(
  services: Pick<Services, "prices" | "quotePolicy">,
  native: Currency,
  paidIn: readonly Currency[],
): Promise<SalePrice> {
  const priceUsd = await services.prices.usd(native);
  const { serviceBps } = services.quotePolicy;
  const fees = paidIn.map(
    (currency) => serviceBps[pairClassOf(currency, native)] + spreadOf(services, currency, native),
  );
  return { priceUsd, salePriceUsd: salePrice(priceUsd, Math.max(0, ...fees)) };
}

/**
 * Counts an accepted sale against the limit of each asset, like a fill between the two.
 * @throws ServiceError PRICE_FETCH_FAILED if a limit is used up; SERVICE_UNAVAILABLE if another currency or
 * price applies than at pricing
 */
export async function countSale(
  services: Pick<Services, "clock" | "enginePolicy">,
  tx: Pick<Tx, "priceExposure">,
  { paidIn, sold }: ValueSale,
  parts: readonly ChargePart[],
): Promise<void> {
  const paid = parts.map(({ asset, amount, usd }) => {
    const currency = paidIn.find(({ address }) => address === asset.currency);
    if (currency === undefined)
      throw new ServiceError("SERVICE_UNAVAILABLE", "The app balance changed during the request; try again");
    return { currency, amount, usd };
  });
  const exposed = new Map<string, bigint>();
  const expose = ({ priceId }: Currency, usd: bigint): void => {
    exposed.set(priceId, (exposed.get(priceId) ?? 0n) + usd);
  };
  for (const { native, priceUsd, usd: soldUsd } of sold) {
    if (soldUsd === 0n) continue;
    let remainingUsd = soldUsd;
    for (const { currency, amount, usd } of paid) {
      if (isOneAsset(pairClassOf(currency, native))) {
        // Native tokens pay for native tokens one to one only at the same price.
        if (isConvertedAt({ amount, usd }, { decimals: currency.decimals, priceUsd })) continue;
        throw new ServiceError(
          "SERVICE_UNAVAILABLE",
          `The price of ${native.symbol} changed during the request; try again`,
        );
      }
      if (remainingUsd === 0n) continue;
      const partUsd = usd < remainingUsd ? usd : remainingUsd;
      remainingUsd -= partUsd;
      expose(native, partUsd);
      expose(currency, partUsd);
    }
  }
  const priceId = await addExposures(services, tx, [exposed]);
  if (priceId !== undefined)
    throw new ServiceError(
      "PRICE_FETCH_FAILED",
      `The limit per minute on trades with ${priceId} is used up; try again in the next minute`,
      { data: { priceId } },
    );
}

/**
 * Checks the price of an accepted sale again before signing.
 * @param agreedPriceUsd the charge per whole native token, including fees
 * @returns why the calls must wait; undefined: they need not
 */
export async function whySaleWaits(
  services: Pick<Services, "chains" | "prices" | "quotePolicy" | "uow">,
  requestId: RequestId,
  native: Currency,
  agreedPriceUsd: bigint,
): Promise<string | undefined> {
  const reservation = await services.uow.run((tx) => tx.ledger.lockReservation(requestId));
  if (reservation?.state !== "open")
    return "no app balance is reserved for the native token that the calls carry";
  const paid = reservation.parts.map(({ asset, amount, usd }) => ({
    currency: services.chains.currency(asset.chainId, asset.currency),
    amount,
    reservedUsd: usd,
  }));
  await Promise.allSettled(
    [native, ...paid.map(({ currency }) => currency)].map(
      async (currency) => currency && (await services.prices.usd(currency)),
    ),
  );
  const { serviceBps, honorBps } = services.quotePolicy;
  for (const { currency, amount, reservedUsd } of paid) {
    if (currency === undefined) return "a currency that pays for the calls is no longer configured";
    const pairClass = pairClassOf(currency, native);
    // Both had one price when the call was accepted: the reserved amount equals the native tokens sold.
    if (isOneAsset(pairClass)) continue;
    const [nativeUnit, unit] = [gasUnitInMemory(services, native), unitInMemory(services, currency)];
    const spreadBps = spreadBetween(services, currency, native);
    if (nativeUnit instanceof ServiceError) return nativeUnit.message;
    if (unit instanceof ServiceError) return unit.message;
    if (spreadBps instanceof ServiceError) return spreadBps.message;
    const feeBps = serviceBps[pairClass];
    const current = {
      reservedUsd,
      worthUsd: amountToUsdDown(amount, unit),
      salePriceUsd: salePrice(nativeUnit.priceUsd, feeBps + spreadBps),
      honorBps: Math.min(honorBps, feeBps),
    };
    if (isSaleBeyondHonor(agreedPriceUsd, current))
      return `${native.symbol} for the calls costs more than was reserved`;
  }
  return undefined;
}
