import { setTimeout as sleep } from "node:timers/promises";
import { createApiClient, watchPosition, type System } from "@causeway/localnet";
import { familyChains, familyWallets, type FamilyWallet } from "@causeway/localnet/tour";
import type { VmType } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import type { Hex } from "viem";
import { familyPlaces, type FamilyPlace } from "./family-places.ts";
import { seededRandom, type Random } from "./random.ts";
import type { SoakResult } from "./report.ts";
import { killWorkers } from "./worker-kills.ts";

export interface FamilySoakOptions {
  readonly seed: number;
  readonly requests: number;
  /** How often a worker is killed during the run. */
  readonly kills: number;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** The outcome of one request, as its user saw it. */
interface Outcome {
  readonly from: FamilyPlace;
  readonly to: FamilyPlace;
  readonly amount: bigint;
  readonly recipient: string;
  readonly expected: bigint;
  readonly minimum: bigint;
  readonly status: string;
  readonly tookMs: number;
}

const DEADLINE_MS = 180_000;
const SETTLE_MS = 120_000;
const MIN_DOLLARS = 20;
const MAX_DOLLARS = 120;
/** The quoted output may be exceeded if a price moved; local prices do not move. */
const MAX_EXCESS_BPS = 100n;

const VM: Readonly<Record<string, VmType>> = {
  [familyChains.solana]: "solana-vm",
  [familyChains.bitcoin]: "bitcoin-vm",
  [familyChains.exchange]: "hyperliquid-vm",
};

/**
 * Users bridge between chains of all families, each to unused recipients, while workers are killed. Then the
 * chains are compared: every recipient has its promised amount once, the balances of solver and depositories
 * changed by exactly what was paid and deposited, and the hub owes the solver exactly the deposits.
 */
export async function soakFamilies(
  system: System,
  { seed, requests, kills, signal, say }: FamilySoakOptions,
  accidents: readonly string[],
): Promise<SoakResult> {
  const { families } = system;
  if (families === undefined) throw new RangeError("the system was started without the other chain families");
  const api = createApiClient(system.endpoints.api.url);
  const chains = await api.chains();
  const currencyOf = (name: string, symbol: string): string => {
    const chain = chains.find((one) => one.name === name);
    const currencies = chain === undefined ? [] : [chain.currency, ...chain.erc20Currencies];
    const found = currencies.find((one) => one.symbol === symbol);
    if (found?.address === undefined) throw new Error(`GET /chains lists no ${symbol} on ${name}`);
    return found.address;
  };
  const places = await familyPlaces(system, chains, currencyOf);
  const wallets = await Promise.all(
    system.users.map(async (_, index) => await familyWallets(system, families, index)),
  );
  const before = await holdings(places, wallets);
  const watches = await hubWatches(system, places);
  const random = seededRandom(seed);
  const outcomes: Outcome[] = [];
  const problems: string[] = [...accidents];
  let left = requests;

  const killing =
    kills === 0
      ? Promise.resolve(0)
      : killWorkers({
          workers: system.workers,
          times: kills,
          // About as long as the requests take: a kill without a request in progress tests nothing.
          withinMs: Math.max(requests * 600, 10_000),
          random: seededRandom(seed + 1),
          signal,
          say,
        });
  await Promise.all(
    wallets.map(async (own, user) => {
      // Each does one thing after the other, as a wallet does.
      while (left > 0 && !signal.aborted) {
        left -= 1;
        const [from, to] = somePair(places, random);
        const amount = BigInt(random.int(MIN_DOLLARS, MAX_DOLLARS)) * from.perDollar;
        try {
          const outcome = await cross(system, own, from, to, amount);
          outcomes.push(outcome);
          say(`user ${user}: ${from.chain} -> ${to.chain}: ${outcome.status}`);
          if (outcome.status !== "success")
            problems.push(`${from.chain} -> ${to.chain} ended with ${outcome.status}`);
        } catch (error) {
          problems.push(
            `${from.chain} -> ${to.chain}: ${error instanceof Error ? error.message : String(error)}`,
          );
        }
      }
    }),
  );
  const killed = await killing;
  signal.throwIfAborted();
  say("waiting until everything is settled");
  problems.push(...(await unsettled(watches, outcomes)));
  problems.push(...(await accountFor(places, wallets, before, outcomes)));
  const succeeded = outcomes.filter(({ status }) => status === "success");
  return {
    seed,
    requests,
    succeeded: succeeded.length,
    measures: new Map(
      [...Map.groupBy(succeeded, ({ from, to }) => `${from.chain} -> ${to.chain}`)].map(([name, list]) => [
        name,
        list.map(({ tookMs }) => tookMs),
      ]),
    ),
    remarks: [`workers killed: ${killed}`],
    problems,
  };
}

async function cross(
  system: System,
  wallets: ReadonlyMap<string, FamilyWallet>,
  from: FamilyPlace,
  to: FamilyPlace,
  amount: bigint,
): Promise<Outcome> {
  const api = createApiClient(system.endpoints.api.url);
  const wallet = wallets.get(from.chain);
  if (wallet === undefined) throw new Error(`no wallet on ${from.chain}`);
  const recipient = await to.newRecipient();
  const startedAtMs = performance.now();
  const quote = await api.quote({
    user: wallet.address,
    recipient,
    refundTo: wallet.address,
    originChainId: from.chainId,
    destinationChainId: to.chainId,
    originCurrency: from.currency,
    destinationCurrency: to.currency,
    amount: amount.toString(),
    tradeType: "EXACT_INPUT",
    ...(from.chain === familyChains.exchange && { protocolVersion: "v2" as const }),
  });
  await wallet.carryOut(quote.steps);
  const { status } = await api.untilEnded(quote.requestId as Hex, AbortSignal.timeout(DEADLINE_MS));
  return {
    from,
    to,
    amount,
    recipient,
    expected: BigInt(quote.details.currencyOut.amount),
    minimum: BigInt(quote.details.currencyOut.minimumAmount),
    status,
    tookMs: performance.now() - startedAtMs,
  };
}

function somePair(places: readonly FamilyPlace[], random: Random): [FamilyPlace, FamilyPlace] {
  const from = random.pick(places);
  return [from, random.pick(places.filter((place) => place !== from))];
}

/** By place: the balances of all users together, of the depository and of the solver. */
type Holdings = ReadonlyMap<
  FamilyPlace,
  { readonly users: bigint; readonly depository: bigint; readonly solver: bigint }
>;

async function holdings(
  places: readonly FamilyPlace[],
  wallets: readonly ReadonlyMap<string, FamilyWallet>[],
): Promise<Holdings> {
  return new Map(
    await Promise.all(
      places.map(async (place) => {
        const own = await Promise.all(
          wallets.map(async (of) => await place.balanceOf(of.get(place.chain)?.address ?? "")),
        );
        const [depository, solver] = await Promise.all([
          place.balanceOf(place.depository),
          place.balanceOf(place.solver),
        ]);
        return [place, { users: own.reduce((sum, one) => sum + one, 0n), depository, solver }] as const;
      }),
    ),
  );
}

async function accountFor(
  places: readonly FamilyPlace[],
  wallets: readonly ReadonlyMap<string, FamilyWallet>[],
  before: Holdings,
  outcomes: readonly Outcome[],
): Promise<string[]> {
  const problems: string[] = [];
  const after = await holdings(places, wallets);
  for (const place of places) {
    const [then, now] = [before.get(place), after.get(place)];
    if (then === undefined || now === undefined) continue;
    let received = 0n;
    for (const { recipient, minimum, expected, status } of outcomes.filter(({ to }) => to === place)) {
      const has = await place.balanceOf(recipient);
      received += has;
      const max = expected + (expected * MAX_EXCESS_BPS) / 10_000n;
      if (status === "success" ? has < minimum || has > max : has !== 0n)
        problems.push(`${place.chain}: recipient has ${has}, expected ${minimum} to ${expected} (${status})`);
    }
    const deposited = outcomes
      .filter(({ from }) => from === place)
      .reduce((sum, { amount }) => sum + amount, 0n);
    const fees = await place.networkFees();
    const change = {
      users: now.users - then.users,
      depository: now.depository - then.depository,
      solver: now.solver - then.solver,
    };
    const sum = change.users + change.depository + change.solver + received + fees;
    if (sum !== 0n) problems.push(`${place.chain}: all changes and fees sum to ${sum}, expected 0`);
    if (change.depository !== deposited)
      problems.push(`${place.chain}: depository balance grew by ${change.depository}, expected ${deposited}`);
    // On Bitcoin both sides pay network fees in the transferred currency.
    if (fees === 0n && change.solver !== -received)
      problems.push(`${place.chain}: solver balance changed by ${change.solver}, expected ${-received}`);
  }
  return problems;
}

interface HubWatch {
  readonly place: FamilyPlace;
  grownBy(
    amount: bigint,
    deadline: AbortSignal,
  ): Promise<{ readonly before: bigint; readonly after: bigint }>;
}

async function hubWatches(system: System, places: readonly FamilyPlace[]): Promise<readonly HubWatch[]> {
  const { hub, oracles } = system.endpoints;
  const [home] = system.chains;
  if (hub === undefined || home === undefined)
    throw new RangeError("invariant violated: a families run needs oracles");
  return await Promise.all(
    places.map(async (place) => ({
      place,
      ...(await watchPosition({
        hub,
        oracles,
        holder: { chainName: home.name, address: system.solver.address },
        currency: {
          chainName: place.chain,
          address: encodeAddress(VM[place.chain] ?? "ethereum-vm", place.currency),
        },
      })),
    })),
  );
}

/** Deposits for which the hub owes the solver less or more than their amount. */
async function unsettled(watches: readonly HubWatch[], outcomes: readonly Outcome[]): Promise<string[]> {
  const deadline = AbortSignal.timeout(SETTLE_MS);
  const problems = await Promise.all(
    watches.map(async ({ place, grownBy }) => {
      const owed = outcomes
        .filter(({ from, status }) => from === place && status === "success")
        .reduce((sum, { amount }) => sum + amount, 0n);
      if (owed === 0n) return [];
      try {
        await grownBy(owed, deadline);
        // No further credit may follow for the same deposits.
        await sleep(3_000);
        const { before, after } = await grownBy(owed, deadline);
        return after - before === owed
          ? []
          : [`${place.chain}: the hub owes the solver ${after - before}, expected ${owed}`];
      } catch (error) {
        return [`${place.chain}: ${error instanceof Error ? error.message : String(error)}`];
      }
    }),
  );
  return problems.flat();
}
