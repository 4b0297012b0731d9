import { amountToUsdUp, executionCost, ServiceError } from "@causeway/domain";
import type { FailReason, RequestId } from "@causeway/domain";
import type { DestinationExecution } from "../executions.port.ts";
import type { DepositRecord } from "../../db/records.port.ts";
import { gasUnitInMemory } from "../../balances/index.ts";
import { isPlainTransfer } from "../gas-used-by-fills.ts";
import { noteCosts } from "../executions/settle-execution.ts";
import { valueOf } from "../plan/gas-of-calls.ts";
import { transition } from "../../requests/index.ts";
import { feesOfFill } from "./fees-of-fill.ts";
import type { LegHandler, LegContext } from "./leg-course.ts";
import { nativeDecimals } from "./native-decimals.ts";

/** The payment of a request's recipient. */
export const fillLeg: LegHandler = {
  async mined({ services, tx, slot, record }, { attempt, receipt }) {
    if (record === undefined || receipt.status !== "success") return;
    const { decision } = await transition(
      services,
      tx,
      record,
      { kind: "fillMined" },
      { txHashes: [attempt.txHash] },
      { txHash: attempt.txHash, block: receipt.blockNumber, gasUsed: receipt.gasUsed },
    );
    // A fast fill does not measure how long the route takes.
    if (decision.kind === "applied" && record.state.front === "none")
      await measure({ services, tx, slot, record }, record.state.depositId, services.clock.nowMs());
  },
  async orphaned({ services, tx, slot, record }) {
    if (record && slot.minedStatus === "success")
      await transition(services, tx, record, { kind: "fillUnmined" });
  },
  async final({ services, tx, slot, record }) {
    if (record) {
      if (record.state.front !== "none") await noteSpent({ services, tx, slot, record });
      await transition(services, tx, record, { kind: "fillFinal" });
      await feesOfFill(services, tx, record);
    }
    await charge({ services, tx, slot, record }, ({ plainGas, calls }) => ({
      quotedGas: plainGas,
      valueWei: valueOf(calls),
    }));
  },
  async dead({ services, tx, slot, record }, reason) {
    // The quote's gas is refunded with the deposit, so the sponsor pays all of the gas; native tokens that
    // calls carried were returned.
    if (slot.minedStatus === "reverted" && reason === "TRANSACTION_REVERTED")
      await charge({ services, tx, slot, record }, () => ({ quotedGas: 0n, valueWei: 0n }));
    if (record === undefined) return;
    const { depositId } = record.state;
    const deposit = depositId === undefined ? undefined : await tx.deposits.lock(depositId);
    const depositGone = deposit?.canonical === false;
    const change = depositGone
      ? { txHashes: [], inTxHashes: record.inTxHashes.filter((hash) => hash !== deposit.txHash) }
      : { txHashes: [] };
    const burns = await noteRevertedFill({ services, tx, slot, record });
    const again =
      !depositGone && burns < MAX_REVERTED && isWorthAnother({ services, tx, slot, record }, deposit, reason);
    const hasReverted = slot.minedStatus === "reverted" && reason === "TRANSACTION_REVERTED";
    if (hasReverted && record.state.front !== "none") await noteRevertedGas({ services, tx, slot, record });
    await transition(services, tx, record, { kind: "fillDead", reason, depositGone, again }, change, {
      reason,
    });
  },
};

/** Fills of one request that may revert in a block before its deposit is refunded. */
const MAX_REVERTED = 3;

/**
 * Records the gas of a reverted fill, unless it was a fast fill, whose app pays.
 * @returns how many fills of the request have reverted
 */
async function noteRevertedFill({ services, tx, slot, record }: LegContext): Promise<number> {
  if (slot.minedStatus !== "reverted" || record === undefined || record.state.front !== "none") return 0;
  const { requestId } = record.terms;
  const { gasUsed = 0n, effectiveGasPrice = 0n } = slot;
  const wei = gasUsed * effectiveGasPrice;
  const destinationCalls = (await tx.executions.lock(requestId))?.destination;
  // `charge` charges the app that sponsors calls with the fill; a plain transfer runs no foreign code. The
  // quote's sponsor pays neither.
  const isSponsored = destinationCalls === undefined && !isPlainTransfer(slot);
  const usd = isSponsored ? usdNow(services, slot.chainId, wei) : undefined;
  const burns = await tx.fillBurns.note(slot, requestId, usd, services.clock.nowMs());
  if (destinationCalls !== undefined) await tx.fillBurns.keep(requestId, { kept: wei, revertedGas: wei });
  tx.events.alarm("fill_burnt", {
    requestId,
    chainId: slot.chainId,
    nonce: slot.nonce,
    wei,
    burns,
  });
  return burns;
}

/** Undefined without a price in memory: a lane must not wait for a price source. */
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
 * Whether to retry a reverted fill: a swap reverts when pools moved beyond its limit, and they may move back.
 * Not for long: each try costs gas, and the deposit waits.
 */
