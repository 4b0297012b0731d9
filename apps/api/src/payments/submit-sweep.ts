import { sweepCall } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { DepositAddress, SweepRecord } from "../deposits/addresses/deposit-addresses.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { factoryProblem } from "../deposits/index.ts";
import type { LaneKeys } from "../chains/index.ts";
import { gasFunds } from "./payers/covers.ts";
import type { LegKindToPay, Wanted } from "./reserve.port.ts";
import { reserveOne } from "./reserve.ts";
import { sendSlot } from "./send-slot.ts";
import type { TransitionServices } from "../requests/index.ts";
import { whyUnexplained } from "./unexplained-nonces.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";
import { withHeadroom } from "./executions/price-execution.ts";

type Needs = Pick<Services, "events"> &
  TransitionServices &
  LaneKeys &
  Pick<Services, "chains" | "uow" | "reads" | "depositAddresses">;

/**
 * A sweep that reverts for this long (ms) is given up: the funds were moved by another transaction, or never
 * existed.
 */
const REFUSED_FOR_MS = 60_000;
/** A signed sweep is retried for this long (ms); it moves the decided amount or nothing. */
const CANCEL_AFTER_MS = 3600_000;

/**
 * Moves funds from a deposit address into the depository, as decided. Idempotent in any number of processes:
 * one live nonce per sweep, and the contract moves exactly this amount or fails.
 * @throws RpcFault: nothing was decided, the job retries
 */
export async function submitSweep(services: Needs, sweepId: string): Promise<Progress> {
  const sweep = await services.depositAddresses?.sweep(sweepId);
  if (sweep === undefined) return DONE;
  if (sweep.state === "sent") {
    // A process died between reserving the nonce and sending: the bytes are, or will be, the same.
    const slot = await services.reads.slotOfLeg("sweep", sweepId);
    if (slot) await sendSlot(services, slot.id);
    return DONE;
  }
  if (sweep.state !== "planned") return DONE;
  const connected = services.chains.get(sweep.chainId);
  const from = await services.depositAddresses?.find(sweep.address);
  const { depositAddressOperator: operator } = services;
  if (connected === undefined || operator === undefined || from === undefined)
    return { waitMs: 60_000, why: "the chain or the deposit address operator is not configured" };
  const unexplained = await whyUnexplained(services, connected, operator.address);
  if (unexplained !== undefined) return waits(services, sweep, unexplained);
  const planned = await plan(services, connected, operator.address, from, sweep);
  if (planned.kind !== "refused" && sweep.refusedSinceMs !== undefined)
    await noteRefusal(services, sweep, undefined);
  if (planned.kind === "waits") return waits(services, sweep, planned.why);
  if (planned.kind === "refused") return refused(services, connected, sweep, planned.reason);
  const funds = gasFunds(connected, operator.address);
  const kind = sweepOn(services, connected, sweep);
  const outcome = await reserveOne(services, funds, kind, { plan: planned.plan });
  if (outcome.kind === "short") return waits(services, sweep, INSUFFICIENT_GAS);
  if (outcome.kind === "reserved") await sendSlot(services, outcome.slot.id);
  return DONE;
}

const INSUFFICIENT_GAS = "the deposit address operator lacks the native token for gas";

/** Waits as long as needed: the funds stay where their owner sent them. */
function waits(
  services: Pick<Needs, "events">,
  { address, chainId, requestId }: SweepRecord,
  why: string,
): Progress {
  services.events.alarm("sweep_waits", { address, chainId, requestId, why });
  return { waitMs: 5_000, why };
}

type Planned =
  | { readonly kind: "ready"; readonly plan: SlotPlan }
  | { readonly kind: "waits"; readonly why: string }
  | { readonly kind: "refused"; readonly reason: string };

async function plan(
  services: Needs,
  connected: ConnectedChain,
  operator: SlotPlan["sender"],
  { key }: DepositAddress,
  { id, currency, amount, excess, orderId, requestId }: SweepRecord,
): Promise<Planned> {
  const { chain, connection, pulse } = connected;
  const factory = chain.contracts.depositAddressFactory;
  if (factory === undefined)
    return { kind: "waits", why: "the deposit address factory of the chain is not configured" };
  // It may have been replaced since startup, or its node did not answer then: a sweep cannot be undone.
  const problem = await factoryProblem(services, connected);
  if (problem !== undefined) return { kind: "waits", why: problem.message };
  const deposits = [{ amount, orderId }, ...(excess > 0n ? [{ amount: excess, orderId }] : [])];
  const call = sweepCall(factory, key, currency, deposits);
  const { maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const outcome = await connection.reader.simulate(operator, call, fees);
  if (outcome.kind === "insufficientFunds") return { kind: "waits", why: INSUFFICIENT_GAS };
  if (outcome.kind === "reverts") return { kind: "refused", reason: outcome.reason };
  return {
    kind: "ready",
    plan: {
      chainId: chain.id,
      sender: operator,
      leg: { kind: "sweep", sweepId: id, requestId },
      call,
      gasLimit: withHeadroom(outcome.gas),
      ...fees,
      outflow: { currency: NATIVE_CURRENCY, amount: 0n },
      cancelAfterMs: services.clock.nowMs() + CANCEL_AFTER_MS,
    },
  };
}

function sweepOn(
  { clock }: Needs,
  { chain }: ConnectedChain,
  { id, address, currency, amount, excess, requestId }: SweepRecord,
): LegKindToPay<Wanted> {
  return {
    due: async (tx) => [(await tx.depositAddresses.lockSweep(id))?.state === "planned" ? "due" : "moved"],
    async taken(tx, taken) {
      await tx.depositAddresses.setSweep(id, "sent");
      for (const { slot } of taken)
        await tx.requests.note(requestId, clock.nowMs(), "sweepPlanned", { nonce: slot.nonce });
      const facts = { chain: chain.name, address, currency, amount: amount + excess, requestId };
      tx.events.happened("sweep_planned", facts);
      return undefined;
    },
  };
}

function noteRefusal(services: Needs, { id }: SweepRecord, sinceMs: number | undefined): Promise<void> {
  return services.uow.run((tx) => tx.depositAddresses.setRefusedSince(id, sinceMs));
}

async function refused(
  services: Needs,
  { chain }: ConnectedChain,
  sweep: SweepRecord,
  reason: string,
): Promise<Progress> {
  const nowMs = services.clock.nowMs();
  // The funds may be in a block that this node has not read: counts from the first refusal, however long the
  // sweep waited before.
  const { refusedSinceMs } = sweep;
  if (refusedSinceMs === undefined) await noteRefusal(services, sweep, nowMs);
  if (nowMs - (refusedSinceMs ?? nowMs) <= REFUSED_FOR_MS)
    return { waitMs: chain.blockTimeSeconds * 1000, why: `the sweep would revert: ${reason}` };
  const isVoid = await services.uow.run(async (tx) => {
    await tx.requests.lock(sweep.requestId);
    const current = await tx.depositAddresses.lockSweep(sweep.id);
    if (current?.state !== "planned") return false;
    // Remaining funds are found again, and decided again.
    await tx.depositAddresses.voidSweep(current, nowMs);
    await tx.requests.note(sweep.requestId, nowMs, "sweepVoid", { reason });
    return true;
  });
  if (isVoid)
    services.events.alarm("sweep_void", {
      chain: chain.name,
      address: sweep.address,
      currency: sweep.currency,
      requestId: sweep.requestId,
      reason,
    });
  return DONE;
}
