import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { accrueAppFees, chargeSponsorship } from "../balances/index.ts";
import { fillJob } from "../requests/index.ts";

type Needs = Pick<Services, "clock" | "prices" | "chains" | "quotePolicy">;

/**
 * Charges and credits apps for a final fill, in the commit that makes it final. Without a fresh price the
 * credit is recorded as due and left to the fill's job: a lane must not wait for a price.
 */
export async function settleFillFees(services: Needs, tx: Tx, record: RequestRecord): Promise<void> {
  const outcome = await trySettleFees(services, tx, record);
  const nowMs = services.clock.nowMs();
  if (outcome !== "unpriced") return;
  const { requestId } = record.terms;
  // The job may be lost with its queue, but the due fees are not.
  await tx.ledger.noteFeesDue(requestId, nowMs);
  await tx.outbox.add([fillJob(requestId, nowMs)], nowMs);
}

/**
 * Charges and credits apps for a final fill, without a retry.
 * @returns `unpriced`: a fresh price is missing, so apps are not credited yet
 */
export async function trySettleFees(
  services: Needs,
  tx: Pick<Tx, "ledger" | "deposits">,
  { terms, state }: RequestRecord,
): Promise<"done" | "unpriced"> {
  const { sponsorship, appFees } = terms;
  if (sponsorship === undefined && appFees === undefined) return "done";
  const recipients = appFees?.fees.map(({ recipient }) => recipient) ?? [];
  const wallets = new Set(sponsorship === undefined ? recipients : [sponsorship.wallet, ...recipients]);
  // Locks the deposit before wallets, and wallets in ascending order, as everywhere.
  const deposit = state.depositId === undefined ? undefined : await tx.deposits.lock(state.depositId);
  for (const wallet of [...wallets].toSorted()) await tx.ledger.lockWallet(wallet, services.clock.nowMs());
  await chargeSponsorship(services, tx, terms);
  // Without a deposit, no fees were deducted.
  return deposit === undefined ? "done" : await accrueAppFees(services, tx, terms, deposit.amount);
}
