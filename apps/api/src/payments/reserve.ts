import { legId } from "../db/leg.port.ts";
import { ServerReplaced } from "../db/server-replaced.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { covers } from "./payers/covers.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import type { LegKindToPay, Outcome, Refused, Wanted } from "./reserve.port.ts";
import { asError } from "./share-commit.ts";

type Needs = Pick<Services, "uow" | "clock">;

/**
 * After this time a payment is checked again. A failover of the database can lose the payment of a leg; the
 * checks find it on the chain, and a lane is closed only for a while after a failover (`SETTLE_MS`).
 */
const MAX_AGE_MS = 20_000;

/**
 * Reserves slots of one lane for payments of one kind, in one commit. If that fails, each payment is tried
 * alone, so that one payment cannot fail another.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its slot
 * @throws what prevents all of them from being reserved
 */
export async function reserve<W extends Wanted, Refusal extends Refused = never>(
  services: Needs,
  funds: LaneFunds,
  kind: LegKindToPay<W, Refusal>,
  wanted: readonly W[],
): Promise<ReadonlyArray<Outcome<Refusal> | Error>> {
  try {
    return await reserveTogether(services, funds, kind, wanted);
  } catch (error) {
    if (wanted.length === 1 || error instanceof ServerReplaced) throw error;
    return await eachAlone(services, funds, kind, wanted, asError(error));
  }
}

/** {@link reserve} for one payment. */
export async function reserveOne<W extends Wanted, Refusal extends Refused = never>(
  services: Needs,
  funds: LaneFunds,
  kind: LegKindToPay<W, Refusal>,
  wanted: W,
): Promise<Outcome<Refusal>> {
  const [outcome = MOVED] = await reserveTogether(services, funds, kind, [wanted]);
  return outcome;
}

const MOVED = { kind: "moved" } as const;

/** Rolls back a commit that reserves no slot although its leg may have taken something. */
class RolledBack extends Error {}

async function reserveTogether<W extends Wanted, Refusal extends Refused>(
  services: Needs,
  funds: LaneFunds,
  kind: LegKindToPay<W, Refusal>,
  wanted: readonly W[],
): Promise<ReadonlyArray<Outcome<Refusal>>> {
  const alone: { outcome?: Outcome<Refusal> | undefined } = {};
  try {
    return await services.uow.run(async (tx) => {
      // A deadlock victim runs again.
      alone.outcome = undefined;
      // Locks in the same order everywhere: requests, legs, lane.
      const requests = await tx.requests.lockAll(wanted.flatMap(({ plan }) => plan.leg.requestId ?? []));
      const verdicts = await kind.due(tx, wanted, requests);
      const outcomes = new Map<string, Outcome<Refusal>>();
      const due = wanted.filter(({ plan }, at) => {
        const verdict = verdicts[at] ?? "moved";
        if (typeof verdict !== "string") outcomes.set(legId(plan.leg), verdict);
        return verdict === "due";
      });
      if (due.length > 0) {
        await tx.lanes.lockLane(funds.chainId, funds.sender);
        const covered = await coveredOf(tx, funds, due, outcomes);
        const plans = [...covered.values()].map(({ plan }) => plan);
        const taken = (await tx.lanes.reserve(plans, services.clock.nowMs())).flatMap((slot) => {
          const one = covered.get(legId(slot.leg));
          if (one === undefined) return [];
          outcomes.set(legId(slot.leg), { kind: "reserved", slot });
          const { requestId } = slot.leg;
          return { wanted: one, slot, request: requestId && requests.get(requestId) };
        });
        if (taken.length > 0) alone.outcome = await kind.taken?.(tx, taken);
        // What the leg took in this commit is not for the slot that already pays it.
        else if (covered.size > 0 && wanted.length === 1) alone.outcome = MOVED;
        if (alone.outcome !== undefined) throw new RolledBack();
      }
      return wanted.map(({ plan }) => outcomes.get(legId(plan.leg)) ?? MOVED);
    });
  } catch (error) {
    if (!(error instanceof RolledBack) || alone.outcome === undefined || wanted.length > 1) throw error;
    return [alone.outcome];
  }
}

/** Those that the payer can pay one after another, by leg. Call with the lane locked. */
async function coveredOf<W extends Wanted>(
  tx: Tx,
  funds: LaneFunds,
  due: readonly W[],
  outcomes: Map<string, Outcome<Refused>>,
): Promise<ReadonlyMap<string, W>> {
  // The wait for the lane counts too.
  const oldestMs = performance.now() - MAX_AGE_MS;
  const take = covers(tx, funds);
  const covered = new Map<string, W>();
  for (const one of due) {
    const id = legId(one.plan.leg);
    // A job that runs twice brings the same payment twice.
    if (covered.has(id)) continue;
    if (one.checkedAtMs !== undefined && one.checkedAtMs < oldestMs) outcomes.set(id, { kind: "late" });
    else if (await take(one.plan)) covered.set(id, one);
    else outcomes.set(id, { kind: "short" });
  }
  return covered;
}

async function eachAlone<W extends Wanted, Refusal extends Refused>(
  services: Needs,
  funds: LaneFunds,
  kind: LegKindToPay<W, Refusal>,
  wanted: readonly W[],
  cause: Error,
): Promise<ReadonlyArray<Outcome<Refusal> | Error>> {
  const outcomes: Array<Outcome<Refusal> | Error> = [];
  /** Of the last payments, as long as each failed. */
  let failed: readonly Error[] = [];
  for (const one of wanted) {
    const [, common] = failed;
    // Not the fault of one payment: the jobs retry.
    if (common !== undefined) {
      outcomes.push(common);
      continue;
    }
    const outcome = await reserveOne(services, funds, kind, one).catch(asError);
    failed = outcome instanceof Error ? [...failed, outcome] : [];
    // The common commit may have succeeded although its answer was lost: a retry continues with its slot.
    outcomes.push(!(outcome instanceof Error) && outcome.kind === "moved" ? cause : outcome);
  }
  return outcomes;
}
