import { NATIVE_CURRENCY } from "@causeway/domain";
import type { System } from "@causeway/localnet";
import type { Address } from "viem";
import { checkRoutes, routeTable, type Outcome } from "../../test/e2e/check-routes.ts";
import { createClient, createWallet } from "../../test/e2e/client.ts";
import { observeChanges } from "./balances.ts";
import { scanChain, type ScannedTransaction } from "./chain-scan.ts";
import { burned, Ledger, writeGas } from "./ledger.ts";
import type { SoakResult } from "./report.ts";
import { createSoakApi } from "./soak-api.ts";
import { seededRandom } from "./random.ts";
import { currencyAddresses, openChain, standingAccounts, type SoakChain, type World } from "./world.ts";

const WALLETS_ASK_EVERY_MS = 250;

/**
 * Runs every pair with every trade type through the system, then follows each token: what users paid equals
 * what recipients, solver, pools and gas received.
 */
export async function soakRoutes(
  system: System,
  seed: number,
  accidents: readonly string[],
  print: (line: string) => void,
): Promise<SoakResult> {
  const client = createClient(system.endpoints.api.url);
  const listed = await client.chains();
  const [first, second] = system.chains;
  if (first === undefined || second === undefined)
    throw new RangeError("invariant violated: a routes run needs two chains");
  const chains = [
    await openChain(system, first, [], false),
    await openChain(system, second, [], false),
  ] as const;
  const world: World = {
    system,
    chains,
    users: [],
    api: createSoakApi({ urls: system.endpoints.apiUrls, random: seededRandom(seed), retryForMs: 0 }),
    seed,
  };
  try {
    const wallets = system.users.map(({ privateKey }) =>
      createWallet(privateKey, listed, WALLETS_ASK_EVERY_MS),
    );
    const check = await checkRoutes(client, listed, wallets);
    for (const line of routeTable(check)) print(line);
    const failed = check.outcomes.filter(({ problem }) => problem !== undefined);
    const problems = failed.map(
      ({ pair, tradeType, problem }) => `${pair.name}, ${tradeType}: ${problem ?? ""}`,
    );
    for (const chain of chains)
      problems.push(...(await accountFor(world, chain, check.outcomes, failed.length === 0, print)));
    return {
      seed,
      requests: check.outcomes.length,
      succeeded: check.outcomes.length - failed.length,
      measures: new Map([["route, from quote to end", check.outcomes.map(({ tookMs }) => tookMs)]]),
      remarks: [],
      problems: [...accidents, ...problems],
    };
  } finally {
    await Promise.all(chains.map(async ({ kept }) => await kept.close()));
  }
}

/** The role of an account on a chain. Pools are all other accounts that a token moved to or from. */
type Role = "users" | "recipients" | "solver" | "depository" | "passed through" | "pools and others" | "gas";

