import { zeroAddress } from "viem";
import type { Chain, Client, Currency, Wallet } from "./client.ts";
import { currenciesOf, everyPair, tradeTypes, type Pair, type TradeType } from "./route-pairs.ts";
import { runRoute, type RouteResult } from "./run-route.ts";

/** The outcome of one pair with one trade type. */
export interface Outcome {
  readonly pair: Pair;
  readonly tradeType: TradeType;
  /** How the outcome differs from the quote. Undefined if it does not. */
  readonly problem: string | undefined;
  readonly result?: RouteResult;
  readonly tookMs: number;
}

/**
 * A user's final balance of one currency, and the balance that follows from the results of the user's routes.
 */
export interface UserBalance {
  readonly chain: Chain;
  readonly currency: Currency;
  readonly expected: bigint;
  readonly actual: bigint;
}

export interface RouteCheck {
  readonly outcomes: readonly Outcome[];
  /** Only of users whose routes all ended as quoted. */
  readonly userBalances: readonly UserBalance[];
  readonly tookMs: number;
}

/** Runs all pairs with all trade types. Users run in parallel; each user runs one pair at a time. */
export async function checkRoutes(
  api: Client,
  chains: readonly Chain[],
  users: readonly Wallet[],
): Promise<RouteCheck> {
  const startedAtMs = performance.now();
  const pairs = everyPair(chains).values();
  const currencies = chains.flatMap((chain) => currenciesOf(chain).map((currency) => ({ chain, currency })));
  const runPairs = async (user: Wallet): Promise<{ outcomes: Outcome[]; userBalances: UserBalance[] }> => {
    const readBalances = async (): Promise<bigint[]> =>
      await Promise.all(
        currencies.map(
          async ({ chain, currency }) => await user.balance(chain.id, currency.address, user.address),
        ),
      );
    const outcomes: Outcome[] = [];
    const before = await readBalances();
    for (const pair of pairs)
      for (const tradeType of tradeTypes) outcomes.push(await outcomeOf(api, user, pair, tradeType));
    if (outcomes.some(({ problem }) => problem !== undefined)) return { outcomes, userBalances: [] };
    const after = await readBalances();
    const userBalances = currencies.map((balance, index) => ({
      ...balance,
      expected: (before[index] ?? 0n) - spentOn(outcomes, balance),
      actual: after[index] ?? 0n,
    }));
    return { outcomes, userBalances };
  };
  const all = await Promise.all(users.map(runPairs));
  return {
    outcomes: all.flatMap(({ outcomes }) => outcomes),
    userBalances: all.flatMap(({ userBalances }) => userBalances),
    tookMs: performance.now() - startedAtMs,
  };
}

async function outcomeOf(api: Client, user: Wallet, pair: Pair, tradeType: TradeType): Promise<Outcome> {
  const startedAtMs = performance.now();
  const outcome = await runRoute(api, user, pair, tradeType).then(
    (result) => ({ result, problem: undefined }),
    (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
  );
  return { pair, tradeType, ...outcome, tookMs: performance.now() - startedAtMs };
}

/** The amount of a currency that the routes spent. For the native token, gas is included. */
function spentOn(
  outcomes: readonly Outcome[],
  { chain, currency }: { readonly chain: Chain; readonly currency: Currency },
): bigint {
  let spent = 0n;
  for (const { pair, result } of outcomes) {
    if (pair.origin !== chain || result === undefined) continue;
    if (pair.pay.address === currency.address) spent += result.spent;
    if (currency.address === zeroAddress) spent += result.gasWei;
  }
  return spent;
}

/** One line for each pair and one column for each trade type, followed by the details of every deviation. */
export function routeTable({ outcomes, tookMs }: RouteCheck): string[] {
  const lines = new Map<string, string[]>();
  const problems: string[] = [];
  for (const { pair, tradeType, problem, result, tookMs: took } of outcomes) {
    const cells = lines.get(pair.name) ?? [];
    lines.set(pair.name, cells);
    if (problem !== undefined) problems.push(`${pair.name}, ${tradeType}: ${problem}`);
    const outcomeText = problem === undefined ? `ok ${result?.operation}` : "FAILED";
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
