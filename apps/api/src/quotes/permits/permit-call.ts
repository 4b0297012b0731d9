import { approvalProxyAbi, depositAddressFactoryAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Chain, Hex, RouteWitness } from "@causeway/domain";
import {
  compactSignatureToSignature,
  encodeFunctionData,
  parseCompactSignature,
  parseSignature,
  serializeSignature,
} from "viem";
import type { LaneCall } from "../../db/leg.port.ts";
import { witnessOf } from "./typed-data.ts";
import type { TermsWithPermit } from "./typed-data.ts";

/**
 * The transaction that submits the user's signature. All its other contents come from the terms.
 * @throws RangeError when the signature is malformed or the chain lacks the contract
 */
export function permitCall(
  { user, orderId, permit }: Pick<TermsWithPermit, "user" | "orderId" | "permit">,
  { contracts }: Pick<Chain, "contracts">,
  signature: Hex,
): LaneCall {
  const { method, token, amount } = permit;
  const deadline = BigInt(permit.deadline);
  const { approvalProxy, depositAddressFactory } = contracts;
  switch (method) {
    case "eip3009":
      return {
        to: approvalProxy,
        data: encodeFunctionData({
          abi: approvalProxyAbi,
          functionName: "authorizationRoute",
          args: [
            {
              token,
              from: user,
              value: amount,
              validAfter: 0n,
              validBefore: deadline,
              ...vrsOf(signature),
            },
            routeOf(witnessOf(permit)),
          ],
        }),
        value: 0n,
      };
    case "permit2":
      return {
        to: approvalProxy,
        data: encodeFunctionData({
          abi: approvalProxyAbi,
          functionName: "permit2Route",
          args: [
            user,
            { permitted: [{ token, amount }], nonce: BigInt(permit.nonce), deadline },
            routeOf(witnessOf(permit)),
            signature,
          ],
        }),
        value: 0n,
      };
    case "eip2612": {
      if (depositAddressFactory === undefined)
        throw new RangeError(
          "invariant violated: deposit address on a chain without contracts.depositAddressFactory",
        );
      return {
        to: depositAddressFactory,
        data: encodeFunctionData({
          abi: depositAddressFactoryAbi,
          functionName: "pull",
          args: [keyOf(orderId, user), token, amount, { deadline, ...vrsOf(signature) }],
        }),
        value: 0n,
      };
    }
    default:
      return method satisfies never;
  }
}

/** The deposit address that an EIP-2612 permit pays: bound to the order, with no recovery account. */
export function keyOf(id: TermsWithPermit["orderId"], depositor: TermsWithPermit["user"]) {
  return { id, depositor, recovery: NATIVE_CURRENCY, strict: true } as const;
}

/** Splits a signature of 65 bytes, or 64 (EIP-2098). */
export function vrsOf(signature: Hex): { readonly v: number; readonly r: Hex; readonly s: Hex } {
  const isCompact = (signature.length - 2) / 2 === 64;
  const fullSignature = isCompact
    ? serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)))
    : signature;
  if ((fullSignature.length - 2) / 2 !== 65)
    throw new RangeError("invariant violated: signature is not 65 bytes");
  const { r, s, yParity } = parseSignature(fullSignature);
  return { v: 27 + yParity, r, s };
}

function routeOf({ relayer, refundTo, refundTokens, calls }: RouteWitness) {
  return { relayer, refundTo, refundTokens, calls: calls.map((call) => ({ ...call, allowFailure: false })) };
}
