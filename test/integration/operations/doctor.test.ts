import { localPrivateKey } from "@causeway/config";
import { deployHub, localDeployment, localHub, type HubContracts } from "@causeway/localnet";
import { startBitcoin, type RunningBitcoin } from "@causeway/simulators/bitcoin";
import {
  createLocalClient,
  startAnvil,
  startRedis,
  type LocalClient,
  type RunningAnvil,
  type RunningRedis,
} from "@causeway/testkit";
import { Redis } from "ioredis";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { getAddress } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { createTestDatabase, testRedis, type TestDatabase } from "../../support/database.ts";
import { startFaultyFronts } from "../../support/faulty-front.ts";
import { runDoctorCommand, doctorFindings } from "../../support/run-doctor.ts";
import { startTransactionPooler } from "../../support/transaction-pooler.ts";

// `operator doctor` on real servers and nodes, to which the tests add faults.

const [CHAIN_A, CHAIN_B] = [72_100_117, 72_100_228];
/** The URL of a port on which no server listens. */
const CLOSED = "http://127.0.0.1:9";
const SOLVER = privateKeyToAddress(localPrivateKey("solver", 0));

const SIGNERS = ["01", "02"].map((byte) => getAddress(`0x${byte.repeat(20)}`));

let database: TestDatabase;
let nodes: readonly RunningAnvil[];
let chainA: LocalClient;
let ownRedis: RunningRedis;
let bitcoin: RunningBitcoin;
let hub: HubContracts;
let lateServer: Server;

beforeAll(async () => {
  [database, ownRedis, bitcoin, nodes] = await Promise.all([
    createTestDatabase(),
    startRedis({ env: { PATH: process.env["PATH"] } }),
    startBitcoin(),
    Promise.all([startSaved(CHAIN_A), startSaved(CHAIN_B), startAnvil({ chainId: localHub.chainId })]),
  ]);
  const [first, , third] = nodes;
  if (first === undefined || third === undefined) throw new Error("no node was started");
  chainA = createLocalClient(first);
  hub = await deployHub(third, { signers: SIGNERS, threshold: 2 });
  // A server that refuses every key and whose clock is 30 seconds slow.
  lateServer = createServer((_request, response: ServerResponse) => {
    response.sendDate = false;
    response.setHeader("date", new Date(Date.now() - 30_000).toUTCString());
    response.writeHead(401).end();
  }).listen(0, "127.0.0.1");
  await once(lateServer, "listening");
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  lateServer.close();
  await Promise.all([database.drop(), ownRedis.stop(), bitcoin.stop(), ...nodes.map((node) => node.stop())]);
});

async function startSaved(chainId: number): Promise<RunningAnvil> {
  const state = inject("chainStates")[chainId];
  if (state === undefined) throw new Error(`no saved state of chain ${chainId}`);
  return await startAnvil({ chainId, extraArgs: ["--load-state", state] });
}

function environment(): Record<string, string> {
  return {
    ENVIRONMENT: "local",
    CONFIGS_DIR: resolve(import.meta.dirname, "../../../configs"),
    VAULT_SECRETS_DIR: "/nonexistent",
    DATABASE_URL: database.url,
    REDIS_URL: testRedis().url,
    SOLVER_PRIVATE_KEY: localPrivateKey("solver", 0),
    PRICE_SOURCE: "fixed",
    LOCAL_A_RPC_URL: nodes[0]?.url ?? "",
    LOCAL_B_RPC_URL: nodes[1]?.url ?? "",
    LOCAL_BITCOIN_RPC_URL: bitcoin.rpcUrl,
    LOCAL_BITCOIN_ESPLORA_URL: bitcoin.esploraUrl,
    SOLVER_BITCOIN_KEY: `0x${"5d".repeat(32)}`,
  };
}

function hubSettings(): Record<string, string> {
  return {
    HUB_RPC_URL: nodes[2]?.url ?? "",
    HUB_CHAIN_ID: String(localHub.chainId),
    HUB_ADDRESS: hub.hub,
    HUB_ORACLE_ADDRESS: hub.oracle,
    HUB_ORACLE_MULTISIG_ADDRESS: hub.oracleMultisig,
    HUB_ALLOCATOR_ADDRESS: hub.allocator,
    HUB_GENERIC_MAPPING_ADDRESS: hub.genericMapping,
  };
}

