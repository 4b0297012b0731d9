import type { Address, Hex32 } from "@causeway/domain";
import type { Slot } from "../db/records.port.ts";
import { orderSignerOf } from "../chains/index.ts";
import { advanceCalls } from "../payments/index.ts";
import type { EndedExecution, ExecutionRecord } from "./settlement.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";
import { nextBatch, gasForExecutions, type Batch, type EstimatedExecution } from "./next-batch.ts";
import { sendToHub } from "./send-to-hub.ts";
import { settleExecutions } from "./settle-executions.ts";

type Needs = Pick<
  SettlementServices,
  | "clock"
  | "events"
  | "signer"
  | "formerSigners"
  | "uow"
  | "reads"
  | "hub"
  | "sendAsPayment"
  | "settlement"
  | "settlementPolicy"
>;

/**
 * One round: maintains the hub transactions, settles the executions of those that ended, and sends the next
 * batch if none is pending. The hub's state decides whether an execution ran, never a receipt: each one runs
 * once, despite crashes, reorgs and other senders. Safe to run at any time in any number of processes.
 * @throws RpcFault: the next round continues
 */
export async function submitExecutions(services: Needs): Promise<void> {
  const { hub, signer, formerSigners, reads, settlementPolicy } = services;
  if (services.sendAsPayment === undefined)
    await advanceCalls(services, hub.lane, [signer, ...formerSigners], settlementPolicy);
  const calls = await reads.unsettledCalls(hub.hub.chainId);
  const open = calls.filter(({ leg, state }) => leg.kind === "hub" && state === "open");
  for (const slot of open) {
    if (slot.cancelReason !== undefined) await splitBatch(services, slot);
    else if (slot.sender !== signer.address) await abandonIfUnpayable(services, slot);
  }
  await concludeEnded(services);
  // One at a time: a batch queued behind another could be out of date when it is mined. Transactions of a
  // former key do not delay those of the current key.
  if (!open.some(({ sender }) => sender === signer.address)) await submitNext(services);
}

/**
 * Concludes the executions of ended transactions. If the nonce is used at a final block where the hub has not
 * run the execution, that transaction will never run it. Both facts are read at the same block, because the
 * node that reported the end may have been ahead or have used a shallower finality.
 */
async function concludeEnded(services: Needs): Promise<void> {
  const { hub, settlement, uow, clock, signer, settlementPolicy: policy } = services;
  const ended = await settlement.endedExecutions(policy.batchSize);
  if (ended.length === 0) return;
  const keys = ended.map(({ idempotencyKey }) => idempotencyKey);
  const final = await hub.final(keys, [...new Set(ended.map(({ slot }) => slot.sender))]);
  if (final === undefined) return;
  const undone = ended.filter(
    ({ idempotencyKey, slot }) => !final.executed.has(idempotencyKey) && isUsed(hub, slot, final.nonces),
  );
  const atHead = await hub.executed(
    undone.map(({ idempotencyKey }) => idempotencyKey),
    "latest",
  );
  const unexecuted: { readonly key: Hex32; readonly slotId: string; readonly refusal: string | undefined }[] =
    [];
  for (const execution of undone) {
    const { idempotencyKey: key, slot } = execution;
    // Executed, but not final yet: the next rounds check again.
    if (atHead.has(key)) continue;
    const refusal = await hub.refusal(execution, signer.address);
    if (refusal?.startsWith("AlreadyExecuted") !== true) unexecuted.push({ key, slotId: slot.id, refusal });
  }
  const nowMs = clock.nowMs();
  await settleExecutions(services, [...final.executed]);
  await uow.run(async (tx) => {
    for (const { key, slotId, refusal } of unexecuted) {
      // If the hub refuses it even alone, it needs new signatures or another hub; otherwise another
      // transaction.
      if (refusal === undefined)
        await tx.settlement.release(
          { key, slotId },
          "the hub transaction did not execute it",
          nowMs + policy.retryMs,
        );
      else await tx.settlement.refuse({ key, slotId }, refusal, nowMs + policy.maxRetryMs, nowMs);
    }
  });
  for (const { key, refusal } of unexecuted)
    if (refusal !== undefined) services.events.alarm("execution_refused", { key, reason: refusal });
}

/**
 * Whether a slot's nonce is used at a final block. True for slots of a former hub's chain: only the current
 * hub's state counts.
 */
export function isUsed(
  { hub }: Needs["hub"],
  { chainId, sender, nonce }: EndedExecution["slot"],
  used: ReadonlyMap<Address, number>,
): boolean {
  return chainId !== hub.chainId || nonce < (used.get(sender) ?? 0);
}

/**
 * Moves the executions of a former key's transaction to the current key, if the service would not replace
 * that transaction or its sender cannot pay for it. It may still be mined: the hub runs each execution once
 * and sets a mapping once. The slot stays open, so that its nonce is used if the key is configured again.
 */
