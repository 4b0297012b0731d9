import { signTransaction } from "@causeway/chains";
import type { Hex32 } from "@causeway/domain";
import { ExecutionsTaken } from "../payments/executions-taken.port.ts";
import type { ExecutionRecord, HubAttempt, HubTransaction, SignedExecution } from "./settlement.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";
import { replacementFees } from "../payments/index.ts";
import { orderSignerOf } from "../chains/index.ts";
import { nextBatch, roomFor, type Batch, type Weighed } from "./next-batch.ts";
import { settleExecutions } from "./settle-executions.ts";

/** Gas of a zero-value transfer to the sender, also on chains that charge more than 21,000 for it. */
const NOOP_GAS = 100_000n;

type Needs = Pick<
  SettlementServices,
  "clock" | "events" | "signer" | "formerSigners" | "uow" | "hub" | "settlement" | "settlementPolicy"
>;

/**
 * One round: concludes final transactions, resubmits those not mined, and sends the next batch when none is
 * pending. State is read from the hub, never from a receipt: whatever crashes, reorgs or others do, each
 * execution runs once. Safe to run at any time in any number of processes.
 * @throws RpcFault: the next round continues
 */
export async function submitExecutions(services: Needs): Promise<void> {
  const { hub, signer, settlement } = services;
  const used = await hub.nonces(signer.address);
  const usedBy = new Map([[signer.address, used]]);
  let waits = false;
  for (const transaction of await settlement.openTransactions()) {
    const { sender, nonce } = transaction;
    const { final, latest } = usedBy.get(sender) ?? (await hub.nonces(sender));
    usedBy.set(sender, { final, latest });
    if (nonce < final) await conclude(services, transaction);
    else if (nonce >= latest) {
      // Transactions of a former key do not delay those of the current key.
      if (sender === signer.address) waits = true;
      if (orderSignerOf(services, sender) !== undefined) await care(services, transaction);
      else await abandon(services, transaction, "the key of the sender is not configured");
    }
  }
  // One at a time: a batch queued behind another could be out of date when it is mined.
  if (!waits) await carryNext(services, used.latest);
}

/** The nonce is final. What the hub has not run by now, this transaction will not run. */
async function conclude(services: Needs, transaction: HubTransaction): Promise<void> {
  const { hub, settlement, uow, clock, settlementPolicy: policy } = services;
  const executions = await settlement.executionsOf(transaction.id);
  const keys = executions.map(({ idempotencyKey }) => idempotencyKey);
  const done = await hub.executed(keys, "final");
  const undone = executions.filter(({ idempotencyKey }) => !done.has(idempotencyKey));
  const soon = await hub.executed(
    undone.map(({ idempotencyKey }) => idempotencyKey),
    "latest",
  );
  const left: { readonly key: Hex32; readonly refusal: string | undefined }[] = [];
  for (const execution of undone) {
    const key = execution.idempotencyKey;
    left.push({ key, refusal: soon.has(key) ? undefined : await hub.refusal(execution, signerOf(services)) });
  }
  const nowMs = clock.nowMs();
  await settleExecutions(services, [...done]);
  await uow.run(async (tx) => {
    for (const { key, refusal } of left) {
      // If the hub refuses it even alone, it needs new signatures or another hub; otherwise another
      // transaction.
      if (refusal === undefined)
        await tx.settlement.release(key, "the hub transaction did not execute it", nowMs + policy.retryMs);
      else await tx.settlement.refuse(key, refusal, nowMs + policy.maxRetryMs, nowMs);
    }
    await tx.settlement.setTransactionFinal(transaction.id, nowMs);
  });
  for (const { key, refusal } of left)
    if (refusal !== undefined) services.events.alarm("execution_refused", { key, reason: refusal });
}

/**
 * Releases what a former key's transaction carries to the current key. The former transaction may still be
 * mined: the hub runs each execution once and sets a mapping once. It stays open, so that its nonce is used
 * if its key returns.
 */
async function abandon(
  { uow, clock, events }: Needs,
  { id, sender, nonce }: HubTransaction,
  reason: string,
): Promise<void> {
  const freed = await uow.run((tx) => tx.settlement.abandon(id, reason, clock.nowMs()));
  if (freed > 0) events.alarm("hub_transaction_abandoned", { sender, nonce, reason, freed });
}

