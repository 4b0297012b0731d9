import type { Address, Hex32 } from "../ids/hex.ts";
import type { OrderCall } from "../order/order-calls.ts";

/**
 * What a fill does with the output instead of paying it: the router gets all of it, makes the calls, and the
 * rest goes to the recipient.
 */
export interface OutputCalls {
  /** In order; all must succeed. None targets the router itself, which would emit no event. */
  readonly calls: readonly OrderCall[];
  /** Gas units of the calls that the output pays for; also their limit. */
  readonly gas: bigint;
  /** In base units of the output's currency; the order's first payment. */
  readonly left: { readonly expected: bigint; readonly minimum: bigint };
  /** EIP-7702 authorizations sent with the fill. Absent: none. */
  readonly authorizationList?: readonly SignedConsent[];
}

/** One account's signed authorization to run the code of `address` as its own (EIP-7702). */
export interface SignedConsent {
  readonly chainId: number;
  readonly address: Address;
  readonly nonce: number;
  readonly yParity: 0 | 1;
  readonly r: Hex32;
  readonly s: Hex32;
}

/** Native tokens that calls send, wei. */
export function valueOfCalls(calls: readonly Pick<OrderCall, "value">[]): bigint {
  return calls.reduce((sum, { value }) => sum + value, 0n);
}

/**
 * The minimum that must be left for the recipient, given what was left in the dry run: the calls' costs may
 * depend on prices, and move by as much as the slippage allows.
 * @param given what the calls had
 * @param slippageBps 0 to 10000
 */
export function minLeft(given: bigint, left: bigint, slippageBps: number): bigint {
  const spent = given > left ? given - left : 0n;
  const allowed = (spent * BigInt(slippageBps) + 9_999n) / 10_000n;
  return left > allowed ? left - allowed : 0n;
}
