import type { DepositId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { DepositRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { tooSmallOn } from "./too-small-deposits.ts";
import { refundJob } from "../requests/index.ts";

type Needs = Pick<Services, "clock" | "uow" | "reads" | "enginePolicy" | "prices" | "quotePolicy">;

/** Maximum deposits per run: each costs a database transaction. */
const MAX_PER_RUN = 50;

/**
 * Starts the refunds of final deposits without a known order, once they have waited for
 * `unattributedRefundAfterMs`. May run at any time in any number of processes: each deposit is judged under
 * its own lock.
 * @param tip newest scanned block
 */
export async function returnUnattributed(
  services: Needs,
  connected: ConnectedChain,
  tip: bigint,
): Promise<void> {
  const { clock, reads, enginePolicy, uow } = services;
  const { chain } = connected;
  const waitMs = enginePolicy.unattributedRefundAfterMs;
  if (waitMs === undefined) return;
  const due = await reads.unattributedDeposits(chain.id, {
    seenUpToMs: clock.nowMs() - waitMs,
    upToBlock: tip - BigInt(chain.finalityBlocks) + 1n,
    limit: MAX_PER_RUN,
  });
  const isTooSmall = tooSmallOn(services, connected);
  const dust = due.filter(isTooSmall);
  if (dust.length > 0)
    await uow.run(async (tx) => {
      // Another worker may have attributed one in the meantime.
      const kept = dust.map(({ id }) => ({ id, reason: "ORPHANED_DEPOSIT_REFUND" }) as const);
      await tx.deposits.keepTooSmall(kept, true);
    });
  for (const deposit of due) if (!dust.includes(deposit)) await startRefund(services, deposit);
}

async function startRefund(services: Needs, { id, orderId }: DepositRecord): Promise<void> {
  await services.uow.run(async (tx) => {
    // Locks the order's request before the deposit, as everywhere. A restored backup may bring a request
    // back.
    const knownRequests = orderId === undefined ? 0 : (await tx.requests.lockByOrders([orderId])).size;
    const deposit = await tx.deposits.lock(id);
    const isDue =
      knownRequests === 0 &&
      deposit?.disposition === "unattributed" &&
      deposit.requestId === undefined &&
      deposit.canonical &&
      deposit.refundState === "none";
    if (isDue) await refundWithoutRequest(services, tx, id);
  });
}

/**
 * Plans the refund of a deposit without a request to its depositor. Call with the deposit locked.
 */
export async function refundWithoutRequest(
  { clock }: Pick<Services, "clock">,
  tx: Pick<Tx, "deposits" | "outbox">,
  depositId: DepositId,
): Promise<void> {
  const atMs = clock.nowMs();
  await tx.deposits.setDispositions([
    { id: depositId, disposition: "refund", reason: "ORPHANED_DEPOSIT_REFUND" },
  ]);
  await tx.outbox.add([refundJob(depositId, atMs)], atMs);
}
