import { encodeAddress } from "@causeway/families";
import { watchPosition } from "@causeway/localnet";
import { balanceEventsAnswer, type BalanceEventsAnswer } from "@causeway/wire";
import { contractOf } from "../support/smart-accounts.ts";
import { vmTypeOf } from "./family-places.ts";
import { nameOf } from "./feature-problems.ts";
import { APP_FEE_BPS, type FeatureOutcome } from "./feature-request.ts";
import { kindOf } from "./feature-rows.ts";
import {
  callApi,
  currencyAt,
  evmChain,
  evmTokens,
  untilSeen,
  type FeatureWorld,
  type TokenMovement,
} from "./feature-world.ts";
import { sponsorCharges } from "./sponsor-charges.ts";

type BalanceEvent = BalanceEventsAnswer["events"][number];

/** One currency on one chain: what the solver and the depository hold, and what the hub owes the solver. */
interface Line {
  readonly chain: string;
  readonly currency: string;
  solver(): Promise<bigint>;
  depository(): Promise<bigint>;
  /** Fees of transactions in this currency since the system started. */
  networkFees(): Promise<bigint>;
  readonly hub: Awaited<ReturnType<typeof watchPosition>>;
}

/** Compares what the service holds and owes with the outcomes of all requests. */
interface FeatureBooks {
  /**
   * Waits until everything is settled.
   * @returns every difference, exact to the base unit
   */
  compare(outcomes: readonly FeatureOutcome[]): Promise<string[]>;
}

const SETTLE_MS = 120_000;
/** The token that the shallow pool trades for ODD, which the solver does not hold. */
const SECOND_TOKEN = "TST";

