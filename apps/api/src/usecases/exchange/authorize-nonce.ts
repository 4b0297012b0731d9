import { nonceMappingDigest, recoverSigner } from "@causeway/attest";
import { EXCHANGE_WALLET_CHAIN, ServiceError } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { NonceAuthorization } from "../../ports/nonce-mappings.ts";
import type { Services } from "../../ports/services.ts";

type Needs = Pick<Services, "chains" | "clock" | "reads" | "uow" | "events">;

/**
 * Believes a wallet what one of its nonces is for, when that is what a quote agreed with this wallet: its order, and the nonce of its transfer. The same may be said
 * again; something else about the same nonce may not. What was said is on its way to the hub as soon as it is committed.
 *
 * Only accounts with a key can say so: the exchange knows no others.
 * @returns the request that the transfer pays
 * @throws ServiceError INVALID_REQUEST naming the field, UNSUPPORTED_CHAIN, NONCE_TAKEN
 */
export async function authorizeNonce(services: Needs, said: NonceAuthorization): Promise<RequestId> {
  const { walletChainId, wallet, depositor, nonce, id, signatureChainId, signature } = said;
  const exchange = services.chains.rail(walletChainId)?.chain;
  if (exchange?.family !== "hyperliquid-vm")
    throw new ServiceError("UNSUPPORTED_CHAIN", `transfers on chain ${walletChainId} need no authorization`, {
      field: "walletChainId",
    });
  const mapping = { wallet, depositor, id, nonce, signatureChainId, walletChain: EXCHANGE_WALLET_CHAIN };
  if (recoverSigner(nonceMappingDigest(mapping), signature) !== wallet)
    throw refused("signature", "the wallet has not signed this authorization");
  const terms = (await services.reads.requestsByOrders([id])).get(id)?.terms;
  if (terms === undefined || terms.origin.chainId !== walletChainId)
    throw refused("id", "no quote for a transfer on this chain has this id");
  if (terms.user !== wallet) throw refused("wallet", "the quote with this id is another wallet's");
  // The hub would keep what is deposited for a depositor of whom the quote knows nothing.
  if (depositor !== wallet) throw refused("depositor", "the depositor must be the wallet");
  if (terms.walletNonce === undefined || BigInt(terms.walletNonce) !== nonce)
    throw refused("nonce", "the quote with this id is for another nonce");

  const { requestId } = terms;
  const nowMs = services.clock.nowMs();
  const outcome = await services.uow.run(async (tx) => {
    const stored = await tx.nonceMappings.say(
      { chainId: walletChainId, wallet, nonce, id, depositor, signature, signatureChainId, requestId },
      nowMs,
    );
    if (stored === "new") await tx.requests.note(requestId, nowMs, "nonce_authorized", { nonce });
    return stored;
  });
  if (outcome === "taken")
    throw new ServiceError("NONCE_TAKEN", "the wallet has authorized something else with this nonce", {
      field: "nonce",
    });
  if (outcome === "new") services.events.happened("nonce_authorized", { requestId, wallet, nonce });
  return requestId;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", message, { field });
}
