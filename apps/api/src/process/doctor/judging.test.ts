import { expect, test } from "vitest";
import { exitCodeOf } from "../commands/doctor-command.ts";
import { judgeAccounts, type AccountsFacts } from "./accounts-check.ts";
import { judgeChain, type Endpoint, type EndpointFacts } from "./chain-check.ts";
import { judgeClock } from "./clock-check.ts";
import { judgeConfiguration } from "./configuration-check.ts";
import { judgeContracts, type ContractsFacts } from "./contracts-check.ts";
import type { Finding, Gathered } from "./finding.ts";
import { judgeHub, type HubFacts } from "./hub-check.ts";
import { judgeHubEndpoints } from "./hub-endpoints-check.ts";
import {
  judgeNonEvmAccount,
  judgeNonEvmEndpoints,
  type NonEvmEndpoint,
  type NonEvmFacts,
} from "./non-evm-check.ts";
import { judgeNotices, judgeSigner } from "./notices-check.ts";
import { judgeOracles, type OracleFacts } from "./oracles-check.ts";
import { judgePostgres, type PostgresFacts } from "./postgres-check.ts";
import { judgePrices, type ExpectedPrices, type PriceFacts } from "./prices-check.ts";
import { judgeRedis, redisFactsOf, type RedisFacts } from "./redis-check.ts";

const NOW_MS = 1_800_000_000_000;
const account = (byte: string) => `0x${byte.repeat(20)}` as const;
const [SOLVER, ALLOCATOR, OWNER, ROUTER, HUB] = ["51", "a1", "0a", "c2", "b1"].map(account) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const facts = <T>(value: T): Gathered<T> => ({ kind: "facts", facts: value });
const down = { kind: "unreachable", reason: "ECONNREFUSED" } as const;

const postgres = (changed: Partial<PostgresFacts> = {}) =>
  judgePostgres(
    "db:5432",
    facts({
      versionNumber: 180_001,
      isInRecovery: false,
      synchronousCommit: "on",
      synchronousStandbys: "",
      standbys: 0,
      fsync: true,
      fullPageWrites: true,
      maxConnections: 97,
      missingMigrations: [],
      sessionProblem: undefined,
      failingWebhooks: 0,
      ...changed,
    }),
    40,
  );

const healthyRedis: RedisFacts = {
  version: "7.4.1",
  evictionPolicy: "noeviction",
  usedBytes: 10,
  maxBytes: 0,
  role: "master",
  isCluster: false,
  replicas: 1,
};
const redis = (changed: Partial<RedisFacts> = {}) =>
  judgeRedis({ host: "redis:6379", gathered: facts({ ...healthyRedis, ...changed }) });

const endpoint = (changed: Partial<EndpointFacts> = {}, host = "one.test"): Endpoint => ({
  host,
  gathered: facts({
    chainId: 8453n,
    height: 1_000,
    blockAtMs: NOW_MS - 2_000,
    isSyncing: false,
    ...changed,
  }),
});
const chain = (endpoints: readonly Endpoint[] = [endpoint()]) =>
  judgeChain(
    {
      name: "base",
      chainId: 8453,
      blockTimeSeconds: 2,
      quorum: Math.floor(endpoints.length / 2) + 1,
      isQuiet: false,
    },
    endpoints,
    NOW_MS,
  );

const solana = { name: "solana", nativeSymbol: "SOL", blockTimeSeconds: 0.4 };
const nonEvm = (gathered: Gathered<NonEvmFacts>) => judgeNonEvmAccount(solana, gathered);
const nonEvmEndpoint = (head: { position: bigint; number?: bigint }, host = "sol.test"): NonEvmEndpoint => ({
  host,
  gathered: facts({ kind: "right", head }),
});
const atSlot = (number: bigint, host?: string) => nonEvmEndpoint({ position: number, number }, host);
const nonEvmEndpoints = (...endpoints: readonly NonEvmEndpoint[]) =>
  judgeNonEvmEndpoints({ ...solana, quorum: Math.floor(endpoints.length / 2) + 1 }, endpoints);

