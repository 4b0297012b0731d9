import {
  arrayHash,
  bytesOf,
  keccak,
  keccakHex,
  keccakText,
  structWriter,
  toHex,
} from "../hashing/struct-writer.ts";
import type { Address, Hex32 } from "../ids/hex.ts";
import type { RouterCall } from "../quote/router-calldata.ts";

/**
 * What the router does with funds that are paid by signature; the same signature covers it. `RouteWitness` of
 * the contracts.
 */
export interface RouteWitness {
  /** The only account that may submit the signature. */
  readonly relayer: Address;
  /** Who gets what the calls leave over. */
  readonly refundTo: Address;
  /** Tokens whose remainder goes to `refundTo`, in addition to the paid token. */
  readonly refundTokens: readonly Address[];
  /** None of them may fail: the submitter could make an optional call fail by supplying too little gas. */
  readonly calls: readonly RouterCall[];
}

/** The fields of an EIP-3009 authorization other than its nonce. Times are Unix seconds, both exclusive. */
export interface Eip3009Authorization {
  readonly token: Address;
  readonly from: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
}

const callType = "Call(address to,bytes data,uint256 value,bool allowFailure)";
const callTypeHash = keccakText(callType);
const witnessTypeHash = keccakText(
  `RouteWitness(address relayer,address refundTo,address[] refundTokens,Call[] calls)${callType}`,
);
const callWriter = structWriter(5);
const witnessWriter = structWriter(5);
const nonceWriter = structWriter(6);

/**
 * EIP-712 struct hash of a witness, without a domain. Addresses and data may have any letter case.
 * @throws RangeError for an invalid address or invalid bytes
 */
export function routeWitnessHash({ relayer, refundTo, refundTokens, calls }: RouteWitness): Uint8Array {
  const tokenWords = new Uint8Array(refundTokens.length * 32);
  for (const [index, token] of refundTokens.entries()) tokenWords.set(wordOf(token), index * 32);
  const callsHash = calls.length === 0 ? keccak(new Uint8Array(0)) : arrayHash(calls, callHash);
  return witnessWriter
    .start(witnessTypeHash)
    .address(relayer)
    .address(refundTo)
    .word(keccak(tokenWords))
    .word(callsHash)
    .hash();
}

/**
 * The nonce that makes an EIP-3009 authorization valid for this route only, as `authorizationNonce` of the
 * `ApprovalProxy` computes it: keccak256(abi.encode(witness hash, token, from, value, validAfter,
 * validBefore)).
 */
export function authorizationNonce(authorization: Eip3009Authorization, witness: RouteWitness): Hex32 {
  const { token, from, value, validAfter, validBefore } = authorization;
  return toHex(
    nonceWriter
      .start(routeWitnessHash(witness))
      .address(token)
      .address(from)
      .uint256(value)
      .uint256(validAfter)
      .uint256(validBefore)
      .hash(),
  );
}

function callHash({ to, data, value }: RouterCall): Uint8Array {
  return callWriter.start(callTypeHash).address(to).word(keccakHex(data)).uint256(value).uint8(0).hash();
}

function wordOf(address: Address): Uint8Array {
  const bytes = bytesOf(address);
  if (bytes.length !== 20) throw new RangeError(`expected a 20-byte address, got ${address.slice(0, 80)}`);
  const word = new Uint8Array(32);
  word.set(bytes, 12);
  return word;
}
