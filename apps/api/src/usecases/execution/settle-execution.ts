import type { RequestId } from "@causeway/domain";
import type { ExecutionRecord } from "../../ports/executions.ts";
import type { Services } from "../../ports/services.ts";
import type { Tx } from "../../ports/unit-of-work.ts";
import { payFees } from "../app-balance/pay-fees.ts";
import { releaseFees } from "../app-balance/release-fees.ts";

type Needs = Pick<Services, "clock" | "events">;

/** Costs that are certain now, USD with 18 decimals. */
export interface KnownCosts {
  readonly originUsd?: bigint;
  readonly destinationUsd?: bigint;
}

/**
 * Notes what a part of an execution did cost, and charges the sponsor as soon as every part is known: what it cost, at most what was reserved; the rest goes back. A cost that was noted
 * before stays as it was.
 */
export async function noteCosts(
  services: Needs,
  tx: Pick<Tx, "executions" | "ledger">,
  requestId: RequestId,
  costs: KnownCosts,
): Promise<void> {
  const known = await tx.executions.lock(requestId);
  if (known === undefined || known.settled) return;
  await tx.executions.setCosts(requestId, costs);
  const originUsd = known.originUsd ?? costs.originUsd;
  const destinationUsd =
    known.destinationUsd ?? costs.destinationUsd ?? (known.destination === undefined ? 0n : undefined);
  if (originUsd === undefined || destinationUsd === undefined) return;
  await charge(services, tx, known, originUsd + destinationUsd);
}

/** Nothing was sent that cost anything: the sponsor gets everything back. */
export async function forgiveCosts(
  services: Needs,
  tx: Pick<Tx, "executions" | "ledger">,
  requestId: RequestId,
): Promise<void> {
  const known = await tx.executions.lock(requestId);
  if (known === undefined || known.settled) return;
  if (known.wallet !== undefined)
    await releaseFees(services, tx, { requestId, wallet: known.wallet }, `execution:${requestId}:release`);
  await tx.executions.settle(requestId, 0n);
}

async function charge(
  services: Needs,
  tx: Pick<Tx, "executions" | "ledger">,
  { requestId, wallet }: ExecutionRecord,
  usd: bigint,
): Promise<void> {
  // Without a sponsor the output of the quote bears it: no budget counts that.
  if (wallet === undefined) return await tx.executions.settle(requestId, 0n);
  const paid = await payFees(services, tx, { requestId, wallet }, { usd }, `execution:${requestId}:pay`);
  // The price of gas rose beyond what was reckoned with: the difference is the service's.
  if (paid.kind === "paid" && paid.uncoveredUsd > 0n)
    services.events.alarm("execution_overrun", { requestId, usd, uncoveredUsd: paid.uncoveredUsd });
  await tx.executions.settle(requestId, usd);
}
