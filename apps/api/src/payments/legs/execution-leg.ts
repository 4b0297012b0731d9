import { readHandleOps, userOperationsFailed } from "@causeway/chains";
import type { LogFact } from "@causeway/chains";
import { executionCost } from "@causeway/domain";
import type { FailReason, RequestEvent, RequestKind } from "@causeway/domain";
import type { ExecutionRecord } from "../executions.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";
import type { Slot } from "../../db/records.port.ts";
import { isOverWithoutExecution } from "../executions/awaits-execution.ts";
import { forgiveCosts, noteCosts } from "../executions/settle-execution.ts";
import { transition } from "../../requests/index.ts";
import type { LegHandler, LegContext } from "./leg-course.ts";
import { nativeDecimals } from "./native-decimals.ts";

/** A call that the executor sends for a user. It is charged only once its block is final. */
export const executionLeg: LegHandler = {
  async mined({ services, tx, slot, record }, { attempt, receipt }) {
    if (record === undefined) return;
    const facts = { txHash: attempt.txHash, block: receipt.blockNumber, gasUsed: receipt.gasUsed };
    const change = record.inTxHashes.includes(attempt.txHash)
      ? {}
      : { inTxHashes: [...record.inTxHashes, attempt.txHash] };
    const event: RequestEvent =
      receipt.status === "success"
        ? whatSuccessMeans(record.terms.kind, slot.call, receipt.logs)
        : { kind: "executionReverted", reason: "TRANSACTION_REVERTED" };
    await transition(services, tx, record, event, change, facts);
  },
  async orphaned({ services, tx, record }, attempt) {
    if (record === undefined) return;
    const inTxHashes = record.inTxHashes.filter((known) => known !== attempt.txHash);
    await transition(services, tx, record, { kind: "executionUnmined" }, { inTxHashes });
  },
  async final(moment) {
    const { services, tx, record } = moment;
    if (record) await transition(services, tx, record, { kind: "executionFinal" });
    await charge(moment, ({ call, flatUsd }) => ({ valueWei: call.value, flatUsd }), {
      isFunded: await hasFunded(moment),
    });
  },
  async dead(moment, reason) {
    const { services, tx, slot, record } = moment;
    const after =
      record && (await transition(services, tx, record, { kind: "executionDead", reason }, {}, { reason }));
    const { requestId } = slot.leg;
    if (requestId === undefined) return;
    // Another deposit, or a fast fill, may still get the request filled, with its calls.
    const isOver = after === undefined || isOverWithoutExecution(after.record.state);
    // A revert costs gas; a nonce used by something else costs the sponsor nothing.
    if (hasReverted(slot, reason) || isRefusedWithAuthorizations(slot, reason))
      await charge(moment, () => ({ valueWei: 0n, flatUsd: 0n }), { isOver });
    else if (isOver) await forgiveCosts(services, tx, requestId);
    else await noteCosts(services, tx, requestId, { originUsd: 0n });
  },
};

/** An entry point continues when an operation fails: its transaction succeeds without effect for the user. */
function whatSuccessMeans(kind: RequestKind, { to, data }: LaneCall, logs: readonly LogFact[]): RequestEvent {
  const handleOps = readHandleOps(data);
  if (handleOps?.kind !== "read") return { kind: "executionMined" };
  const failed = userOperationsFailed(logs, to).length;
  // Another of several operations may make the deposit: that waits for the deposit.
  const isInVain = failed > 0 && (kind === "call" || failed >= handleOps.ops.length);
  return isInVain ? { kind: "executionReverted", reason: "EXECUTION_REVERTED" } : { kind: "executionMined" };
}

function hasReverted({ minedStatus }: Slot, reason: FailReason): boolean {
  return minedStatus === "reverted" && reason === "TRANSACTION_REVERTED";
}

/**
 * Nodes refuse a transaction whose authorities have others in the mempool, which only their owners can know:
 * the no-op that used its nonce is charged like a revert, or refused calls would be free.
 */
function isRefusedWithAuthorizations({ call, attempts, minedAttempt }: Slot, reason: FailReason): boolean {
  if (reason !== "TRANSACTION_SUBMISSION_FAILED" || (call.authorizationList ?? []).length === 0) return false;
  return attempts.find(({ n }) => n === minedAttempt)?.kind === "noop";
}

/**
 * Charges the actual cost of the mined transaction, at the native token price of its acceptance.
 * @param ends.isOver nothing will be filled because of it
 * @param ends.isFunded it made the deposit to be filled: the output pays, unless an app does or the deposit
 * is refunded
 */
async function charge(
  { services, tx, slot }: LegContext,
  extraCosts: (execution: ExecutionRecord) => { readonly valueWei: bigint; readonly flatUsd: bigint },
  { isOver = false, isFunded = false }: { readonly isOver?: boolean; readonly isFunded?: boolean },
): Promise<void> {
  const { requestId } = slot.leg;
  const execution = requestId === undefined ? undefined : await tx.executions.lock(requestId);
  if (requestId === undefined || execution === undefined) return;
  if (slot.gasUsed === undefined || slot.effectiveGasPrice === undefined)
    throw new Error(`invariant violated: slot ${slot.id} is mined without its gas cost`);
  const native = {
    decimals: nativeDecimals(services.chains, slot.chainId),
    priceUsd: execution.coinUsd,
    salePriceUsd: execution.salePriceUsd,
  };
  const { totalUsd } = executionCost(
    { gas: slot.gasUsed, weiPerGas: slot.effectiveGasPrice, ...extraCosts(execution) },
    native,
  );
  await noteCosts(services, tx, requestId, {
    originUsd: totalUsd,
    // Without this execution, nothing is filled on the destination.
    ...(isOver && { destinationUsd: 0n }),
    ...(isFunded && { outputPays: "unknown" }),
  });
}

/**
 * Whether its transaction made the request's deposit. Blocks are scanned for deposits before their
 * transactions are final.
 */
async function hasFunded({ tx, slot, record }: LegContext): Promise<boolean> {
  const depositId = record?.state.depositId;
  const deposit = depositId === undefined ? undefined : await tx.deposits.lock(depositId);
  const mined = slot.attempts.find(({ n }) => n === slot.minedAttempt);
  return deposit?.disposition === "accepted" && deposit.txHash === mined?.txHash;
}
