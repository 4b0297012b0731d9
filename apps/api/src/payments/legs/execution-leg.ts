import { readHandleOps, findFailedOperations } from "@causeway/chains";
import type { LogFact } from "@causeway/chains";
import { executionCost } from "@causeway/domain";
import type { FailReason, RequestEvent, RequestId, RequestKind } from "@causeway/domain";
import type { LaneCall } from "../../db/leg.port.ts";
import type { RequestRecord, Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { DONE } from "../../db/wait.ts";
import { transition } from "../../requests/index.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import { awaitsExecution, isOverWithoutExecution } from "../executions/awaits-execution.ts";
import { CALL_LIFETIME_MS } from "../executions/call-terms.ts";
import { findRefusedTarget } from "../executions/own-contracts.ts";
import { planExecution } from "../executions/plan-execution.ts";
import { forgiveCosts, noteCosts } from "../executions/settle-execution.ts";
import { whyUnexplained } from "../unexplained-nonces.ts";
import type { DueLeg, LegContext, LegKind, Stopped } from "./leg-kind.ts";
import type { WantedPayment } from "../wanted-payment.port.ts";
import { nativeDecimals } from "../native-decimals.ts";

interface DueExecution extends DueLeg {
  readonly request: RequestRecord;
  readonly execution: ExecutionRecord;
  /** When its checks began, by `performance.now()`. */
  readonly checkedAtMs: number;
}

/** Why a call is not sent. */
interface Unsent {
  readonly reason: FailReason;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * A call that the executor sends for a user: one that would fail is not sent and costs nothing. It is charged
 * only once its block is final.
 */
export const executionLeg: LegKind<DueExecution, WantedPayment, Unsent> = {
  name: "execution",
  // Jobs of a burst wait together and are sent together.
  queue: { name: "execute", id: "requestId", concurrency: 200 },
  isTransfer: false,

  overdue: async ({ reads }, ...since) => await reads.overdueExecutions(...since),
  async read({ reads }, id) {
    const checkedAtMs = performance.now();
    const requestId = id as RequestId;
    const [request, execution] = await Promise.all([reads.request(requestId), reads.execution(requestId)]);
    if (request === undefined || !isOpen(execution)) return undefined;
    const slot = await reads.slotOfLeg("execution", requestId);
    return { request, execution, checkedAtMs, chainId: execution.chainId, slot };
  },
  async plan(services, { request, execution, checkedAtMs }) {
    const { requestId } = execution;
    const connected = services.chains.get(execution.chainId);
    const executor = services.executor?.address;
    // Checked before the call can be given up: an unexplained nonce may belong to this very call, and then
    // the sponsor owes its cost.
    const why = connected && executor && (await whyUnexplained(services, connected, executor));
    if (why !== undefined) {
      services.events.alarm("execution_waits", { requestId, why });
      return { waitMs: 5_000, why };
    }
    if (!awaitsExecution(request.state)) return notIncluded("the request no longer awaits its execution");
    const deadlineMs = deadlineOf(request, execution);
    if (services.clock.nowMs() > deadlineMs) return notIncluded("the execution was not sent in time");
    if (connected === undefined || executor === undefined)
      return wait(services, request, "the chain or the executor is disabled");
    const planned = await planExecution(services, connected, executor, execution, deadlineMs);
    switch (planned.kind) {
      case "fails":
        return mayPermitBeUsed(services, request, execution)
          ? { waitMs: 1_000, why: "the call fails at the moment" }
          : { giveUp: { reason: "EXECUTION_REVERTED", detail: planned.detail } };
      case "waits":
        return wait(services, request, planned.why);
      case "ready":
        return { plan: planned.plan, checkedAtMs };
      default:
        return planned satisfies never;
    }
  },

  // The next batch gathers the calls that arrive in the meantime.
  batching: { inFlight: 1, canBatch: () => true },
  async lock(_, tx, wanted, requests) {
    const ids = wanted.map(({ plan }) => requestIdOf(plan));
    const executions = await tx.executions.lockAll(ids);
    return ids.map((id) => {
      const request = requests.get(id);
      // Settled by another process: if sent, no one would pay for it.
      const isDue = request !== undefined && awaitsExecution(request.state) && isOpen(executions.get(id));
      return isDue ? "due" : "moved";
    });
  },
  async reserved({ clock, chains }, tx, taken) {
    const planned = taken.map(({ slot }) => {
      const { nonce, chainId } = slot;
      const requestId = requestIdOf(slot);
      tx.events.happened("execution_planned", { requestId, chain: chains.profile(chainId)?.name });
      return { requestId, event: "executionPlanned" as const, detail: { nonce } };
    });
    await tx.requests.noteAll(planned, clock.nowMs());
    return undefined;
  },
  async restored({ clock }, tx, { plan, nonce }, record) {
    if (record === undefined || !awaitsExecution(record.state)) return "lost";
    const requestId = requestIdOf(plan);
    if (!isOpen(await tx.executions.lock(requestId))) return "lost";
    await tx.requests.note(requestId, clock.nowMs(), "executionPlanned", { nonce });
    return "restored";
  },
  notReserved: async (services, { request }, why) =>
    wait(
      services,
      request,
      why === "late" ? "the checks of the call are too old" : "the executor lacks the native token",
    ),

  async isForbidden(services, connected, { leg: { requestId } }) {
    const execution = requestId && (await services.reads.execution(requestId));
    return execution !== undefined && findRefusedTarget(services, connected, execution) !== undefined;
  },
  async mined({ services, tx, slot, record, attempt, receipt }) {
    if (record === undefined) return;
    const facts = { txHash: attempt.txHash, block: receipt.blockNumber, gasUsed: receipt.gasUsed };
    const change = record.inTxHashes.includes(attempt.txHash)
      ? {}
      : { inTxHashes: [...record.inTxHashes, attempt.txHash] };
    const event: RequestEvent =
      receipt.status === "success"
        ? eventOfSuccess(record.terms.kind, slot.call, receipt.logs)
        : { kind: "executionReverted", reason: "TRANSACTION_REVERTED" };
    await transition(services, tx, record, event, change, facts);
  },
  async orphaned({ services, tx, record }, attempt) {
    if (record === undefined) return;
    const inTxHashes = record.inTxHashes.filter((txHash) => txHash !== attempt.txHash);
    await transition(services, tx, record, { kind: "executionUnmined" }, { inTxHashes });
  },
  async final(context) {
    const { services, tx, record } = context;
    if (record) await transition(services, tx, record, { kind: "executionFinal" });
    await charge(context, ({ call, flatUsd }) => ({ valueWei: call.value, flatUsd }), {
      isFunded: await hasFunded(context),
    });
  },
  async dead(context, reason) {
    const { services, tx, slot, record } = context;
    const after =
      record && (await transition(services, tx, record, { kind: "executionDead", reason }, {}, { reason }));
    const { requestId } = slot.leg;
    if (requestId === undefined) return;
    // Another deposit, or a fast fill, may still get the request filled, with its calls.
    const isOver = after === undefined || isOverWithoutExecution(after.record.state);
    // A revert costs gas; a nonce used by something else costs the sponsor nothing.
    if (hasReverted(slot, reason) || isRefusedWithAuthorizations(slot, reason))
      await charge(context, () => ({ valueWei: 0n, flatUsd: 0n }), { isOver });
    else if (isOver) await forgiveCosts(services, tx, requestId);
    else await noteCosts(services, tx, requestId, { originUsd: 0n });
  },

  async giveUp(services, { execution: { requestId } }, { reason, detail }) {
    const isDead = await services.uow.run(async (tx) => {
      const current = await tx.requests.lock(requestId);
      const leg = { kind: "execution", id: requestId, requestId };
      // If the call has a nonce, the outcome of that nonce decides instead.
      if (current === undefined || (await tx.lanes.hasLiveSlot(leg))) return false;
      if (!isOpen(await tx.executions.lock(requestId))) return false;
      await tx.requests.note(requestId, services.clock.nowMs(), "executionImpossible", { reason, ...detail });
      const event = { kind: "executionDead", reason } as const;
      const { record } = await transition(services, tx, current, event, {}, { reason });
      if (isOverWithoutExecution(record.state)) await forgiveCosts(services, tx, requestId);
      else await noteCosts(services, tx, requestId, { originUsd: 0n });
      return true;
    });
    const label = typeof detail["label"] === "string" ? detail["label"] : undefined;
    if (isDead) services.events.alarm("execution_impossible", { requestId, reason, label });
    return DONE;
  },
};

/** Whether the call was neither charged nor released, so that its transaction may still be sent. */
function isOpen(execution: ExecutionRecord | undefined): execution is ExecutionRecord {
  return execution !== undefined && !execution.settled && execution.originUsd === undefined;
}

function requestIdOf({ leg: { id } }: Pick<Slot, "leg">): RequestId {
  return id as RequestId;
}

/** Until when the call is sent, ms. A deposit mined after the request's own deadline would be refunded. */
function deadlineOf({ terms }: RequestRecord, { createdAtMs }: ExecutionRecord): number {
  const permitDeadlineMs = terms.permit === undefined ? Infinity : terms.permit.deadline * 1000;
  return Math.min(terms.fillDeadlineMs, createdAtMs + CALL_LIFETIME_MS, permitDeadlineMs);
}

/**
 * Anyone may submit the user's permit. If someone did, our call fails, and the service needs this time to
 * read their deposit before it gives up the call.
 */
const DEPOSIT_READ_WITHIN_MS = 10_000;

function mayPermitBeUsed(
  { clock }: Pick<WorkerServices, "clock">,
  { terms }: RequestRecord,
  { createdAtMs }: ExecutionRecord,
): boolean {
  return terms.permit !== undefined && clock.nowMs() - createdAtMs < DEPOSIT_READ_WITHIN_MS;
}

function notIncluded(why: string): { readonly giveUp: Unsent } {
  return { giveUp: { reason: "TRANSACTION_NOT_INCLUDED", detail: { why } } };
}

/**
 * Waits for a temporary obstacle, up to the policy's limit. After that, nothing is sent, and the sponsor's
 * reservation is released.
 */
function wait(services: WorkerServices, request: RequestRecord, why: string): Stopped<Unsent> {
  const { requestId } = request.terms;
  const waitedMs = services.clock.nowMs() - request.updatedAtMs;
  if (waitedMs > services.enginePolicy.inventoryWaitMs) return notIncluded(why);
  services.events.alarm("execution_waits", { requestId, why, waitedMs });
  return { waitMs: 1_000, why };
}

/** An entry point continues when an operation fails: its transaction succeeds without effect for the user. */
function eventOfSuccess(kind: RequestKind, { to, data }: LaneCall, logs: readonly LogFact[]): RequestEvent {
  const handleOps = readHandleOps(data);
  if (handleOps?.kind !== "read") return { kind: "executionMined" };
  const failed = findFailedOperations(logs, to).length;
  // Another of several operations may make the deposit, so the request waits for it.
  const hasFailed = failed > 0 && (kind === "call" || failed >= handleOps.ops.length);
  return hasFailed ? { kind: "executionReverted", reason: "EXECUTION_REVERTED" } : { kind: "executionMined" };
}

function hasReverted({ minedStatus }: Slot, reason: FailReason): boolean {
  return minedStatus === "reverted" && reason === "TRANSACTION_REVERTED";
}

/**
 * Nodes refuse a transaction if an account that signed one of its authorizations has another transaction in
 * the mempool, which users can cause. The no-op that used the nonce is charged like a revert: otherwise,
 * refused calls would be free.
 */
function isRefusedWithAuthorizations({ call, attempts, minedAttempt }: Slot, reason: FailReason): boolean {
  if (reason !== "TRANSACTION_SUBMISSION_FAILED" || (call.authorizationList ?? []).length === 0) return false;
  return attempts.find(({ n }) => n === minedAttempt)?.kind === "noop";
}

/**
 * Charges the actual cost of the mined transaction, at the native token price of its acceptance.
 * @param ends.isOver the request will not be filled without this execution
 * @param ends.isFunded the transaction made the deposit of the request: the output pays the cost, unless an
 * app pays it or the deposit is refunded
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
    priceUsd: execution.nativePriceUsd,
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
 * Whether the mined transaction made the request's deposit. Blocks are scanned for deposits before their
 * transactions are final.
 */
async function hasFunded({ tx, slot, record }: LegContext): Promise<boolean> {
  const depositId = record?.state.depositId;
  const deposit = depositId === undefined ? undefined : await tx.deposits.lock(depositId);
  const mined = slot.attempts.find(({ n }) => n === slot.minedAttempt);
  return deposit?.disposition === "accepted" && deposit.txHash === mined?.txHash;
}
