import type { Address } from "../ids/hex.ts";
import { BPS, bpsOfDown } from "../money/bps.ts";
import { amountToUsdDown, convertDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** What an app takes of every input, for one recipient: bps of it, above zero. */
export interface AppFee {
  readonly recipient: Address;
  readonly bps: number;
}

/** An app fee as a quote agreed upon it. */
export interface AgreedAppFee extends AppFee {
  /**
   * What the recipient's app balance gets of a deposit of the quoted size, smallest units of
   * {@link AgreedAppFees.currency}.
   */
  readonly amount: bigint;
}

/** App fees of a request, and the currency of app balances that they are paid in. */
export interface AgreedAppFees {
  readonly chainId: number;
  readonly currency: Address;
  readonly fees: readonly AgreedAppFee[];
}

/**
 * Most that all apps together may take of an input, bps: beyond it the user is more likely to be cheated than
 * served.
 */
export const MAX_APP_FEE_BPS = 5_000;

/**
 * Fees of nothing are dropped; those of one recipient are one. In the order in which recipients come first.
 */
export function mergeAppFees(fees: readonly AppFee[]): AppFee[] {
  const byRecipient = new Map<Address, number>();
  for (const { recipient, bps } of fees)
    if (bps > 0) byRecipient.set(recipient, (byRecipient.get(recipient) ?? 0) + bps);
  return [...byRecipient].map(([recipient, bps]) => ({ recipient, bps }));
}

/** bps of all of them together. */
export function appBpsOf(fees: readonly AppFee[]): number {
  return fees.reduce((sum, { bps }) => sum + bps, 0);
}

/**
 * What each recipient's balance gets of a deposit, at these prices: its part of the deposit, and that
 * converted, each rounded down, so that together they are never worth more than what was taken.
 * @param input smallest units of what is deposited, whose unit is `deposited`
 */
export function agreeAppFees(
  fees: readonly AppFee[],
  input: bigint,
  deposited: PricedUnit,
  balance: PricedUnit,
): AgreedAppFee[] {
  return fees.map((fee) => ({ ...fee, amount: convertDown(bpsOfDown(input, fee.bps), deposited, balance) }));
}

/** What all of them are worth, USD with 18 decimals, rounded down. */
export function appFeesUsd(fees: readonly AppFee[], input: bigint, deposited: PricedUnit): bigint {
  return amountToUsdDown((input * BigInt(appBpsOf(fees))) / BPS, deposited);
}

/** What a deposit's currency and that of the balances are worth when the balances are credited. */
export interface FeePrices {
  readonly deposited: PricedUnit;
  readonly balance: PricedUnit;
}

/**
 * What the balances get when so much was deposited instead of `agreed`: in proportion, rounded down; and
 * never more than it is worth by then. A quote can be taken up days later, and whoever asked for it could
 * wait for the prices to fall, and have yesterday's.
 * @param now undefined: both currencies are one, whose price does not matter
 */
export function dueAppFees(
  { fees }: AgreedAppFees,
  deposited: bigint,
  agreed: bigint,
  now: FeePrices | undefined,
): ReadonlyArray<{ readonly recipient: Address; readonly amount: bigint }> {
  return fees.map(({ recipient, bps, amount }) => {
    const quoted = deposited === agreed || agreed === 0n ? amount : (amount * deposited) / agreed;
    if (now === undefined) return { recipient, amount: quoted };
    const worth = convertDown(bpsOfDown(deposited, bps), now.deposited, now.balance);
    return { recipient, amount: worth < quoted ? worth : quoted };
  });
}
