import { createLocalClient, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { startSystem, type System } from "@causeway/localnet";
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProviderProxy, type ProviderProxy } from "../support/provider-proxy.ts";
import { providerRows, type ProviderRow } from "../support/provider-rows.ts";
import { parseEther, zeroAddress, type Address } from "viem";
import { anAddress } from "./bridging.ts";
import { createClient, createWallet, type Chain, type Client, type Quote, type Status } from "./client.ts";
import { expectedOutcomes, runMainFlows, type Outcome } from "./main-flows.ts";
import { portBaseOf } from "./port-bases.ts";

// The check runs the rows with `isInCheck`; `npm run providers` runs all rows and prints measurements.
// PROVIDER_ROWS may list parts of row names, separated by semicolons: then the honest row and those rows run.

const wanted = process.env["PROVIDER_ROWS"] ?? "";
const rows = providerRows.filter(({ name, isInCheck }, at) => {
  if (wanted === "all") return true;
  if (wanted === "") return isInCheck === true;
  return at === 0 || wanted.split(";").some((part) => name.includes(part));
});
/** Anvil's first account. */
const fundingKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

let nodes: readonly RunningAnvil[] = [];
let providers: readonly ProviderProxy[] = [];
let system: System;
let api: Client;
let chains: readonly Chain[];
/** Rates per second with the honest provider. */
let honestRates = { httpRequests: 0, calls: 0 };

beforeAll(async () => {
  const extraArgs = ["--balance", "1000000"];
  nodes = await Promise.all(
    [72_100_117, 72_100_228].map(
      async (chainId) => await startAnvil({ chainId, blockTimeSeconds: 0.5, extraArgs }),
    ),
  );
  providers = await Promise.all(nodes.map(async ({ url }) => await startProviderProxy(url)));
  system = await startSystem({
    env: {
      LOCAL_A_RPC_URL: providers[0]?.url,
      LOCAL_A_WS_URL: providers[0]?.wsUrl,
      LOCAL_B_RPC_URL: providers[1]?.url,
      LOCAL_B_WS_URL: providers[1]?.wsUrl,
      LOCAL_FUNDING_PRIVATE_KEY: fundingKey,
    },
    portBase: portBaseOf("providers"),
    durable: false,
    // A fill that waits for its node is refunded before the row ends.
    appEnv: { FILL_INVENTORY_WAIT_MS: "60000" },
    oracles: 0,
    users: 5,
  });
  api = createClient(system.endpoints.api.url);
  // Wallets use their own provider.
  chains = (await api.chains()).map((chain, at) => ({ ...chain, httpRpcUrl: nodes[at]?.url ?? "" }));
});
afterAll(async () => {
  await system.stop();
  await Promise.all(providers.map(async (provider) => await provider.stop()));
  await Promise.all(nodes.map(async (node) => await node.stop()));
});

async function restart(): Promise<void> {
  for (const service of [...system.apis, ...system.workers]) await service.restart();
}

const swapOutcomes: Readonly<Record<NonNullable<ProviderRow["swapEnds"]>, Outcome>> = {
  unquoted: { end: "unquoted", money: "with the user" },
  refund: { end: "refund", money: "refunded" },
};

function expectedOf({ swapEnds }: ProviderRow): Readonly<Record<string, Outcome>> {
  return swapEnds === undefined ? expectedOutcomes : { ...expectedOutcomes, swap: swapOutcomes[swapEnds] };
}

test.each(rows)(
  "$name: every flow completes, is paid once, and the provider gets few extra calls",
  async (row: ProviderRow) => {
    // Calls during the services' start count too.
    const startedAtMs = performance.now();
    for (const provider of providers) provider.behave(row.behavior());
    if (row.restarts === "before and after") await restart();
    const { lastsMs } = row;
    let counted = { httpRequests: 0, calls: 0, deviations: 0 };
    const stop = (): void => {
      for (const provider of providers) {
        const { httpRequests, calls, deviations } = provider.counts;
        counted = {
          httpRequests: counted.httpRequests + httpRequests,
          calls: counted.calls + calls,
          deviations: counted.deviations + deviations,
        };
        provider.behave({});
      }
    };
    const timer = lastsMs === undefined ? undefined : setTimeout(stop, lastsMs);
    const keys = system.users.map(({ privateKey }) => privateKey);
    const { readOutcomes } = await runMainFlows({ api, chains, keys, withinMs: row.withinMs ?? 60_000 });
    clearTimeout(timer);
    stop();
    const seconds = (performance.now() - startedAtMs) / 1_000;
    const rate = { httpRequests: counted.httpRequests / seconds, calls: counted.calls / seconds };
    const isHonest = row === providerRows[0];
    if (isHonest) honestRates = rate;
    const factors = {
      httpRequests: rate.httpRequests / honestRates.httpRequests,
      calls: rate.calls / honestRates.calls,
    };
    const measured = [
      `${seconds.toFixed(1)} s`,
      `${rate.httpRequests.toFixed(0)} requests/s (x${factors.httpRequests.toFixed(2)})`,
      `${rate.calls.toFixed(0)} calls/s (x${factors.calls.toFixed(2)})`,
      `${counted.deviations} deviations`,
    ];
    console.log(`providers: ${row.name}: ${measured.join(", ")}`);
    if (row.restarts !== undefined) await restart();
    const expected = expectedOf(row);
    expect(await readOutcomes()).toEqual(expected);
    // A second payment would be broadcast by the next block.
    await sleep(1_500);
    expect(await readOutcomes()).toEqual(expected);
    if (!isHonest) expect(Math.max(factors.httpRequests, factors.calls)).toBeLessThan(row.maxFactor ?? 2);
  },
  400_000,
);

