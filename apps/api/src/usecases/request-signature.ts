import { signPersonalMessage } from "@causeway/attest";
import { requestAttestationFacts, requestAttestationHash } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { SignedRequest } from "../ports/route-services.ts";
import type { Services } from "../ports/services.ts";
import { spellingOf } from "./spelling.ts";

/** Answers kept in memory: a signature costs far more than asking for it. */
const KEPT = 10_000;

/**
 * Signs what was agreed, for contracts that verify it against the solver's address. Any request that was quoted has a signature: the agreement is what is signed, not
 * that it was kept. Asked again it gives the same bytes, without signing again while it is remembered.
 * @returns a function that settles with undefined when nobody knows the request
 */
export function createRequestSignature(
  services: Pick<Services, "reads" | "signer" | "chains">,
): (requestId: RequestId) => Promise<SignedRequest | undefined> {
  const known = new Map<RequestId, Promise<SignedRequest | undefined>>();
  return (requestId) => {
    const before = known.get(requestId);
    if (before !== undefined) return before;
    const fresh = sign(services, requestId);
    known.set(requestId, fresh);
    const forget = (): void => void known.delete(requestId);
    // An id that is unknown now may be quoted later, and a fault passes.
    fresh.then((signed) => signed ?? forget(), forget);
    const oldest = known.size > KEPT ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return fresh;
  };
}

async function sign(
  { reads, signer, chains }: Pick<Services, "reads" | "signer" | "chains">,
  requestId: RequestId,
): Promise<SignedRequest | undefined> {
  const request = await reads.request(requestId);
  if (request === undefined) return undefined;
  const facts = requestAttestationFacts(request.terms);
  const spelling = spellingOf(chains);
  return {
    facts,
    words: {
      originUser: spelling.address(facts.originChainId, facts.originUser),
      originCurrency: spelling.address(facts.originChainId, facts.originCurrency),
      destinationUser: spelling.address(facts.destinationChainId, facts.destinationUser),
    },
    signature: await signPersonalMessage(signer, requestAttestationHash(facts)),
  };
}