function isWorthAnother(
  { services, slot, record }: LegContext,
  deposit: DepositRecord | undefined,
  reason: FailReason,
): boolean {
  if (record?.terms.destination.paidFrom === undefined || deposit === undefined) return false;
  // A reorg may have changed it since the fill started.
  if (deposit.isUnattestable === true) return false;
  // The revert may come from calls that the user chose: they use the solver's gas only once.
  if (record.terms.outputCalls !== undefined) return false;
  if (reason !== "TRANSACTION_REVERTED" || slot.minedStatus !== "reverted") return false;
  const nowMs = services.clock.nowMs();
  const waitedMs = nowMs - deposit.seenAtMs;
  return waitedMs <= services.enginePolicy.inventoryWaitMs && nowMs <= record.terms.fillDeadlineMs;
}

/**
 * The gas cost of a fast fill, which the app also pays if the deposit never arrives. Excludes the gas of
 * sponsored calls, which is charged separately.
 */
async function noteSpent(moment: LegContext): Promise<void> {
  const usd = await gasUsdOf(moment, (gas, destinationCalls) =>
    destinationCalls !== undefined && destinationCalls.plainGas < gas ? destinationCalls.plainGas : gas,
  );
  if (usd !== undefined) await moment.tx.fastFills.setSpent(usd.requestId, usd.usd);
}

/** The gas of a reverted fast fill, which its app pays. With calls, their sponsor has paid. */
async function noteRevertedGas(moment: LegContext): Promise<void> {
  const { services, tx, slot } = moment;
  const burnt = await gasUsdOf(moment, (gas, destinationCalls) =>
    destinationCalls === undefined ? gas : 0n,
  );
  if (burnt === undefined || burnt.usd === 0n) return;
  await tx.fastFills.setRevertedGas(burnt.requestId, slot.id, burnt.usd, services.clock.nowMs());
  tx.events.alarm("fast_fill_burnt", { requestId: burnt.requestId, burntUsd: burnt.usd });
}

/** At the native token price of the acceptance, in USD with 18 decimals; undefined without a fast fill. */
async function gasUsdOf(
  { services, tx, slot, record }: LegContext,
  counted: (gas: bigint, destinationCalls: DestinationExecution | undefined) => bigint,
): Promise<{ readonly requestId: RequestId; readonly usd: bigint } | undefined> {
  const requestId = record?.terms.requestId;
  const fastFill = requestId && (await tx.fastFills.find(requestId));
  const { gasUsed, effectiveGasPrice, chainId } = slot;
  if (!requestId || !fastFill || gasUsed === undefined || effectiveGasPrice === undefined) return undefined;
  const destinationCalls = (await tx.executions.lock(requestId))?.destination;
  const wei = counted(gasUsed, destinationCalls) * effectiveGasPrice;
  const decimals = nativeDecimals(services.chains, chainId);
  return { requestId, usd: amountToUsdUp(wei, { decimals, priceUsd: fastFill.prices.nativeUsd }) };
}

/**
 * Charges the sponsor for calls with the fill: the gas beyond what the quote pays for, and the native tokens
 * they carried.
 */
async function charge(
  { services, tx, slot }: LegContext,
  counted: (destinationCalls: DestinationExecution) => {
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
  const { quotedGas, valueWei } = counted(destinationCalls);
  const decimals = nativeDecimals(services.chains, chainId);
  const { totalUsd } = executionCost(
    {
      gas: gasUsed > quotedGas ? gasUsed - quotedGas : 0n,
      weiPerGas: effectiveGasPrice,
      valueWei,
      flatUsd: 0n,
    },
    { decimals, priceUsd: destinationCalls.coinUsd, salePriceUsd: destinationCalls.salePriceUsd },
  );
  await noteCosts(services, tx, requestId, { destinationUsd: totalUsd });
}

/**
 * How long the route took beyond the confirmations, which are known in advance and depend on the deposit's
 * value.
 */
async function measure(
  { services, tx, slot }: LegContext,
  depositId: string | undefined,
  atMs: number,
): Promise<void> {
  const deposit = depositId === undefined ? undefined : await tx.deposits.lock(depositId);
  const origin = deposit && services.chains.profile(deposit.chainId);
  if (!origin) return;
  const awaitedBlocks = Number(deposit.confirmAtBlock - deposit.blockNumber);
  const sinceSeenMs = atMs - deposit.seenAtMs;
  tx.events.happened("fill_mined", {
    requestId: slot.leg.requestId,
    originChain: origin.name,
    destinationChain: services.chains.profile(slot.chainId)?.name,
    tookMs: sinceSeenMs,
  });
  const tookMs = sinceSeenMs - awaitedBlocks * origin.blockTimeSeconds * 1000;
  await tx.requests.measured(deposit.chainId, slot.chainId, Math.max(tookMs, 0));
}
