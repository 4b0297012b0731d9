import { keccak, toHex, writeHex } from "../hashing/struct-writer.ts";
import type { Address, Hex32 } from "../ids/hex.ts";

/** The content of a claim that a wallet signs. */
export interface ClaimFacts {
  /** Random: distinguishes two equal claims. */
  readonly salt: Hex32;
  readonly wallet: Address;
  readonly chainId: number;
  readonly currency: Address;
  readonly recipient: Address;
  /** The amount that the recipient gets, base units. */
  readonly amount: bigint;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * keccak256 of the ABI encoding of (bytes32 salt, address wallet, uint256 chainId, address currency, address
 * recipient, uint256 amount, uint256 expiry): identifies the claim, and is what the wallet signs.
 * @throws RangeError if a fact does not fit its type
 */
export function claimIdOf(facts: ClaimFacts): Hex32 {
  const words = [
    facts.salt,
    facts.wallet,
    uint256(facts.chainId),
    facts.currency,
    facts.recipient,
    uint256(facts.amount),
    uint256(facts.expiresAt),
  ];
  const encoded = new Uint8Array(words.length * 32);
  for (const [index, word] of words.entries()) {
    const length = (word.length - 2) / 2;
    if (length > 32) throw new RangeError(`expected at most 32 bytes, got ${word.slice(0, 80)}`);
    writeHex(word, encoded, index * 32 + (32 - length));
  }
  return toHex(keccak(encoded));
}

function uint256(value: number | bigint): Hex32 {
  const whole = BigInt(value);
  if (whole < 0n || whole >= 1n << 256n) throw new RangeError(`expected a uint256, got ${value}`);
  return `0x${whole.toString(16).padStart(64, "0")}`;
}
