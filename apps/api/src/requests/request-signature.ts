import { requestAttestationFacts } from "@causeway/domain";
import type { Hex, RequestAttestationFacts, RequestId } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { addressFormatOf } from "../chains/index.ts";
import type { AttestationLayout, OrderSigner } from "./signing/order-signer.port.ts";

type Needs = Pick<Services, "reads" | "chains"> & { readonly orderSigner: Pick<OrderSigner, "signRequest"> };

/** The terms of a request, and the solver's personal signature (65 bytes) of their hash. */
export interface SignedRequest {
  readonly facts: RequestAttestationFacts;
  /** Accounts and currencies in the formats of their chains. */
  readonly formatted: Readonly<
    Record<"originUser" | "originCurrency" | "destinationUser" | "destinationCurrency", string>
  >;
  readonly signature: Hex;
}

/**
 * Maximum number of cached answers. Cached, because signing costs far more than any other part of the
 * request.
 */
const MAX_CACHED = 10_000;

/**
 * Signs the terms of a quote, for contracts that verify them against the solver's address. It does not prove
 * that they were fulfilled. Repeated calls return the same bytes, from the cache while possible.
 * @returns a function that resolves to undefined for an unknown request
 */
export function createRequestSignature(
  services: Needs,
): (requestId: RequestId, layout: AttestationLayout) => Promise<SignedRequest | undefined> {
  const cache = new Map<string, Promise<SignedRequest | undefined>>();
  return (requestId, layout) => {
    const key = `${layout} ${requestId}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const fresh = sign(services, requestId, layout);
    cache.set(key, fresh);
    const forget = (): void => void cache.delete(key);
    // An unknown id may be quoted later, and a failure may be temporary.
    fresh.then((signed) => signed ?? forget(), forget);
    const oldest = cache.size > MAX_CACHED ? cache.keys().next().value : undefined;
    if (oldest !== undefined) cache.delete(oldest);
    return fresh;
  };
}

async function sign(
  { reads, orderSigner, chains }: Needs,
  requestId: RequestId,
  layout: AttestationLayout,
): Promise<SignedRequest | undefined> {
  const request = await reads.request(requestId);
  if (request === undefined) return undefined;
  const facts = requestAttestationFacts(request.terms);
  const format = addressFormatOf(chains);
  return {
    facts,
    formatted: {
      originUser: format.address(facts.originChainId, facts.originUser),
      originCurrency: format.address(facts.originChainId, facts.originCurrency),
      destinationUser: format.address(facts.destinationChainId, facts.destinationUser),
      destinationCurrency: format.address(facts.destinationChainId, facts.destinationCurrency),
    },
    signature: await orderSigner.signRequest(layout, facts),
  };
}