async function accountFor(
  world: World,
  chain: SoakChain,
  outcomes: readonly Outcome[],
  allSucceeded: boolean,
  print: (line: string) => void,
): Promise<string[]> {
  const { id, name, native, tokens, liquidity } = chain.chain;
  const lastBlock = await chain.client.getBlockNumber({ cacheTime: 0 });
  const transactions = await scanChain(chain.client, chain.startBlock, lastBlock);
  const roles = rolesOn(world, chain, outcomes);
  const changes = await observeChanges(chain, partiesOf(world, chain, roles, transactions), lastBlock);
  const gas = new Ledger();
  for (const transaction of transactions) {
    const { from, feeRecipient } = transaction;
    writeGas(gas, id, NATIVE_CURRENCY, { from, feeRecipient }, transaction);
  }
  changes.add(id, NATIVE_CURRENCY, burned, gas.get(id, NATIVE_CURRENCY, burned));

  const sums = new Map<Address, Map<Role, bigint>>();
  for (const { currency, account, amount } of changes.entries()) {
    const role = account === burned ? "gas" : (roles.get(account) ?? "pools and others");
    const ofCurrency = sums.get(currency as Address) ?? new Map<Role, bigint>();
    sums.set(currency as Address, ofCurrency.set(role, (ofCurrency.get(role) ?? 0n) + amount));
  }
  const problems: string[] = [];
  for (const currency of currencyAddresses(chain)) {
    const symbol = [native, ...tokens].find(({ address }) => address === currency)?.symbol ?? currency;
    const sumsByRole = sums.get(currency) ?? new Map<Role, bigint>();
    print(`${name} ${symbol.padEnd(5)} ${[...sumsByRole].map(([role, sum]) => `${role} ${sum}`).join(", ")}`);
    const sum = [...sumsByRole.values()].reduce((total, amount) => total + amount, 0n);
    // Wrapped tokens are created from native tokens that their contract holds.
    const wrapped = currency === liquidity?.wrappedNative ? changes.get(id, NATIVE_CURRENCY, currency) : 0n;
    if (sum !== wrapped)
      problems.push(`${name}: all changes of ${symbol} sum to ${sum}, expected ${wrapped}`);
    if ((sumsByRole.get("passed through") ?? 0n) !== 0n)
      problems.push(
        `${name}: ${sumsByRole.get("passed through")} ${symbol} stayed in router or approval proxy`,
      );
    if (!allSucceeded) continue;
    const expected = {
      users: -spentOn(chain, outcomes, currency),
      recipients: receivedOn(chain, outcomes, currency),
    };
    for (const role of ["users", "recipients"] as const)
      if ((sumsByRole.get(role) ?? 0n) !== expected[role])
        problems.push(
          `${name}: ${symbol} of ${role} changed by ${sumsByRole.get(role)}, expected ${expected[role]}`,
        );
  }
  return problems;
}

function rolesOn(world: World, { chain }: SoakChain, outcomes: readonly Outcome[]): Map<string, Role> {
  const { users, solver, executor } = world.system;
  const { depository, router, approvalProxy } = chain.contracts;
  const roles: [Address, Role][] = [
    ...users.map(({ address }): [Address, Role] => [address, "users"]),
    ...outcomes.flatMap(({ result }): [Address, Role][] =>
      result === undefined ? [] : [[result.recipient, "recipients"]],
    ),
    [solver.address, "solver"],
    [executor.address, "solver"],
    [depository, "depository"],
    [router, "passed through"],
    [approvalProxy, "passed through"],
  ];
  return new Map(roles.map(([address, role]) => [address.toLowerCase(), role]));
}

function partiesOf(
  world: World,
  chain: SoakChain,
  roles: ReadonlyMap<string, Role>,
  transactions: readonly ScannedTransaction[],
): Address[] {
  const named = transactions.flatMap(({ from, to, feeRecipient, transferParties }) => [
    from,
    feeRecipient,
    ...(to === undefined ? [] : [to]),
    ...transferParties,
  ]);
  const parties = [...standingAccounts(world, chain), ...roles.keys(), ...named];
  return [...new Set(parties.map((address) => address.toLowerCase() as Address))];
}

/** What users paid on a chain, including their gas. */
function spentOn({ chain }: SoakChain, outcomes: readonly Outcome[], currency: Address): bigint {
  let spent = 0n;
  for (const { pair, result } of outcomes) {
    if (result === undefined || pair.origin.id !== chain.id) continue;
    if (pair.pay.address.toLowerCase() === currency) spent += result.spent;
    if (currency === NATIVE_CURRENCY) spent += result.gasWei;
  }
  return spent;
}

function receivedOn({ chain }: SoakChain, outcomes: readonly Outcome[], currency: Address): bigint {
  let received = 0n;
  for (const { pair, result } of outcomes)
    if (pair.destination.id === chain.id && pair.receive.address.toLowerCase() === currency)
      received += result?.received ?? 0n;
  return received;
}
