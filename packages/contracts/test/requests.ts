import { encodeFunctionData, hashStruct, type Address, type Hex, type LocalAccount } from "viem";
import type { Call } from "./calls.ts";
import { chainId } from "./chain.ts";
import { callRequestTypes, depositoryAbi, depositoryDomain } from "../src/index.ts";

export interface CallRequest {
  readonly calls: readonly Call[];
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly expiration: bigint;
}

const farFuture = 2n ** 40n;
let nonces = 0n;

/** A unique request. */
export function requestOf(calls: readonly Call[], expiration = farFuture): CallRequest {
  nonces += 1n;
  return { calls, nonce: nonces, expiration };
}

/** The id under which the depository records the request. */
export function requestId(request: CallRequest): Hex {
  return hashStruct({ types: callRequestTypes, primaryType: "CallRequest", data: request });
}

export async function sign(
  signer: LocalAccount,
  depository: Address,
  request: CallRequest,
  chain = chainId,
): Promise<Hex> {
  return await signer.signTypedData({
    domain: depositoryDomain(chain, depository),
    types: callRequestTypes,
    primaryType: "CallRequest",
    message: request,
  });
}

export function encodeExecute(request: CallRequest, signature: Hex): Hex {
  return encodeFunctionData({ abi: depositoryAbi, functionName: "execute", args: [request, signature] });
}
