import type { Address, Hex32 } from "../ids/hex.ts";
import type { OrderCall } from "../order/order-calls.ts";

/**
 * What a fill does with the output instead of paying it: the router gets the output, makes the calls, and
 * pays the rest to the recipient.
 */
export interface OutputCalls {
  /** In order; all must succeed. No call targets the router itself, because that would emit no event. */
  readonly calls: readonly OrderCall[];
  /** Gas limit of the calls, paid by the output. */
  readonly gas: bigint;
  /** What the calls leave for the recipient, base units of the output; the order's first payment. */
  readonly left: { readonly expected: bigint; readonly minimum: bigint };
  /** EIP-7702 authorizations sent with the fill. Absent: none. */
  readonly authorizationList?: readonly SignedAuthorization[];
}

/** One account's signed authorization to run the code of `address` as its own (EIP-7702). */
export interface SignedAuthorization {
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
 * The minimum that the calls must leave for the recipient: their costs may depend on prices, and may exceed
 * those of the dry run by the slippage.
 * @param received what the calls received in the dry run, base units
 * @param remainder what the calls left in the dry run, base units
 * @param slippageBps 0 to 10000
 */
export function minRemainder(received: bigint, remainder: bigint, slippageBps: number): bigint {
  const spent = received > remainder ? received - remainder : 0n;
  const allowed = (spent * BigInt(slippageBps) + 9_999n) / 10_000n;
  return remainder > allowed ? remainder - allowed : 0n;
}