/** A folder of configuration files in which the hub and Bitcoin have three endpoints each. */
async function configsWithLists(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "causeway-configs-"));
  await cp(environment()["CONFIGS_DIR"] ?? "", directory, { recursive: true });
  for (const name of ["chains.local.json", "chains.hub.local.json"]) {
    const path = join(directory, name);
    const text = await readFile(path, "utf8");
    const list = text.replace(
      /"httpRpcUrl": "(\$(?:LOCAL_BITCOIN|HUB)_RPC_URL)"/,
      '"httpRpcUrl": ["$1", "$1_2", "$1_3"]',
    );
    await writeFile(path, list);
  }
  return directory;
}

async function onDatabase(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

test("finds no problem in a local system that is set up as documented", async () => {
  await onDatabase(`alter database "${new URL(database.url).pathname.slice(1)}" set synchronous_commit = on`);
  const all = await doctorFindings(environment());
  // The servers of these tests disable durability for speed, which doctor reports.
  const problems = all.filter(({ state, check }) => state === "problem" && check !== "postgres.durability");
  expect(problems).toEqual([]);
  const okay = all.filter(({ state }) => state === "ok").map(({ check }) => check);
  for (const check of [
    "postgres.sessions",
    "redis.eviction",
    "chain.quorum",
    "contract.code",
    "contract.receiver",
    "contract.approval-proxy",
    "token",
    "account.balance",
    "clock",
  ])
    expect(okay).toContain(check);
  expect(all).toContainEqual(
    expect.objectContaining({ check: "account.balance", state: "warning", found: "the solver has no BTC" }),
  );
});

test("reports all faults of a broken instance in one run, without secrets", async () => {
  const { host, pathname } = new URL(database.url);
  await onDatabase(`alter database "${pathname.slice(1)}" set synchronous_commit = off`);
  await onDatabase("delete from schema_migrations where name = (select max(name) from schema_migrations)");
  const redis = new Redis(ownRedis.url);
  await redis.config("SET", "maxmemory-policy", "allkeys-lru");
  await redis.quit();
  await chainA.setCode({ address: localDeployment.depository, bytecode: "0x" });
  await chainA.setBalance({ address: SOLVER, value: 0n });
  const late = `http://127.0.0.1:${(lateServer.address() as AddressInfo).port}`;
  const env = {
    ...environment(),
    HTTP_PORT: "eighty",
    REDIS_URL: ownRedis.url,
    // Chain B uses the node of chain A.
    LOCAL_B_RPC_URL: nodes[0]?.url ?? "",
    PRICE_SOURCE: "coingecko",
    PRICE_URL: late,
    PRICE_API_KEY: "hunter2-prices",
    ORACLE_URLS: `${CLOSED}|hunter2-oracle;${late}|hunter2-late`,
    NOTIFY_URLS: `${CLOSED}/hunter2-hook`,
    ...hubSettings(),
    // Only one signer is listed, although the hub requires two.
    ORACLE_SIGNERS: SIGNERS[0] ?? "",
    HUB_GENERIC_MAPPING_ADDRESS: `0x${"24".repeat(20)}`,
  };
  const all = await doctorFindings(env);
  const problems = all
    .filter(({ state }) => state === "problem")
    .map(({ check, subject }) => `${check}: ${subject}`);
  const [hostOfA, lateHost] = [new URL(nodes[0]?.url ?? "").host, new URL(late).host];
  for (const expected of [
    "configuration: settings",
    `postgres.synchronous-commit: ${host}`,
    `postgres.migrations: ${host}`,
    `redis.eviction: ${new URL(ownRedis.url).host}`,
    `chain.chain-id: local-b (${hostOfA})`,
    "chain.quorum: local-b",
    "contract.code: depository on local-a",
    "account.balance: solver on local-a",
    "hub.quorum: multisig",
    "hub.code: genericMappingAddress",
    "hub.balance: solver",
    "oracle.reachable: 127.0.0.1:9",
    `oracle.access: ${lateHost}`,
    "price.source: coingecko",
    "notices: 127.0.0.1:9",
  ])
    expect(problems).toContain(expected);
  expect(all.find(({ check, subject }) => check === "clock" && subject === lateHost)?.found).toMatch(
    /(29|30|31) seconds behind/,
  );

  expect(all.find(({ check }) => check === "hub.roles")?.state).toBe("ok");

  const { code, out } = await runDoctorCommand(env);
  expect(code).toBe(1);
  expect(out).toContain("maxmemory-policy is allkeys-lru");
  expect(out).toContain("redis-cli config set maxmemory-policy noeviction");
  expect(out).not.toContain("hunter2");
  expect(out).not.toContain(localPrivateKey("solver", 0));
  const password = new URL(database.url).password;
  if (password !== "") expect(out).not.toContain(`:${password}@`);
});

test("examines every endpoint of the hub and of a non-EVM chain, and names it without its secrets", async () => {
  const otherNetwork = await startFaultyFronts([bitcoin.rpcUrl]);
  otherNetwork.begin(() => ({ answer: () => "00".repeat(32) }));
  const configs = await configsWithLists();
  const [wrongUrl = ""] = otherNetwork.urls;
  const { username, password } = new URL(bitcoin.rpcUrl);
  const all = await doctorFindings({
    ...environment(),
    ...hubSettings(),
    CONFIGS_DIR: configs,
    LOCAL_BITCOIN_RPC_URL_2: Object.assign(new URL("/?key=hunter2-bitcoin", wrongUrl), { username, password })
      .href,
    LOCAL_BITCOIN_RPC_URL_3: `${CLOSED}/hunter2-path`,
    // The node belongs to another chain.
    HUB_RPC_URL_2: `${nodes[0]?.url}/?key=hunter2-hub`,
    HUB_RPC_URL_3: `${CLOSED}/hunter2-path`,
    ORACLE_URLS: CLOSED,
  });
  await otherNetwork.close();
  await rm(configs, { recursive: true });
  const of = (prefix: string) =>
    all
      .filter(({ check, subject }) => check.startsWith(prefix) && /127|bitcoin|^hub$/.test(subject))
      .map(({ check, subject, state }) => `${state} ${check}: ${subject}`);
  const hostOf = (url: string | undefined) => new URL(url ?? "").host;
  expect(of("hub.")).toEqual(
    expect.arrayContaining([
      `ok hub.reachable: ${hostOf(nodes[2]?.url)}`,
      `problem hub.chain-id: ${hostOf(nodes[0]?.url)}`,
      "problem hub.reachable: 127.0.0.1:9",
      "problem hub.rpc-quorum: hub",
    ]),
  );
  expect(of("chain.")).toEqual(
    expect.arrayContaining([
      `ok chain.reachable: local-bitcoin (${hostOf(bitcoin.rpcUrl)})`,
      `problem chain.network: local-bitcoin (${hostOf(wrongUrl)})`,
      "problem chain.reachable: local-bitcoin (127.0.0.1:9)",
      "problem chain.quorum: local-bitcoin",
    ]),
  );
  // Doctor reads the usable endpoint.
  expect(all).toContainEqual(
    expect.objectContaining({ check: "account.balance", found: "the solver has no BTC" }),
  );
  expect(all).toContainEqual(expect.objectContaining({ check: "hub.roles", state: "ok" }));
  expect(JSON.stringify(all)).not.toContain("hunter2");
});

test("reports a pooler in transaction mode, and servers that are down", async () => {
  const pooler = await startTransactionPooler(database.url, 1);
  const closedServers = {
    REDIS_URL: "redis://127.0.0.1:9",
    LOCAL_A_RPC_URL: CLOSED,
    LOCAL_B_RPC_URL: CLOSED,
    LOCAL_BITCOIN_RPC_URL: CLOSED,
    LOCAL_BITCOIN_ESPLORA_URL: CLOSED,
  };
  const behind = await doctorFindings({ ...environment(), ...closedServers, DATABASE_URL: pooler.url });
  await pooler.close();
  const found = behind.filter(({ state }) => state === "problem");
  expect(found.map(({ subject }) => subject)).toContain("local-bitcoin (127.0.0.1:9)");
  const checks = found.map(({ check }) => check);
  expect(checks).toEqual(
    expect.arrayContaining(["postgres.sessions", "redis.reachable", "chain.reachable", "chain.quorum"]),
  );
});

test("refuses options that it does not know", async () => {
  const { code, out } = await runDoctorCommand({}, "--process", "oracle");
  expect(code).toBe(2);
  expect(out).toContain("--process must be api or worker, got oracle");
  expect((await runDoctorCommand({}, "--fix")).code).toBe(2);
});

test("reports every missing setting of an empty environment and checks nothing else", async () => {
  const all = await doctorFindings({ VAULT_SECRETS_DIR: "/nonexistent" });
  const texts = all.map(({ found }) => found).join("\n");
  for (const name of ["DATABASE_URL", "REDIS_URL", "ENVIRONMENT"]) expect(texts).toContain(name);
  expect(all.filter(({ state }) => state === "skipped").map(({ check }) => check)).toEqual(
    expect.arrayContaining(["postgres", "redis", "hub"]),
  );
});
