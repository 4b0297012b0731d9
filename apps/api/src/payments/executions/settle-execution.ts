import type { Address, RequestId } from "@causeway/domain";
import type { ExecutionRecord } from "../executions.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { payFees } from "../../balances/pay-fees.ts";
import { releaseFees } from "../../balances/release-fees.ts";

type Needs = Pick<Services, "clock">;

/** Costs that are certain now, USD with 18 decimals. */
export interface KnownCosts {
  readonly originUsd?: bigint;
  readonly destinationUsd?: bigint;
  /**
   * Whether the quoted output pays for it, where no app does: then whoever set something aside gets it back.
   * `unknown` until the request has ended.
   */
  readonly outputPays?: boolean | "unknown";
}

/**
 * Notes what a part of an execution did cost, and charges the sponsor as soon as every part is known: what it
 * cost, at most what was reserved; the rest goes back. A cost that was noted before stays as it was.
 */
export async function noteCosts(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
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
  const outputPays = known.wallet === undefined && costs.outputPays;
  if (outputPays === "unknown") return;
  if (outputPays) await release(services, tx, known);
  else await charge(services, tx, known, originUsd + destinationUsd);
}

/**
 * Nothing more will be sent that costs anything: the sponsor gets everything back, but for costs that were
 * noted before.
 */
export async function forgiveCosts(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  requestId: RequestId,
): Promise<void> {
  const known = await tx.executions.lock(requestId);
  if (known === undefined || known.settled) return;
  const spentUsd = (known.originUsd ?? 0n) + (known.destinationUsd ?? 0n);
  if (spentUsd > 0n) await charge(services, tx, known, spentUsd);
  else await release(services, tx, known);
}

async function release(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  known: ExecutionRecord,
): Promise<void> {
  const { requestId } = known;
  const wallet = await payerOf(tx, known);
  if (wallet !== undefined)
    await releaseFees(services, tx, { requestId, wallet }, `execution:${requestId}:release`);
  await tx.executions.settle(requestId, 0n);
}

/**
 * Whose balance something was set aside from; undefined for what was accepted when nothing was unless an app
 * paid.
 */
async function payerOf(
  tx: Pick<Tx, "ledger">,
  { requestId, wallet }: ExecutionRecord,
): Promise<Address | undefined> {
  return wallet ?? (await tx.ledger.reservation(requestId))?.wallet;
}

async function charge(
  services: Needs,
  tx: Pick<Tx, "events" | "executions" | "ledger">,
  known: ExecutionRecord,
  usd: bigint,
): Promise<void> {
  const { requestId } = known;
  const wallet = await payerOf(tx, known);
  // Nobody's but the service's, as of a signature that did not pay: what it bears is counted.
  if (wallet === undefined) return await tx.executions.settle(requestId, usd);
  const paid = await payFees(services, tx, { requestId, wallet }, { usd }, `execution:${requestId}:pay`);
  // The price of gas rose beyond what was reckoned with: the difference is the service's.
  if (paid.kind === "paid" && paid.uncoveredUsd > 0n)
    tx.events.alarm("execution_overrun", { requestId, usd, uncoveredUsd: paid.uncoveredUsd });
  await tx.executions.settle(requestId, usd);
}
