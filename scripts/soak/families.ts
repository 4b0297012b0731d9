import type { System } from "@causeway/localnet";
import { openBooks } from "../../test/e2e/feature-books.ts";
import { nameOf, problemsOf } from "../../test/e2e/feature-problems.ts";
import { runFeatureRequest, type FeatureOutcome } from "../../test/e2e/feature-request.ts";
import { openFeatureWorld, type FeatureWorld } from "../../test/e2e/feature-world.ts";
import { planFeatures, type PlannedRequest } from "./feature-plan.ts";
import { seededRandom } from "./random.ts";
import type { SoakResult } from "./report.ts";
import { killWorkers } from "./worker-kills.ts";

export interface FamilySoakOptions {
  readonly seed: number;
  readonly requests: number;
  /** How many times a worker is killed during the run. */
  readonly kills: number;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** About as long as a request takes: a kill without a request in progress tests nothing. */
const REQUEST_MS = 600;

/**
 * Users make requests between chains of all families with every feature that their routes have, each to
 * unused recipients, while workers are killed. Then the chains are compared: everyone has what was quoted,
 * once; the balances of solver, depositories, apps and sponsor changed by exactly that; and the hub owes the
 * solver exactly the deposits.
 */
export async function soakFamilies(
  system: System,
  { seed, requests, kills, signal, say }: FamilySoakOptions,
  accidents: readonly string[],
): Promise<SoakResult> {
  await system.sponsorship.funded;
  const world = await openFeatureWorld(system);
  const books = await openBooks(world);
  const chains = world.places.map(({ chain }) => chain);
  const remaining = planFeatures(chains, requests, seed).values();
  const outcomes: FeatureOutcome[] = [];
  const problems: string[] = [...accidents];
  const killing =
    kills === 0
      ? Promise.resolve(0)
      : killWorkers({
          workers: system.workers,
          times: kills,
          withinMs: Math.max(requests * REQUEST_MS, 10_000),
          random: seededRandom(seed + 1),
          signal,
          say,
        });
  await Promise.all(
    world.wallets.map(async (_, user) => {
      // Each makes one request at a time, as a wallet does.
      for (const planned of remaining) {
        if (signal.aborted) return;
        const request = {
          ...planned,
          from: placeOf(world, planned.from),
          to: placeOf(world, planned.to),
          user,
        };
        try {
          const outcome = await runFeatureRequest(world, request);
          outcomes.push(outcome);
          say(`user ${user}: ${nameOf(request)}: ${outcome.status}`);
          problems.push(...problemsOf(outcome));
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          say(`user ${user}: ${nameOf(request)}: ${reason}`);
          problems.push(`${nameOf(request)}: ${reason}`);
        }
      }
    }),
  );
  const killed = await killing;
  signal.throwIfAborted();
  say("waiting until everything is settled");
  problems.push(...(await books.compare(outcomes)));
  const succeeded = outcomes.filter(({ status }) => status === "success");
  return {
    seed,
    requests,
    succeeded: succeeded.length,
    measures: new Map(
      [...Map.groupBy(succeeded, ({ request: { from, to } }) => `${from.chain} -> ${to.chain}`)].map(
        ([name, list]) => [name, list.map(({ tookMs }) => tookMs)],
      ),
    ),
    remarks: [`workers killed: ${killed}`, usedFeatures(outcomes)],
    problems,
  };
}

function placeOf({ places }: FeatureWorld, chain: PlannedRequest["from"]): FeatureWorld["places"][number] {
  const found = places.find((place) => place.chain === chain);
  if (found === undefined) throw new RangeError(`invariant violated: no place on ${chain}`);
  return found;
}

function usedFeatures(outcomes: readonly FeatureOutcome[]): string {
  const used = Object.entries(
    Object.groupBy(
      outcomes.flatMap(({ request }) => request.features),
      (feature) => feature,
    ),
  );
  return `requests by feature: ${used.map(([feature, list]) => `${feature} ${list.length}`).join(", ")}`;
}