/** Reads the opening balances. Call it after the sponsor's balance was credited. */
export async function openBooks(world: FeatureWorld): Promise<FeatureBooks> {
  const lines = await linesOf(world);
  const readLine = async (line: Line) => ({
    solver: await line.solver(),
    depository: await line.depository(),
    fees: await line.networkFees(),
  });
  const opened = await Promise.all(lines.map(async (line) => ({ line, before: await readLine(line) })));
  const sponsorBefore = await appBalance(world, world.system.sponsor.address);
  const compareLine = async (
    { line, before }: (typeof opened)[number],
    outcomes: readonly FeatureOutcome[],
  ): Promise<string[]> => {
    const deposited = sumOn(
      line,
      outcomes.flatMap((outcome) => outcome.deposited),
    );
    const spent = sumOn(
      line,
      outcomes.flatMap((outcome) => outcome.spent),
    );
    const paidFees = outcomes
      .filter(({ request: { from } }) => from.chain === line.chain)
      .reduce((sum, { quote }) => sum + BigInt(quote.fees.gas.amount), 0n);
    const problems: string[] = [];
    const expectEqual = (what: string, actual: bigint, expected: bigint): void => {
      if (actual !== expected)
        problems.push(`${line.chain} ${line.currency}: ${what} ${actual}, expected ${expected}`);
    };
    if (deposited > 0n)
      try {
        const hub = await line.hub.grownBy(deposited, AbortSignal.timeout(SETTLE_MS));
        expectEqual("the hub owes the solver", hub.after - hub.before, deposited);
      } catch (error) {
        problems.push(
          `${line.chain} ${line.currency}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    // The fee of a Bitcoin transaction is known once the transaction is mined.
    const differenceNow = async () => {
      const after = await readLine(line);
      const fees = after.fees === 0n ? 0n : after.fees - before.fees - paidFees;
      return {
        solver: before.solver - after.solver,
        owed: spent + fees,
        depository: after.depository - before.depository,
      };
    };
    const found = await untilSeen(differenceNow, ({ solver, owed }) => solver === owed, 20_000).catch(
      differenceNow,
    );
    expectEqual("the solver paid", found.solver, found.owed);
    expectEqual("the depository received", found.depository, deposited);
    return problems;
  };
  return {
    compare: async (outcomes) => {
      const problems = [
        ...(await compareApps(world, outcomes)),
        ...(await compareSponsor(world, outcomes, sponsorBefore)),
      ];
      for (const found of await Promise.all(opened.map(async (line) => await compareLine(line, outcomes))))
        problems.push(...found);
      return problems;
    },
  };
}

async function linesOf(world: FeatureWorld): Promise<readonly Line[]> {
  const { hub, oracles } = world.system.endpoints;
  const [home] = world.system.chains;
  if (hub === undefined || home === undefined) throw new RangeError("the system has no hub");
  const watch = async (chain: string, currency: string) =>
    await watchPosition({
      hub,
      oracles,
      holder: { chainName: home.name, address: world.system.solver.address },
      currency: { chainName: chain, address: encodeAddress(vmTypeOf(chain), currency) },
    });
  const places = world.places.map(async (place): Promise<Line> => ({
    chain: place.chain,
    currency: place.currency,
    solver: async () => await place.balanceOf(place.solver),
    depository: async () => await place.balanceOf(place.depository),
    networkFees: async () => await place.networkFees(),
    hub: await watch(place.chain, place.currency),
  }));
  const second = world.system.chains.map(async ({ name: chain }): Promise<Line> => {
    const currency = currencyAt(world, chain, SECOND_TOKEN);
    const depository = contractOf(evmChain(world, chain), "depository");
    return {
      chain,
      currency,
      solver: async () => await evmTokens(world, chain, currency, world.system.solver.address),
      depository: async () => await evmTokens(world, chain, currency, depository),
      networkFees: async () => 0n,
      hub: await watch(chain, currency),
    };
  });
  return await Promise.all([...places, ...second]);
}

function sumOn({ chain, currency }: Line, moved: readonly TokenMovement[]): bigint {
  const isSame = (other: string): boolean =>
    kindOf(chain) === "evm" ? other.toLowerCase() === currency.toLowerCase() : other === currency;
  return moved
    .filter((movement) => movement.chain === chain && isSame(movement.currency))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** The app balance of a wallet, in base units of USDC. */
async function appBalance(world: FeatureWorld, wallet: string): Promise<bigint> {
  const { amount } = (await callApi(world, `/app-fees/${wallet}/balances`)) as { readonly amount: string };
  return BigInt(amount);
}

/** Checks that each app was credited its fee once the fill was final, and nothing for a refund. */
async function compareApps(world: FeatureWorld, outcomes: readonly FeatureOutcome[]): Promise<string[]> {
  const charging = outcomes.filter(({ request }) => request.features.includes("appFees"));
  const problems = await Promise.all(
    charging.map(async (outcome) => {
      const { request, app } = outcome;
      const { isRefunded = false } = request;
      const fee = isRefunded ? 0n : appFeeOf(outcome);
      const credited = await untilSeen(
        async () => await appBalance(world, app),
        (amount) => amount > 0n || isRefunded,
      ).catch(() => 0n);
      return credited === fee
        ? []
        : [`${nameOf(request)}: the app was credited ${credited}, expected ${fee}`];
    }),
  );
  return problems.flat();
}

/** The expected app fee in base units of USDC. After a swap, the fee depends on the deposited amount. */
function appFeeOf({ request: { features }, quote, deposited }: FeatureOutcome): bigint {
  if (!features.includes("swapBefore")) return microDollars(quote.fees.app.amountUsd);
  const { decimals } = quote.fees.app.currency;
  const amount = deposited.reduce((sum, movement) => sum + movement.amount, 0n);
  const fee = (amount * BigInt(APP_FEE_BPS)) / 10_000n;
  // One TST is worth half a dollar, one USDC is worth one dollar.
  return decimals === 6 ? fee : (fee * 500_000n) / 10n ** BigInt(decimals);
}

/**
 * Checks that the sponsor paid what its quotes and docs/FEES.md say, and that its balance changed by nothing
 * else.
 */
async function compareSponsor(
  world: FeatureWorld,
  outcomes: readonly FeatureOutcome[],
  balanceBefore: bigint,
): Promise<string[]> {
  const wallet = world.system.sponsor.address;
  const sponsored = outcomes.filter(
    ({ request: { features } }) => features.includes("subsidizeFees") || features.includes("fixedRate"),
  );
  const charged = new Map<string, bigint>();
  const isCharged = async (): Promise<boolean> => {
    const events = await balanceEvents(world, wallet);
    for (const { quote } of sponsored) charged.set(quote.requestId, chargedFor(events, quote.requestId));
    return sponsored.every(
      ({ quote, request }) => request.isRefunded === true || (charged.get(quote.requestId) ?? 0n) > 0n,
    );
  };
  await untilSeen(isCharged, (all) => all, SETTLE_MS).catch(() => undefined);
  const compared = sponsored.map(async (outcome) => {
    const paid = charged.get(outcome.quote.requestId) ?? 0n;
    const expected = await sponsorCharges(world, outcome);
    if (expected.has(paid)) return [];
    const either = [...expected].join(" or ");
    return [`${nameOf(outcome.request)}: the sponsor was charged ${paid}, expected ${either}`];
  });
  const problems = (await Promise.all(compared)).flat();
  const total = [...charged.values()].reduce((sum, charge) => sum + charge, 0n);
  const lost = balanceBefore - (await appBalance(world, wallet));
  if (lost !== total) problems.push(`the sponsor's balance fell by ${lost}, expected ${total}`);
  return problems;
}

/** @param usd with 6 decimals */
const microDollars = (usd: string): bigint => BigInt(usd.replace(".", ""));

/** What a request took from the balance, including its reservation. 0 until the request is charged. */
function chargedFor(events: readonly BalanceEvent[], requestId: string): bigint {
  const requestEvents = events.filter((event) => event.requestId === requestId && event.account !== "owed");
  const isCharged = requestEvents.some(({ context }) => context === "pay-fees");
  return isCharged ? -requestEvents.reduce((sum, { delta }) => sum + BigInt(delta), 0n) : 0n;
}

/** The events of a wallet's balance, from all pages. */
async function balanceEvents(world: FeatureWorld, wallet: string): Promise<readonly BalanceEvent[]> {
  const all: BalanceEvent[] = [];
  for (let more = ""; ;) {
    const { events, continuation } = balanceEventsAnswer.parse(
      await callApi(world, `/balance-events/${wallet}?limit=50${more}`),
    );
    all.push(...events);
    if (continuation === undefined) return all;
    more = `&continuation=${encodeURIComponent(continuation)}`;
  }
}
