import { nonceMappingDigest, recoverSigner } from "@causeway/attest";
import { HYPERLIQUID_WALLET_CHAIN, ServiceError } from "@causeway/domain";
import type { RequestId, RequestTerms } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { AuthorizationStanding, NonceAuthorization } from "../../chains/nonce-mappings.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";

type Needs = Pick<Services, "chains" | "clock" | "reads" | "uow" | "events">;

/** How long before and after its transfer a nonce can be authorized, ms. */
const WINDOW_MS = 3_600_000;
/** Authorizations of one wallet within that time without a transfer. */
const MAX_OPEN_PER_WALLET = 10;
/** Authorizations of all wallets that wait for the oracles or the hub. */
const MAX_WAITING = 500;
/**
 * Above this, each wallet may have one open authorization, so that a few wallets cannot crowd out all others.
 */
const FAIR_SHARE_FROM = MAX_WAITING / 2;

/**
 * Stores a wallet's signed nonce mapping if a quote agreed on exactly this order and nonce with the wallet.
 * Repeating it is allowed; changing it is not. Once committed it is on its way to the hub.
 * Only accounts with a key can sign: Hyperliquid knows no others. Each mapping costs oracle signatures and
 * hub gas, so the account must hold the amount that it is about to transfer, or have transferred it.
 * @returns the request that the transfer pays
 * @throws ServiceError INVALID_REQUEST naming the field, UNSUPPORTED_CHAIN, NONCE_TAKEN, INSUFFICIENT_FUNDS,
 * RATE_LIMITED, SERVICE_UNAVAILABLE; RpcFault
 */
export async function authorizeNonce(services: Needs, authorization: NonceAuthorization): Promise<RequestId> {
  const { walletChainId, wallet, depositor, nonce, id, signatureChainId, signature } = authorization;
  const connected = services.chains.nonEvm(walletChainId);
  if (connected?.chain.needsNonceMappings !== true)
    throw new ServiceError(
      "UNSUPPORTED_CHAIN",
      `walletChainId must be a chain whose transfers need an authorization, got ${walletChainId}`,
      {
        field: "walletChainId",
      },
    );
  const mapping = { wallet, depositor, id, nonce, signatureChainId, walletChain: HYPERLIQUID_WALLET_CHAIN };
  if (recoverSigner(nonceMappingDigest(mapping), signature) !== wallet)
    throw invalidField("signature", "signature is not the wallet's signature over this authorization");
  const terms = (await services.reads.requestsByOrders([id])).get(id)?.terms;
  if (terms === undefined || terms.origin.chainId !== walletChainId)
    throw invalidField("id", "id does not belong to a quote with a transfer on this chain");
  if (terms.user !== wallet) throw invalidField("wallet", "wallet is not the user of the quote with this id");
  // The hub would credit the deposit to a depositor that the quote does not know.
  if (depositor !== wallet) throw invalidField("depositor", "depositor must equal wallet");
  if (terms.walletNonce === undefined || BigInt(terms.walletNonce) !== nonce)
    throw invalidField("nonce", "nonce must be the nonce that the quote with this id specifies");

  const { requestId } = terms;
  const newMapping = {
    chainId: walletChainId,
    wallet,
    nonce,
    id,
    depositor,
    signature,
    signatureChainId,
    requestId,
  };
  const nowMs = services.clock.nowMs();
  const readStanding = async (tx: Pick<Tx, "nonceMappings">): Promise<AuthorizationStanding> =>
    await tx.nonceMappings.standing(newMapping, nowMs - WINDOW_MS);
  const before = await services.uow.run(readStanding);
  if (before.existing === undefined && !before.isTransferSeen) {
    limitOpenNonces(before);
    await requireBalance(connected, terms);
  }
  const outcome = await services.uow.run(async (tx) => {
    await tx.nonceMappings.lockWallet(wallet);
    const current = await readStanding(tx);
    if (current.existing !== undefined) return current.existing;
    if (!current.isTransferSeen) limitOpenNonces(current);
    const stored = await tx.nonceMappings.store(newMapping, nowMs);
    if (stored === "new") await tx.requests.note(requestId, nowMs, "nonce_authorized", { nonce });
    return stored;
  });
  if (outcome === "taken")
    throw new ServiceError(
      "NONCE_TAKEN",
      "nonce was already used by the wallet to authorize another request; request a new quote",
      {
        field: "nonce",
      },
    );
  if (outcome === "new") services.events.happened("nonce_authorized", { requestId, wallet, nonce });
  return requestId;
}

function invalidField(field: string, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", message, { field });
}

function limitOpenNonces({ openOfWallet, waiting }: AuthorizationStanding): void {
  if (openOfWallet >= MAX_OPEN_PER_WALLET)
    throw new ServiceError(
      "RATE_LIMITED",
      `wallet signed ${openOfWallet} authorizations in the last hour that have no transfer yet (maximum ${MAX_OPEN_PER_WALLET}); make the transfers, or retry later`,
      { field: "wallet" },
    );
  if (waiting >= FAIR_SHARE_FROM && openOfWallet > 0)
    throw new ServiceError(
      "RATE_LIMITED",
      `wallet already has ${openOfWallet} authorizations without a transfer; while all wallets together have ${FAIR_SHARE_FROM} or more pending, each may have only 1. Make the transfer, or retry later`,
      { field: "wallet" },
    );
  if (waiting >= MAX_WAITING)
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      `Too many authorizations wait for publication on the hub: ${waiting} (maximum ${MAX_WAITING}); try again later`,
    );
}

/** @throws ServiceError INSUFFICIENT_FUNDS; RpcFault */
async function requireBalance(
  connected: Pick<ConnectedNonEvmChain, "users"> | undefined,
  { user, origin }: RequestTerms,
): Promise<void> {
  const balance = (await connected?.users?.balance(user, origin.currency)) ?? 0n;
  if (balance < origin.amount)
    throw new ServiceError(
      "INSUFFICIENT_FUNDS",
      `wallet must hold ${origin.amount} base units of the quoted currency, got ${balance}; fund it, or retry once the transfer that funds it is visible`,
      { field: "wallet" },
    );
}
