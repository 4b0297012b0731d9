import type { HoldAct, RequestId } from "@causeway/domain";
import { decideHold, mergeEntries } from "@causeway/domain";
import type { HoldRecord, WalletBook } from "./ledger.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { chargeOrOwe } from "./charge-or-owe.ts";
import { creditEntries } from "./credit-entries.ts";

type HoldServices = Pick<Services, "clock" | "prices" | "quotePolicy" | "chains" | "appBalance">;
type HoldTx = Pick<Tx, "events" | "ledger">;

/**
 * `none`: this request never had a hold. `rejected`: not allowed from the hold's current state; an alarm was
 * raised and nothing changed.
 */
export type HoldMoveResult = "applied" | "already" | "rejected" | "none";

/** Releases the hold, because the deposit arrived or nothing was paid. */
export async function releaseHold(
  services: HoldServices,
  tx: HoldTx,
  requestId: RequestId,
): Promise<HoldMoveResult> {
  return await moveHold(services, tx, requestId, "release");
}

/**
 * Reactivates a hold after the deposit that released it was reorged out, even if the balance no longer covers
 * the hold.
 */
export async function reinstateHold(
  services: HoldServices,
  tx: HoldTx,
  requestId: RequestId,
): Promise<HoldMoveResult> {
  return await moveHold(services, tx, requestId, "reinstate");
}

/**
 * Debits a hold whose deposit never arrived; any shortfall is owed.
 * @param usd the amount due, USD with 18 decimals; by default the held amount
 * @throws ServiceError PRICE_FETCH_FAILED when a balance has no fresh price; retry later
 */
export async function makeHoldPermanent(
  services: HoldServices,
  tx: HoldTx,
  requestId: RequestId,
  usd?: bigint,
): Promise<HoldMoveResult> {
  return await moveHold(services, tx, requestId, "makePermanent", usd);
}

/** Returns the exact debited amount, because the deposit arrived after the app was debited. */
export async function returnPermanent(
  services: HoldServices,
  tx: HoldTx,
  requestId: RequestId,
): Promise<HoldMoveResult> {
  return await moveHold(services, tx, requestId, "return");
}

async function moveHold(
  services: HoldServices,
  tx: HoldTx,
  requestId: RequestId,
  act: HoldAct,
  dueUsd?: bigint,
): Promise<HoldMoveResult> {
  const wallet = await tx.ledger.walletOfHold(requestId);
  if (wallet === undefined) return "none";
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const hold = await tx.ledger.lockHold(requestId);
  if (hold === undefined) return "none";
  const decision = decideHold(hold.state, act);
  const facts = { requestId, wallet, usd: hold.usd };
  if (decision.kind === "rejected") {
    tx.events.alarm("hold_move_rejected", { ...facts, act, state: hold.state });
    return "rejected";
  }
  if (decision.kind === "already") return "already";
  const debits = decision.moves === "debit" ? hold.debits + 1 : hold.debits;
  if (decision.moves === "debit") await debit(services, tx, book, hold, { usd: dueUsd ?? hold.usd, atMs });
  if (decision.moves === "credit") await returnDebit(tx, book, hold, atMs);
  await tx.ledger.setHold(requestId, decision.state, debits, atMs);
  tx.events.happened("hold_moved", { ...facts, act, state: decision.state });
  return "applied";
}

async function debit(
  services: HoldServices,
  tx: HoldTx,
  book: WalletBook,
  hold: HoldRecord,
  { usd, atMs }: { readonly usd: bigint; readonly atMs: number },
): Promise<void> {
  const { wallet, requestId } = hold;
  const { entries, owedUsd } = chargeOrOwe(services, book, usd, "fronted");
  if (owedUsd > 0n) tx.events.alarm("app_balance_owed", { wallet, requestId, owedUsd });
  if (entries.length > 0)
    await tx.ledger.post(
      {
        key: debitKey(requestId, hold.debits + 1),
        context: "fast-fill-reduce-balance",
        reason: "the deposit of a fast fill did not arrive in time",
        wallet,
        requestId,
        entries,
      },
      atMs,
    );
}

async function returnDebit(tx: HoldTx, book: WalletBook, hold: HoldRecord, atMs: number): Promise<void> {
  const { wallet, requestId, debits } = hold;
  const debited = (await tx.ledger.entriesOf(debitKey(requestId, debits))).filter(
    ({ account }) => account === "fronted",
  );
  if (debited.length === 0) return;
  await tx.ledger.post(
    {
      key: `hold:${requestId}:return:${debits}`,
      context: "fast-fill-increase-balance",
      reason: "the late deposit of a fast fill arrived",
      wallet,
      requestId,
      entries: mergeEntries(
        debited.flatMap(({ asset, amount }) => [
          { account: "fronted", asset, amount: -amount },
          ...creditEntries(book, asset, amount),
        ]),
      ),
    },
    atMs,
  );
}

/** The movement key of the nth debit of a hold. */
export function debitKey(requestId: RequestId, debit: number): string {
  return `hold:${requestId}:debit:${debit}`;
}