/**
 * Moves a pending transaction forward: signs it if no one has, broadcasts it again, bumps its fees when
 * stuck.
 */
async function care(services: Needs, transaction: HubTransaction): Promise<void> {
  const { settlementPolicy: policy } = services;
  const nowMs = services.clock.nowMs();
  const latest = transaction.attempts.findLast(({ isNoop }) => isNoop === transaction.isNoop);
  if (latest === undefined) return send(services, transaction, transaction);
  const isStuck = nowMs - latest.createdAtMs > policy.stuckAfterMs;
  if (isStuck && transaction.attempts.length < policy.maxAttempts) {
    const fees = replacementFees(latest, await services.hub.gasPrices(), policy.bumpBps, undefined);
    if (fees !== undefined) return send(services, transaction, fees);
  }
  if (nowMs - (latest.broadcastAtMs ?? 0) > policy.rebroadcastIntervalMs)
    await broadcast(services, transaction, latest);
}

/** Signs the next variant of a transaction, commits its bytes, and then broadcasts them. */
async function send(
  services: Needs,
  transaction: HubTransaction,
  fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint },
): Promise<void> {
  const { nonce, call, gasLimit, sender } = transaction;
  const key = orderSignerOf(services, sender);
  if (key === undefined) throw new Error(`invariant violated: no key to sign for ${sender}`);
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  const { raw, hash } = await signTransaction(
    {
      chainId: services.hub.hub.chainId,
      nonce,
      ...call,
      value: 0n,
      gas: gasLimit,
      maxFeePerGas,
      maxPriorityFeePerGas,
    },
    (digest) => key.signDigest(digest),
  );
  const attempt: HubAttempt = {
    n: transaction.attempts.length,
    isNoop: transaction.isNoop,
    raw,
    txHash: hash,
    maxFeePerGas,
    maxPriorityFeePerGas,
    createdAtMs: services.clock.nowMs(),
    broadcastAtMs: undefined,
  };
  // Commit before broadcast: after a crash, the next process sends these very bytes.
  const ours = await services.uow.run((tx) => tx.settlement.addAttempt(transaction.id, attempt));
  // If not ours, another process signed first and broadcasts.
  if (ours) await broadcast(services, transaction, attempt);
}

async function broadcast(services: Needs, transaction: HubTransaction, attempt: HubAttempt): Promise<void> {
  const outcome = await services.hub.broadcast(attempt.raw);
  const facts = { nonce: transaction.nonce, attempt: attempt.n, txHash: attempt.txHash };
  switch (outcome.kind) {
    case "accepted":
    case "alreadyKnown":
    case "nonceTooLow":
    case "underpriced":
      await services.uow.run((tx) =>
        tx.settlement.setBroadcast(transaction.id, attempt.n, services.clock.nowMs()),
      );
      services.events.happened("hub_broadcast", { ...facts, outcome: outcome.kind });
      return;
    case "insufficientFunds":
      // The balance was moved to the current key's account. The bytes are broadcast again, in case money
      // returns.
      if (transaction.sender !== services.signer.address) {
        await services.uow.run((tx) =>
          tx.settlement.setBroadcast(transaction.id, attempt.n, services.clock.nowMs()),
        );
        return abandon(services, transaction, "the sender lacks the native token of the hub");
      }
      services.events.alarm("hub_refused", {
        ...facts,
        reason: "the solver lacks the native token of the hub",
      });
      return;
    case "rejected":
      services.events.alarm("hub_refused", { ...facts, reason: outcome.reason });
      if (!transaction.isNoop) await takeApart(services, transaction, outcome.reason);
      return;
    default:
      outcome satisfies never;
  }
}

/**
 * The hub refuses the bytes for good, but the nonce must be used or later ones are stuck: the next round
 * spends it on a no-op. The executions are sent again one by one; one that was alone is postponed, so that
 * the others go on.
 */
async function takeApart(services: Needs, transaction: HubTransaction, reason: string): Promise<void> {
  const { uow, clock, settlementPolicy: policy } = services;
  const nowMs = clock.nowMs();
  const noop = { to: transaction.sender, gasLimit: NOOP_GAS };
  const alone = await uow.run(async (tx) => {
    const freed = await tx.settlement.takeApart(transaction.id, noop, nowMs + policy.retryMs);
    const [only, ...others] = freed ?? [];
    if (only === undefined || others.length > 0) return undefined;
    await tx.settlement.setAside(only.idempotencyKey, reason, nowMs + policy.rejectedRetryMs, nowMs);
    return only;
  });
  if (alone !== undefined) tellSetAside(services, alone, reason);
}