const USDC = {
  symbol: "USDC",
  address: account("dc"),
  hasCode: true,
  configuredDecimals: 6,
  decimals: 6 as number | undefined,
};
const DEPOSITORY = { field: "depository", address: account("d1"), hasCode: true };
const contracts = (changed: Partial<ContractsFacts> = {}) =>
  judgeContracts(
    {
      contracts: [DEPOSITORY],
      depositoryOwner: OWNER,
      isOwnerContract: true,
      depositoryAllocator: ALLOCATOR,
      receiverSolver: SOLVER,
      proxyRouter: ROUTER,
      factoryProblem: undefined,
      tokens: [USDC],
      ...changed,
    },
    { chain: "base", isLocal: false, solver: SOLVER, ownAccounts: [SOLVER], router: ROUTER },
  );

const ETHER = 10n ** 18n;
const solverAccount = { role: "solver", address: SOLVER, nativeWei: ETHER } as const;
const token = {
  symbol: "USDC",
  address: USDC.address,
  decimals: 6,
  balance: 5_000_000n,
  allowance: 2n ** 256n - 1n,
};
const accounts = (changed: Partial<AccountsFacts> = {}) =>
  judgeAccounts(
    { chain: "base", nativeSymbol: "ETH", approvalProxy: account("c3") },
    { gasPriceWei: 1_000_000_000n, accounts: [solverAccount], tokens: [token], ...changed },
  );

const [ONE, TWO, THREE] = [account("01"), account("02"), account("03")];
const hub = (changed: Partial<HubFacts> = {}, oracleSigners?: readonly `0x${string}`[]) =>
  judgeHub(
    { host: "hub.test", hubAddress: HUB, oracleSigners, oracles: 3 },
    facts({
      contracts: [{ field: "hubAddress", address: HUB, hasCode: true }],
      oracleHub: HUB,
      canOracleMint: true,
      isMultisigOracle: true,
      signers: [ONE, TWO, THREE],
      threshold: 2,
      solverWei: ETHER,
      ...changed,
    }),
  );

const hubEndpoint = (changed: Partial<EndpointFacts> = {}, host = "hub.test") =>
  endpoint({ chainId: 99n, ...changed }, host);
const hubEndpoints = (...endpoints: readonly Endpoint[]) =>
  judgeHubEndpoints({ chainId: 99, quorum: Math.floor(endpoints.length / 2) + 1 }, endpoints);

type Status = Extract<OracleFacts, { kind: "status" }>["status"];
const status: Status = {
  signer: ONE,
  shadow: false,
  quorum: { threshold: 2, signers: 3 },
  hub: { id: "hub", chainId: 99, status: "reachable", multisig: { isSigner: true, threshold: 2 } },
  chains: [{ id: "base", vmType: "ethereum-vm", status: "reachable", lastAnswerSecondsAgo: 1 }],
  checkedSecondsAgo: 0,
};
const oracles = (gathered: Gathered<OracleFacts>) =>
  judgeOracles([{ host: "oracle.test", gathered }], { hubChainId: 99, chains: ["base"] });
const oracle = (changed: Partial<Status> = {}) =>
  oracles(facts({ kind: "status", status: { ...status, ...changed } }));

const expectedPrices: ExpectedPrices = {
  source: "coingecko",
  isLocal: false,
  maxAgeMs: 300_000,
  volatileMaxAgeMs: 90_000,
  currencies: [{ priceId: "ethereum", isStable: false, isHeld: true }],
};
const prices = (
  changed: Partial<PriceFacts> = {},
  expected: Partial<ExpectedPrices> = {},
): readonly Finding[] =>
  judgePrices(
    { ...expectedPrices, ...expected },
    facts({ prices: new Map([["ethereum", { asOfMs: NOW_MS - 10_000 }]]), secondFaults: [], ...changed }),
    NOW_MS,
  );

const clock = (...offsets: readonly number[]) =>
  judgeClock(
    offsets.map((offset, index) => ({ source: `clock ${index}`, theirsMs: NOW_MS + offset, oursMs: NOW_MS })),
  );

