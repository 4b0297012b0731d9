import { startSystem, type System } from "@causeway/localnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkRoutes, routeTable, type Outcome, type RouteCheck } from "./check-routes.ts";
import { createClient, createWallet, type Chain, type Wallet } from "./client.ts";
import { portBaseOf } from "./port-bases.ts";
import { currenciesOf } from "./route-pairs.ts";

/**
 * Every ordered pair of the native token, its wrapped token, a stablecoin, an 18-decimal token and a token
 * with a single shallow pool, within a chain and between two chains, with all trade types. Uses only the
 * public API. All pairs run concurrently, so that prices and pools move between quote and deposit.
 */

let system: System;
let chains: readonly Chain[];
let reader: Wallet;
let check: RouteCheck;

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("routes"),
    oracles: 0,
    durable: false,
    users: 48,
  });
  const api = createClient(system.endpoints.api.url);
  chains = await api.chains();
  const users = system.users.map(({ privateKey }) => createWallet(privateKey, chains, 250));
  reader = users[0] as Wallet;
  // Makes three hundred requests, which takes half a minute on an idle machine.
  check = await checkRoutes(api, chains, users);
  process.stdout.write(`\n${routeTable(check).join("\n")}\n`);
}, 240_000);
afterAll(async () => await system.stop());

const between = (origin: string, destination: string): Outcome[] =>
  check.outcomes.filter(({ pair }) => pair.origin.name === origin && pair.destination.name === destination);

for (const [origin, destination] of [
  ["local-a", "local-b"],
  ["local-b", "local-a"],
  ["local-a", "local-a"],
  ["local-b", "local-b"],
] as const)
  test(`every pair from ${origin} to ${destination} is quoted correctly, with the minimal input, and delivers the quoted output`, () => {
    const outcomes = between(origin, destination);
    const failed = outcomes.filter(({ problem }) => problem !== undefined);
    expect(failed.map(({ pair, tradeType, problem }) => [pair.name, tradeType, problem])).toEqual([]);
    expect(outcomes).toHaveLength(5 * 5 * 3);
  });

test("the pairs on one chain include every kind of operation", () => {
  const operations = new Set(between("local-a", "local-a").map(({ result }) => result?.operation));
  expect([...operations].toSorted()).toEqual(["send", "swap", "unwrap", "wrap"]);
});

test("users spend exactly the quoted amounts and their transactions' gas", () => {
  const wrong = check.userBalances.filter(({ expected, actual }) => expected !== actual);
  expect(wrong.map(({ chain, currency, ...amounts }) => [chain.name, currency.symbol, amounts])).toEqual([]);
  expect(check.userBalances).toHaveLength(system.users.length * 10);
});

test("the contracts that funds pass through are empty at the end", async () => {
  for (const { id, contracts } of system.chains)
    for (const { address, symbol } of currenciesOf(chains.find((chain) => chain.id === id) as Chain))
      for (const contract of [contracts.router, contracts.approvalProxy])
        expect(await reader.balance(id, address, contract), `${symbol} of ${contract}`).toBe(0n);
});
