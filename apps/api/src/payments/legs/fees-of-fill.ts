import type { RequestRecord } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { accrueAppFees } from "../../balances/accrue-app-fees.ts";
import { chargeSponsorship } from "../../balances/sponsor-fees.ts";
import { fillJob } from "../../requests/transition.ts";

type Needs = Pick<Services, "clock" | "prices" | "chains" | "quotePolicy">;

/**
 * What apps are charged and credited for a fill that is final, in the commit that makes it so. Without a
 * fresh price the credit is left to the fill's job, and written down as due: the lane waits for no price.
 */
export async function feesOfFill(services: Needs, tx: Tx, record: RequestRecord): Promise<void> {
  const outcome = await settleFees(services, tx, record);
  const nowMs = services.clock.nowMs();
  if (outcome !== "unpriced") return;
  const { requestId } = record.terms;
  // The job may get lost with its queue; what is due is not.
  await tx.ledger.noteFeesDue(requestId, nowMs);
  await tx.outbox.add([fillJob(requestId, nowMs)], nowMs);
}

/** The same, as often as it is tried once. `unpriced`: apps are not credited yet. */
export async function settleFees(
  services: Needs,
  tx: Pick<Tx, "ledger" | "deposits">,
  { terms, state }: RequestRecord,
): Promise<"done" | "unpriced"> {
  const { sponsorship, appFees } = terms;
  if (sponsorship === undefined && appFees === undefined) return "done";
  const recipients = appFees?.fees.map(({ recipient }) => recipient) ?? [];
  const wallets = new Set(sponsorship === undefined ? recipients : [sponsorship.wallet, ...recipients]);
  // The deposit before wallets, and of those the lesser first, as everybody who needs several.
  const deposit = state.depositId === undefined ? undefined : await tx.deposits.lock(state.depositId);
  for (const wallet of [...wallets].toSorted()) await tx.ledger.lockWallet(wallet, services.clock.nowMs());
  await chargeSponsorship(services, tx, terms);
  // What was not deposited was not taken either.
  return deposit === undefined ? "done" : await accrueAppFees(services, tx, terms, deposit.amount);
}
