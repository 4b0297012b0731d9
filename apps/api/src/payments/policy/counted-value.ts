import { amountToUsdUp, NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, PricedUnit, RequestTerms } from "@causeway/domain";
import { mulDivUp } from "@causeway/domain";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Spent } from "./read-call.ts";

/** Values of payments for limits, in USD with 18 decimals, rounded up. Does not query price sources. */

type Needs = Partial<Pick<WorkerServices, "chains" | "prices">>;

/** The newest price in memory, of any age: a limit must not depend on the availability of a price source. */
export function knownPrice(
  { chains, prices }: Needs,
  chainId: number,
  address: Address,
): PricedUnit | undefined {
  const currency = chains?.currency?.(chainId, address);
  if (currency === undefined || prices === undefined) return undefined;
  const priceUsd = prices.lastUsd?.(currency) ?? cachedPrice(prices, currency);
  return priceUsd === undefined ? undefined : { decimals: currency.decimals, priceUsd };
}

function cachedPrice(
  prices: WorkerServices["prices"],
  currency: Parameters<WorkerServices["prices"]["usd"]>[0],
): bigint | undefined {
  try {
    const price = prices.usd(currency);
    if (typeof price === "bigint") return price;
    price.catch(() => undefined);
  } catch {
    // No price is available.
  }
  return undefined;
}

export interface PaymentToValue {
  readonly chainId: number;
  readonly outflows: readonly Spent[];
  readonly gasWei: bigint;
  /** The terms of the payment's request, if it has one. */
  readonly terms: RequestTerms | undefined;
}

/**
 * The value of a payment and its gas. A currency without a price is valued as in the request's quote; gas
 * without a price is left out.
 * @returns USD with 18 decimals; undefined: the value is not known
 */
export function countedUsd(
  services: Needs,
  { chainId, outflows, gasWei, terms }: PaymentToValue,
): bigint | undefined {
  const native = services.chains?.profile?.(chainId)?.native.address ?? NATIVE_CURRENCY;
  const gasUnit = knownPrice(services, chainId, native);
  let usd = gasUnit === undefined ? 0n : amountToUsdUp(gasWei, gasUnit);
  for (const { currency, amount } of outflows) {
    const unit = knownPrice(services, chainId, currency);
    const partUsd =
      unit === undefined ? quotedUsd(terms, chainId, currency, amount) : amountToUsdUp(amount, unit);
    if (partUsd === undefined) return undefined;
    usd += partUsd;
  }
  return usd;
}

/** The USD value of an amount, in proportion to the request's input when it was quoted. */
function quotedUsd(
  terms: RequestTerms | undefined,
  chainId: number,
  currency: Address,
  amount: bigint,
): bigint | undefined {
  if (terms === undefined) return undefined;
  const { origin, destination, inputUsd } = terms;
  const isPaid = chainId === destination.chainId && currency === destination.currency;
  const isDeposited = chainId === origin.chainId && currency === origin.currency;
  const quoted = isPaid ? destination.expectedAmount : isDeposited ? origin.amount : 0n;
  return quoted === 0n ? undefined : mulDivUp(inputUsd, amount, quoted);
}
