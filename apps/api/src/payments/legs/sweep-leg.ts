import { NATIVE_CURRENCY } from "@causeway/domain";
import type { SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { DONE } from "../../db/wait.ts";
import type { Progress } from "../../db/wait.ts";
import type { DepositAddress, SweepRecord } from "../../deposits/addresses/deposit-addresses.port.ts";
import { addressesOn, awaitsSweep, factoryProblem } from "../../deposits/index.ts";
import { connectedChainOf } from "../../http/connected-chain.ts";
import { sweepJob } from "../../requests/index.ts";
import { planTransferSweep } from "./plan-transfer-sweep.ts";
import { withHeadroom } from "../executions/price-execution.ts";
import { whyUnexplained } from "../unexplained-nonces.ts";
import type { DueLeg, LegKind } from "./leg-kind.ts";
import { whyOutdated } from "./sweep-outdated.ts";
import type { WantedPayment } from "../wanted-payment.port.ts";

/**
 * A sweep that reverts for this long (ms) is given up: the funds were moved by another transaction, or never
 * existed.
 */
const REFUSED_FOR_MS = 60_000;
/** A signed sweep is retried for this long (ms); it moves the decided amount or nothing. */
const CANCEL_AFTER_MS = 3600_000;

/** A sweep that waits for outputs is planned again after this time (ms) at the latest. */
const QUIET_WAIT_MS = 60_000;

/** A sweep that was to be voided and is still needed is planned again after this time (ms). */
const STILL_NEEDED_WAIT_MS = 1_000;

const INSUFFICIENT_GAS = "the deposit address operator lacks the native token for gas";

interface DueSweep extends DueLeg {
  readonly sweep: SweepRecord;
}

interface WantedSweep extends WantedPayment {
  readonly sweep: SweepRecord;
}

/** Why a sweep ends without moving anything. Its funds are found again, and decided again. */
interface SweepEnd {
  readonly why: string;
  /** The lane that would have moved the funds under an outdated quote; absent: the funds were gone. */
  readonly outdated?: Pick<SlotPlan, "chainId" | "sender">;
}

/**
 * Moves funds from a deposit address into the depository, as decided: the contract moves exactly this amount
 * or fails. The deposit that it makes acts on the request, like any other.
 */
export const sweepLeg: LegKind<DueSweep, WantedSweep, SweepEnd> = {
  name: "sweep",
  queue: { name: "sweep", id: "sweepId", concurrency: 8 },
  isTransfer: false,
  // It moves the decided funds or nothing, and its deposit is read from the chain, regardless of its row.
  isIdempotent: true,

  overdue: async ({ depositAddresses }, ...since) => await depositAddresses.overdue(...since),
  async read({ depositAddresses, reads }, sweepId) {
    const sweep = await depositAddresses.sweep(sweepId);
    if (sweep?.state === "planned") return { sweep, chainId: sweep.chainId };
    const slot = sweep?.state === "sent" ? await reads.slotOfLeg("sweep", sweepId) : undefined;
    return sweep && slot && { sweep, slot };
  },
  async plan(services, { sweep }) {
    const { id, chainId, address, requestId } = sweep;
    const connected = services.chains.get(chainId);
    const depositAddress = await services.depositAddresses.find(address);
    const sweptChain = connectedChainOf(services.chains, chainId);
    const addresses = sweptChain && addressesOn(sweptChain);
    const mover = addresses?.mover;
    if (mover?.kind === "solver" && depositAddress !== undefined) {
      const planned = await planTransferSweep(services, mover.connected, sweep, depositAddress);
      if (planned.kind === "refused") return await handleRefusal(services, sweep, planned.why);
      if (planned.kind === "wait" && planned.isQuiet === true)
        return {
          waitMs: Math.min(mover.connected.chain.blockTimeSeconds * 1000, QUIET_WAIT_MS),
          why: planned.why,
        };
      if (planned.kind === "wait") return await waitUnrefused(services, sweep, planned.why);
      if (planned.kind === "tooExpensive") {
        const { chain, connection } = mover.connected;
        const outdated = { chainId: chain.id, sender: connection.solver };
        const why = await whyOutdated(services, sweep, depositAddress, outdated, planned.why);
        return why === undefined
          ? await waitUnrefused(services, sweep, planned.why)
          : { giveUp: { why, outdated } };
      }
      if (sweep.refusedSinceMs !== undefined) await noteRefusal(services, sweep, undefined);
      return await unlessOutdated(services, { plan: planned.plan, sweep }, depositAddress);
    }
    const operator = services.depositAddressOperator?.address;
    if (connected === undefined || operator === undefined || depositAddress === undefined)
      return { waitMs: 60_000, why: "the chain or the deposit address operator is not configured" };
    const unexplained = await whyUnexplained(services, connected, operator);
    if (unexplained !== undefined) return wait(services, sweep, unexplained);
    const { connection, pulse } = connected;
    const call = addresses?.sweepCall(sweep, depositAddress);
    // A sweep cannot be undone, and the contract may have been replaced since startup, or its node did not
    // answer then.
    const problem =
      call === undefined
        ? "the deposit address factory of the chain is not configured"
        : (await factoryProblem(services, connected))?.message;
    if (call === undefined || problem !== undefined)
      return await waitUnrefused(services, sweep, problem ?? "");
    const { maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
    const fees = { maxFeePerGas, maxPriorityFeePerGas };
    const outcome = await connection.reader.simulate(operator, call, fees);
    if (outcome.kind === "reverts") return await handleRefusal(services, sweep, outcome.reason);
    if (outcome.kind === "insufficientFunds") return await waitUnrefused(services, sweep, INSUFFICIENT_GAS);
    if (sweep.refusedSinceMs !== undefined) await noteRefusal(services, sweep, undefined);
    const plan = {
      chainId,
      sender: operator,
      leg: { kind: "sweep", id, requestId },
      call,
      gasLimit: withHeadroom(outcome.gas),
      ...fees,
      outflow: { currency: NATIVE_CURRENCY, amount: 0n },
      cancelAfterMs: services.clock.nowMs() + CANCEL_AFTER_MS,
    };
    return await unlessOutdated(services, { plan, sweep }, depositAddress);
  },

  lock: async (_, tx, wanted) =>
    await Promise.all(
      wanted.map(async ({ sweep: { id } }) =>
        (await tx.depositAddresses.lockSweep(id))?.state === "planned" ? "due" : "moved",
      ),
    ),
  async reserved({ clock, chains }, tx, taken) {
    for (const { slot, wanted } of taken) {
      const { id, chainId, address, currency, amount, excess, requestId } = wanted.sweep;
      await tx.depositAddresses.setSweep(id, "sent");
      await tx.requests.note(requestId, clock.nowMs(), "sweepPlanned", { nonce: slot.nonce });
      const chain = chains.profile(chainId)?.name;
      tx.events.happened("sweep_planned", { chain, address, currency, amount: amount + excess, requestId });
    }
    return undefined;
  },
  async restored({ chains, clock }, tx, { plan: { leg, call }, nonce }) {
    const sweep = await tx.depositAddresses.lockSweep(leg.id);
    const depositAddress = sweep && (await tx.depositAddresses.find(sweep.address));
    const connected = sweep && connectedChainOf(chains, sweep.chainId);
    const decided =
      sweep && depositAddress && connected && addressesOn(connected).sweepCall(sweep, depositAddress);
    // After a failover, other sweeps get the ids of lost ones.
    const isSame =
      sweep?.requestId === leg.requestId &&
      decided?.to.toLowerCase() === call.to &&
      decided.data === call.data &&
      decided.value === call.value;
    if (sweep === undefined || !isSame) return "later";
    if (sweep.state !== "planned") return "lost";
    await tx.depositAddresses.setSweep(leg.id, "sent");
    await tx.requests.note(sweep.requestId, clock.nowMs(), "sweepPlanned", { nonce });
    return "restored";
  },
  notReserved: async (services, { sweep }) => {
    const connected = connectedChainOf(services.chains, sweep.chainId);
    const isBySolver = connected !== undefined && addressesOn(connected).mover.kind === "solver";
    return wait(services, sweep, isBySolver ? "the solver lacks the fee of the sweep" : INSUFFICIENT_GAS);
  },

  async mined({ tx, slot: { leg }, attempt, receipt }) {
    // A reverted sweep moved nothing, but its funds stay reserved until that is final.
    if (receipt.status !== "success") return;
    await tx.depositAddresses.lockSweep(leg.id);
    await tx.depositAddresses.setSweep(leg.id, "mined", {
      blockNumber: receipt.blockNumber,
      txHash: attempt.txHash,
    });
  },
  async orphaned({ tx, slot: { leg } }) {
    await tx.depositAddresses.lockSweep(leg.id);
    await tx.depositAddresses.setSweep(leg.id, "sent");
  },
  async final({ services, tx, slot }) {
    const { id } = slot.leg;
    const mined = slot.attempts.find(({ n }) => n === slot.minedAttempt);
    if (mined === undefined || slot.minedBlockNumber === undefined)
      throw new Error(`invariant violated: slot ${slot.id} is final without its block`);
    const sweep = await tx.depositAddresses.lockSweep(id);
    await tx.depositAddresses.setSweep(id, "final", {
      blockNumber: slot.minedBlockNumber,
      txHash: mined.txHash,
    });
    if (sweep !== undefined) await tx.depositAddresses.noteFunds(sweep.address, services.clock.nowMs());
  },
  async dead({ services, tx, slot: { leg }, record }, reason) {
    const sweep = await tx.depositAddresses.lockSweep(leg.id);
    if (sweep === undefined || sweep.state === "void") return;
    const atMs = services.clock.nowMs();
    // The contract moves exactly the decided amount or nothing: a revert would repeat, and the remaining
    // funds are decided again.
    if (reason === "TRANSACTION_REVERTED") {
      await tx.depositAddresses.voidSweep(sweep, atMs);
      if (record) await tx.requests.note(sweep.requestId, atMs, "sweepVoid", { reason });
      return;
    }
    await tx.depositAddresses.setSweep(leg.id, "planned");
    await tx.outbox.add([sweepJob(leg.id, atMs)], atMs);
  },

  async giveUp(
    services,
    { sweep: { id, chainId, address, currency, requestId } },
    { why: reason, outdated },
  ) {
    const nowMs = services.clock.nowMs();
    const ended = await services.uow.run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      const current = await tx.depositAddresses.lockSweep(id);
      if (current?.state !== "planned") return "moved";
      if (outdated !== undefined && (record === undefined || !awaitsSweep(record))) return "needed";
      await tx.depositAddresses.voidSweep(current, nowMs);
      await tx.requests.note(requestId, nowMs, "sweepVoid", { reason });
      // Not if a failover has lost payments of the lane: one of them may have moved the funds.
      if (outdated !== undefined) await tx.lanes.lockLane(outdated.chainId, outdated.sender);
      return "void";
    });
    // A fast fill that was committed in between relies on the sweep as its cover.
    if (ended === "needed")
      return { waitMs: STILL_NEEDED_WAIT_MS, why: "its request no longer waits for a new quote" };
    const chain = services.chains.profile(chainId)?.name;
    // Prices move: an outdated quote is routine, not an alarm.
    const level = outdated === undefined ? "alarm" : "happened";
    if (ended === "void")
      services.events[level]("sweep_void", { chain, address, currency, requestId, reason });
    return DONE;
  },
};

