import type { Address, Hex, Hex32, RequestId } from "../ids/hex.ts";
import { bytesOf, keccak, toHex, writeHex } from "../hashing/struct-writer.ts";
import type { RequestTerms } from "./terms.ts";

/** The facts of a request that the solver attests to contracts. */
export interface RequestAttestationFacts {
  readonly requestId: RequestId;
  readonly originChainId: number;
  readonly originUser: Address;
  /** Zero address = native token. */
  readonly originCurrency: Address;
  /** Base units. */
  readonly originAmount: bigint;
  readonly destinationChainId: number;
  readonly destinationUser: Address;
  /** What the recipient gets; zero address = native token. */
  readonly destinationCurrency: Address;
}

/** The attested facts. Terms never change, so the signed hash never changes either. */
export function requestAttestationFacts(terms: RequestTerms): RequestAttestationFacts {
  return {
    requestId: terms.requestId,
    originChainId: terms.origin.chainId,
    originUser: terms.user,
    originCurrency: terms.origin.currency,
    originAmount: terms.origin.amount,
    destinationChainId: terms.destination.chainId,
    destinationUser: terms.recipient,
    destinationCurrency: terms.destination.currency,
  };
}

/**
 * keccak256 of the ABI encoding of (bytes32 requestId, uint256 originChainId, bytes32 originUser, bytes32
 * originCurrency, uint256 originAmount, uint256 destinationChainId, bytes32 destinationUser). Addresses are
 * right-aligned, as in `bytes32(uint256(uint160(a)))`; longer ones (some of Bitcoin's) are replaced by their
 * keccak256.
 * @throws RangeError if a number does not fit its type
 */
export function requestAttestationHash(facts: Omit<RequestAttestationFacts, "destinationCurrency">): Hex32 {
  return hashOfWords([
    facts.requestId,
    uint256(facts.originChainId),
    facts.originUser,
    facts.originCurrency,
    uint256(facts.originAmount),
    uint256(facts.destinationChainId),
    facts.destinationUser,
  ]);
}

/**
 * The second layout: (bytes32 requestId, uint256 originChainId, bytes32 originUser, bytes32 originCurrency,
 * uint256 destinationChainId, bytes32 destinationUser, bytes32 destinationCurrency), encoded the same way.
 * @throws RangeError if a number does not fit its type
 */
export function requestAttestationHashV2(facts: Omit<RequestAttestationFacts, "originAmount">): Hex32 {
  return hashOfWords([
    facts.requestId,
    uint256(facts.originChainId),
    facts.originUser,
    facts.originCurrency,
    uint256(facts.destinationChainId),
    facts.destinationUser,
    facts.destinationCurrency,
  ]);
}

function hashOfWords(words: readonly Hex[]): Hex32 {
  const encoded = new Uint8Array(words.length * 32);
  for (const [index, word] of words.entries()) {
    const length = (word.length - 2) / 2;
    if (length > 32) writeHex(toHex(keccak(bytesOf(word))), encoded, index * 32);
    else writeHex(word, encoded, index * 32 + (32 - length));
  }
  return toHex(keccak(encoded));
}

function uint256(value: number | bigint): Hex32 {
  const whole = BigInt(value);
  if (whole < 0n || whole >= 1n << 256n) throw new RangeError(`expected a uint256, got ${value}`);
  return `0x${whole.toString(16).padStart(64, "0")}`;
}
