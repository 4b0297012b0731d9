import { localPrivateKey } from "@causeway/config";
import type { Address, Hex, RequestTerms } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { createLocalClient, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { deployLocal, fundLocal, localAccount, localDeployment } from "@causeway/localnet";
import { createLifecycle, createLogger, createMetrics } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { encodeAbiParameters, padHex, toHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { readTokenTraffic } from "../../../apps/api/src/markets/tokens/token-traffic.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { readApiConfig } from "../../../apps/api/src/config/config.ts";
import { startApi } from "../../../apps/api/src/process/api.ts";
import { createContext } from "../../../apps/api/src/process/context.ts";
import { buildServer } from "../../../apps/api/src/process/server.ts";
import { transition } from "../../../apps/api/src/requests/transition.ts";
import { noAppBalances } from "../../fakes/no-app-balances.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { answeringCode, endlessCode, longWindedCode } from "../../support/answering-code.ts";
import { createTestDatabase, testRedis, type TestDatabase } from "../../support/database.ts";
import { someAddress, someHash, someTerms } from "../../support/terms.ts";
import { readChainHealth } from "../../../apps/api/src/discovery/chain-health.ts";
import { chainLiquidity } from "../../../apps/api/src/discovery/chain-liquidity.ts";
import { tokenPrice } from "../../../apps/api/src/discovery/token-price.ts";
import type { RouteContext } from "../../../apps/api/src/process/index.route.ts";
import { discoveryContract } from "../../contracts/discovery-routes.ts";
import { fakeDiscovery } from "../../fakes/discovery.ts";

/** Local Alder has a node. The node of Local Birch is unavailable. */
const [ALDER, BIRCH] = [72_100_117, 72_100_228];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.now();

const word = (value: bigint): Hex => encodeAbiParameters([{ type: "uint256" }], [value]);
const text = (value: string): Hex => encodeAbiParameters([{ type: "string" }], [value]);
const bytes32 = (value: string): Hex => padHex(toHex(value), { dir: "right", size: 32 });
const erc20 = (decimals: Hex, symbol: Hex, name: Hex): Hex =>
  answeringCode({
    "0x313ce567": decimals,
    "0x70a08231": word(0n),
    "0x95d89b41": symbol,
    "0x06fdde03": name,
  });

/** A token that is deployed but not configured. */
const unlisted = {
  usual: { at: someAddress(), code: erc20(word(9n), text("UNL"), text("Unlisted Token")) },
  old: { at: someAddress(), code: erc20(word(18n), bytes32("MKR"), bytes32("Maker")) },
  disguised: { at: someAddress(), code: erc20(word(6n), text("US\u202EDC\n"), text("USD\u0000Coin")) },
  uncountable: { at: someAddress(), code: erc20(word(77n), text("BIG"), text("Too many decimals")) },
  priceFeed: {
    at: someAddress(),
    code: answeringCode({ "0x313ce567": word(8n), "0x95d89b41": text("ETH / USD") }),
  },
  endless: { at: someAddress(), code: endlessCode },
  longWinded: { at: someAddress(), code: longWindedCode },
};
const LISTED = someAddress();

let database: TestDatabase;
let node: RunningAnvil;
let app: FastifyInstance;
let routes: RouteContext;
let folder: string;
let closeAll: () => Promise<unknown>;
const pools: { end(): Promise<void> }[] = [];

beforeAll(async () => {
  [database, node, folder] = await Promise.all([
    createTestDatabase(),
    startAnvil({ chainId: ALDER }),
    mkdtemp(join(tmpdir(), "token-list-")),
  ]);
  await deployLocal(node);
  const client = createLocalClient(node);
  const usdc = localDeployment.tokens[0]?.address ?? NATIVE_CURRENCY;
  await Promise.all(
    Object.values(unlisted).map(({ at, code }) => client.setCode({ address: at, bytecode: code })),
  );
  await fundLocal(node, [
    {
      address: localAccount("solver").address,
      nativeWei: 10n ** 19n,
      tokens: [{ token: usdc, amount: 5_000_000n }],
    },
    { address: localAccount("user").address, tokens: [{ token: usdc, amount: 1_500_000n }] },
  ]);
  const list = join(folder, "list.json");
  const listed = { chainId: ALDER, address: LISTED, decimals: 8, symbol: "LIST", name: "A listed token" };
  writeFileSync(
    list,
    JSON.stringify({
      name: "Test",
      timestamp: "2026-01-01T00:00:00+00:00",
      version: { major: 1, minor: 0, patch: 0 },
      tokens: [listed],
    }),
  );
  await createTraffic();
  const config = readApiConfig({
    ENVIRONMENT: "local",
    CONFIGS_DIR: join(resolve(import.meta.dirname, "../../.."), "configs"),
    VAULT_SECRETS_DIR: "/nonexistent",
    DATABASE_URL: database.url,
    REDIS_URL: testRedis().url,
    QUEUE_PREFIX: testRedis().prefix,
    SOLVER_PRIVATE_KEY: localPrivateKey("solver", 0),
    PRICE_SOURCE: "fixed",
    LOCAL_A_RPC_URL: node.url,
    LOCAL_B_RPC_URL: "http://127.0.0.1:1",
    RATE_LIMITS: "off",
    TOKEN_LISTS: `${list},/no/such/list.json`,
  });
  const log = createLogger({ name: "test", level: "silent" });
  const services = { log, metrics: createMetrics("test") };
  const lifecycle = createLifecycle(log, 10_000);
  const context = await createContext(config, { ...services, answersClients: true }, lifecycle);
  routes = await startApi(context);
  app = await buildServer(
    { ...services, ...routes },
    { interactiveDocumentation: false, checkResponses: true },
  );
  closeAll = async () => {
    await app.close();
    return await lifecycle.close();
  };
}, 60_000);
afterAll(async () => {
  await closeAll();
  await Promise.all(pools.map((pool) => pool.end()));
  await Promise.all([database.drop(), node.stop(), rm(folder, { recursive: true })]);
});

discoveryContract("fake discovery", async () => ({ routes: fakeDiscovery(), chainId: 11 }));
discoveryContract("discovery of the API", async () => ({
  routes: {
    searchCurrencies: routes.searchCurrencies,
    chainLiquidity: async (chainId) => await routes.call(chainLiquidity, chainId),
    readChainHealth: async (chainId) => await routes.call(readChainHealth, chainId),
    tokenPrice: async (chainId, address) => await routes.call(tokenPrice, chainId, address),
  },
  chainId: ALDER,
}));

const get = async (url: string) => {
  const answer = await app.inject({ url });
  return { status: answer.statusCode, body: answer.json() };
};
const find = async (payload: object) => {
  const answer = await app.inject({ method: "POST", url: "/currencies/v2", payload });
  return { status: answer.statusCode, body: answer.json() };
};
const findToken = async (address: Address) =>
  await find({ address, chainIds: [ALDER], useExternalSearch: true });

/**
 * Stores requests that were paid hours ago. Each moved 100 USD from the first currency to the second. Returns
 * a function that reads them.
 */
async function createTraffic(): Promise<void> {
  const pool = createPool(database.url, { max: 4, statementTimeoutMs: 10_000, applicationName: "test" });
  pools.push(pool);
  const insert = groupedQuoteInserts(sqlOn(pool));
  const events = recordedEvents();
  const uow = postgresUnitOfWork(pool, events);
  const services = { ...noAppBalances, events, clock: { nowMs: () => NOW_MS } };
  const insertQuote = async (currency: Address, hoursAgo: number): Promise<RequestTerms> => {
    const terms = someTerms({
      origin: { chainId: ALDER, currency, amount: 100n },
      destination: {
        chainId: BIRCH,
        currency: NATIVE_CURRENCY,
        expectedAmount: 99n,
        minimumAmount: 98n,
      },
      createdAtMs: NOW_MS - hoursAgo * HOUR_MS,
      fillDeadlineMs: NOW_MS + DAY_MS,
    });
    await insert(terms);
    return terms;
  };
  const insertPaid = async (currency: Address, hoursAgo: number): Promise<string> => {
    const { requestId, orderId } = await insertQuote(currency, hoursAgo);
    await uow.run(async (tx) => {
      const [stored] = await tx.deposits.record(ALDER, [
        {
          txHash: someHash(),
          ordinal: 0,
          blockNumber: 10n,
          blockHash: someHash(),
          confirmAtBlock: 12n,
          depositor: someAddress(),
          sender: someAddress(),
          currency,
          amount: 100n,
          orderId,
          requestId,
          seenAtMs: NOW_MS,
          valueUsd: 0n,
        },
      ]);
      if (stored === undefined) throw new Error("the deposit was already stored");
      const record = await tx.requests.lock(requestId);
      if (record === undefined) throw new Error("invariant violated: request is not stored");
      const seen = {
        kind: "depositSeen",
        depositId: stored.id,
        verdict: { kind: "match" },
        confirmed: true,
        late: false,
      };
      await transition(services, tx, record, seen as never);
    });
    return requestId;
  };
  const [usdc, tst] = localDeployment.tokens.map(({ address }) => address.toLowerCase() as Address);
  if (usdc === undefined || tst === undefined) throw new Error("the local chains have no USDC or no TST");
  // The transaction of this request was reported, but not mined.
  const reported = await insertPaid(usdc, 1);
  await pool.query("update request_history set in_block = null where request_id = $1", [reported]);
  await insertPaid(LISTED, 1);
  await insertPaid(LISTED, 2);
  await insertPaid(usdc, 3);
  for (const hours of [30, 50, 70]) await insertPaid(tst, hours);
  // Older requests and unpaid quotes do not count.
  for (let n = 0; n < 5; n++) await insertPaid(someAddress(), 8 * 24);
  for (let n = 0; n < 5; n++) await insertQuote(usdc, 1);
}

test("an unlisted token has the metadata that it reports on its chain", async () => {
  const { at } = unlisted.usual;
  expect(await find({ address: at, chainIds: [ALDER] })).toEqual({ status: 200, body: [] });
  expect(await findToken(at)).toEqual({
    status: 200,
    body: [
      {
        id: `${ALDER}:${at}`,
        chainId: ALDER,
        address: at,
        symbol: "UNL",
        name: "Unlisted Token",
        decimals: 9,
        vmType: "evm",
        metadata: { logoURI: "", verified: false, isNative: false },
      },
    ],
  });
  expect((await findToken(unlisted.old.at)).body).toMatchObject([
    { symbol: "MKR", name: "Maker", decimals: 18 },
  ]);
});

test("a token cannot pass itself off as another token", async () => {
  const { body } = await findToken(unlisted.disguised.at);
  expect(body).toMatchObject([{ symbol: "US DC", name: "USD Coin", metadata: { verified: false } }]);
  expect(body[0].id).not.toBe("usdc");
});

test("an address that does not answer like a token is not found, and does not affect others", async () => {
  const notTokens = [unlisted.uncountable, unlisted.priceFeed, unlisted.endless].map(({ at }) => at);
  const addresses = [...notTokens, someAddress(), unlisted.usual.at];
  const answers = await Promise.all(addresses.map(findToken));
  expect(answers.map(({ status, body }) => [status, body.length])).toEqual([
    ...notTokens.map(() => [200, 0]),
    [200, 0],
    [200, 1],
  ]);
});

test("a token whose name is a quarter of a megabyte is shown by its address", async () => {
  const { at } = unlisted.longWinded;
  expect((await findToken(at)).body).toMatchObject([
    { symbol: `${at.slice(0, 6)}…${at.slice(-4)}`, decimals: 0 },
  ]);
});

test("an unavailable chain does not mean that the token does not exist", async () => {
  const { at } = unlisted.usual;
  expect(await find({ address: at, chainIds: [BIRCH], useExternalSearch: true })).toMatchObject({
    status: 503,
    body: { errorCode: "RPC_HTTP_ERROR", errorData: { chainId: BIRCH, address: at } },
  });
  // A search on all chains finds the token on the chain whose node answers.
  expect((await find({ address: at, useExternalSearch: true })).body).toMatchObject([{ chainId: ALDER }]);
});

test("a token list marks its tokens as verified even if another list cannot be read", async () => {
  expect((await find({ term: "list" })).body).toMatchObject([
    { symbol: "LIST", address: LISTED, decimals: 8, metadata: { verified: true } },
  ]);
});

test("returns prices of the configured source, and refuses a token without one with the reason", async () => {
  const price = async (address: Address) =>
    await get(`/currencies/token/price?chainId=${ALDER}&address=${address}`);
  const native = await price(NATIVE_CURRENCY);
  expect(native.status).toBe(200);
  expect(native.body.price).toBeGreaterThan(0);
  expect(await price(unlisted.endless.at)).toMatchObject({
    status: 400,
    body: {
      error: expect.stringContaining("address is not a token contract on ") as string,
      errorCode: "UNSUPPORTED_CURRENCY",
    },
  });
  expect(await price(unlisted.usual.at)).toMatchObject({
    status: 400,
    body: { error: "No price of UNL available", errorCode: "UNSUPPORTED_CURRENCY" },
  });
});

test("reports the solver's liquidity on a chain and the health of its node", async () => {
  const { body } = await get(`/chains/liquidity?chainId=${ALDER}`);
  expect(body.liquidity).toContainEqual(
    expect.objectContaining({ currencyId: "usdc", balance: "5000000", amountUsd: "5.000000" }),
  );
  expect(body.liquidity).toContainEqual(expect.objectContaining({ symbol: "ETH", balance: `${10n ** 19n}` }));
  expect((await get(`/chains/health?chainId=${ALDER}`)).body).toMatchObject({
    healthy: true,
    pricesGas: true,
  });
  expect((await get(`/chains/health?chainId=${BIRCH}`)).body).toMatchObject({
    healthy: false,
    blockNumber: null,
  });
  expect(await get(`/chains/liquidity?chainId=${BIRCH}`)).toMatchObject({
    status: 503,
    body: { errorCode: "RPC_HTTP_ERROR" },
  });
});

test("the user's balance in a route's capacity is read from the chain", async () => {
  const { status, body } = await get(
    `/config/v2?originChainId=${ALDER}&destinationChainId=${ALDER}&currency=usdc&user=${localAccount("user").address}`,
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({ enabled: false, user: { balance: "1500000", maxBridgeAmount: "0" } });
});

test("trending currencies are those of this instance's paid requests", async () => {
  const trending = async (query = "") =>
    (await get(`/currencies/trending?limit=5${query}`)).body.map(
      ({ symbol, chainId }: { symbol: string; chainId: number }) =>
        `${symbol}@${chainId === ALDER ? "Alder" : "Birch"}`,
    );
  await expect.poll(() => trending()).toContain("LIST@Alder");
  expect(await trending()).toEqual(["ETH@Birch", "LIST@Alder", "USDC@Alder", "TST@Alder", "ETH@Alder"]);
  expect(await trending(`&chainId=${BIRCH}`)).toContain("ETH@Birch");
  const [pool] = pools as [ReturnType<typeof createPool>];
  const rows = await readTokenTraffic(sqlOn(pool), NOW_MS - 7 * DAY_MS, NOW_MS - DAY_MS);
  const usd = (whole: number) => BigInt(whole) * 1_000_000n;
  expect(rows).toHaveLength(4);
  expect(rows[0]).toEqual({
    chainId: BIRCH,
    address: NATIVE_CURRENCY,
    day: { requests: 3, microUsd: usd(300) },
    week: { requests: 6, microUsd: usd(600) },
  });
  expect(rows.map(({ day, week }) => [day.requests, week.requests])).toEqual([
    [3, 6],
    [2, 2],
    [1, 1],
    [0, 3],
  ]);
  expect(rows[3]).toMatchObject({
    day: { requests: 0, microUsd: 0n },
    week: { requests: 3, microUsd: usd(300) },
  });
});