async function unlessOutdated(
  services: WorkerServices,
  wanted: WantedSweep,
  depositAddress: DepositAddress,
): Promise<WantedSweep | { readonly giveUp: SweepEnd }> {
  const why = await whyOutdated(services, wanted.sweep, depositAddress, wanted.plan);
  return why === undefined ? wanted : { giveUp: { why, outdated: wanted.plan } };
}

/** Waits as long as needed: the funds stay where their owner sent them. */
function wait(
  { events }: Pick<WorkerServices, "events">,
  { address, chainId, requestId }: SweepRecord,
  why: string,
): Progress {
  events.alarm("sweep_waits", { address, chainId, requestId, why });
  return { waitMs: 5_000, why };
}

/** Waits, and restarts the time for which the sweep may be refused. */
async function waitUnrefused(services: WorkerServices, sweep: SweepRecord, why: string): Promise<Progress> {
  if (sweep.refusedSinceMs !== undefined) await noteRefusal(services, sweep, undefined);
  return wait(services, sweep, why);
}

/**
 * The funds may be in a block that this node has not read, so the time counts from the first refusal, not
 * from when the sweep began to wait.
 */
async function handleRefusal(
  services: WorkerServices,
  sweep: SweepRecord,
  reason: string,
): Promise<Progress | { readonly giveUp: SweepEnd }> {
  const nowMs = services.clock.nowMs();
  const { refusedSinceMs, chainId } = sweep;
  if (refusedSinceMs === undefined) await noteRefusal(services, sweep, nowMs);
  if (nowMs - (refusedSinceMs ?? nowMs) > REFUSED_FOR_MS) return { giveUp: { why: reason } };
  const blockMs = (services.chains.profile(chainId)?.blockTimeSeconds ?? 0) * 1000;
  return { waitMs: blockMs, why: `the sweep would revert: ${reason}` };
}

async function noteRefusal(
  services: WorkerServices,
  { id }: SweepRecord,
  sinceMs: number | undefined,
): Promise<void> {
  await services.uow.run((tx) => tx.depositAddresses.setRefusedSince(id, sinceMs));
}