async function abandonIfUnpayable(services: Needs, slot: Slot): Promise<void> {
  const { uow, clock, events, hub } = services;
  const { id, sender, nonce, gasLimit, maxFeePerGas } = slot;
  const isConfigured = orderSignerOf(services, sender) !== undefined;
  // On an enabled chain, transactions of former keys are only compared with the chain.
  const isReplaced = services.sendAsPayment === undefined;
  if (isConfigured && isReplaced && (await hub.lane.nativeBalance(sender)) >= gasLimit * maxFeePerGas) return;
  const unpayableReason = isReplaced
    ? "the sender lacks the native token of the hub"
    : "it was sent with a former key, and the service replaces only transactions of the current key on an enabled chain";
  const reason = isConfigured ? unpayableReason : "the key of the sender is not configured";
  const freed = await uow.run((tx) => tx.settlement.abandon(id, reason, clock.nowMs()));
  if (freed > 0) events.alarm("hub_transaction_abandoned", { sender, nonce, reason, freed });
}

/**
 * The hub's node refuses this transaction permanently, so a cancel transaction takes its nonce. The
 * executions are sent again one by one. A single execution is postponed, so that it does not delay others.
 */
async function splitBatch(services: Needs, { id, nonce }: Slot): Promise<void> {
  const { uow, clock, events, settlementPolicy: policy } = services;
  const nowMs = clock.nowMs();
  const reason = "the hub's node refuses the transaction that contains it";
  const freed = await uow.run(async (tx) => {
    const executions = await tx.settlement.splitBatch(id, nowMs + policy.retryMs);
    const [first, ...more] = executions;
    if (first !== undefined && more.length === 0)
      await tx.settlement.postponeExecution(
        first.idempotencyKey,
        reason,
        nowMs + policy.rejectedRetryMs,
        nowMs,
      );
    return executions;
  });
  const [first, ...more] = freed;
  if (first === undefined) return;
  events.alarm("hub_refused", { nonce, reason, executions: freed.length });
  if (more.length === 0) logSetAside(services, first, reason);
}

async function submitNext(services: Needs): Promise<void> {
  const batch = await chooseBatch(services);
  if (batch === undefined) return;
  const { executions, gasLimit } = batch;
  const ids = executions.map(({ id }) => id);
  await sendToHub(
    services,
    { ...services.hub.batchCall(executions), gasLimit },
    {
      lock: async (tx) => await tx.settlement.lockUnsubmitted(ids),
      assign: async (tx, slotId) => await tx.settlement.markSubmitted(ids, slotId),
    },
  );
}

/** The executions of the next transaction, if any. Postpones those that are too large for any transaction. */
async function chooseBatch(services: Needs): Promise<Batch | undefined> {
  const { hub, settlement, clock, signer, settlementPolicy: policy } = services;
  const waiting = await settlement.executionsToSubmit(clock.nowMs(), policy.batchSize);
  if (waiting.length === 0) return undefined;
  const keys = waiting.map(({ idempotencyKey }) => idempotencyKey);
  const executed = await hub.executed(keys, "latest");
  if (executed.size > 0) await releaseExecuted(services, [...executed]);
  const remaining = waiting.filter(({ idempotencyKey }) => !executed.has(idempotencyKey));
  if (remaining.length === 0) return undefined;

  const [{ threshold }, limit] = await Promise.all([hub.signers(), hub.transactionGasLimit()]);
  const gas = await hub.executionGas(remaining, signer.address, threshold, gasForExecutions(limit));
  const estimated = remaining.flatMap((execution, index) => {
    const executionGas = gas[index];
    return executionGas === undefined ? [] : [{ execution, gas: executionGas }];
  });
  const batch = nextBatch(estimated, limit);
  if (batch.oversized.length === 0) return batch.executions.length === 0 ? undefined : batch;
  await postponeOversized(services, batch.oversized, limit);
  // Payments that depend on a postponed execution wait too: choose again without them.
  return await chooseBatch(services);
}

async function postponeOversized(
  services: Needs,
  oversized: readonly EstimatedExecution[],
  limit: bigint,
): Promise<void> {
  const { uow, clock, settlementPolicy: policy } = services;
  const nowMs = clock.nowMs();
  const oversizedReasons = oversized.map(({ execution, gas }) => {
    const needs = gas.kind === "needs" ? `${gas.gas} gas` : "more gas";
    const reason = `the execution needs ${needs} for ${execution.actions.length} actions, but a hub transaction may use at most ${limit}`;
    return { execution, reason };
  });
  await uow.run(async (tx) => {
    for (const { execution, reason } of oversizedReasons)
      await tx.settlement.postponeExecution(
        execution.idempotencyKey,
        reason,
        nowMs + policy.rejectedRetryMs,
        nowMs,
      );
  });
  for (const { execution, reason } of oversizedReasons) logSetAside(services, execution, reason);
}

function logSetAside({ events }: Needs, execution: ExecutionRecord, reason: string): void {
  events.alarm("execution_set_aside", { key: execution.idempotencyKey, kind: execution.kind, reason });
}

/** Postpones executions that another party submitted: they settle once they are final. */
async function releaseExecuted(services: Needs, keys: readonly Hex32[]): Promise<void> {
  const final = await services.hub.executed(keys, "final");
  await settleExecutions(services, [...final]);
  const nextTryMs = services.clock.nowMs() + services.settlementPolicy.retryMs;
  await services.uow.run(async (tx) => {
    for (const key of keys)
      if (!final.has(key))
        await tx.settlement.release({ key, slotId: undefined }, "executed, not final yet", nextTryMs);
  });
}
