import { zeroAddress } from "viem";
import type { Chain, Client, Currency, Wallet } from "./client.ts";
import { currenciesOf, everyPair, tradeTypes, type Pair, type TradeType } from "./route-pairs.ts";
import { runRoute, type RouteResult } from "./travel-route.ts";

/** The outcome of one pair with one trade type. */
export interface Outcome {
  readonly pair: Pair;
  readonly tradeType: TradeType;
  /** Undefined if the outcome is as quoted. */
  readonly problem: string | undefined;
  readonly travelled?: RouteResult;
  readonly tookMs: number;
}

/** A user's final balance of one currency, and the expected balance according to their routes. */
export interface UserBalance {
  readonly chain: Chain;
  readonly currency: Currency;
  readonly should: bigint;
  readonly has: bigint;
}

export interface RouteCheck {
  readonly outcomes: readonly Outcome[];
  /** Only users whose routes all had the quoted outcome. */
  readonly userBalances: readonly UserBalance[];
  readonly tookMs: number;
}

/** Runs all pairs with all trade types: in sequence for each user, in parallel across users. */
export async function checkRoutes(
  api: Client,
  chains: readonly Chain[],
  users: readonly Wallet[],
): Promise<RouteCheck> {
  const startedAtMs = performance.now();
  const left = everyPair(chains).values();
  const held = chains.flatMap((chain) => currenciesOf(chain).map((currency) => ({ chain, currency })));
  const travelOn = async (user: Wallet): Promise<{ outcomes: Outcome[]; userBalances: UserBalance[] }> => {
    const countMoney = async (): Promise<bigint[]> =>
      await Promise.all(
        held.map(async ({ chain, currency }) => await user.balance(chain.id, currency.address, user.address)),
      );
    const outcomes: Outcome[] = [];
    const before = await countMoney();
    for (const pair of left)
      for (const tradeType of tradeTypes) outcomes.push(await outcomeOf(api, user, pair, tradeType));
    if (outcomes.some(({ problem }) => problem !== undefined)) return { outcomes, userBalances: [] };
    const after = await countMoney();
    const userBalances = held.map((one, index) => ({
      ...one,
      should: (before[index] ?? 0n) - takenOf(outcomes, one),
      has: after[index] ?? 0n,
    }));
    return { outcomes, userBalances };
  };
  const all = await Promise.all(users.map(travelOn));
  return {
    outcomes: all.flatMap(({ outcomes }) => outcomes),
    userBalances: all.flatMap(({ userBalances }) => userBalances),
    tookMs: performance.now() - startedAtMs,
  };
}

async function outcomeOf(api: Client, user: Wallet, pair: Pair, tradeType: TradeType): Promise<Outcome> {
  const beganAtMs = performance.now();
  const result = await runRoute(api, user, pair, tradeType).then(
    (travelled) => ({ travelled, problem: undefined }),
    (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
  );
  return { pair, tradeType, ...result, tookMs: performance.now() - beganAtMs };
}

/** The amount of a currency that the routes spent; for the native token, including gas. */
function takenOf(
  outcomes: readonly Outcome[],
  { chain, currency }: { readonly chain: Chain; readonly currency: Currency },
): bigint {
  let taken = 0n;
  for (const { pair, travelled } of outcomes) {
    if (pair.origin !== chain || travelled === undefined) continue;
    if (pair.pay.address === currency.address) taken += travelled.spent;
    if (currency.address === zeroAddress) taken += travelled.gasWei;
  }
  return taken;
}

/** A line for each pair and a column for each trade type; deviations are reported in full below. */
export function routeTable({ outcomes, tookMs }: RouteCheck): string[] {
  const lines = new Map<string, string[]>();
  const problems: string[] = [];
  for (const { pair, tradeType, problem, travelled, tookMs: took } of outcomes) {
    const cells = lines.get(pair.name) ?? [];
    lines.set(pair.name, cells);
    if (problem !== undefined) problems.push(`${pair.name}, ${tradeType}: ${problem}`);
    const outcomeText = problem === undefined ? `ok ${travelled?.operation}` : "FAILED";
    cells[tradeTypes.indexOf(tradeType)] = `${outcomeText} ${(took / 1_000).toFixed(1)} s`;
  }
  const line = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(36)}${cells.map((cell) => cell.padEnd(17)).join("")}`.trimEnd();
  return [
    line("", tradeTypes),
    ...[...lines].map(([name, cells]) => line(name, cells)).toSorted(),
    ...problems,
    `${outcomes.length} routes in ${(tookMs / 1_000).toFixed(1)} s`,
  ];
}
