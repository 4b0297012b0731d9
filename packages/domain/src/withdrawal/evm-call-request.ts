import { decodeAbiParameters, encodeAbiParameters, keccak256, toHex } from "viem";
import type { Address, Hex, Hex32 } from "../ids/hex.ts";

/** A withdrawal payload of an EVM chain: the calls that a depository makes once an allocator signed them. */
export interface EvmCallRequest {
  readonly calls: readonly EvmRequestedCall[];
  readonly nonce: bigint;
  /** Unix seconds; the depository carries it out in blocks up to and including this time. */
  readonly expiration: bigint;
}

export interface EvmRequestedCall {
  readonly to: Address;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  readonly allowFailure: boolean;
}

/** A withdrawal holds one call; whatever is much longer is not worth decoding. Bytes. */
const LONGEST_PAYLOAD = 16 * 1024;

const layout = [
  {
    type: "tuple",
    components: [
      {
        name: "calls",
        type: "tuple[]",
        components: [
          { name: "to", type: "address" },
          { name: "data", type: "bytes" },
          { name: "value", type: "uint256" },
          { name: "allowFailure", type: "bool" },
        ],
      },
      { name: "nonce", type: "uint256" },
      { name: "expiration", type: "uint256" },
    ],
  },
] as const;

const CALL_TYPEHASH = keccak256(toHex("Call(address to,bytes data,uint256 value,bool allowFailure)"));
const CALL_REQUEST_TYPEHASH = keccak256(
  toHex(
    "CallRequest(Call[] calls,uint256 nonce,uint256 expiration)Call(address to,bytes data,uint256 value,bool allowFailure)",
  ),
);

/** The payload's bytes: `abi.encode(CallRequest)`. */
export function encodeEvmCallRequest(request: EvmCallRequest): Hex {
  const { calls, nonce, expiration } = request;
  return encodeAbiParameters(layout, [{ calls: [...calls], nonce, expiration }]);
}

/** Undefined unless `payload` is, byte for byte, what {@link encodeEvmCallRequest} writes: one request has one spelling. */
export function decodeEvmCallRequest(payload: Hex): EvmCallRequest | undefined {
  if (payload.length > 2 + 2 * LONGEST_PAYLOAD || !/^0x(?:[0-9a-f]{64})+$/.test(payload)) return undefined;
  try {
    const [{ calls, nonce, expiration }] = decodeAbiParameters(layout, payload);
    const request: EvmCallRequest = {
      calls: calls.map((call) => ({ ...call, to: call.to.toLowerCase() as Address })),
      nonce,
      expiration,
    };
    return encodeEvmCallRequest(request) === payload ? request : undefined;
  } catch {
    // Offsets out of range, a flag that is neither 0 nor 1: not this encoding.
    return undefined;
  }
}

/**
 * The id under which a depository files the request: its EIP-712 struct hash, without any domain. The same request therefore has one id on every chain and
 * depository, while the allocator's signature is bound to one of them.
 */
export function evmCallRequestId(request: EvmCallRequest): Hex32 {
  const callHashes = request.calls.map(({ to, data, value, allowFailure }) =>
    keccak256(
      encodeAbiParameters(
        [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "uint256" }, { type: "bool" }],
        [CALL_TYPEHASH, to, keccak256(data), value, allowFailure],
      ),
    ),
  );
  return keccak256(
    encodeAbiParameters(
      [{ type: "bytes32" }, { type: "bytes32" }, { type: "uint256" }, { type: "uint256" }],
      [
        CALL_REQUEST_TYPEHASH,
        keccak256(`0x${callHashes.map((hash) => hash.slice(2)).join("")}`),
        request.nonce,
        request.expiration,
      ],
    ),
  );
}
