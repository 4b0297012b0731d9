import { dueAppFees, mergeEntries } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { Services } from "../../ports/services.ts";
import type { Tx } from "../../ports/unit-of-work.ts";
import { creditEntries } from "./credit-entries.ts";

/**
 * Credits what apps took of a deposit to their balances: what they owe in that currency first. By movements that have names, so that it happens once however often it is tried.
 * @param deposited smallest units of what came
 */
export async function accrueAppFees(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger">,
  { requestId, appFees, origin }: Pick<RequestTerms, "requestId" | "appFees" | "origin">,
  deposited: bigint,
): Promise<void> {
  if (appFees === undefined) return;
  const atMs = services.clock.nowMs();
  const asset = { chainId: appFees.chainId, currency: appFees.currency };
  for (const { recipient: wallet, amount } of dueAppFees(appFees, deposited, origin.amount)) {
    // A fee below the smallest unit of the balance's currency credits nothing.
    if (amount === 0n) continue;
    const book = await tx.ledger.lockWallet(wallet, atMs);
    await tx.ledger.post(
      {
        key: `app-fee:${requestId}:${wallet}`,
        context: "app-fee",
        reason: "the app's fee of a filled request",
        wallet,
        requestId,
        entries: mergeEntries([
          { account: "custody", asset, amount: -amount },
          ...creditEntries(book, asset, amount),
        ]),
      },
      atMs,
    );
  }
}
