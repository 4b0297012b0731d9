import { encodeAbiParameters, hashTypedData, keccak256 } from "viem";
import type { Address, Hex, Hex32 } from "@causeway/domain";

/** The request for an allocator to build and sign a payload. */
export interface SubmitWithdrawRequest {
  /** The paying chain's id on the hub. */
  readonly chainId: bigint;
  readonly depository: string;
  readonly currency: string;
  readonly amount: bigint;
  /** The hub account that pays: the withdrawal address. */
  readonly spender: Address;
  readonly receiver: string;
  /** Family-specific; `0x` if empty. */
  readonly data: Hex;
  readonly nonce: Hex32;
}

/** The contract that the request is submitted to. */
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

/** EIP-712 digest of a request. @throws the library's error if a value does not fit its type */
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
 * An allocator's id of a request's payload: keccak256 of the request's ABI encoding as one tuple.
 * @throws as `submitWithdrawRequestDigest`
 */
export function withdrawPayloadId(request: SubmitWithdrawRequest): Hex32 {
  return keccak256(encodeAbiParameters([{ type: "tuple", components }], [lowered(request)]));
}

/** Lower-cases addresses: the library refuses mixed case without a valid checksum. */
function lowered(request: SubmitWithdrawRequest): SubmitWithdrawRequest {
  return { ...request, spender: request.spender.toLowerCase() as Address };
}
