import type { Address } from "../ids/hex.ts";
import { BPS, bpsOfDown } from "../money/bps.ts";
import { amountToUsdDown, convertDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** The fee of an app for one recipient, in bps of every input, above zero. */
export interface AppFee {
  readonly recipient: Address;
  readonly bps: number;
}

/** An app fee with the credit that a quote promises. */
export interface QuotedAppFee extends AppFee {
  /**
   * What the recipient's app balance is credited for a deposit of the quoted size, base units of {@link
   * QuotedAppFees.currency}.
   */
  readonly amount: bigint;
}

/** App fees of a request, and the currency of app balances in which they are credited. */
export interface QuotedAppFees {
  readonly chainId: number;
  readonly currency: Address;
  readonly fees: readonly QuotedAppFee[];
}

/** Maximum of all app fees together, bps of the input: a higher total is more likely an error or fraud. */
export const MAX_APP_FEE_BPS = 5_000;

/** Drops zero fees and sums the fees of each recipient, in the order of first appearance. */
export function mergeAppFees(fees: readonly AppFee[]): AppFee[] {
  const byRecipient = new Map<Address, number>();
  for (const { recipient, bps } of fees)
    if (bps > 0) byRecipient.set(recipient, (byRecipient.get(recipient) ?? 0) + bps);
  return [...byRecipient].map(([recipient, bps]) => ({ recipient, bps }));
}

/** Sum of all fees in bps. */
export function appBpsOf(fees: readonly AppFee[]): number {
  return fees.reduce((sum, { bps }) => sum + bps, 0);
}

/**
 * What each recipient's balance is credited for a deposit at these prices: its share of the deposit,
 * converted, each step rounded down, so that together they are never worth more than the deducted fee.
 * @param input base units of the deposit, whose unit is `deposited`
 */
export function quoteAppFees(
  fees: readonly AppFee[],
  input: bigint,
  deposited: PricedUnit,
  balance: PricedUnit,
): QuotedAppFee[] {
  return fees.map((fee) => ({ ...fee, amount: convertDown(bpsOfDown(input, fee.bps), deposited, balance) }));
}

/** Value of all fees, USD with 18 decimals, rounded down. */
export function appFeesUsd(fees: readonly AppFee[], input: bigint, deposited: PricedUnit): bigint {
  return amountToUsdDown((input * BigInt(appBpsOf(fees))) / BPS, deposited);
}

/** Prices of the deposited currency and of the balances' currency at the time of the credit. */
export interface FeePrices {
  readonly deposited: PricedUnit;
  readonly balance: PricedUnit;
}

/**
 * The credits of the balances for a deposit of `deposited` instead of `quotedInput`: in proportion, rounded
 * down, and at most the fee's value at current prices. Otherwise an app could wait days for prices to fall
 * and be credited at the old prices.
 * @param now undefined if both currencies are the same, so that prices do not matter
 */
export function appFeeCredits(
  { fees }: QuotedAppFees,
  deposited: bigint,
  quotedInput: bigint,
  now: FeePrices | undefined,
): ReadonlyArray<{ readonly recipient: Address; readonly amount: bigint }> {
  return fees.map(({ recipient, bps, amount }) => {
    const quoted =
      deposited === quotedInput || quotedInput === 0n ? amount : (amount * deposited) / quotedInput;
    if (now === undefined) return { recipient, amount: quoted };
    const worth = convertDown(bpsOfDown(deposited, bps), now.deposited, now.balance);
    return { recipient, amount: worth < quoted ? worth : quoted };
  });
}
