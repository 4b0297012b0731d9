import type { Address, Hex32 } from "../ids/hex.ts";
import type { OrderCall } from "../order/order-calls.ts";

/**
 * What a fill does with the output instead of paying it: the router gets all of it, makes the calls, and what
 * is left goes to the recipient.
 */
export interface OutputCalls {
  /** In order; all must succeed. None is to the router itself, which would not tell of it. */
  readonly calls: readonly OrderCall[];
  /** Gas units of the calls, as the output pays for them, and as many as they may burn. */
  readonly gas: bigint;
  /** Of the output's currency, smallest units; the order's first payment. */
  readonly left: { readonly expected: bigint; readonly minimum: bigint };
  /** Consents that travel with the fill (EIP-7702); absent: none. */
  readonly authorizationList?: readonly SignedConsent[];
}

/** One account's signed consent to run the code of `address` as its own (EIP-7702). */
export interface SignedConsent {
  readonly chainId: number;
  readonly address: Address;
  readonly nonce: number;
  readonly yParity: 0 | 1;
  readonly r: Hex32;
  readonly s: Hex32;
}

/** Native coin that calls carry, wei. */
export function coinOf(calls: readonly Pick<OrderCall, "value">[]): bigint {
  return calls.reduce((sum, { value }) => sum + value, 0n);
}

/**
 * What must be left for the recipient at least, where so much was left when it was tried: what calls spend
 * may depend on prices, and move by as much as the promise allows.
 * @param given what the calls had
 * @param slippageBps 0 to 10000
 */
export function minLeft(given: bigint, left: bigint, slippageBps: number): bigint {
  const spent = given > left ? given - left : 0n;
  const allowed = (spent * BigInt(slippageBps) + 9_999n) / 10_000n;
  return left > allowed ? left - allowed : 0n;
}