const healthy = [
  ["configuration", judgeConfiguration({ problems: [], warnings: [] })],
  ["Postgres", postgres()],
  ["Postgres with a synchronous standby", postgres({ standbys: 1, synchronousStandbys: "*" })],
  ["Redis", redis()],
  ["chain", chain([endpoint(), endpoint({ height: 998 }, "two.test")])],
  ["contracts", contracts()],
  ["accounts", accounts()],
  ["non-EVM chain", nonEvmEndpoints(atSlot(1_000n), atSlot(925n, "two.test"))],
  ["account on a non-EVM chain", nonEvm(facts({ nativeBalance: 1n, addressProblem: undefined }))],
  ["hub", hub()],
  ["list of hub endpoints", hubEndpoints(hubEndpoint(), hubEndpoint({ height: 960 }, "two.test"))],
  ["hub with chosen signers", hub({}, [ONE, TWO])],
  ["oracle", oracle()],
  ["prices", prices()],
  ["notifications", judgeNotices([{ host: "hooks.test", gathered: facts(true) }], false)],
  ["clock", clock(1_000, -2_000, 400)],
] as const;

test.each(healthy)("finds nothing wrong with a healthy %s", (_name, findings) => {
  expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(findings).not.toHaveLength(0);
});

/** The problem; the findings; the check that reports it; its state; part of its text. */
const faults: readonly (readonly [string, readonly Finding[], string, Finding["state"], string])[] = [
  [
    "an invalid setting",
    judgeConfiguration({ problems: ["HTTP_PORT must be"], warnings: [] }),
    "configuration",
    "problem",
    "HTTP_PORT",
  ],
  [
    "a setting with a warning",
    judgeConfiguration({ problems: [], warnings: ["SPENDING_LIMITS is not set"] }),
    "configuration",
    "warning",
    "SPENDING_LIMITS",
  ],
  ["Postgres is down", judgePostgres("db", down, 40), "postgres.reachable", "problem", "ECONNREFUSED"],
  ["Postgres is too old", postgres({ versionNumber: 140_009 }), "postgres.version", "problem", "Postgres 14"],
  [
    "Postgres is older than tested",
    postgres({ versionNumber: 170_002 }),
    "postgres.version",
    "warning",
    "17",
  ],
  ["Postgres is a standby", postgres({ isInRecovery: true }), "postgres.primary", "problem", "standby"],
  [
    "a pooler shares sessions",
    postgres({ sessionProblem: "two connections share a session" }),
    "postgres.sessions",
    "problem",
    "share a session",
  ],
  [
    "synchronous_commit is off",
    postgres({ synchronousCommit: "off" }),
    "postgres.synchronous-commit",
    "problem",
    "off",
  ],
  [
    "standbys replicate asynchronously",
    postgres({ standbys: 2 }),
    "postgres.replication",
    "warning",
    "2 standbys",
  ],
  [
    "commits do not wait for the standby",
    postgres({ standbys: 1, synchronousStandbys: "*", synchronousCommit: "local" }),
    "postgres.replication",
    "warning",
    "local",
  ],
  [
    "the synchronous standby is unreachable",
    postgres({ synchronousStandbys: "one" }),
    "postgres.replication",
    "problem",
    "no standby is connected",
  ],
  ["fsync is off", postgres({ fsync: false }), "postgres.durability", "problem", "fsync is off"],
  [
    "too few connections",
    postgres({ maxConnections: 17 }),
    "postgres.connections",
    "problem",
    "17 connections",
  ],
  [
    "a migration is missing",
    postgres({ missingMigrations: ["0008_policy"] }),
    "postgres.migrations",
    "problem",
    "0008_policy",
  ],
  ["webhooks fail", postgres({ failingWebhooks: 3 }), "webhooks", "warning", "3 webhook endpoints"],
  [
    "Redis is down",
    judgeRedis({ host: "redis", gathered: down }),
    "redis.reachable",
    "problem",
    "ECONNREFUSED",
  ],
  ["Redis is too old", redis({ version: "6.2.14" }), "redis.version", "problem", "6.2.14"],
  ["Redis evicts keys", redis({ evictionPolicy: "allkeys-lru" }), "redis.eviction", "problem", "allkeys-lru"],
  ["Redis is almost full", redis({ usedBytes: 75, maxBytes: 100 }), "redis.memory", "warning", "75 %"],
  ["Redis is a replica", redis({ role: "slave" }), "redis.primary", "problem", "replica"],
  ["Redis is a cluster", redis({ isCluster: true }), "redis.cluster", "problem", "cluster mode"],
  [
    "an endpoint is down",
    chain([{ host: "one.test", gathered: down }]),
    "chain.reachable",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "too few endpoints for the quorum",
    chain([endpoint(), { host: "two.test", gathered: down }]),
    "chain.quorum",
    "problem",
    "1 of 2 endpoints",
  ],
  [
    "an endpoint serves another chain",
    chain([endpoint({ chainId: 1n })]),
    "chain.chain-id",
    "problem",
    "chain 1, expected 8453",
  ],
  ["a node is syncing", chain([endpoint({ isSyncing: true })]), "chain.syncing", "problem", "syncing"],
  [
    "a node lags by time",
    chain([endpoint({ blockAtMs: NOW_MS - 90_000 })]),
    "chain.head",
    "problem",
    "90 seconds old",
  ],
  [
    "a node lags behind another",
    chain([endpoint(), endpoint({ height: 900 }, "two.test")]),
    "chain.lag",
    "warning",
    "100 behind",
  ],
  [
    "an endpoint of a non-EVM chain is down",
    nonEvmEndpoints(atSlot(1n), atSlot(1n), { host: "two.test", gathered: down }),
    "chain.reachable",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "one of two endpoints of a non-EVM chain is down",
    nonEvmEndpoints(atSlot(1n), { host: "two.test", gathered: down }),
    "chain.quorum",
    "problem",
    "1 of 2 endpoints are usable, and 2 must agree",
  ],
  [
    "an endpoint of a non-EVM chain serves another network",
    nonEvmEndpoints(atSlot(1n), {
      host: "two.test",
      gathered: facts({ kind: "wrongNetwork", reason: "the node serves a different cluster" }),
    }),
    "chain.network",
    "problem",
    "different cluster",
  ],
  [
    "an endpoint of a non-EVM chain is behind",
    nonEvmEndpoints(atSlot(1_000n), atSlot(800n, "two.test")),
    "chain.lag",
    "warning",
    "block 800 is 200 behind",
  ],
  [
    "two of three endpoints of a non-EVM chain are behind",
    nonEvmEndpoints(atSlot(1_000n), atSlot(924n), atSlot(924n)),
    "chain.quorum",
    "warning",
    "1 of 3 endpoints are usable, and 2 must agree",
  ],
  [
    "the clock of an endpoint of a non-EVM chain is behind",
    nonEvmEndpoints(nonEvmEndpoint({ position: 100_000n }), nonEvmEndpoint({ position: 1_000n }, "two.test")),
    "chain.lag",
    "warning",
    "99 seconds behind",
  ],
  [
    "the balances on a non-EVM chain cannot be read",
    nonEvm(down),
    "account.balance",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "the solver has nothing on a non-EVM chain",
    nonEvm(facts({ nativeBalance: 0n, addressProblem: undefined })),
    "account.balance",
    "warning",
    "no SOL",
  ],
  [
    "the program of deposit addresses is another one",
    nonEvm(
      facts({
        nativeBalance: 1n,
        addressProblem: "GDfY is not the deposit address program of this release",
      }),
    ),
    "contract.factory",
    "problem",
    "GDfY",
  ],
  [
    "a contract is missing",
    contracts({ contracts: [{ ...DEPOSITORY, hasCode: false }] }),
    "contract.code",
    "problem",
    DEPOSITORY.address,
  ],
  [
    "the depository is another contract",
    contracts({ depositoryOwner: undefined }),
    "contract.owner",
    "problem",
    "no owner",
  ],
  [
    "the solver owns the depository",
    contracts({ depositoryOwner: SOLVER }),
    "contract.owner",
    "problem",
    SOLVER,
  ],
  [
    "an account owns the depository",
    contracts({ isOwnerContract: false }),
    "contract.owner",
    "warning",
    OWNER,
  ],
  [
    "the solver is the allocator",
    contracts({ depositoryAllocator: SOLVER }),
    "contract.allocator",
    "problem",
    SOLVER,
  ],
  [
    "the receiver pays another solver",
    contracts({ receiverSolver: OWNER }),
    "contract.receiver",
    "problem",
    OWNER,
  ],
  [
    "the approval proxy has another router",
    contracts({ proxyRouter: OWNER }),
    "contract.approval-proxy",
    "problem",
    OWNER,
  ],
  [
    "the factory is unsafe",
    contracts({ factoryProblem: { kind: "unsafe", message: "wrong depository" } }),
    "contract.factory",
    "problem",
    "wrong depository",
  ],
  [
    "the factory has another operator",
    contracts({ factoryProblem: { kind: "unusable", message: "wrong operator" } }),
    "contract.factory",
    "warning",
    "wrong operator",
  ],
  [
    "a token is missing",
    contracts({ tokens: [{ ...USDC, hasCode: false }] }),
    "token",
    "problem",
    USDC.address,
  ],
  [
    "a token has other decimals",
    contracts({ tokens: [{ ...USDC, decimals: 18 }] }),
    "token",
    "problem",
    "18 decimals, but 6 are configured",
  ],
  [
    "the solver has no gas",
    accounts({ accounts: [{ ...solverAccount, nativeWei: 0n }] }),
    "account.balance",
    "problem",
    "no ETH",
  ],
  [
    "the executor has no gas",
    accounts({ accounts: [{ ...solverAccount, role: "executor", nativeWei: 0n }] }),
    "account.balance",
    "problem",
    "no ETH",
  ],
  [
    "the solver is low on gas",
    accounts({ accounts: [{ ...solverAccount, nativeWei: 3_000_000_000_000_000n }] }),
    "account.balance",
    "warning",
    "0.003 ETH",
  ],
  [
    "the solver has none of a token",
    accounts({ tokens: [{ ...token, balance: 0n }] }),
    "account.inventory",
    "warning",
    "no USDC",
  ],
  [
    "the solver has not approved a token",
    accounts({ tokens: [{ ...token, allowance: 0n }] }),
    "account.allowance",
    "warning",
    "0 USDC",
  ],
  [
    "an endpoint of the hub is down",
    hubEndpoints(hubEndpoint(), hubEndpoint(), { host: "two.test", gathered: down }),
    "hub.reachable",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "too few endpoints of the hub for the quorum",
    hubEndpoints(hubEndpoint(), { host: "two.test", gathered: down }),
    "hub.rpc-quorum",
    "problem",
    "1 of 2 endpoints",
  ],
  [
    "an endpoint of the hub serves another chain",
    hubEndpoints(hubEndpoint(), hubEndpoint({ chainId: 1n }, "two.test")),
    "hub.chain-id",
    "problem",
    "chain 1, expected 99",
  ],
  [
    "an endpoint of the hub is syncing",
    hubEndpoints(hubEndpoint({ isSyncing: true })),
    "hub.syncing",
    "problem",
    "syncing",
  ],
  [
    "an endpoint of the hub is behind",
    hubEndpoints(hubEndpoint(), hubEndpoint({ height: 900 }, "two.test")),
    "hub.lag",
    "warning",
    "100 behind",
  ],
  [
    "the contracts of the hub cannot be read",
    judgeHub({ host: "hub.test", hubAddress: HUB, oracleSigners: undefined, oracles: 1 }, down),
    "hub.contracts",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "a hub contract is missing",
    hub({ contracts: [{ field: "allocatorAddress", address: ONE, hasCode: false }] }),
    "hub.code",
    "problem",
    ONE,
  ],
  ["the oracle contract has another hub", hub({ oracleHub: ONE }), "hub.roles", "problem", ONE],
  [
    "the multisig lost its role",
    hub({ isMultisigOracle: false }),
    "hub.roles",
    "problem",
    "does not accept the multisig",
  ],
  [
    "the quorum differs from the hub's",
    hub({ threshold: 3 }, [ONE, TWO]),
    "hub.quorum",
    "problem",
    "2 signers count, and the hub needs 3",
  ],
  [
    "a signer is unknown to the hub",
    hub({}, [ONE, TWO, account("09")]),
    "hub.signer",
    "warning",
    "not a signer",
  ],
  ["the solver has no gas on the hub", hub({ solverWei: 0n }), "hub.balance", "problem", "no native token"],
  [
    "no oracle is configured",
    judgeOracles([], { hubChainId: undefined, chains: [] }),
    "oracle",
    "warning",
    "no oracle",
  ],
  ["an oracle is down", oracles(down), "oracle.reachable", "problem", "ECONNREFUSED"],
  [
    "an oracle refuses the key",
    oracles(facts({ kind: "refused", httpStatus: 401 })),
    "oracle.access",
    "problem",
    "401",
  ],
  ["an oracle is in shadow mode", oracle({ shadow: true }), "oracle.shadow", "problem", "shadow"],
  [
    "an oracle has another hub",
    oracle({ hub: { ...status.hub, chainId: 7 } }),
    "oracle.hub",
    "problem",
    "chain 7, expected 99",
  ],
  [
    "an oracle is not a signer",
    oracle({ hub: { ...status.hub, multisig: { isSigner: false, threshold: 2 } } }),
    "oracle.signer",
    "problem",
    "not a signer",
  ],
  [
    "an oracle stops below the hub's threshold",
    oracle({ quorum: { threshold: 1, signers: 3 } }),
    "oracle.quorum",
    "problem",
    "stops at 1",
  ],
  ["an oracle does not attest a chain", oracle({ chains: [] }), "oracle.chain", "problem", "base"],
  [
    "prices are fixed in production",
    prices({}, { source: "fixed" }),
    "price.source",
    "warning",
    "PRICE_SOURCE is fixed",
  ],
  [
    "the price source is down",
    judgePrices(expectedPrices, down, NOW_MS),
    "price.source",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "the second source is down",
    prices({ secondFaults: ["HTTP 500"] }),
    "price.second-source",
    "problem",
    "HTTP 500",
  ],
  ["a held currency has no price", prices({ prices: new Map() }), "price", "problem", "ethereum"],
  [
    "a price is old",
    prices({ prices: new Map([["ethereum", { asOfMs: NOW_MS - 120_000 }]]) }),
    "price",
    "warning",
    "120 seconds old",
  ],
  [
    "the sources disagree",
    prices({ prices: new Map([["ethereum", { asOfMs: NOW_MS, isDisputed: true }]]) }),
    "price",
    "warning",
    "disagree",
  ],
  ["no one is notified", judgeNotices([], false), "notices", "warning", "NOTIFY_URLS is not set"],
  [
    "a webhook host is down",
    judgeNotices([{ host: "hooks.test", gathered: down }], false),
    "notices",
    "problem",
    "ECONNREFUSED",
  ],
  [
    "the signer is down",
    judgeSigner({ host: "ORDER_SIGNER_URL", gathered: down }),
    "signer",
    "problem",
    "ECONNREFUSED",
  ],
  ["this clock is 30 seconds behind", clock(30_000, 30_100), "clock", "problem", "30 seconds behind"],
  ["this clock is 30 seconds ahead", clock(-30_000, -30_100, 0), "clock", "problem", "30 seconds ahead"],
  ["one other clock is wrong", clock(0, 100, 30_000), "clock", "warning", "clock 2"],
];

