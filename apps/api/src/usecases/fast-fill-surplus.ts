import type { RequestId, RequestState } from "@causeway/domain";
import { mergeEntries } from "@causeway/domain";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";
import { creditEntries, debitEntries } from "./app-balance/credit-entries.ts";

type SurplusServices = Pick<Services, "clock">;

/**
 * Gives the app what a deposit is worth more than its fill was priced on, as it was valued at acceptance, while the deposit covers the fill: no longer, whether a reorg took the
 * deposit or it went back. What was spent meanwhile is owed.
 */
export async function followFront(
  services: SurplusServices,
  tx: Tx,
  requestId: RequestId,
  from: RequestState["front"],
  to: RequestState["front"],
): Promise<void> {
  if ((from === "covered") === (to === "covered")) return;
  await moveSurplus(services, tx, requestId, to === "covered");
}

async function moveSurplus(
  { clock }: SurplusServices,
  tx: Tx,
  requestId: RequestId,
  isCredit: boolean,
): Promise<void> {
  const fastFill = await tx.fastFills.find(requestId);
  if (fastFill === undefined || fastFill.surplus.amount === 0n || fastFill.surplusCredited === isCredit)
    return;
  const atMs = clock.nowMs();
  const { wallet, surplus, surplusMoves } = fastFill;
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const { asset, amount } = surplus;
  await tx.ledger.post(
    {
      key: `fast-fill:${requestId}:surplus:${surplusMoves + 1}`,
      ...wordsOf(isCredit),
      wallet,
      requestId,
      entries: mergeEntries([
        ...(isCredit ? creditEntries(book, asset, amount) : debitEntries(book, asset, amount)),
        { account: "fronted", asset, amount: isCredit ? -amount : amount },
      ]),
    },
    atMs,
  );
  await tx.fastFills.setSurplus(requestId, isCredit, surplusMoves + 1);
}

function wordsOf(isCredit: boolean) {
  return isCredit
    ? {
        context: "fast-fill-increase-balance" as const,
        reason: "the deposit is worth more than the fill was priced on",
      }
    : { context: "fast-fill-reduce-balance" as const, reason: "the deposit that was worth more vanished" };
}
