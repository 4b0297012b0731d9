import { ServiceError, mergeEntries } from "@causeway/domain";
import type { Hex, Hex32 } from "@causeway/domain";
import type { BalanceReads } from "./balance-reads.port.ts";
import type { ClaimRecord } from "./claims.port.ts";
import type { IdempotencyLease, StoredAnswer } from "../http/idempotency.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Signatures } from "../chains/signatures.port.ts";
import type { OutboxEntry, Tx } from "../db/unit-of-work.port.ts";
import { warmPrices } from "./appraise.ts";
import { lineOf } from "./credit-entries.ts";
import { freeAmount, insufficientFunds, hasHoldsOrDebts } from "./offer-claim.ts";

export type AcceptServices = Pick<
  Services,
  "clock" | "prices" | "quotePolicy" | "chains" | "uow" | "events" | "appBalance"
> & {
  readonly balances: Pick<BalanceReads, "claim">;
  readonly signatures: Signatures;
};

/** An answer stored in the same commit, for retries with the same Idempotency-Key. */
export interface AnswerToStore {
  readonly lease: IdempotencyLease;
  readonly answer: StoredAnswer;
}

/**
 * Accepts the wallet's signature: reserves the amount and the fee, and queues the payout, in one commit.
 * Repeating the same signature changes nothing.
 * @throws ServiceError INVALID_REQUEST for an unknown or expired claim, or a signature that is not the
 * wallet's; INSUFFICIENT_FUNDS
 * @throws RpcFault when the chain could not verify a contract signature
 */
export async function acceptClaim(
  services: AcceptServices,
  claimId: Hex32,
  signature: Hex,
  answerToStore?: AnswerToStore,
): Promise<void> {
  const offer = await services.balances.claim(claimId);
  if (offer === undefined) throw invalidClaim(claimId, `Claim ${claimId} not found`);
  // Before the expiry check: only the signer may learn the state of a claim.
  if (!(await services.signatures.isSignedBy(offer.wallet, { raw: claimId }, signature)))
    throw new ServiceError("INVALID_REQUEST", "signature is not the wallet's signature over the claim id", {
      field: "signature",
      requestId: claimId,
    });
  await warmPrices(services);
  const isAccepted = await services.uow.run(async (tx) => {
    const isReserved = await reserve(services, tx, offer);
    if (answerToStore !== undefined) await tx.idempotency.finish(answerToStore.lease, answerToStore.answer);
    return isReserved;
  });
  if (!isAccepted) return;
  const { wallet, currency, amount } = offer;
  services.events.happened("claim_accepted", { claimId, wallet, currency, amount });
}

/** Returns false if the claim was accepted before. */
async function reserve(services: AcceptServices, tx: Tx, { claimId, wallet }: ClaimRecord): Promise<boolean> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const claim = await tx.claims.lock(claimId);
  if (claim === undefined) throw invalidClaim(claimId, `Claim ${claimId} not found`);
  if (claim.state !== "offered") return false;
  if (claim.expiresAt * 1000 <= atMs) throw invalidClaim(claimId, "Claim expired; request a new one");
  const { chainId, amount, feeAmount } = claim;
  const currency = services.appBalance.currencies.find(({ address }) => address === claim.currency);
  if (currency === undefined || chainId !== services.appBalance.chainId)
    throw invalidClaim(
      claimId,
      "App balances are no longer paid out in the currency of this claim; request a claim in another currency",
    );
  const asset = { chainId, currency: currency.address };
  const total = amount + feeAmount;
  const isCovered =
    lineOf(book, asset).balance >= total &&
    (!hasHoldsOrDebts(book) || freeAmount(services, book, currency, total) >= total);
  if (!isCovered) throw insufficientFunds(amount, feeAmount, claim);
  await tx.ledger.post(
    {
      key: `claim:${claimId}:set-aside`,
      context: "set-pending-amount",
      reason: "a claim is being paid",
      wallet,
      requestId: claimId,
      entries: mergeEntries([
        { account: "balance", asset, amount: -total },
        { account: "pending", asset, amount: total },
      ]),
    },
    atMs,
  );
  await tx.claims.setState(claimId, { state: "paying", tries: 1 }, atMs);
  await tx.outbox.add([claimJob(claimId, 1)], atMs);
  return true;
}

/** The id contains the attempt number because the queue ignores ids that it still remembers. */
export function claimJob(claimId: Hex32, tries: number): OutboxEntry {
  return { job: "claim", jobId: `claim-${claimId}-${tries}`, payload: { claimId } };
}

function invalidClaim(claimId: Hex32, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", message, { field: "requestId", requestId: claimId });
}