interface Bridge {
  readonly tookMs: number;
  readonly end: Status["status"] | "open";
  readonly recipient: Address;
}

/** Bridges native tokens from one chain to the other, and compares every success status with the chain. */
async function bridge(user: number, origin: number, withinMs: number): Promise<Bridge> {
  const [from, to] = [chains[origin], chains[1 - origin]];
  const wallet = createWallet(system.users[user]?.privateKey ?? "0x", chains);
  const recipient = anAddress();
  const amount = parseEther("0.01").toString();
  const startedAtMs = performance.now();
  const quote = await quoteWithin(withinMs, {
    user: wallet.address,
    recipient,
    originChainId: from?.id,
    destinationChainId: to?.id,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount,
    tradeType: "EXACT_INPUT",
  });
  await wallet.execute(quote);
  for (;;) {
    // Read the status first: a bridge that is reported as paid must already be paid.
    const { status } = await api.status(quote.requestId);
    const tookMs = performance.now() - startedAtMs;
    if (status === "success") expect(await paymentsTo(recipient, 1 - origin)).toBe(1);
    if (["success", "failure", "refund"].includes(status)) return { tookMs, end: status, recipient };
    if (tookMs > withinMs) return { tookMs, end: "open", recipient };
    await sleep(20);
  }
}

/** Retries a quote that failed because a node did not answer, as wallets do. */
async function quoteWithin(withinMs: number, body: object): Promise<Quote> {
  for (const endMs = performance.now() + withinMs; ;) {
    const { code, body: answer } = await api.call<Quote & { readonly errorCode?: string }>("/quote/v2", body);
    if (code === 200) return answer;
    expect([code, answer.errorCode]).toEqual([503, "RPC_HTTP_ERROR"]);
    if (performance.now() > endMs) throw new Error("no quote in time");
    await sleep(50);
  }
}

async function paymentsTo(recipient: Address, at: number): Promise<number> {
  const node = nodes[at];
  if (node === undefined) throw new Error(`the system has no node ${at}`);
  const client = createLocalClient(node);
  const newest = await client.getBlockNumber({ cacheTime: 0 });
  // Enough blocks: the recipient is a new account.
  const recent = Array.from({ length: 60 }, (_, back) => newest - BigInt(back)).filter((one) => one >= 0n);
  const blocks = await Promise.all(
    recent.map(async (blockNumber) => await client.getBlock({ blockNumber, includeTransactions: true })),
  );
  const input = blocks.flatMap(({ transactions }) => transactions);
  return input.filter(({ to }) => to?.toLowerCase() === recipient.toLowerCase()).length;
}

const both = async (withinMs: number): Promise<readonly Bridge[]> =>
  await Promise.all([bridge(0, 0, withinMs), bridge(1, 1, withinMs)]);

/** How long providers misbehave in the rows in which bridges have to wait for them, in ms. */
const LATE_MS = 4_000;

/** Gives each chain's provider one row, so that two rows take the time of one. @returns the rows' names */
function behaveAsPair(of: readonly ProviderRow[], at: number): string {
  const pair = of.slice(at, at + 2);
  providers.forEach((provider, chain) => provider.behave(pair[chain]?.behavior() ?? {}));
  return pair.map(({ name }) => name).join(" | ");
}

function expectSuccess(names: string, bridges: readonly Bridge[]): readonly Bridge[] {
  console.log(`providers: ${names}: ${bridges.map(({ tookMs }) => tookMs.toFixed(0)).join(", ")} ms`);
  for (const { end } of bridges) expect([names, end]).toEqual([names, "success"]);
  return bridges;
}

test("bridges succeed within three times the quiet latency while providers misbehave, or once they recover, and are paid once", async () => {
  for (const provider of providers) provider.behave({});
  const quiet = [...(await both(20_000)), ...(await both(20_000))];
  const quietMs = Math.max(...quiet.map(({ tookMs }) => tookMs));
  console.log(`providers: quiet bridge ${quietMs.toFixed(0)} ms`);
  const made = [...quiet];
  const prompt = providerRows.filter((row) => row.bridge === "prompt");
  for (let at = 0; at < prompt.length; at += 2) {
    const names = behaveAsPair(prompt, at);
    const bridges = expectSuccess(names, await both(60_000));
    for (const { tookMs } of bridges) expect(tookMs, names).toBeLessThan(3 * quietMs);
    made.push(...bridges);
  }
  for (const provider of providers) provider.behave({});
  const late = providerRows.filter((row) => row.bridge === "late");
  for (let at = 0; at < late.length; at += 2) {
    const names = behaveAsPair(late, at);
    const bridging = both(60_000);
    await sleep(LATE_MS);
    for (const provider of providers) provider.behave({});
    made.push(...expectSuccess(names, await bridging));
  }
  // A second payment would be broadcast by the next block.
  await sleep(1_000);
  const paid = await Promise.all(
    made.map(async ({ recipient }, at) => await paymentsTo(recipient, at % 2 === 0 ? 1 : 0)),
  );
  expect(paid.filter((count) => count > 1)).toEqual([]);
  const db = new pg.Pool({ connectionString: system.databaseUrl, max: 1 });
  await expect
    .poll(async () => (await db.query("select chain_id, nonce from slots where state = 'open'")).rows, {
      timeout: 10_000,
    })
    .toEqual([]);
  await db.end();
}, 240_000);