async function carryNext(services: Needs, latestNonce: number): Promise<void> {
  const { hub, uow, clock, signer } = services;
  const batch = await chooseBatch(services);
  if (batch === undefined) return;
  const call = hub.carry(batch.executions satisfies readonly SignedExecution[]);
  const { maxFeePerGas, maxPriorityFeePerGas } = await hub.gasPrices();
  const planned = await uow
    .run(async (tx) => {
      await tx.settlement.lockHub();
      const nonce = Math.max(latestNonce, await tx.settlement.nextNonce(signer.address));
      return await tx.settlement.addTransaction(
        {
          sender: signer.address,
          nonce,
          call,
          gasLimit: batch.gasLimit,
          maxFeePerGas,
          maxPriorityFeePerGas,
        },
        batch.executions.map(({ id }) => id),
        clock.nowMs(),
      );
    })
    .catch((error: unknown) => {
      if (error instanceof ExecutionsTaken) return undefined;
      throw error;
    });
  if (planned !== undefined) await send(services, planned, planned);
}

/** The executions of the next transaction, if any. Postpones those that fit into no transaction. */
async function chooseBatch(services: Needs): Promise<Batch | undefined> {
  const { hub, settlement, clock, signer, settlementPolicy: policy } = services;
  const waiting = await settlement.executionsToCarry(clock.nowMs(), policy.batchSize);
  if (waiting.length === 0) return undefined;
  const keys = waiting.map(({ idempotencyKey }) => idempotencyKey);
  const done = await hub.executed(keys, "latest");
  if (done.size > 0) await leaveToOthers(services, [...done]);
  const undone = waiting.filter(({ idempotencyKey }) => !done.has(idempotencyKey));
  if (undone.length === 0) return undefined;

  const [{ threshold }, limit] = await Promise.all([hub.signers(), hub.transactionGasLimit()]);
  const gas = await hub.executionGas(undone, signer.address, threshold, roomFor(limit));
  const weighed = undone.flatMap((execution, at) => {
    const needed = gas[at];
    return needed === undefined ? [] : [{ execution, gas: needed }];
  });
  const batch = nextBatch(weighed, limit);
  if (batch.oversized.length === 0) return batch.executions.length === 0 ? undefined : batch;
  await setAside(services, batch.oversized, limit);
  // Payments that depend on a postponed execution wait too: choose again without them.
  return await chooseBatch(services);
}

async function setAside(services: Needs, oversized: readonly Weighed[], limit: bigint): Promise<void> {
  const { uow, clock, settlementPolicy: policy } = services;
  const nowMs = clock.nowMs();
  const oversizedReasons = oversized.map(({ execution, gas }) => {
    const needs = gas.kind === "needs" ? `${gas.gas} gas` : "more gas";
    const reason = `the execution needs ${needs} for ${execution.actions.length} actions, but a hub transaction may use at most ${limit}`;
    return { execution, reason };
  });
  await uow.run(async (tx) => {
    for (const { execution, reason } of oversizedReasons)
      await tx.settlement.setAside(execution.idempotencyKey, reason, nowMs + policy.rejectedRetryMs, nowMs);
  });
  for (const { execution, reason } of oversizedReasons) tellSetAside(services, execution, reason);
}

function tellSetAside({ events }: Needs, execution: ExecutionRecord, reason: string): void {
  events.alarm("execution_set_aside", { key: execution.idempotencyKey, kind: execution.kind, reason });
}

/** Another party had them executed. They settle once that is final. */
async function leaveToOthers(services: Needs, keys: readonly Hex32[]): Promise<void> {
  const final = await services.hub.executed(keys, "final");
  await settleExecutions(services, [...final]);
  const nextTryMs = services.clock.nowMs() + services.settlementPolicy.retryMs;
  await services.uow.run(async (tx) => {
    for (const key of keys)
      if (!final.has(key)) await tx.settlement.release(key, "executed, not final yet", nextTryMs);
  });
}

function signerOf({ signer }: Needs) {
  return signer.address;
}
