import { mergeEntries } from "@causeway/domain";
import type { Hex32 } from "@causeway/domain";
import type { ClaimRecord } from "./claims.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { creditEntries } from "./credit-entries.ts";

type EndServices = Pick<Services, "clock">;
type EndTx = Pick<Tx, "events" | "ledger" | "claims">;
type NamedClaim = Pick<ClaimRecord, "claimId" | "wallet">;

/** Closes a claim whose payout is final: debits the reserved amount, and books the fee as earned. */
export async function closePaidClaim(
  services: EndServices,
  tx: EndTx,
  { claimId, wallet }: NamedClaim,
): Promise<void> {
  const atMs = services.clock.nowMs();
  await tx.ledger.lockWallet(wallet, atMs);
  const claim = await tx.claims.lock(claimId);
  if (claim?.state !== "paying") return;
  const asset = { chainId: claim.chainId, currency: claim.currency };
  await tx.ledger.post(
    {
      key: `claim:${claimId}:paid`,
      context: "claim",
      reason: "a claim was paid",
      wallet,
      requestId: claimId,
      entries: mergeEntries([
        { account: "pending", asset, amount: -(claim.amount + claim.feeAmount) },
        { account: "custody", asset, amount: claim.amount },
        { account: "fees", asset, amount: claim.feeAmount },
      ]),
    },
    atMs,
  );
  await tx.claims.setState(claimId, { state: "paid", tries: claim.tries }, atMs);
  tx.events.happened("claim_paid", { claimId, wallet, currency: claim.currency, amount: claim.amount });
}

/** The cost of a claim that was not paid out: nothing, or the fee if the failed payout used gas. */
type Cost = "nothing" | "fee";

/** Returns the amount of a failed payout, minus its cost, to the wallet: repays debts first. */
export async function returnClaim(
  services: EndServices,
  tx: EndTx,
  { claimId, wallet }: { readonly claimId: Hex32; readonly wallet: ClaimRecord["wallet"] },
  { failReason, cost }: { readonly failReason: string; readonly cost: Cost },
): Promise<void> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const claim = await tx.claims.lock(claimId);
  if (claim?.state !== "paying") return;
  const asset = { chainId: claim.chainId, currency: claim.currency };
  const earned = cost === "fee" ? claim.feeAmount : 0n;
  const total = claim.amount + claim.feeAmount;
  await tx.ledger.post(
    {
      key: `claim:${claimId}:returned`,
      context: "unset-pending-amount",
      reason: "a claim could not be paid",
      wallet,
      requestId: claimId,
      entries: mergeEntries([
        { account: "pending", asset, amount: -total },
        { account: "fees", asset, amount: earned },
        ...creditEntries(book, asset, total - earned),
      ]),
    },
    atMs,
  );
  await tx.claims.setState(claimId, { state: "returned", tries: claim.tries, failReason }, atMs);
  tx.events.alarm("claim_returned", { claimId, wallet, reason: failReason });
}
