import {
  permit2Domain,
  permitBatchWitnessTransferFromTypes,
  permitTypes,
  receiveWithAuthorizationTypes,
} from "@causeway/contracts";
import type { PermitTerms, RequestTerms, RouteWitness } from "@causeway/domain";
import type { TypedData } from "../../chains/permits.port.ts";

export type TermsWithPermit = RequestTerms & { readonly permit: PermitTerms };

export function hasPermit(terms: RequestTerms): terms is TermsWithPermit {
  return terms.permit !== undefined;
}

/** The typed data that the user signs. The same terms always give the same bytes. */
export function typedDataOf({
  user,
  origin,
  permit,
}: Pick<TermsWithPermit, "user" | "permit"> & { readonly origin: { readonly chainId: number } }): TypedData {
  const { method, token, amount, spender, nonce } = permit;
  const deadline = permit.deadline.toString();
  const tokenDomain = (): TypedData["domain"] => {
    if (permit.domain === undefined)
      throw new RangeError("invariant violated: permit of a token without its EIP-712 domain");
    const { name, version } = permit.domain;
    return { name, version, chainId: origin.chainId, verifyingContract: token };
  };
  switch (method) {
    case "eip3009":
      return {
        domain: tokenDomain(),
        types: receiveWithAuthorizationTypes,
        primaryType: "ReceiveWithAuthorization",
        value: {
          from: user,
          to: spender,
          value: amount.toString(),
          validAfter: "0",
          validBefore: deadline,
          nonce,
        },
      };
    case "eip2612":
      return {
        domain: tokenDomain(),
        types: permitTypes,
        primaryType: "Permit",
        value: {
          owner: user,
          spender,
          value: amount.toString(),
          nonce: BigInt(nonce).toString(),
          deadline,
        },
      };
    case "permit2":
      return {
        domain: permit2Domain(origin.chainId),
        types: permitBatchWitnessTransferFromTypes,
        primaryType: "PermitBatchWitnessTransferFrom",
        value: {
          permitted: [{ token, amount: amount.toString() }],
          spender,
          nonce: BigInt(nonce).toString(),
          deadline,
          witness: witnessValue(witnessOf(permit)),
        },
      };
    default:
      return method satisfies never;
  }
}

export function witnessOf({ witness }: Pick<PermitTerms, "witness">): RouteWitness {
  if (witness === undefined) throw new RangeError("invariant violated: route permit without a witness");
  return witness;
}

function witnessValue({ relayer, refundTo, refundTokens, calls }: RouteWitness): object {
  return {
    relayer,
    refundTo,
    refundTokens,
    calls: calls.map(({ to, data, value }) => ({ to, data, value: value.toString(), allowFailure: false })),
  };
}
