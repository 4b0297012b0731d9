import { allocatorDomain, submitWithdrawRequestTypes } from "@causeway/contracts";
import type { ContractDomain } from "@causeway/contracts";
import { encodeAbiParameters, hashTypedData, keccak256 } from "viem";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import type { WithdrawalTarget } from "./hub-addressing.ts";

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

/** The fields of a withdrawal that its request contains. */
export interface RequestedWithdrawal extends Omit<WithdrawalTarget, "ownerAlias"> {
  /** The paying chain's id on the hub. */
  readonly hubChainId: string | number;
  /** The withdrawal address. */
  readonly address: Address;
  readonly amount: bigint;
}

/** The request that pays a withdrawal. */
export function withdrawRequestOf(withdrawal: RequestedWithdrawal): SubmitWithdrawRequest {
  const { hubChainId, depository, currency, recipient, nonce, address, amount } = withdrawal;
  return {
    chainId: BigInt(hubChainId),
    depository,
    currency,
    amount,
    spender: address,
    receiver: recipient,
    data: "0x",
    nonce,
  };
}

/**
 * EIP-712 digest of a request, for the contract to which it is submitted.
 * @throws viem's error if a value does not fit its type
 */
export function submitWithdrawRequestDigest(
  { chainId, verifyingContract }: Pick<ContractDomain, "chainId" | "verifyingContract">,
  request: SubmitWithdrawRequest,
): Hex32 {
  return hashTypedData({
    domain: allocatorDomain(chainId, verifyingContract),
    types: submitWithdrawRequestTypes,
    primaryType: "SubmitWithdrawRequest",
    message: lowercaseSpender(request),
  });
}

/**
 * The id that an allocator gives a request's payload: keccak256 of the request's ABI encoding as one tuple.
 * @throws as `submitWithdrawRequestDigest`
 */
export function withdrawPayloadId(request: SubmitWithdrawRequest): Hex32 {
  const components = submitWithdrawRequestTypes.SubmitWithdrawRequest;
  return keccak256(encodeAbiParameters([{ type: "tuple", components }], [lowercaseSpender(request)]));
}

/** viem refuses a mixed-case address without a valid checksum. */
function lowercaseSpender(request: SubmitWithdrawRequest): SubmitWithdrawRequest {
  return { ...request, spender: request.spender.toLowerCase() as Address };
}
