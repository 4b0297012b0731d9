import { encodeAbiParameters } from "viem";
import { arrayHash, keccakHex, keccakText, structWriter, toHex } from "../hashing/struct-writer.ts";
import { NATIVE_CURRENCY } from "../ids/hex.ts";
import type { Address, Hex, Hex32 } from "../ids/hex.ts";
import { decodeCanonicalAbi } from "./canonical-abi.ts";

/** One call that a depository makes. */
export interface EvmCall {
  readonly to: Address;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  /** A failure of this call does not revert the request. */
  readonly allowFailure: boolean;
}

/**
 * What the allocator signs for an EVM depository: calls that the depository makes once, in a block with a
 * timestamp of at most `expiration`.
 */
export interface EvmCallRequest {
  readonly calls: readonly EvmCall[];
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly expiration: bigint;
}

const parameters = [
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

/**
 * The payload of a request: its ABI encoding.
 * @throws the library's error if a value does not fit its type
 */
export function encodeEvmCallRequest({ calls, nonce, expiration }: EvmCallRequest): Hex {
  const lowered = calls.map((call) => ({ ...call, to: lower(call.to), data: lower(call.data) }));
  return encodeAbiParameters(parameters, [{ calls: lowered, nonce, expiration }]);
}

/**
 * The request of a payload; undefined unless it is exactly what `encodeEvmCallRequest` writes, ignoring
 * letter case.
 */
export function decodeEvmCallRequest(payload: Hex): EvmCallRequest | undefined {
  const [request] = decodeCanonicalAbi(parameters, payload) ?? [];
  if (request === undefined) return undefined;
  const calls = request.calls.map((call) => ({ ...call, to: lower(call.to), data: lower(call.data) }));
  return { calls, nonce: request.nonce, expiration: request.expiration };
}

const CALL_TYPE = "Call(address to,bytes data,uint256 value,bool allowFailure)";
const CALL = keccakText(CALL_TYPE);
const REQUEST = keccakText(`CallRequest(Call[] calls,uint256 nonce,uint256 expiration)${CALL_TYPE}`);

const callWriter = structWriter(5);
const requestWriter = structWriter(4);

/**
 * The id of a request at a depository: its EIP-712 struct hash without a domain, so that it is the same on
 * every chain.
 * @throws RangeError if a value does not fit its type
 */
export function evmCallRequestId({ calls, nonce, expiration }: EvmCallRequest): Hex32 {
  const callsHash = arrayHash(calls, (call) =>
    callWriter
      .start(CALL)
      .address(call.to)
      .word(keccakHex(call.data))
      .uint256(call.value)
      .uint8(call.allowFailure ? 1 : 0)
      .hash(),
  );
  return toHex(requestWriter.start(REQUEST).word(callsHash).uint256(nonce).uint256(expiration).hash());
}

/** The one payment that a request makes. */
export interface EvmWithdrawalPayment {
  readonly recipient: Address;
  /** Zero address = native token. */
  readonly currency: Address;
  readonly amount: bigint;
}

/** `transfer(address,uint256)` without trailing bytes. */
const TRANSFER_CALL = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/;

/**
 * The payment of a request, or why it has none. A payment is exactly one call that must not fail and either
 * sends native tokens or calls `transfer` on a token. Any other request could be executed without paying
 * what its attestation states.
 */
export function evmWithdrawalPayment({
  calls,
}: EvmCallRequest): EvmWithdrawalPayment | { readonly refusal: string } {
  const [call, ...otherCalls] = calls;
  if (call === undefined || otherCalls.length > 0)
    return { refusal: "a withdrawal must have exactly one call" };
  if (call.allowFailure) return { refusal: "the call of a withdrawal must not allow failure" };
  const to = lower(call.to);
  const data = lower(call.data);
  if (data === "0x") {
    if (call.value === 0n) return { refusal: "the withdrawal has an amount of 0" };
    return { recipient: to, currency: NATIVE_CURRENCY, amount: call.value };
  }
  const [, recipient, amountHex] = TRANSFER_CALL.exec(data) ?? [];
  if (recipient === undefined || amountHex === undefined)
    return { refusal: "the call of a withdrawal must be a native payment or a token transfer" };
  if (call.value !== 0n) return { refusal: "a token withdrawal must not send native tokens" };
  if (to === NATIVE_CURRENCY) return { refusal: "the native token has no transfer function" };
  const amount = BigInt(`0x${amountHex}`);
  if (amount === 0n) return { refusal: "the withdrawal has an amount of 0" };
  return { recipient: `0x${recipient}`, currency: to, amount };
}

function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}
