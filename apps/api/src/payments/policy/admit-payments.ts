import { utcDay } from "../../db/utc-day.ts";
import type { RequestRecord, Slot, SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { RequestId } from "@causeway/domain";
import type { HeldPayment } from "../wanted-payment.port.ts";
import { judgeValue } from "./daily-limit.ts";
import { judgeCall, outflowsOf, type Proposal } from "./judge-call.ts";
import { judgeFee, keyOf, limitsOfLane } from "./lane-limits.ts";
import { factsOfLeg } from "./leg-facts.ts";
import type { LaneLimits, Refusal } from "./limits.port.ts";
import { pauseOf, pauseScopeText } from "./pause-scope.ts";
import type { Pause, SpendingDay, Standing } from "./policy.port.ts";
import { readCall, type CallReading } from "./read-call.ts";
import { countedUsd } from "./counted-value.ts";

/** Payments of these kinds wait while their scope is paused; refunds, sweeps and settlement continue. */
const PAUSED_KINDS: ReadonlySet<string> = new Set(["fill", "execution", "claim"]);

/** The effects of signing a plan. */
export function proposalOf(services: WorkerServices, plan: SlotPlan): Proposal {
  const { chainId, sender, leg, maxFeePerGas } = plan;
  const { to, data, value } = plan.call;
  const call = { to, data, value };
  return {
    chainId,
    key: keyOf(services, { chainId, sender, leg }),
    call,
    reading: readingOf(services, plan),
    maxFeePerGas,
  };
}

/** The effects of these calls are limited by their arguments. */
const BOUND_KINDS: ReadonlySet<string> = new Set(["execution", "hub", "payout"]);

function readingOf({ chains }: WorkerServices, { chainId, call, outflow, leg }: SlotPlan): CallReading {
  if (BOUND_KINDS.has(leg.kind)) return { kind: "unknown" };
  const evm = chains.get(chainId);
  // Also limited by its arguments. On a chain without calls, a sweep moves a user's funds: only its fee
  // counts.
  if (leg.kind === "sweep" && evm !== undefined) return { kind: "unknown" };
  if (evm !== undefined) return readCall(call, evm.chain.contracts);
  // A transfer has no call: its signer reads the recipient and the amount from here.
  const reference = call.data === "0x" ? undefined : call.data;
  return { kind: "payment", ...outflow, recipient: call.to, reference };
}

/** The value of a plan and its gas, USD with 18 decimals; undefined: the value is not known. */
export function planValue(
  services: WorkerServices,
  plan: SlotPlan,
  proposal: Proposal,
  request: RequestRecord | undefined,
): bigint | undefined {
  const gasWei = plan.gasLimit * plan.maxFeePerGas;
  return countedUsd(services, {
    chainId: plan.chainId,
    outflows: outflowsOf(proposal),
    gasWei,
    terms: request?.terms,
  });
}

export interface AdmittedPayment {
  readonly plan: SlotPlan;
  /** The amount that counts toward the day's limit. Undefined: no daily limit. */
  readonly counted: { readonly day: SpendingDay; readonly usd: bigint } | undefined;
}

/**
 * Decides which payments of one lane the policy allows. Call with the legs and the lane locked.
 * @param standing pauses and held legs, if they were read with these locks
 */
export async function admit(
  services: WorkerServices,
  tx: Tx,
  plans: readonly SlotPlan[],
  requests: ReadonlyMap<RequestId, RequestRecord>,
  standing?: Standing,
): Promise<{
  readonly admitted: readonly AdmittedPayment[];
  readonly held: ReadonlyMap<string, HeldPayment>;
}> {
  const [first] = plans;
  const admitted: AdmittedPayment[] = [];
  const held = new Map<string, HeldPayment>();
  if (first === undefined) return { admitted, held };
  const ids = plans.map(({ leg }) => leg.id);
  const { pauses, heldIds } = standing ?? (await tx.policy.standing(first.leg.kind, ids));
  const nowMs = services.clock.nowMs();
  const { day, limits } = dayOf(services, first);
  let spentUsd = day === undefined ? 0n : await spentOn(services, tx, day);
  for (const plan of plans) {
    const request = plan.leg.requestId && requests.get(plan.leg.requestId);
    const proposal = proposalOf(services, plan);
    const usd = hasLimit(limits) ? planValue(services, plan, proposal, request) : undefined;
    const refusal =
      pauseRefusal(pauses, plan, request) ??
      judgeCall(proposal, await factsOfLeg(services, tx, plan, proposal.reading, request)) ??
      judgeFee(plan.maxFeePerGas, limits) ??
      judgeValue(usd, spentUsd, limits);
    if (refusal !== undefined) {
      held.set(plan.leg.id, await hold(tx, plan, refusal, nowMs));
      continue;
    }
    admitted.push({ plan, counted: day && { day, usd: usd ?? 0n } });
    spentUsd += usd ?? 0n;
  }
  const released = admitted.flatMap(({ plan }) => (heldIds.has(plan.leg.id) ? plan.leg.id : []));
  if (released.length > 0) await tx.policy.release(first.leg.kind, released);
  return { admitted, held };
}

/**
 * Locks the sum of a day, and returns it, or the sum that this process has signed if that is higher. A
 * payment above the limit must wait here: a slot that is refused later, when it is signed, ends its leg.
 */
async function spentOn({ spentMemory }: WorkerServices, tx: Tx, day: SpendingDay): Promise<bigint> {
  const stored = await tx.policy.lockDay(day);
  const signed = spentMemory?.sumOf(day) ?? 0n;
  return signed > stored ? signed : stored;
}

/** The limits of a payment's key, and the day whose sum they limit. Undefined: no daily limit. */
export function dayOf(
  services: WorkerServices,
  plan: Pick<SlotPlan, "chainId" | "sender" | "leg">,
): { readonly day: SpendingDay | undefined; readonly limits: LaneLimits } {
  const { chainId } = plan;
  const key = keyOf(services, plan);
  const limits = limitsOfLane(services.spendingLimits, { key, chainId });
  const isLimited = key !== undefined && limits.dayUsd !== undefined;
  return { limits, day: isLimited ? { chainId, key, day: utcDay(services.clock.nowMs()) } : undefined };
}

function hasLimit({ transactionUsd, dayUsd }: LaneLimits): boolean {
  return transactionUsd !== undefined || dayUsd !== undefined;
}

/** Counts the values of admitted payments toward their day, now that they have slots. */
export async function countReserved(
  tx: Tx,
  admitted: readonly AdmittedPayment[],
  slots: ReadonlyArray<{ readonly id: string; readonly leg: SlotPlan["leg"] }>,
): Promise<void> {
  const day = admitted.find(({ counted }) => counted !== undefined)?.counted?.day;
  if (day === undefined) return;
  const usdOf = new Map(admitted.map(({ plan, counted }) => [plan.leg.id, counted?.usd ?? 0n]));
  await tx.policy.count(
    day,
    slots.map(({ id, leg }) => ({ slotId: id, usd: usdOf.get(leg.id) ?? 0n })),
  );
}

/**
 * Counts a payment that a failover has lost against the day of its broadcast, whatever the limit. Call with
 * its slot stored.
 */
export async function countRestored(
  services: WorkerServices,
  tx: Tx,
  slot: Slot,
  facts: { readonly atMs: number; readonly request: RequestRecord | undefined },
): Promise<void> {
  const { day } = dayOf(services, slot);
  if (day === undefined) return;
  const broadcastDay = { ...day, day: utcDay(facts.atMs) };
  await tx.policy.lockDay(broadcastDay);
  const usd = planValue(services, slot, proposalOf(services, slot), facts.request) ?? 0n;
  await tx.policy.count(broadcastDay, [{ slotId: slot.id, usd }]);
}

function pauseRefusal(
  pauses: readonly Pause[],
  { leg, chainId }: SlotPlan,
  request: RequestRecord | undefined,
): Refusal | undefined {
  if (pauses.length === 0 || !PAUSED_KINDS.has(leg.kind)) return undefined;
  // A call without a quote stays on its chain.
  const isQuoted = request !== undefined && request.terms.kind !== "call";
  const route = isQuoted
    ? { originChainId: request.terms.origin.chainId, destinationChainId: request.terms.destination.chainId }
    : { originChainId: chainId, destinationChainId: chainId };
  const pause = pauseOf(pauses, route);
  if (pause === undefined) return undefined;
  return {
    rule: "paused",
    found: `scope ${pauseScopeText(pause.scope)} is paused`,
    limit: pause.reason,
  };
}

function refusalText({ rule, found, limit }: Refusal): string {
  return rule === "paused" ? `${found}: ${limit}` : `${rule}: found ${found}, allowed: ${limit}`;
}

/** Notes that a payment is held, and why. */
export async function hold(
  tx: Tx,
  { leg, chainId, sender }: Pick<SlotPlan, "leg" | "chainId" | "sender">,
  refusal: Refusal,
  nowMs: number,
): Promise<HeldPayment> {
  const why = refusalText(refusal);
  const isNew = await tx.policy.hold({ leg, chainId, sender, refusal, why }, nowMs);
  if (isNew && leg.requestId !== undefined)
    await tx.requests.note(leg.requestId, nowMs, "paymentHeld", { leg: leg.kind, rule: refusal.rule, why });
  const facts = {
    chainId,
    sender,
    leg: leg.kind,
    legId: leg.id,
    requestId: leg.requestId,
    rule: refusal.rule,
    why,
  };
  // A pause is the operator's own decision.
  if (refusal.rule === "paused") {
    if (isNew) tx.events.happened("payment_paused", facts);
  } else tx.events.alarm("signature_refused", facts);
  return { kind: "held", rule: refusal.rule, why };
}
