import { isInNonceWindow, REMEMBERED_NONCES, type Address } from "@causeway/domain";
import { HyperliquidError } from "./refusal.ts";

/** Used nonces of each signer, by the rules that Hyperliquid documents. */
export class UsedNonces {
  /** The highest ones, ascending. */
  readonly #highest = new Map<Address, number[]>();

  /** @throws HyperliquidError if the nonce cannot be used at `time` (ms) */
  check(signer: Address, nonce: number, time: number): void {
    if (!isInNonceWindow(BigInt(nonce), BigInt(time)))
      throw new HyperliquidError(
        `Invalid nonce: ${nonce} is not within 2 days before and 1 day after ${time}`,
      );
    const highest = this.#highest.get(signer) ?? [];
    if (highest.includes(nonce)) throw new HyperliquidError(`Invalid nonce: duplicate nonce ${nonce}`);
    const [lowest] = highest;
    if (highest.length >= REMEMBERED_NONCES && lowest !== undefined && nonce < lowest)
      throw new HyperliquidError(`Invalid nonce: ${nonce} is below the ${REMEMBERED_NONCES} highest`);
  }

  use(signer: Address, nonce: number): void {
    const highest = [...(this.#highest.get(signer) ?? []), nonce].toSorted((a, b) => a - b);
    this.#highest.set(signer, highest.slice(-REMEMBERED_NONCES));
  }
}
