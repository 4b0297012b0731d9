import { RpcFault } from "@causeway/chains";
import type { RequestRecord, SlotPlan } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { JournalEntry } from "./payment-journal.port.ts";
import type { Lane } from "./payers/payer.ts";
import { proposalOf } from "./policy/admit-payments.ts";
import { judgeCall } from "./policy/judge-call.ts";
import { factsOfLeg } from "./policy/leg-facts.ts";
import { isGenuine } from "./policy/signed-payment.ts";

/** Decides whether an entry of the journal may be restored. */

/**
 * Why an entry must not be restored: any client that can write to Redis can invent one. Only bytes that the
 * lane's key signed prove that there was a payment.
 * @throws RpcFault on a non-EVM chain: the node did not answer, so it is unknown
 */
export async function whyForged(
  services: WorkerServices,
  { chainId, sender }: Lane,
  { plan, nonce, attempts }: JournalEntry,
): Promise<string | undefined> {
  if (plan.chainId !== chainId || plan.sender !== sender) return "it names another lane";
  for (const attempt of attempts)
    if (!(await isGenuine(services, { ...plan, nonce }, attempt).catch(rethrowFaults)))
      return `the bytes of ${attempt.txHash} are not this payment, signed by the key of the lane`;
  return undefined;
}

/** Caps the times of an entry at now: until a later time, maintenance would not touch the payment. */
export function capTimes(entry: JournalEntry, nowMs: number): JournalEntry {
  const attempts = entry.attempts.map((attempt) => ({
    ...attempt,
    createdAtMs: Math.min(attempt.createdAtMs, nowMs),
  }));
  return { ...entry, attempts, atMs: Math.min(entry.atMs, nowMs) };
}

/** Bytes that cannot be read are not genuine. A node that does not answer proves nothing. */
function rethrowFaults(error: unknown): false {
  if (error instanceof RpcFault) throw error;
  return false;
}

/**
 * After a failover, other rows may get the ids of lost rows of these kinds, so `restored` of these leg kinds
 * compares the payment itself.
 */
const REUSED_IDS: ReadonlySet<string> = new Set(["refund", "sweep"]);

/**
 * Why a genuine payment does not match the leg that its entry names, according to other rows, as checked
 * before each signature. Whether the leg is still due does not matter here.
 */
export async function whyMismatched(
  services: WorkerServices,
  tx: Tx,
  plan: SlotPlan,
  request: RequestRecord | undefined,
): Promise<string | undefined> {
  if (REUSED_IDS.has(plan.leg.kind)) return undefined;
  const proposal = proposalOf(services, plan);
  const facts = await factsOfLeg(services, tx, plan, proposal.reading, request);
  if (facts === undefined) return undefined;
  // The lane may be one of a former key.
  const refusal = judgeCall({ ...proposal, key: facts.key }, { ...facts, isOpen: true });
  return refusal && `it does not pay its ${plan.leg.kind}: ${refusal.found}; expected: ${refusal.limit}`;
}
