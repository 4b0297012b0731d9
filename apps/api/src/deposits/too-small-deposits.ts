import { gasCostWei, refundAmount, ServiceError } from "@causeway/domain";
import type { Address, Currency } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";
import { gasOf } from "../markets/index.ts";

type Needs = Pick<Services, "prices" | "quotePolicy">;

/**
 * A deposit is too small if it is worth less than the gas cost of its refund divided by this number: gas may
 * fall before the refund is planned.
 */
const GAS_DIVISOR = 2n;

/** Whether a deposit cannot pay for its own refund, even if gas falls by half. */
export type IsTooSmall = (deposit: { readonly currency: Address; readonly amount: bigint }) => boolean;

/**
 * Uses the prices in memory, since a transaction must not wait for a price source. Without a price nothing is
 * too small.
 */
export function tooSmallOn(
  services: Needs,
  { chain, pulse }: Pick<ConnectedChain, "chain" | "pulse">,
): IsTooSmall {
  const limits = new Map<Address, bigint>();
  const nativeUsd = priceInMemory(services, chain.native);
  const gasPrices = valueOrUndefined(() => pulse.gasPrices());
  if (nativeUsd === undefined || gasPrices === undefined) return () => false;
  const native = { decimals: chain.native.decimals, priceUsd: nativeUsd };
  for (const currency of [chain.native, ...chain.tokens]) {
    const priceUsd = priceInMemory(services, currency);
    if (priceUsd === undefined) continue;
    const gasUnits = gasOf(services.quotePolicy.gas.refund, currency, false) / GAS_DIVISOR;
    const gasWei = gasCostWei(gasUnits, gasPrices, chain.fees.minPriorityFeeWei, 0);
    const { gasFee } = refundAmount(0n, gasWei, native, { decimals: currency.decimals, priceUsd });
    limits.set(currency.address, gasFee);
  }
  return ({ currency, amount }) => amount <= (limits.get(currency) ?? -1n);
}

function priceInMemory({ prices }: Needs, currency: Currency): bigint | undefined {
  const price = valueOrUndefined(() => prices.usd(currency));
  if (price === undefined || typeof price === "bigint") return price;
  // Not awaited: the next block finds the price in memory.
  price.catch(() => undefined);
  return undefined;
}

/** @returns undefined if no fresh value is known */
function valueOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
