import { hubAbi } from "@causeway/contracts";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLocalClient, repositoryRoot, workspaceNode, type SystemProcess } from "@causeway/testkit";
import { runBridgeDemo, startSystem, watchPosition, type Settlement, type System } from "@causeway/localnet";
import { encodePacked, erc20Abi, keccak256, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../scripts/soak/database.ts";
import { runLoad } from "../../scripts/soak/load.ts";
import { planMix } from "../../scripts/soak/mix.ts";
import { seededRandom } from "../../scripts/soak/random.ts";
import { newRun } from "../../scripts/soak/run-request.ts";
import { samplesIn } from "../../scripts/soak/scraped.ts";
import { createSoakApi } from "../../scripts/soak/soak-api.ts";
import { watchRules } from "../../scripts/soak/watch-rules.ts";
import { openChain, readCurrencies, usersOfSeed } from "../../scripts/soak/world.ts";
import { shownMetrics } from "../../scripts/observability/shown-metrics.ts";
import { startTraceCollector } from "../support/trace-collector.ts";
import { portBaseOf } from "./port-bases.ts";

const METRICS_TOKEN = "metrics-token".padEnd(32, "-");
let system: System;
let collector: Awaited<ReturnType<typeof startTraceCollector>>;
let usersTaken = 0;

beforeAll(async () => {
  collector = await startTraceCollector();
  system = await startSystem({
    env: {},
    appEnv: {
      METRICS_TOKEN,
      NOTIFY_URLS: "http://127.0.0.1:9/",
      // The load must not reach the exposure limit per minute.
      PRICE_EXPOSURE_USD_PER_MINUTE: "1000000000",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
    portBase: portBaseOf("settlement"),
    durable: false,
    users: 8,
    mixedMining: true,
  });
});
afterAll(async () => {
  await system.stop();
  await collector.close();
});

function oracle(index: number): SystemProcess {
  const found = system.oracles[index];
  if (found === undefined) throw new Error(`the system has no oracle ${index}`);
  return found;
}

/** Bridges 10 USDC for a new user. `settled` waits until the hub shows the bridge's settlement. */
async function bridge(): Promise<{ arrived: boolean; settled(withinMs: number): Promise<Settlement> }> {
  const { api, hub, oracles } = system.endpoints;
  const [origin] = system.chains;
  const usdc = origin?.tokens.find(({ symbol }) => symbol === "USDC");
  const user = system.users[usersTaken++];
  if (hub === undefined || origin === undefined || usdc === undefined || user === undefined)
    throw new Error("the system has no hub, no USDC on its first chain, or too few users");
  const position = await watchPosition({
    hub,
    oracles,
    holder: { chainName: origin.name, address: system.solver.address },
    currency: { chainName: origin.name, address: usdc.address },
  });
  const { arrived } = await runBridgeDemo({
    apiUrl: api.url,
    from: "local-a",
    to: "local-b",
    userKey: user.privateKey,
    recipient: privateKeyToAddress(generatePrivateKey()),
    amount: "10",
    print: () => undefined,
    deadlineMs: 30_000,
  });
  return {
    arrived,
    settled: async (withinMs) => await position.grownBy(10_000_000n, AbortSignal.timeout(withinMs)),
  };
}

const addressesOf = (indexes: readonly number[]): unknown[] =>
  indexes.map((index) => system.endpoints.oracles[index]?.address);

/** The hub's total supply for a currency of a chain. */
async function supplyOnHub(chainName: string, currency: Address): Promise<bigint> {
  const { hub } = system.endpoints;
  if (hub === undefined || system.hubNode === undefined) throw new Error("the system has no hub");
  return await createLocalClient(system.hubNode).readContract({
    address: hub.contracts.hub,
    abi: hubAbi,
    functionName: "totalSupply",
    args: [BigInt(keccak256(encodePacked(["string", "address"], [chainName, currency])))],
  });
}

/** The lines that an operator command prints. */
async function operator(...words: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const program = join(repositoryRoot, "apps/api/src/operator.ts");
  const { stdout } = await promisify(execFile)(workspaceNode, ["-C", "source", program, ...words], {
    cwd: repositoryRoot,
    env: system.operatorEnvironment,
    timeout: 90_000,
  });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Waits until these requests are final and the hub owes the solver their deposits. */
async function untilSettled(requestIds: readonly string[]): Promise<void> {
  const database = await openDatabase(system.databaseUrl);
  const bearer = { authorization: `Bearer ${METRICS_TOKEN}` };
  const waiting = async (): Promise<number> => {
    const open = (await database.unsettled(requestIds)).size;
    const pages = await Promise.all(system.workers.map(async ({ url }) => await metricsOf(url, bearer)));
    return samplesIn(pages.join("\n"))
      .filter(({ metric }) => metric === "causeway_settlement_waiting")
      .reduce((sum, { value }) => sum + value, open);
  };
  await expect.poll(waiting, { timeout: 60_000, interval: 500 }).toBe(0);
  await database.close();
}

/** A process's metrics in Prometheus format. */
async function metricsOf(url: string, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${url}/metrics`, { headers });
  expect(answer.status).toBe(200);
  return await answer.text();
}

test("a bridge is attested by two of three oracles, and the hub owes the solver the whole deposit", async () => {
  const { arrived, settled } = await bridge();
  expect(arrived).toBe(true);
  const { before, after, signers } = await settled(30_000);
  expect(after - before).toBe(10_000_000n);
  expect(signers).toHaveLength(2);
});

test("the solver withdraws its hub balance from the depository, with attestations by the oracles at each step", async () => {
  const [origin] = system.chains;
  const [node] = system.nodes;
  const usdc = origin?.tokens.find(({ symbol }) => symbol === "USDC");
  if (origin === undefined || node === undefined || usdc === undefined)
    throw new Error("the system has no USDC on its first chain");
  const recipient = privateKeyToAddress(generatePrivateKey());
  const before = await supplyOnHub(origin.name, usdc.address);
  const words = ["--chain", origin.name, "--currency", "USDC", "--amount", "4", "--recipient", recipient];
  await operator("withdraw", ...words, "--wait", "60");

  const client = createLocalClient(node);
  const balanceCall = {
    address: usdc.address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [recipient],
  } as const;
  expect(await client.readContract(balanceCall)).toBe(4_000_000n);
  expect(await supplyOnHub(origin.name, usdc.address)).toBe(before - 4_000_000n);
  expect(await operator("withdrawals")).toEqual([expect.objectContaining({ state: "executed" })]);
}, 120_000);

test("quote, deposit, fill and settlement are one trace even though two processes record them", async () => {
  const names = (): string[] => {
    const quote = collector.spans.find(({ name }) => name === "quote");
    const children = collector.spans.filter(
      ({ traceId, parentSpanId }) => traceId === quote?.traceId && parentSpanId === quote.spanId,
    );
    return [quote, ...children].map((span) => `${span?.service} ${span?.name}`);
  };
  const expected = ["deposit_seen", "fill_planned", "attempt_broadcast", "fill_mined", "settlement_attested"];
  await expect
    .poll(names, { timeout: 10_000 })
    .toEqual(
      expect.arrayContaining(["causeway-api quote", ...expected.map((name) => `causeway-worker ${name}`)]),
    );
});

test("exports every metric that an alert rule or a panel reads, and names all metrics by convention", async () => {
  const [first] = system.endpoints.oracles;
  if (first === undefined) throw new Error("the system has no oracle");
  const bearer = { authorization: `Bearer ${METRICS_TOKEN}` };
  const pages = await Promise.all([
    metricsOf(system.endpoints.api.url, bearer),
    ...system.workers.map(async ({ url }) => await metricsOf(url, bearer)),
    metricsOf(first.url, { "x-api-key": first.apiKey }),
  ]);
  const types = [...pages.join("\n").matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  const exported = new Set(
    types.flatMap(([, name = "", type = ""]) =>
      type === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name + part) : [name],
    ),
  );
  // Prometheus itself exports `up`. This system has no Hyperliquid.
  expect(shownMetrics().filter((name) => !exported.has(name))).toEqual([
    "up",
    "causeway_mappings_oldest_seconds",
  ]);
  const ownTypes = types.filter(([, name = ""]) => /^(causeway|oracle|http)_/.test(name));
  expect(ownTypes.length).toBeGreaterThan(50);
  for (const [, name = "", type = ""] of ownTypes) {
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
  }
});

test("no alert fires during and after a load of 150 requests", async () => {
  const [first, second] = system.chains;
  if (first === undefined || second === undefined) throw new Error("the system has too few chains");
  const watch = watchRules(system, METRICS_TOKEN, 2);
  const [seed, spreadMs] = [150, 15_000];
  const plans = planMix({ requests: 150, seed, spreadMs, currencies: await readCurrencies(first) });
  const users = usersOfSeed(seed, Math.max(...plans.map(({ user }) => user)) + 1);
  const chains = await Promise.all([
    openChain(system, first, users, false),
    openChain(system, second, users, false),
  ]);
  const { apiUrls } = system.endpoints;
  const api = createSoakApi({ urls: apiUrls, random: seededRandom(seed), retryForMs: 0 });
  const world = { system, chains, users, api, seed };
  const runs = plans.map((plan) => newRun(world, plan));
  await runLoad(world, runs, {
    spreadMs,
    withinMs: 90_000,
    chaos: undefined,
    signal: new AbortController().signal,
    say: () => undefined,
  });
  await Promise.all(chains.map(async ({ kept }) => await kept.close()));
  expect(runs.flatMap(({ error }) => error ?? [])).toEqual([]);
  await untilSettled(runs.flatMap(({ quote }) => quote?.requestId ?? []));
  expect((await watch.stopNow()).problems).toEqual([]);
}, 210_000);

test("when the oracle that is asked first is killed, the other two attest", async () => {
  oracle(0).kill("SIGKILL");
  const { arrived, settled } = await bridge();
  expect(arrived).toBe(true);
  const { before, after, signers } = await settled(45_000);
  expect(after - before).toBe(10_000_000n);
  expect(signers).toEqual(addressesOf([1, 2]));
});

test("when two oracles are killed, the recipient is still paid; settlement waits, and completes once one restarts", async () => {
  oracle(1).kill("SIGKILL");
  const { arrived, settled } = await bridge();
  expect(arrived).toBe(true);
  // The time limit is about twice the usual time with a quorum.
  await expect(settled(15_000)).rejects.toThrow("hub balance grew by 0, expected 10000000");

  await oracle(0).restart();
  const { before, after, signers } = await settled(60_000);
  expect(after - before).toBe(10_000_000n);
  expect(signers).toEqual(addressesOf([0, 2]));
});
