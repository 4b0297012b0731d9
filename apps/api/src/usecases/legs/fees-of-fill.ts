import type { RequestRecord } from "../../ports/records.ts";
import type { Services } from "../../ports/services.ts";
import type { Tx } from "../../ports/unit-of-work.ts";
import { accrueAppFees } from "../app-balance/accrue-app-fees.ts";
import { chargeSponsorship } from "../app-balance/sponsor-fees.ts";

/** What apps are charged and credited for a fill that is final, in the commit that makes it so. */
export async function feesOfFill(
  services: Pick<Services, "clock">,
  tx: Tx,
  { terms, state }: RequestRecord,
): Promise<void> {
  const { sponsorship, appFees } = terms;
  if (sponsorship === undefined && appFees === undefined) return;
  const recipients = appFees?.fees.map(({ recipient }) => recipient) ?? [];
  const wallets = new Set(sponsorship === undefined ? recipients : [sponsorship.wallet, ...recipients]);
  // The lesser first, as everybody who needs several.
  for (const wallet of [...wallets].toSorted()) await tx.ledger.lockWallet(wallet, services.clock.nowMs());
  await chargeSponsorship(services, tx, terms);
  const deposit = state.depositId === undefined ? undefined : await tx.deposits.lock(state.depositId);
  // What was not deposited was not taken either.
  if (deposit !== undefined) await accrueAppFees(services, tx, terms, deposit.amount);
}