test.each(faults)("finds that %s", (_name, findings, check, state, text) => {
  const fault = findings.find((finding) => finding.check === check && finding.state === state);
  expect(fault?.found).toContain(text);
  // Every fault says why it matters and what corrects it.
  expect(fault?.why).toBeTruthy();
  expect(fault?.remedy).toBeTruthy();
});

test("exits with 1 if there is a problem, and with 0 if there are only warnings", () => {
  const warnings = postgres({ standbys: 2 });
  expect(exitCodeOf(warnings)).toBe(0);
  expect(exitCodeOf([...warnings, ...redis({ role: "slave" })])).toBe(1);
});

test("does not count a lagging endpoint as usable", () => {
  const [quorum] = nonEvmEndpoints(atSlot(1_000n), atSlot(924n), atSlot(1_000n)).filter(
    ({ check }) => check === "chain.quorum",
  );
  expect(quorum).toMatchObject({ state: "ok", found: "2 of 3 endpoints are usable, 2 needed" });
});

test("does not judge the answers of a missing contract", () => {
  const missing = { contracts: [{ ...DEPOSITORY, hasCode: false }], depositoryOwner: undefined };
  expect(contracts(missing).filter(({ state }) => state === "problem")).toHaveLength(1);
});

test("reads the answer of Redis and of Valkey", () => {
  const info =
    "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\n# Memory\r\nused_memory:70\r\nmaxmemory:100\r\nmaxmemory_policy:volatile-lru\r\nrole:master\r\nconnected_slaves:2\r\ncluster_enabled:0\r\n";
  expect(redisFactsOf(info)).toEqual({
    version: "7.2.4",
    evictionPolicy: "volatile-lru",
    usedBytes: 70,
    maxBytes: 100,
    role: "master",
    isCluster: false,
    replicas: 2,
  });
});
