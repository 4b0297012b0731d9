import type { GasPrices } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { FailReason, RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { ExecutionPlan, WantedExecution } from "./execution-lane.port.ts";
import type { ExecutionRecord } from "./executions.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { awaitsExecution, isOverWithoutExecution } from "./executions/awaits-execution.ts";
import { CALL_LIFETIME_MS } from "./executions/call-terms.ts";
import { isOpen } from "./executions/open-execution.ts";
import { refusedTarget } from "./executions/own-contracts.ts";
import { sendExecution } from "./executions/send-execution.ts";
import { forgiveCosts, noteCosts } from "./executions/settle-execution.ts";
import { simulateExecution } from "./executions/simulate-execution.ts";
import { whySaleWaits } from "./executions/value-sale.ts";
import { type LaneKeys, ownAccounts } from "../chains/index.ts";
import { sendSlot } from "./send-slot.ts";
import { transition, type TransitionServices } from "../requests/index.ts";
import { whyUnexplained } from "./unexplained-nonces.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";

type Needs = Pick<Services, "events"> &
  TransitionServices &
  LaneKeys &
  Pick<Services, "chains" | "uow" | "reads" | "enginePolicy" | "prices" | "quotePolicy" | "sendExecution">;

/**
 * Sends an accepted call: simulates it again on the latest state, reserves a nonce of the executor, then
 * sends. A call that would fail is not sent and costs nothing. Idempotent in any number of processes: the
 * request's lock and its one live nonce send it once.
 * @throws RpcFault: nothing was decided, the job retries
 */
export async function submitExecution(services: Needs, requestId: RequestId): Promise<Progress> {
  const checkedAtMs = performance.now();
  const [request, execution] = await Promise.all([
    services.reads.request(requestId),
    services.reads.execution(requestId),
  ]);
  if (request === undefined || !isOpen(execution)) return DONE;
  const slot = await services.reads.slotOfLeg("execution", requestId);
  if (slot !== undefined) {
    // A process died between reserving the nonce and sending: the bytes are, or will be, the same.
    await sendSlot(services, slot.id);
    return DONE;
  }
  const connected = services.chains.get(execution.chainId);
  // Before anything is given up: the nonce may belong to this very call, and then the sponsor owes its cost.
  const why =
    connected && services.executor && (await whyUnexplained(services, connected, services.executor.address));
  if (why !== undefined) {
    services.events.alarm("execution_waits", { requestId, why });
    return { waitMs: 5_000, why };
  }
  if (!awaitsExecution(request.state))
    return giveUp(services, requestId, "TRANSACTION_NOT_INCLUDED", {
      why: "the request no longer awaits its execution",
    });
  const deadlineMs = deadlineOf(request, execution);
  if (services.clock.nowMs() > deadlineMs)
    return giveUp(services, requestId, "TRANSACTION_NOT_INCLUDED", {
      why: "the execution was not sent in time",
    });
  if (connected === undefined || services.executor === undefined)
    return wait(services, request, "the chain or the executor is disabled");
  const planned = await plan(services, connected, services.executor.address, execution, deadlineMs);
  switch (planned.kind) {
    case "fails":
      if (mayBeAhead(services, request, execution))
        return { waitMs: 1_000, why: "the call fails at the moment" };
      return giveUp(services, requestId, planned.reason, planned.detail);
    case "waits":
      return wait(services, request, planned.why);
    case "ready":
      return send(services, request, connected, { plan: planned.plan, checkedAtMs });
    default:
      return planned satisfies never;
  }
}

/** Sent until then. A deposit mined after the request's own deadline would be refunded. */
function deadlineOf({ terms }: RequestRecord, { createdAtMs }: ExecutionRecord): number {
  const signedForMs = terms.permit === undefined ? Infinity : terms.permit.deadline * 1000;
  return Math.min(terms.fillDeadlineMs, createdAtMs + CALL_LIFETIME_MS, signedForMs);
}

/**
 * Anyone may submit a permit, and a deposit made by another account makes ours fail: it must have time to be
 * read first.
 */
const DEPOSIT_READ_WITHIN_MS = 10_000;

function mayBeAhead(
  { clock }: Pick<Services, "clock">,
  { terms }: RequestRecord,
  { createdAtMs }: ExecutionRecord,
): boolean {
  return terms.permit !== undefined && clock.nowMs() - createdAtMs < DEPOSIT_READ_WITHIN_MS;
}

type Planned =
  | { readonly kind: "ready"; readonly plan: ExecutionPlan }
  | { readonly kind: "waits"; readonly why: string }
  | { readonly kind: "fails"; readonly reason: FailReason; readonly detail: Detail };

type Detail = Readonly<Record<string, unknown>>;

async function plan(
  services: Needs,
  connected: ConnectedChain,
  executor: ExecutionPlan["sender"],
  execution: ExecutionRecord,
  cancelAfterMs: number,
): Promise<Planned> {
  const { requestId, call, gasLimit, maxFeePerGas } = execution;
  const target = refusedTarget(services, connected, execution);
  if (target !== undefined) return refusedPlan(target);
  const prices = connected.pulse.gasPrices();
  // Below the current base fee it would only block the lane; above the cap it would cost more than was
  // reserved.
  if (prices.baseFeePerGas + prices.maxPriorityFeePerGas > maxFeePerGas)
    return { kind: "waits", why: "gas costs more than was reserved" };
  const fees = cappedBy(prices, maxFeePerGas);
  const ours = ownAccounts(services);
  const simulated = await simulateExecution(connected, { from: executor, call, fees, gas: gasLimit, ours });
  switch (simulated.kind) {
    case "reverts": {
      const { label, message, details } = simulated.failure;
      return { kind: "fails", reason: "EXECUTION_REVERTED", detail: { label, message, details } };
    }
    case "forbidden":
      return { kind: "fails", reason: "EXECUTION_REVERTED", detail: { message: simulated.message } };
    case "insufficientFunds":
      return { kind: "waits", why: "the executor lacks the native token" };
    case "unseen":
      return { kind: "waits", why: "the node cannot trace the call" };
    case "ok": {
      const reached = refusedTarget(services, connected, execution, simulated.outcome.calls);
      if (reached !== undefined) return refusedPlan(reached);
      if (call.value > 0n) {
        const { salePriceUsd = execution.coinUsd } = execution;
        const why = await whySaleWaits(services, requestId, connected.chain.native, salePriceUsd);
        if (why !== undefined) return { kind: "waits", why };
      }
      return {
        kind: "ready",
        plan: {
          chainId: connected.chain.id,
          sender: executor,
          leg: { kind: "execution", requestId },
          call,
          gasLimit,
          ...fees,
          outflow: { currency: NATIVE_CURRENCY, amount: call.value },
          cancelAfterMs,
        },
      };
    }
    default:
      return simulated satisfies never;
  }
}

function refusedPlan(target: string): Planned {
  const message = `executions must not call ${target}, a contract of this service`;
  return { kind: "fails", reason: "EXECUTION_REVERTED", detail: { message } };
}

function cappedBy(
  { maxFeePerGas, maxPriorityFeePerGas }: GasPrices,
  capWei: bigint,
): Pick<ExecutionPlan, "maxFeePerGas" | "maxPriorityFeePerGas"> {
  return {
    maxFeePerGas: maxFeePerGas < capWei ? maxFeePerGas : capWei,
    maxPriorityFeePerGas: maxPriorityFeePerGas < capWei ? maxPriorityFeePerGas : capWei,
  };
}

async function send(
  services: Needs,
  request: RequestRecord,
  connected: ConnectedChain,
  wanted: WantedExecution,
): Promise<Progress> {
  const sent =
    services.sendExecution === undefined
      ? await sendExecution(services, connected, wanted)
      : await services.sendExecution(connected, wanted);
  if (sent === "late") return wait(services, request, "the checks of the call are too old");
  return sent === "short" ? wait(services, request, "the executor lacks the native token") : DONE;
}

/**
 * Waits for temporary obstacles, but not forever: then nothing is sent, and the sponsor's reservation is
 * released.
 */
async function wait(services: Needs, request: RequestRecord, why: string): Promise<Progress> {
  const { requestId } = request.terms;
  const waitedMs = services.clock.nowMs() - request.updatedAtMs;
  if (waitedMs > services.enginePolicy.inventoryWaitMs)
    return giveUp(services, requestId, "TRANSACTION_NOT_INCLUDED", { why });
  services.events.alarm("execution_waits", { requestId, why, waitedMs });
  return { waitMs: 1_000, why };
}

async function giveUp(
  services: Needs,
  requestId: RequestId,
  reason: FailReason,
  detail: Detail,
): Promise<Progress> {
  const isDead = await services.uow.run(async (tx) => {
    const current = await tx.requests.lock(requestId);
    // With a nonce, the outcome of the nonce decides.
    if (current === undefined || (await tx.lanes.hasLiveSlot({ kind: "execution", requestId }))) return false;
    if (!isOpen(await tx.executions.lock(requestId))) return false;
    await tx.requests.note(requestId, services.clock.nowMs(), "executionImpossible", { reason, ...detail });
    const { record } = await transition(
      services,
      tx,
      current,
      { kind: "executionDead", reason },
      {},
      { reason },
    );
    if (isOverWithoutExecution(record.state)) await forgiveCosts(services, tx, requestId);
    else await noteCosts(services, tx, requestId, { originUsd: 0n });
    return true;
  });
  if (isDead)
    services.events.alarm("execution_impossible", {
      requestId,
      reason,
      label: typeof detail["label"] === "string" ? detail["label"] : undefined,
    });
  return DONE;
}
