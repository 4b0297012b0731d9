import { amountToUsdUp, executionCost, ServiceError } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import { gasUnitInMemory } from "../balances/index.ts";
import type { RequestRecord, Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { DestinationExecution } from "./executions.port.ts";
import { noteCosts } from "./executions/settle-execution.ts";
import { isPlainTransfer } from "./gas-used-by-fills.ts";
import type { LegContext } from "./legs/leg-kind.ts";
import { nativeDecimals } from "./native-decimals.ts";

/**
 * Records the gas of a reverted fill, unless it was a fast fill, whose app pays.
 * @returns how many fills of the request have reverted
 */
export async function noteRevertedFill({ services, tx, slot, record }: LegContext): Promise<number> {
  if (slot.minedStatus !== "reverted" || record === undefined || record.state.front !== "none") return 0;
  const { requestId } = record.terms;
  const { gasUsed = 0n, effectiveGasPrice = 0n } = slot;
  const wei = gasUsed * effectiveGasPrice;
  const destinationCalls = (await tx.executions.lock(requestId))?.destination;
  // `chargeCalls` charges the app that sponsors calls with the fill; a plain transfer runs no foreign code.
  // The quote's sponsor pays for neither.
  const isSponsored = destinationCalls === undefined && !isPlainTransfer(slot);
  const usd = isSponsored ? usdNow(services, slot.chainId, wei) : undefined;
  const burns = await tx.fillBurns.note(slot, requestId, usd, services.clock.nowMs());
  if (destinationCalls !== undefined)
    await tx.fillBurns.notePaidByOthers(requestId, { paidByOthers: wei, revertedGas: wei });
  tx.events.alarm("fill_burnt", {
    requestId,
    chainId: slot.chainId,
    nonce: slot.nonce,
    wei,
    burns,
  });
  return burns;
}

/** USD with 18 decimals; undefined without a price in memory: a lane must not wait for a price source. */
function usdNow(
  { chains, prices }: Pick<LegContext["services"], "chains" | "prices">,
  chainId: number,
  wei: bigint,
): bigint | undefined {
  const native = chains.get(chainId)?.chain.native;
  const unit = native && gasUnitInMemory({ prices }, native);
  return unit === undefined || unit instanceof ServiceError ? undefined : amountToUsdUp(wei, unit);
}

/**
 * Records the gas cost of a fast fill, which the app also pays if the deposit never arrives. Excludes the gas
 * of sponsored calls, which is charged separately.
 */
export async function noteFastFillGas(context: LegContext): Promise<void> {
  const cost = await gasUsdOf(context, (gas, destinationCalls) =>
    destinationCalls !== undefined && destinationCalls.plainGas < gas ? destinationCalls.plainGas : gas,
  );
  if (cost !== undefined) await context.tx.fastFills.setSpent(cost.requestId, cost.usd);
}

/**
 * Records the gas cost of a reverted fast fill, which its app pays. With calls, their sponsor has paid it.
 */
export async function noteRevertedFastFill(context: LegContext): Promise<void> {
  const { services, tx, slot } = context;
  const reverted = await gasUsdOf(context, (gas, destinationCalls) =>
    destinationCalls === undefined ? gas : 0n,
  );
  if (reverted === undefined || reverted.usd === 0n) return;
  await tx.fastFills.setRevertedGas(reverted.requestId, slot.id, reverted.usd, services.clock.nowMs());
  tx.events.alarm("fast_fill_burnt", { requestId: reverted.requestId, gasUsd: reverted.usd });
}

/**
 * The gas cost of a fast fill in USD with 18 decimals, at the native token price of its acceptance; undefined
 * without a fast fill.
 */
async function gasUsdOf(
  { services, tx, slot, record }: LegContext,
  countGas: (gas: bigint, destinationCalls: DestinationExecution | undefined) => bigint,
): Promise<{ readonly requestId: RequestId; readonly usd: bigint } | undefined> {
  const requestId = record?.terms.requestId;
  const fastFill = requestId && (await tx.fastFills.find(requestId));
  const { gasUsed, effectiveGasPrice, chainId } = slot;
  if (!requestId || !fastFill || gasUsed === undefined || effectiveGasPrice === undefined) return undefined;
  const destinationCalls = (await tx.executions.lock(requestId))?.destination;
  const wei = countGas(gasUsed, destinationCalls) * effectiveGasPrice;
  const decimals = nativeDecimals(services.chains, chainId);
  return { requestId, usd: amountToUsdUp(wei, { decimals, priceUsd: fastFill.prices.nativeUsd }) };
}

/**
 * Charges the sponsor for calls with the fill: gas that the quote does not pay for, and the native tokens
 * they carried.
 */
export async function chargeCalls(
  { services, tx, slot }: LegContext,
  costsOf: (destinationCalls: DestinationExecution) => {
    readonly quotedGas: bigint;
    readonly valueWei: bigint;
  },
): Promise<void> {
  const { requestId } = slot.leg;
  const destinationCalls = requestId && (await tx.executions.lock(requestId))?.destination;
  if (!requestId || !destinationCalls) return;
  const { gasUsed, effectiveGasPrice, chainId } = slot;
  if (gasUsed === undefined || effectiveGasPrice === undefined)
    throw new Error(`invariant violated: slot ${slot.id} is mined without its gas cost`);
  const { quotedGas, valueWei } = costsOf(destinationCalls);
  const decimals = nativeDecimals(services.chains, chainId);
  const { totalUsd } = executionCost(
    {
      gas: gasUsed > quotedGas ? gasUsed - quotedGas : 0n,
      weiPerGas: effectiveGasPrice,
      valueWei,
      flatUsd: 0n,
    },
    { decimals, priceUsd: destinationCalls.nativePriceUsd, salePriceUsd: destinationCalls.salePriceUsd },
  );
  await noteCosts(services, tx, requestId, { destinationUsd: totalUsd });
}

/**
 * Records how long routes took beyond the confirmations, which are known in advance and depend on the
 * deposit's value.
 */
export async function measureRoutes(
  services: Pick<WorkerServices, "chains" | "clock">,
  tx: Tx,
  fills: ReadonlyArray<{ readonly slot: Slot; readonly record: RequestRecord }>,
): Promise<void> {
  const depositIds = fills.flatMap(({ record: { state } }) => state.depositId ?? []);
  if (depositIds.length === 0) return;
  const deposits = await tx.deposits.lockAll(depositIds);
  const nowMs = services.clock.nowMs();
  const runs = fills.flatMap(({ slot: { leg, chainId }, record: { state } }) => {
    const deposit = state.depositId === undefined ? undefined : deposits.get(state.depositId);
    const origin = deposit && services.chains.profile(deposit.chainId);
    if (!origin) return [];
    const awaitedBlocks = Number(deposit.confirmAtBlock - deposit.blockNumber);
    const sinceSeenMs = nowMs - deposit.seenAtMs;
    tx.events.happened("fill_mined", {
      requestId: leg.requestId,
      originChain: origin.name,
      destinationChain: services.chains.profile(chainId)?.name,
      tookMs: sinceSeenMs,
    });
    const tookMs = Math.max(sinceSeenMs - awaitedBlocks * origin.blockTimeSeconds * 1000, 0);
    return { originId: deposit.chainId, chainId, tookMs };
  });
  for (const ofRoute of Map.groupBy(runs, ({ originId, chainId }) => `${originId} ${chainId}`).values()) {
    const [{ originId, chainId }] = ofRoute as [(typeof runs)[number]];
    await tx.requests.recordDurations(
      originId,
      chainId,
      ofRoute.map(({ tookMs }) => tookMs),
    );
  }
}
