import type { Address, RequestId } from "@causeway/domain";
import type { ExecutionRecord } from "../executions.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { payFees, releaseFees } from "../../balances/index.ts";

type Needs = Pick<Services, "clock">;

/** Costs that are now final, in USD with 18 decimals. */
export interface FinalCosts {
  readonly originUsd?: bigint;
  readonly destinationUsd?: bigint;
  /**
   * Whether the quoted output pays if no app does; the reserved balance is then released. `unknown` until the
   * request has ended.
   */
  readonly outputPays?: boolean | "unknown";
}

/**
 * Records the actual cost of a part of an execution, and charges the sponsor once every part is known: at
 * most the reservation, releasing the rest. A recorded cost is never changed.
 */
export async function noteCosts(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  requestId: RequestId,
  costs: FinalCosts,
): Promise<void> {
  const execution = await tx.executions.lock(requestId);
  if (execution === undefined || execution.settled) return;
  await tx.executions.setCosts(requestId, costs);
  const originUsd = execution.originUsd ?? costs.originUsd;
  const destinationUsd =
    execution.destinationUsd ??
    costs.destinationUsd ??
    (execution.destination === undefined ? 0n : undefined);
  if (originUsd === undefined || destinationUsd === undefined) return;
  const outputPays = execution.wallet === undefined && costs.outputPays;
  if (outputPays === "unknown") return;
  if (outputPays) await release(services, tx, execution);
  else await charge(services, tx, execution, originUsd + destinationUsd);
}

/**
 * Releases the sponsor's reservation, except for costs already recorded, because nothing more will be sent.
 */
export async function forgiveCosts(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  requestId: RequestId,
): Promise<void> {
  const execution = await tx.executions.lock(requestId);
  if (execution === undefined || execution.settled) return;
  const spentUsd = (execution.originUsd ?? 0n) + (execution.destinationUsd ?? 0n);
  if (spentUsd > 0n) await charge(services, tx, execution, spentUsd);
  else await release(services, tx, execution);
}

async function release(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  execution: ExecutionRecord,
): Promise<void> {
  const { requestId } = execution;
  const wallet = await payerOf(tx, execution);
  if (wallet !== undefined)
    await releaseFees(services, tx, { requestId, wallet }, `execution:${requestId}:release`);
  await tx.executions.settle(requestId, 0n);
}

/** The wallet with the reservation; undefined for executions accepted before a reservation was required. */
async function payerOf(
  tx: Pick<Tx, "ledger">,
  { requestId, wallet }: ExecutionRecord,
): Promise<Address | undefined> {
  return wallet ?? (await tx.ledger.lockReservation(requestId))?.wallet;
}

async function charge(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  execution: ExecutionRecord,
  usd: bigint,
): Promise<void> {
  const { requestId } = execution;
  const wallet = await payerOf(tx, execution);
  // The service pays the cost, as for a permit that did not pay. Budgets still count it.
  if (wallet === undefined) return await tx.executions.settle(requestId, usd);
  const paid = await payFees(services, tx, { requestId, wallet }, { usd }, `execution:${requestId}:pay`);
  // The gas price rose beyond the maximum: the service pays the difference.
  if (paid.kind === "paid" && paid.uncoveredUsd > 0n)
    tx.events.alarm("execution_overrun", { requestId, usd, uncoveredUsd: paid.uncoveredUsd });
  await tx.executions.settle(requestId, usd);
}
