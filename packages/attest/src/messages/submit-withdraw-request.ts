import { encodeAbiParameters, hashTypedData, keccak256 } from "viem";
import type { Address, Hex, Hex32 } from "@causeway/domain";

/** What the oracle asks an allocator to build and sign a payload for. */
export interface SubmitWithdrawRequest {
  /** The paying chain's id on the hub. */
  readonly chainId: bigint;
  readonly depository: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Hub account that pays: the withdrawal address. */
  readonly spender: Address;
  readonly receiver: string;
  /** Family-specific; `0x` where there is nothing. */
  readonly data: Hex;
  readonly nonce: Hex32;
}

/** Where the request is submitted. */
export interface AllocatorSpenderDomain {
  readonly chainId: number;
  readonly verifyingContract: Address;
}

const components = [
  { name: "chainId", type: "uint256" },
  { name: "depository", type: "string" },
  { name: "currency", type: "string" },
  { name: "amount", type: "uint256" },
  { name: "spender", type: "address" },
  { name: "receiver", type: "string" },
  { name: "data", type: "bytes" },
  { name: "nonce", type: "bytes32" },
] as const;

/** EIP-712 types of a request, as plain data. */
export const submitWithdrawRequestTypes = { SubmitWithdrawRequest: components } as const;

/** EIP-712 digest of a request. @throws the library's error when a value does not fit its type. */
export function submitWithdrawRequestDigest(
  domain: AllocatorSpenderDomain,
  request: SubmitWithdrawRequest,
): Hex32 {
  return hashTypedData({
    domain: { name: "AllocatorSpender", version: "1", ...domain },
    types: submitWithdrawRequestTypes,
    primaryType: "SubmitWithdrawRequest",
    message: lowered(request),
  });
}

/**
 * Under which an allocator files the payload of a request: keccak256 of the request's ABI encoding as one
 * tuple.
 *
 * @throws as `submitWithdrawRequestDigest`.
 */
export function withdrawPayloadId(request: SubmitWithdrawRequest): Hex32 {
  return keccak256(encodeAbiParameters([{ type: "tuple", components }], [lowered(request)]));
}

/** The library refuses addresses whose mixed case is no checksum. */
function lowered(request: SubmitWithdrawRequest): SubmitWithdrawRequest {
  return { ...request, spender: request.spender.toLowerCase() as Address };
}
