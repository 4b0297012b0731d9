import { startAnvil, type RunningAnvil } from "@causeway/testkit";
import { startSystem, type System } from "@causeway/localnet";
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProviderProxy, type ProviderProxy } from "../support/provider-proxy.ts";
import { providerRows, type ProviderRow } from "../support/provider-rows.ts";
import { createClient, type Chain, type Client } from "./client.ts";
import { expectedOutcomes, runMainFlows, type Outcome } from "./main-flows.ts";
import { portBaseOf } from "./port-bases.ts";
import { blocksPass, bridge, type Bridge } from "./provider-bridges.ts";

// `npm test` runs the rows with `isInCheck`. `npm run providers` runs all rows, and also checks rates and
// latencies. PROVIDER_ROWS may also contain parts of row names, separated by semicolons: then only the honest
// row and the matching rows run.

const wanted = process.env["PROVIDER_ROWS"] ?? "";
const rows = providerRows.filter(({ name, isInCheck }, at) => {
  if (wanted === "all") return true;
  if (wanted === "") return isInCheck === true;
  return at === 0 || wanted.split(";").some((part) => name.includes(part));
});
/** `npm test` shares its machine with other tests, so timing is not checked there. */
const isJudgedByClock = wanted !== "";
/** Anvil's first account. */
const fundingKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

let nodes: readonly RunningAnvil[] = [];
let providers: readonly ProviderProxy[] = [];
let system: System;
let api: Client;
let chains: readonly Chain[];
/** The rates per second with the honest provider. */
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
    // A fill that waits for a node must be refunded before the row ends.
    appEnv: { FILL_INVENTORY_WAIT_MS: "60000" },
    oracles: 0,
    users: 5,
  });
  api = createClient(system.endpoints.api.url);
  // Wallets use honest nodes directly.
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
  "$name: every flow completes and is paid once",
  async (row: ProviderRow) => {
    // Calls while the services start count too.
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
    await blocksPass(nodes, 3n);
    expect(await readOutcomes()).toEqual(expected);
    // In `npm test` a busy machine changes rates, but calls to a provider must be bounded.
    const maxFactor = (row.maxFactor ?? 2) * (isJudgedByClock ? 1 : 5);
    if (!isHonest) expect(Math.max(factors.httpRequests, factors.calls)).toBeLessThan(maxFactor);
  },
  400_000,
);

const bridgeBothWays = async (withinMs: number): Promise<readonly Bridge[]> => {
  const world = { api, chains, nodes, keys: system.users.map(({ privateKey }) => privateKey) };
  return await Promise.all([bridge(world, 0, 0, withinMs), bridge(world, 1, 1, withinMs)]);
};

/** Maximum ms of a row's misbehavior that its bridges have to wait for. */
const LATE_MS = 4_000;

/**
 * Gives each chain another provider, so that two rows take the time of one.
 * @returns the names of the providers
 */
function behaveAsPair(kindRows: readonly ProviderRow[], firstIndex: number): string {
  const pair = kindRows.slice(firstIndex, firstIndex + 2);
  providers.forEach((provider, chain) => provider.behave(pair[chain]?.behavior() ?? {}));
  return pair.map(({ name }) => name).join(" | ");
}

/** The duration of the slowest bridge, in ms. */
function slowestMs(names: string, bridges: readonly Bridge[]): number {
  console.log(`providers: ${names}: ${bridges.map(({ tookMs }) => tookMs.toFixed(0)).join(", ")} ms`);
  return Math.max(...bridges.map(({ tookMs }) => tookMs));
}

test("bridges succeed while providers misbehave, are paid once, and their status is accurate throughout", async () => {
  for (const provider of providers) provider.behave({});
  const completed = [...(await bridgeBothWays(60_000)), ...(await bridgeBothWays(60_000))];
  const quietMs = slowestMs("quiet", completed);
  const prompt = providerRows.filter((row) => row.bridge === "prompt");
  for (let at = 0; at < prompt.length; at += 2) {
    const names = behaveAsPair(prompt, at);
    const bridges = await bridgeBothWays(60_000);
    const tookMs = slowestMs(names, bridges);
    if (isJudgedByClock) expect(tookMs, names).toBeLessThan(3 * quietMs);
    completed.push(...bridges);
  }
  for (const provider of providers) provider.behave({});
  const late = providerRows.filter((row) => row.bridge === "late");
  for (let at = 0; at < late.length; at += 2) {
    const names = behaveAsPair(late, at);
    const bridging = bridgeBothWays(60_000);
    await Promise.race([bridging, sleep(LATE_MS)]);
    for (const provider of providers) provider.behave({});
    const bridges = await bridging;
    slowestMs(names, bridges);
    completed.push(...bridges);
  }
  await blocksPass(nodes, 3n);
  for (const { checkPayment } of completed) await checkPayment();
  const db = new pg.Pool({ connectionString: system.databaseUrl, max: 1 });
  await expect
    .poll(async () => (await db.query("select chain_id, nonce from slots where state = 'open'")).rows, {
      timeout: 60_000,
    })
    .toEqual([]);
  await db.end();
}, 400_000);
