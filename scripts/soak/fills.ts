import { NATIVE_CURRENCY } from "@causeway/domain";
import { decodeFunctionData, erc20Abi, slice, type Address, type Hex } from "viem";
import type { ScannedTransaction } from "./chain-scan.ts";

/** The payment of a solver's transaction, read from its own bytes. */
export interface SolverPayment {
  readonly transaction: ScannedTransaction;
  /** The last 32 bytes of the input; undefined if it is shorter (a no-op). */
  readonly orderId: Hex | undefined;
  readonly currency: Address;
  readonly recipient: Address;
  readonly amount: bigint;
}

/**
 * Pure. An ERC-20 `transfer` with an id after it, or native with an id as the whole input; anything else pays
 * `value` to `to`.
 */
export function readPayment(transaction: ScannedTransaction): SolverPayment {
  const { input, to, value } = transaction;
  const bytes = (input.length - 2) / 2;
  const orderId = bytes < 32 ? undefined : slice(input, bytes - 32);
  const recipient = to ?? NATIVE_CURRENCY;
  const native = { transaction, orderId, currency: NATIVE_CURRENCY, recipient, amount: value };
  // 4 bytes of selector, two words of arguments, the id.
  if (bytes !== 100 || value !== 0n) return native;
  const call = decodeFunctionData({ abi: erc20Abi, data: slice(input, 0, 68) });
  if (call.functionName !== "transfer") return native;
  const [receiver, amount] = call.args;
  return { transaction, orderId, currency: recipient, recipient: receiver, amount };
}

/** The maximum number of spans that overlap at one moment. Pure. */
export function maxInFlight(spans: readonly { readonly fromMs: number; readonly toMs: number }[]): number {
  const edges = spans
    .flatMap(({ fromMs, toMs }) => [
      { atMs: fromMs, change: 1 },
      { atMs: toMs, change: -1 },
    ])
    .toSorted((a, b) => a.atMs - b.atMs || a.change - b.change);
  let [now, max] = [0, 0];
  for (const { change } of edges) {
    now += change;
    max = Math.max(max, now);
  }
  return max;
}
