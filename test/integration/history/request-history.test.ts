import { randomBytes } from "node:crypto";
import {
  quoteAppFees,
  appFeesUsd,
  feeSponsorshipOf,
  feeSponsorshipText,
  type FeeSponsorshipText,
  publicStatus,
  requestStates,
} from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { PastRequestJson } from "@causeway/wire";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresRequestHistory } from "../../../apps/api/src/requests/history/request-history.postgres.ts";
import { accrueAppFees } from "../../../apps/api/src/balances/accrue-app-fees.ts";
import { aServer } from "../../support/route-server.ts";
import { anApiKey, fakeApiKeys } from "../../fakes/api-keys.ts";
import { noAppBalances } from "../../fakes/no-app-balances.ts";
import { seededNumbers } from "../../support/odd-bodies.ts";
import {
  HISTORY_START_MS,
  startHistoryWorld,
  type FilledRequest,
  type HistoryWorld,
  type PaidRequest,
  SIGNED_BYTES,
} from "../../support/history-world.ts";
import { SEARCH_PLACES, createSearchLimiter } from "../../../apps/api/src/requests/history/search-limiter.ts";
import { someAddress, someHash } from "../../support/terms.ts";

const KEY = "cw_live_key";
const KEY_ID = "00112233445566aa";
/**
 * The origin of a page whose publishable key has the same id as the secret key, so the page may request that
 * key's requests.
 */
const PAGE = "https://app.example";
const NATIVE = `0x${"00".repeat(20)}` as const;
const WRAPPED = `0x${"e0".repeat(20)}` as const;
const USDC = `0x${"c0".repeat(20)}` as const;

let world: HistoryWorld;
let app: FastifyInstance;
let filled: FilledRequest;
let refunded: PaidRequest & { readonly refundTx: string };
let waiting: PaidRequest;
let wrapped: FilledRequest;
let keyed: FilledRequest;
let unpaid: RequestTerms;

interface Page {
  readonly requests: ReadonlyArray<{
    readonly id: string;
    readonly status: string;
    readonly [field: string]: unknown;
  }>;
  readonly continuation?: string;
  readonly total?: number;
  readonly totalIsCapped?: boolean;
}

const get = async (path: string, headers: Readonly<Record<string, string>> = { "x-api-key": KEY }) =>
  await app.inject({ method: "GET", url: path, headers });
const list = async (
  query: Readonly<Record<string, string | number>>,
  path = "/requests/v3",
): Promise<Page> => {
  const text = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  );
  const answer = await get(`${path}?${text.toString()}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};
const idsOf = async (query: Readonly<Record<string, string | number>>): Promise<string[]> =>
  (await list({ limit: 50, ...query })).requests.map(({ id }) => id);
const refusal = async (query: string): Promise<{ readonly status: number; readonly message: string }> => {
  const answer = await get(`/requests/v3?${query}`);
  return { status: answer.statusCode, message: answer.json<{ message: string }>().message };
};

beforeAll(async () => {
  world = await startHistoryWorld();
  const { routes, history, clock } = world;
  ({ app } = await aServer({
    ...routes,
    apiKeys: fakeApiKeys({
      [KEY]: anApiKey(),
      other: anApiKey({ id: "ffff", scopes: ["quote"] }),
      page: anApiKey({ id: KEY_ID, scopes: ["quote", "read"], origins: [PAGE] }),
    }),
  }));
  await history.storeNames([
    { chainId: 1, address: NATIVE, asset: "eth", symbol: "ETH", wrapsNative: false },
    { chainId: 1, address: WRAPPED, asset: "eth", symbol: "WETH", wrapsNative: true },
    { chainId: 1, address: USDC, asset: "usdc", symbol: "USDC", wrapsNative: false },
    { chainId: 2, address: USDC, asset: "usdc", symbol: "USDC", wrapsNative: false },
  ]);
  const usdc = {
    origin: { chainId: 1, currency: USDC, amount: 100n },
    destination: { chainId: 2, currency: USDC, expectedAmount: 99n, minimumAmount: 98n },
  };
  filled = await world.aFilledRequest({ ...usdc, inputUsd: 250n * 10n ** 18n }, 101n, 1_000n);
  clock.advance(10_000);
  refunded = await world.aRefundedRequest({ inputUsd: 7n * 10n ** 18n });
  clock.advance(10_000);
  waiting = await world.aPaidRequest({
    recipient: someAddress(),
    origin: { chainId: 5, currency: USDC, amount: 1n },
  });
  clock.advance(10_000);
  wrapped = await world.aFilledRequest({
    origin: { chainId: 1, currency: NATIVE, amount: 5n },
    destination: { chainId: 1, currency: WRAPPED, expectedAmount: 5n, minimumAmount: 5n },
  });
  clock.advance(10_000);
  keyed = await world.aFilledRequest({
    keyId: KEY_ID,
    referrer: 'shop \\u0000\u0000\ud800 "x"',
    input: { currency: USDC, amount: 3n },
  });
  clock.advance(10_000);
  unpaid = await world.aQuotedRequest();
});
afterAll(async () => {
  await app.close();
  await world.stop();
});

test("each filter finds exactly the matching requests", async () => {
  const expectOnly = async (
    query: Readonly<Record<string, string | number>>,
    ...expected: readonly PaidRequest[]
  ) =>
    expect(await idsOf(query), JSON.stringify(query)).toEqual(expected.map(({ terms }) => terms.requestId));
  const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`;

  await expectOnly({}, keyed, wrapped, waiting, refunded, filled);
  await expectOnly({ id: filled.terms.requestId }, filled);
  await expectOnly({ id: `${filled.terms.requestId},${keyed.terms.requestId}` }, keyed, filled);
  await expectOnly({ orderId: filled.terms.orderId }, filled);
  await expectOnly({ user: upper(filled.terms.user) }, filled);
  await expectOnly({ recipient: waiting.terms.recipient }, waiting);
  await expectOnly({ term: waiting.terms.recipient }, waiting);
  await expectOnly({ term: waiting.terms.user }, waiting);
  await expectOnly({ term: waiting.terms.orderId }, waiting);
  await expectOnly({ term: refunded.refundTx }, refunded);
  for (const hash of [filled.depositTx, filled.fillTx]) await expectOnly({ hash: upper(hash) }, filled);
  await expectOnly({ hash: refunded.refundTx }, refunded);
  await expectOnly({ hash: someHash() });
  await expectOnly({ depositTxHash: upper(filled.depositTx) }, filled);
  await expectOnly({ depositTxHash: filled.fillTx });
  await expectOnly({ fillTxHash: filled.fillTx }, filled);
  await expectOnly({ refundTxHash: refunded.refundTx }, refunded);
  await expectOnly({ depositAddress: someAddress() });
  await expectOnly({ originChainId: 5 }, waiting);
  await expectOnly({ destinationChainId: 1 }, wrapped);
  await expectOnly({ chainId: 2 }, keyed, waiting, refunded, filled);
  await expectOnly({ status: "pending" }, waiting);
  await expectOnly({ status: "refund" }, refunded);
  await expectOnly({ status: "success,refund" }, keyed, wrapped, refunded, filled);
  await expectOnly({ failReason: "SLIPPAGE" }, refunded);
  await expectOnly({ refundFailReason: "MANUAL_REFUND_REQUIRED" });
  await expectOnly({ requestType: "Bridge" }, filled);
  await expectOnly({ requestType: "Wrap" }, wrapped);
  await expectOnly({ requestType: "Crosschain Swap" }, keyed, waiting, refunded);
  await expectOnly({ apiKey: KEY_ID }, keyed);
  await expectOnly({ currencyInAddress: NATIVE }, wrapped);
  await expectOnly({ currencyInChainId: 5 }, waiting);
  await expectOnly({ currencyOutChainId: 1 }, wrapped);
  await expectOnly({ currencyOutAddress: USDC }, filled);
  await expectOnly({ currencyInSymbol: "usdc" }, keyed, filled);
  await expectOnly({ currencyOutSymbol: "WETH" }, wrapped);
  await expectOnly({ startTimestamp: keyed.terms.createdAtMs / 1000 }, keyed);
  await expectOnly({ endTimestamp: Math.floor(filled.terms.createdAtMs / 1000) }, filled);
  await expectOnly({ startBlock: 1_000 }, filled);
  await expectOnly({ startBlock: 1_001 });
  await expectOnly({ endBlock: 10 }, keyed, wrapped, waiting, refunded);
  await expectOnly({ amountUsdMin: "250" }, filled);
  await expectOnly({ amountUsdMin: "250.000001" });
  await expectOnly({ amountUsdMax: 7 }, refunded);
  await expectOnly({ appFeesAmountUsdMin: "0.01" });
  await expectOnly({ appFeesAmountUsdMax: 0, user: filled.terms.user }, filled);
  await expectOnly({ fillTimeMin: 4 }, keyed, wrapped, filled);
  await expectOnly({ fillTimeMax: 3.9 });
  await expectOnly({ features: "origin-swap" }, keyed);
  await expectOnly({ features: "origin-swap,calls" });
  for (const [published, ours] of [
    ["fast_fill", "fast-fill"],
    ["gasless_execution", "execution"],
  ] as const)
    expect(await idsOf({ features: published })).toEqual(await idsOf({ features: ours }));
  await expectOnly({ sortBy: "amountUsd" }, filled, keyed, wrapped, waiting, refunded);
  await expectOnly({ sortBy: "updatedAt", sortDirection: "asc", limit: 1 }, filled);
  await expectOnly({ status: "success", originChainId: 1, fillTimeMin: 1, requestType: "Wrap" }, wrapped);
});

test("finds requests that match every condition of at least one group of filters", async () => {
  const expectOnly = async (filters: unknown, ...expected: readonly PaidRequest[]) =>
    expect(await idsOf({ filters: JSON.stringify(filters) }), JSON.stringify(filters)).toEqual(
      expected.map(({ terms }) => terms.requestId),
    );
  await expectOnly([{ status: "refund" }, { requestType: "Wrap", status: "success" }], wrapped, refunded);
  await expectOnly({ status: "not:success" }, waiting, refunded);
  await expectOnly([{ status: ["not:success", "not:refund"] }], waiting);
  await expectOnly([{ failReason: "not:SLIPPAGE" }], keyed, wrapped, waiting, filled);
  await expectOnly([{ failReason: null }], keyed, wrapped, waiting, filled);
  await expectOnly([{ failReason: "not:null" }], refunded);
  await expectOnly([{ fillTxHash: "null" }], waiting, refunded);
  await expectOnly([{ amountUsdMin: "100", user: filled.terms.user }], filled);
  await expectOnly([{ amountUsdMin: "not:100" }], refunded);
  await expectOnly(
    [{ features: "not:origin-swap", originChainId: 1, currencyInSymbol: "not:null" }],
    wrapped,
    filled,
  );
});

test("refuses an invalid filter and names the parameter", async () => {
  for (const [query, field] of [
    ["status=done", "status"],
    ["failReason=WHATEVER", "failReason"],
    ["requestType=Teleport", "requestType"],
    ["features=magic", "features"],
    ["user=0x%00", "user"],
    ["referrer=a&apiKey=00112233445566aa%00", "apiKey"],
    ["id=0x12", "id"],
    ["originChainId=one", "originChainId"],
    ["limit=51", "limit"],
    ["limit=0", "limit"],
    ["sortBy=luck", "sortBy"],
    ["sortDirection=up", "sortDirection"],
    ["startTimestamp=-1", "startTimestamp"],
    ["amountUsdMin=1e9", "amountUsdMin"],
    ["startBlock=1.5", "startBlock"],
    ["includeTotal=perhaps", "includeTotal"],
    ["filters={", "filters"],
    ["filters=[]", "filters"],
    ['filters=[{"status":"done"}]', "filters.status"],
    ['filters=[{"luck":1}]', "filters"],
    ["referrer=shop", "referrer"],
    ["continuation=abc", "continuation"],
    ["hash=0x12", "hash"],
    ["txHash=0x12", "txHash is not a supported parameter"],
  ] as const) {
    const { status, message } = await refusal(query);
    expect([query, status, message]).toEqual([query, 400, expect.stringContaining(field)]);
  }
});

test("a key lists its own requests by its id, and not the requests of other keys", async () => {
  expect((await refusal("apiKey=ffff")).status).toBe(403);
  expect((await refusal(`filters=${encodeURIComponent('[{"apiKey":"not:ffff"}]')}`)).status).toBe(403);
  expect(await idsOf({ apiKey: KEY_ID, referrer: "nobody" })).toEqual([]);
  const { requests } = await list({ id: keyed.terms.requestId, includeAuthenticatedData: "true" });
  expect(requests[0]?.["data"]).toMatchObject({ apiKey: KEY_ID, referrer: keyed.terms.referrer });
  const plain = await list({ id: keyed.terms.requestId });
  expect(plain.requests[0]?.["data"]).not.toHaveProperty("apiKey");
});

test("a publishable key finds only requests that it names, and sees no more of its own requests than other clients do", async () => {
  const asPage = async (query: string, path = "/requests/v3") =>
    await get(`${path}?${query}`, { "x-api-key": "page", origin: PAGE });
  const named = await asPage(`id=${keyed.terms.requestId}&includeAuthenticatedData=true`);
  expect(named.json<Page>().requests.map(({ id }) => id)).toEqual([keyed.terms.requestId]);
  expect(named.json<Page>().requests[0]?.["data"]).not.toHaveProperty("apiKey");
  expect((await asPage(`user=${keyed.terms.user}`)).json<Page>().requests).toHaveLength(1);
  for (const path of ["/requests/v3", "/requests/v2"])
    for (const query of [
      `apiKey=${KEY_ID}`,
      "",
      "status=success",
      `filters=[{"user":"${keyed.terms.user}"}]`,
    ])
      expect((await asPage(query, path)).statusCode, query).toBe(403);
});

test("the older lists are open to every client that names a request, a transaction or an account", async () => {
  const { terms, depositTx, fillTx } = filled;
  for (const query of [
    `id=${terms.requestId}`,
    `orderId=${terms.orderId}`,
    `depositTxHash=${depositTx}`,
    `fillTxHash=${fillTx}`,
    `hash=${fillTx}`,
    `user=${terms.user}`,
    `recipient=${terms.recipient}`,
    `term=${depositTx}`,
  ])
    expect((await get(`/requests/v2?${query}`, {})).json<Page>().requests.map(({ id }) => id)).toEqual([
      terms.requestId,
    ]);
  const refused = await get("/requests/v2?status=success&sortBy=createdAt", {});
  expect([refused.statusCode, refused.json()]).toMatchObject([
    401,
    {
      errorCode: "UNAUTHORIZED",
      message:
        "Listing requests without a secret API key requires one of id, orderId, hash, depositTxHash, fillTxHash, refundTxHash, user, recipient, term, depositAddress; otherwise use a secret API key with scope read",
    },
  ]);
});

test("listing requests needs a key with the read scope, and reading one request by its id needs no key", async () => {
  expect((await get("/requests/v3", {})).statusCode).toBe(401);
  expect((await get("/requests/v3", { "x-api-key": "other" })).statusCode).toBe(403);
  expect((await get("/requests/v3", { "x-api-key": "wrong" })).statusCode).toBe(401);
  const page = await get(`/requests/v3?id=${filled.terms.requestId}`, {});
  expect(page.json<Page>().requests.map(({ id }) => id)).toEqual([filled.terms.requestId]);
});

test("a quote without a payment is found only by its id or order", async () => {
  for (const query of [{ id: unpaid.requestId }, { orderId: unpaid.orderId }])
    expect((await list({ ...query, includeTotal: "true" })).requests).toMatchObject([
      { id: unpaid.requestId, status: "waiting", requestType: null, data: { inTxs: [], outTxs: [] } },
    ]);
  expect(await idsOf({ user: unpaid.user })).toEqual([]);
  expect(await idsOf({ id: unpaid.requestId, status: "success" })).toEqual([]);
});

test("a filled request shows the delivered amount, the quoted one, and every transaction", async () => {
  const { requests } = await list({ id: filled.terms.requestId });
  expect(requests[0]).toMatchObject({
    status: "success",
    user: filled.terms.user,
    sender: filled.terms.user,
    requestType: "Bridge",
    features: [],
    createdAt: new Date(filled.terms.createdAtMs).toISOString(),
    data: {
      failReason: null,
      triggeredByFastFill: false,
      slippageTolerance: "101",
      delivered: { amount: "101", quotedAmount: "99", minimumAmount: "98", differenceBps: 202.02 },
      route: {
        quoted: { destination: { outputCurrency: { amount: "99", minimumAmount: "98" } } },
        actual: {
          origin: { outputCurrency: { amount: "100" } },
          destination: { outputCurrency: { amount: "101" } },
        },
      },
      fees: null,
      inTxs: [{ txHash: filled.depositTx, chainId: 1, block: 1_000, status: "success", type: "onchain" }],
      outTxs: [
        {
          txHash: filled.fillTx,
          chainId: 2,
          block: 900,
          fee: "160000",
          status: "success",
          stateChanges: [{ address: filled.terms.recipient, change: { balanceDiff: "101" } }],
        },
      ],
      refundCurrencyData: null,
    },
    protocol: {
      orderId: filled.terms.orderId,
      hubType: "onchain",
      isWithdrawable: false,
      solver: { address: filled.terms.order.solver, protocolChainId: filled.terms.order.solverChainId },
      deposit: {
        origin: {
          amount: "100",
          chainId: 1,
          onchainId: filled.terms.orderId,
          transactionId: filled.depositTx,
        },
      },
    },
  });
  // Unknown fields are omitted.
  const data = requests[0]?.["data"] as PastRequestJson["data"];
  for (const field of ["failedTxHash", "failedCallData", "appFees"]) expect(data).not.toHaveProperty(field);
  expect(data.inTxs[0]).not.toHaveProperty("fee");
});

test("an entry shows the fees and the value of the output as quoted, in the format of each list", async () => {
  const { requestId } = (
    await world.aFilledRequest({
      quoted: {
        timeEstimateSeconds: 3,
        slippageBps: 50,
        outputUsd: "0.990000",
        fees: {
          execution: { amount: "7", usd: "0.070000" },
          service: { amount: "-2", usd: "-0.020000" },
          sponsored: { amount: "5", usd: "0.050000" },
          swapImpactUsd: "-0.003000",
        },
      },
    })
  ).terms;
  const [v3] = (await list({ id: requestId })).requests;
  expect(v3?.["data"]).toMatchObject({
    timeEstimate: 3,
    fees: {
      quoted: {
        swap: { usd: "0.003000" },
        execution: { amount: "7", usd: "0.070000" },
        platform: { amount: "-2", usd: "-0.020000" },
        sponsored: { amount: "5", usd: "0.050000" },
      },
      currency: { chainId: 1 },
    },
    route: { quoted: { destination: { outputCurrency: { amountUsd: "0.990000" } } } },
  });
  const [v2] = (await list({ id: requestId }, "/requests/v2")).requests;
  expect(v2?.["data"]).toMatchObject({
    timeEstimate: 3,
    fees: { gas: "7", fixed: "0", price: "-2", gateway: "0" },
    feesUsd: { gas: "70000", fixed: "0", price: "-20000", gateway: "0" },
    feeCurrencyObject: { chainId: 1 },
    expandedPriceImpact: {
      quoted: {
        swap: { usd: "-0.003000" },
        execution: { usd: "-0.070000" },
        relay: { usd: "0.020000" },
        app: { usd: "0.000000" },
        sponsored: { usd: "0.050000" },
      },
    },
    metadata: { currencyIn: { minimumAmount: "100" }, currencyOut: { amountUsd: "0.990000" } },
    appFees: [],
    paidAppFees: [],
    subsidizedRequest: false,
  });
});

test("a refunded request shows the reason and the refunded amount", async () => {
  const { requests } = await list({ id: refunded.terms.requestId });
  expect(requests[0]).toMatchObject({
    status: "refund",
    data: {
      failReason: "SLIPPAGE",
      refundFailReason: null,
      route: { actual: null },
      outTxs: [{ txHash: refunded.refundTx, chainId: 1 }],
      refundCurrencyData: { amount: "95", recipient: refunded.terms.refundTo },
    },
  });
});

test("the older lists answer in their format, need no key, and announce their deprecation", async () => {
  for (const path of ["/requests/v2", "/requests"]) {
    const answer = await get(`${path}?user=${filled.terms.user}`, {});
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d+$/),
      sunset: "Mon, 01 Nov 2027 00:00:00 GMT",
      link: expect.stringContaining('</requests/v3>; rel="successor-version"'),
    });
    expect(answer.json()).toMatchObject({
      deprecation: { successor: "/requests/v3", sunset: "2027-11-01T00:00:00.000Z" },
      requests: [
        {
          id: filled.terms.requestId,
          data: {
            failReason: "N/A",
            refundFailReason: "N/A",
            fees: {},
            price: "101",
            expandedPriceImpact: null,
            inTxs: [{ hash: filled.depositTx }],
            outTxs: [{ hash: filled.fillTx }],
            metadata: {
              currencyIn: { amount: "100" },
              currencyOut: { amount: "101" },
              recipient: filled.terms.recipient,
            },
          },
        },
      ],
    });
    expect((await get(`${path}?status=done`, {})).headers["deprecation"], "also when refused").toBeDefined();
  }
});

test("in both directions, pages neither repeat nor miss a request while new requests are paid", async () => {
  const user = someAddress();
  const terms = { user, createdAtMs: HISTORY_START_MS };
  const expected: string[] = [];
  for (let i = 0; i < 12; i += 1)
    // Four requests share each millisecond.
    expected.push(
      (await world.aPaidRequest({ ...terms, createdAtMs: HISTORY_START_MS + (i >> 2) })).terms.requestId,
    );
  for (const sortDirection of ["asc", "desc"]) {
    const seen: string[] = [];
    const newer = new Set<string>();
    let continuation: string | undefined;
    do {
      const page = await list({
        user,
        limit: 5,
        sortDirection,
        ...(continuation === undefined ? {} : { continuation }),
      });
      seen.push(...page.requests.map(({ id }) => id));
      ({ continuation } = page);
      // New requests appear before, between and after the requests that are already listed.
      for (const createdAtMs of [HISTORY_START_MS - 5, HISTORY_START_MS + 1, HISTORY_START_MS + 9])
        newer.add((await world.aPaidRequest({ user, createdAtMs })).terms.requestId);
    } while (continuation !== undefined && seen.length < 100);
    expect(new Set(seen).size, "none twice").toBe(seen.length);
    expect(
      expected.filter((id) => !seen.includes(id)),
      "none missed",
    ).toEqual([]);
    await world.pool.query("delete from request_history where request_id = any($1)", [[...newer]]);
  }
});

test("the continuation of a page is valid only with the sort order of that page", async () => {
  const { continuation } = await list({ limit: 1 });
  expect((await refusal(`continuation=${continuation}&sortDirection=asc`)).message).toContain("continuation");
  expect((await refusal(`continuation=${continuation}&sortBy=amountUsd`)).message).toContain("continuation");
  const forged = Buffer.from("createdAtDesc 99999999999999999999 1").toString("base64url");
  expect((await refusal(`continuation=${forged}`)).status).toBe(400);
});

test("the total number of requests is counted only on demand", async () => {
  expect(await list({ status: "refund", includeTotal: "true" })).toMatchObject({
    total: 1,
    totalIsCapped: false,
  });
  expect(await list({ status: "refund" })).not.toHaveProperty("total");
});

test("lists a request under its public status after each change", async () => {
  const { terms } = await world.aPaidRequest({ user: someAddress() });
  for (const name of requestStates.filter((state) => state !== "quoted" && state !== "expired")) {
    await world.uow.run(async (tx) => {
      const record = await tx.requests.lock(terms.requestId);
      if (record === undefined) throw new Error("the request was not stored");
      await tx.requests.save(terms.requestId, { state: { ...record.state, name } }, 1);
    });
    const { rows } = await world.pool.query<{ status: string }>(
      "select status from request_history where request_id = $1",
      [terms.requestId],
    );
    expect([name, rows[0]?.status]).toEqual([name, publicStatus({ name })]);
  }
});

test("lists a deposit in the block that a reorg moved it to, and its request as waiting if it is orphaned", async () => {
  const paid = await world.aPaidRequest({ user: someAddress() }, 55n);
  const { terms, depositId } = paid;
  await world.mineAgain(paid, 57n);
  expect(await idsOf({ user: terms.user, startBlock: 57 })).toEqual([terms.requestId]);
  expect(await world.applyEvent(terms, { kind: "depositRemoved", depositId }, { inTxHashes: [] })).toBe(
    "applied",
  );
  expect((await list({ user: terms.user })).requests).toMatchObject([{ status: "waiting" }]);
  expect(await idsOf({ user: terms.user, startBlock: 1 })).toEqual([]);
});

test("brings the entry of a request up to date that a user pays again after a reorg", async () => {
  const { terms, depositId } = await world.aPaidRequest({ user: someAddress() }, 55n);
  await world.applyEvent(terms, { kind: "depositRemoved", depositId }, { inTxHashes: [] });
  const again = await world.addDeposit(terms, 58n);
  expect((await list({ user: terms.user })).requests).toMatchObject([{ status: "pending" }]);
  expect(await idsOf({ user: terms.user, startBlock: 58 })).toEqual([terms.requestId]);
  expect(await idsOf({ hash: again.depositTx })).toEqual([terms.requestId]);
});

test("an unpaid quote is not in the history, and a deleted request is deleted from it", async () => {
  const terms = await world.aQuotedRequest();
  const { rows } = await world.pool.query("select from request_history where request_id = $1", [
    terms.requestId,
  ]);
  expect(rows).toEqual([]);
  const paid = await world.aPaidRequest();
  await world.pool.query("delete from requests where request_id = $1", [paid.terms.requestId]);
  expect(await idsOf({ user: paid.terms.user })).toEqual([]);
});

test("a trace lists all events in order, with nonces, fees and replacements", async () => {
  const answer = await get(`/requests/${filled.terms.requestId}/trace`, {});
  expect(answer.statusCode, answer.body).toBe(200);
  const { summary, fundsAt, entries } = answer.json<{
    summary: string;
    fundsAt: string;
    entries: ReadonlyArray<Readonly<Record<string, unknown>> & { atMs: number; kind: string }>;
  }>();
  expect({ summary, fundsAt }).toEqual({
    summary: "The recipient has the money: the fill paid it.",
    fundsAt: "recipient",
  });
  expect(entries.map(({ atMs }) => atMs)).toEqual(entries.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  const kinds = entries.map(({ kind, event }) => (kind === "event" ? event : kind));
  expect(kinds).toEqual([
    "quoted",
    "deposit",
    "depositSeen",
    "fillPlanned",
    "fillBroadcast",
    "nonce",
    "signed",
    "broadcast",
    "signed",
    "broadcast",
    "fillMined",
    "mined",
  ]);
  const [first, second] = entries.filter(({ kind }) => kind === "signed");
  expect(first).toMatchObject({ leg: "fill", nonce: 7, maxFeePerGas: "3", purpose: "pay" });
  expect(second).toMatchObject({
    nonce: 7,
    maxFeePerGas: "5",
    replaces: first?.["txHash"],
    txHash: filled.fillTx,
  });
  expect(answer.body, "a trace contains no signed bytes").not.toContain(SIGNED_BYTES.slice(2));
});

test("events are read only for a trace, and not for a list", async () => {
  const { requestId } = filled.terms;
  expect((await world.history.stories([requestId])).get(requestId)?.events).toEqual([]);
  expect((await world.history.story(requestId))?.events).not.toEqual([]);
});

test("summarizes the trace of a quote and of a refund, and finds none for an unknown request", async () => {
  const summaryOf = async (id: string) =>
    (await get(`/requests/${id}/trace`, {})).json<{ summary: string }>().summary;
  expect(await summaryOf(unpaid.requestId)).toBe("The user has the money: nothing has been deposited yet.");
  expect(await summaryOf(refunded.terms.requestId)).toBe("The money was refunded (SLIPPAGE).");
  expect((await get(`/requests/${someHash()}/trace`, {})).statusCode).toBe(404);
  expect((await get("/requests/0x12/trace", {})).statusCode).toBe(400);
});

test("node URLs and key ids in stored notes are not shown in a trace", async () => {
  const { requestId } = unpaid;
  await world.pool.query(
    "insert into request_events (request_id, at_ms, event, detail) values ($1, 1, 'fillImpossible', $2)",
    [
      requestId,
      JSON.stringify({
        detail: "POST https://node.example/v2/hunter2 failed",
        keyId: "0011",
        deeper: { tried: ["wss://node.example/hunter2"], keyId: "0011" },
      }),
    ],
  );
  const { body } = await get(`/requests/${requestId}/trace`, {});
  expect(body).toContain("fillImpossible");
  expect(body).not.toMatch(/hunter2|keyId/);
});

test("shows which wallet paid for a request only to the key that requested it", async () => {
  const wallet = someAddress();
  const request = await world.aFilledRequest({ keyId: KEY_ID });
  const { requestId } = request.terms;
  await world.pool.query(
    `insert into executions (request_id, key_id, chain_id, user_address, wallet, question_hash, target, call_to, call_data, call_value, gas_limit,
       max_fee_per_gas, coin_usd, flat_usd, day, cost_usd, settled, created_at_ms)
     values ($1, $2, 1, '', $3, '', '', '', '', 0, 1, 1, 1, 1, 1, 5, false, 1)`,
    [requestId, KEY_ID, wallet],
  );
  const sponsorship = (body: string): unknown => JSON.parse(body).requests[0].data.feeSponsorship?.wallet;
  const url = `/requests/v3?id=${requestId}&includeAuthenticatedData=true`;
  expect(sponsorship((await get(url)).body)).toBe(wallet);
  for (const path of [url, `/requests/v2?id=${requestId}`, `/requests/${requestId}/trace`])
    expect((await get(path, {})).body).not.toContain(wallet);
});

test("app fees, and what an app pays of the others, are shown as agreed, and as moved once the fill is final", async () => {
  const unit = { decimals: 2, priceUsd: 10n ** 18n };
  const [wallet, first, second] = [someAddress(), someAddress(), someAddress()];
  const fees = [
    { recipient: first, bps: 100 },
    { recipient: second, bps: 50 },
  ];
  const sponsorship = feeSponsorshipOf(
    {
      wallet,
      selected: new Set(["execution", "relay"]),
      maxUsd: undefined,
      cap: undefined,
      fixedRate: undefined,
    },
    { execution: 30n, isRent: false, service: 20n, app: 150n, swap: 0n, sponsored: 50n },
    unit,
  );
  const { terms } = await world.aFilledRequest({
    keyId: KEY_ID,
    origin: { chainId: 1, currency: USDC, amount: 10_000n },
    appFees: { chainId: 1, currency: USDC, fees: quoteAppFees(fees, 10_000n, unit, unit) },
    appFeesUsd: appFeesUsd(fees, 10_000n, unit),
    sponsorship,
  });
  const { requestId } = terms;
  const url = `/requests/v3?id=${requestId}`;
  const dataOf = async (path: string): Promise<unknown> =>
    (await get(path)).json<Page>().requests[0]?.["data"];
  const amountsOf = (...amounts: readonly (readonly [amount: string, amountUsd: string])[]) =>
    amounts.map(([amount, amountUsd], n) => ({ bps: String(fees[n]?.bps), amount, amountUsd }));
  const quoted = amountsOf(["100", "1.000000"], ["50", "0.500000"]);
  const currency = { chainId: 1, address: USDC };
  const quotedSponsorship = feeSponsorshipText(sponsorship);
  const olderUrl = `/requests/v2?id=${requestId}`;
  expect(await dataOf(url)).toEqual(
    expect.objectContaining({
      appFees: { quoted, currency },
      fees: null,
      feeSponsorship: { quoted: sponsorshipIn("platform", quotedSponsorship) },
    }),
  );
  expect(await dataOf(olderUrl)).toEqual(
    expect.objectContaining({
      appFees: quoted,
      paidAppFees: [],
      appFeeCurrencyObject: currency,
      subsidizedRequest: true,
      feeSponsorship: { quoted: sponsorshipIn("relay", quotedSponsorship) },
    }),
  );
  expect(await idsOf({ appFeesAmountUsdMin: "1.5", appFeesAmountUsdMax: "1.5" })).toEqual([requestId]);
  expect(await idsOf({ appFeesAmountUsdMin: "1.500001" })).toEqual([]);
  expect(await idsOf({ appFeesAmountUsdMax: "1.499999", user: terms.user })).toEqual([]);

  const { clock } = world;
  await world.uow.run(async (tx) => {
    await accrueAppFees({ ...noAppBalances, clock }, tx, terms, 5_000n);
    await tx.ledger.lockWallet(wallet, 1);
    const part = { asset: { chainId: 1, currency: USDC }, amount: 450n, usd: 1n };
    const reservation = { requestId, wallet, parts: [part] };
    for (const [purpose, round, usd, end] of [
      ["execution", 1, 9n, "paid"],
      ["fees", 1, 40n, "released"],
      ["fees", 2, 45n, "paid"],
    ] as const) {
      const { id } = await tx.ledger.addReservation(
        { ...reservation, purpose, round, usd: usd * 10n ** 16n },
        1,
      );
      await tx.ledger.closeReservation(id, end, 1);
    }
  });
  const sponsorPayment = { amount: "450", address: USDC, chainId: 1 };
  const charged = feeSponsorshipText(sponsorship, 45n * 10n ** 16n);
  const paid = amountsOf(["50", "0.500000"], ["25", "0.250000"]);
  const payments = { sponsorPayment, sponsorPayments: [sponsorPayment] };
  expect(await dataOf(url)).toMatchObject({
    appFees: { quoted, actual: paid, currency },
    fees: { actual: { sponsored: { usd: "0.450000" } } },
    feeSponsorship: { actual: { ...sponsorshipIn("platform", charged), ...payments } },
  });
  expect(await dataOf(olderUrl)).toMatchObject({
    appFees: quoted,
    paidAppFees: paid,
    feeSponsorship: { actual: { ...sponsorshipIn("relay", charged), ...payments } },
  });

  const recipients = [{ recipient: first }, { recipient: second }];
  expect(await dataOf(`${url}&includeAuthenticatedData=true`)).toMatchObject({
    appFees: { quoted: recipients, actual: recipients },
    feeSponsorship: { wallet },
  });
  for (const path of [
    `${url}&includeAuthenticatedData=true`,
    `/requests/v2?id=${requestId}`,
    `/requests/${requestId}/trace`,
  ]) {
    const { body } = await get(path, {});
    for (const address of [wallet, first, second]) expect(body).not.toContain(address);
  }
});

test("fees that are zero by the time of the fill count as paid", async () => {
  const wallet = someAddress();
  const zero = { selected: true, totalUsd: 0n, sponsoredUsd: 0n };
  const [execution, swap, relay, app, rent] = [zero, zero, zero, zero, zero];
  const components = { execution, swap, relay, app, rent };
  const { terms } = await world.aFilledRequest({
    sponsorship: { wallet, capHit: false, amount: 0n, usd: 0n, components },
  });
  const { requestId } = terms;
  await world.uow.run(async (tx) => {
    await tx.ledger.lockWallet(wallet, 1);
    const { id } = await tx.ledger.addReservation(
      { requestId, wallet, parts: [], usd: 0n, purpose: "fees" },
      1,
    );
    await tx.ledger.closeReservation(id, "paid", 1);
  });
  expect((await list({ id: requestId })).requests).toMatchObject([
    {
      data: {
        fees: { actual: { sponsored: { usd: "0.000000" } } },
        feeSponsorship: { actual: { sponsorPayments: [] } },
      },
    },
  ]);
});

test("repeats the time estimate and the slippage of the quote, and invents neither for older requests", async () => {
  for (const [terms, data] of [
    [
      { quoted: { timeEstimateSeconds: 2.5, slippageBps: 50 } },
      { timeEstimate: 2.5, slippageTolerance: "50" },
    ],
    [{}, { timeEstimate: null, slippageTolerance: "101" }],
  ] as const) {
    const { requestId } = (await world.aPaidRequest(terms)).terms;
    expect((await list({ id: requestId })).requests).toMatchObject([{ data }]);
  }
});

test("a request that was paid through a deposit address is found by that address, and shows its successor", async () => {
  const [address, recovery] = [someAddress(), someAddress()];
  const open = await world.aPaidRequest({ depositAddress: { address, strict: false, recovery } });
  const strict = await world.aQuotedRequest({
    depositAddress: { address: someAddress(), strict: true, recovery: NATIVE },
  });
  const keyedQuote = await world.aQuotedRequest({
    keyId: KEY_ID,
    depositAddress: { address: someAddress(), strict: false, recovery },
  });
  expect((await list({ depositAddress: address.toUpperCase().replace("X", "x") })).requests).toMatchObject([
    {
      id: open.terms.requestId,
      supersededByRequestId: null,
      depositAddress: {
        address,
        type: "open",
        depositor: open.terms.user,
        depositTxHash: open.depositTx,
        recoveryAddress: recovery,
      },
      protocol: { orderId: open.terms.orderId },
    },
  ]);
  expect(await idsOf({ term: address })).toEqual([open.terms.requestId]);
  expect(await idsOf({ user: address })).toEqual([open.terms.requestId]);
  const successor = open.terms.requestId;
  await world.uow.run(async (tx) => await tx.depositAddresses.supersede(strict.requestId, successor, 1));
  for (const path of ["/requests/v3", "/requests/v2"])
    expect((await list({ id: strict.requestId }, path)).requests).toMatchObject([
      {
        supersededByRequestId: successor,
        depositAddress: {
          address: strict.depositAddress?.address,
          type: "strict",
          depositTxHash: null,
          recoveryAddress: null,
        },
        protocol: { orderId: null },
      },
    ]);
  // Before the first sweep, only the secret key that quoted sees how an address is derived.
  const path = `/requests/v3?id=${keyedQuote.requestId}`;
  for (const [key, orderId, recoveryAddress] of [
    [KEY, keyedQuote.orderId, recovery],
    ["page", null, null],
    [undefined, null, null],
  ] as const) {
    const answer = await get(path, key === undefined ? {} : { "x-api-key": key, origin: PAGE });
    expect(answer.json<Page>().requests, key).toMatchObject([
      { protocol: { orderId }, depositAddress: { recoveryAddress } },
    ]);
    if (orderId === null) expect(answer.body).not.toContain(keyedQuote.orderId);
  }
});

test("reports the amount that a fill with a swap delivers", async () => {
  const { terms } = await world.aFilledRequest(
    {
      destination: {
        chainId: 2,
        currency: WRAPPED,
        paidFrom: USDC,
        expectedAmount: 1_000n,
        minimumAmount: 900n,
      },
    },
    1_010n,
  );
  const [request] = (await list({ id: terms.requestId })).requests;
  expect((request as { data?: { delivered?: unknown } }).data?.delivered).toEqual({
    amount: "1010",
    quotedAmount: "1000",
    minimumAmount: "900",
    differenceBps: 100,
  });
});

test("a request is found by its deposit transaction, and not by its fill transaction", async () => {
  const reads = postgresReads(sqlOn(world.pool));
  expect(await reads.requestOfDeposit(filled.depositTx)).toBe(filled.terms.requestId);
  expect(await reads.requestOfDeposit(filled.fillTx)).toBeUndefined();
});

test("a transaction that deposited for two requests finds neither", async () => {
  const reads = postgresReads(sqlOn(world.pool));
  const [first, second] = [await world.aPaidRequest(), await world.aPaidRequest()];
  expect(await reads.requestOfDeposit(first.depositTx)).toBe(first.terms.requestId);
  await world.pool.query("update request_transactions set tx_hash = $1 where tx_hash = $2", [
    first.depositTx,
    second.depositTx,
  ]);
  expect(await reads.requestOfDeposit(first.depositTx)).toBeUndefined();
});

test("looks up a thousand unknown ids with a few statements", async () => {
  const { db, query } = sqlOn(world.pool);

  const statements: string[] = [];
  const reads = postgresReads({
    db,
    query: async (statement, values) => {
      statements.push(statement.name);
      return await query(statement, values);
    },
  });
  const ids = Array.from({ length: 1_000 }, () => `0x${randomBytes(32).toString("hex")}` as const);
  const answers = await Promise.all(ids.map(async (id) => await reads.requestOfDeposit(id)));
  expect(new Set(answers)).toEqual(new Set([undefined]));
  expect(statements.length).toBeLessThan(5);
});

test("a search with a key is answered while forty searches without a key are slow", async () => {
  const pool = createPool(world.url, {
    max: SEARCH_PLACES,
    statementTimeoutMs: 5_000,
    applicationName: "searches",
  });
  const history = postgresRequestHistory(sqlOn(world.pool), sqlOn(pool));
  const { run } = createSearchLimiter();
  let ended = 0;
  const slow = Array.from({ length: 40 }, async (_, n) => {
    const search = async (): Promise<unknown> => await pool.query("select pg_sleep(1)");
    await run({ name: `ip:${n}`, hasSecretKey: false }, search).catch(() => undefined);
    ended += 1;
  });
  const withKey = run({ name: "key:1", hasSecretKey: true }, async () =>
    history.page({
      conditions: [],
      groups: [],
      sort: "createdAt",
      isAscending: false,
      after: undefined,
      limit: 1,
    }),
  );
  expect(await withKey).toHaveLength(1);
  expect([ended, pool.totalCount - pool.idleCount]).toEqual([0, 1]);
  await Promise.all(slow);
  await pool.end();
});

test("a search that takes too long is aborted and reported as such, on separate connections", async () => {
  const pool = createPool(world.url, { max: 1, statementTimeoutMs: 100, applicationName: "searches" });
  const busy = await world.pool.connect();
  try {
    const history = postgresRequestHistory(sqlOn(world.pool), sqlOn(pool));
    const question = {
      conditions: [],
      groups: [],
      sort: "createdAt",
      isAscending: false,
      after: undefined,
      limit: 1,
    } as const;
    expect(await history.page(question)).toHaveLength(1);
    await busy.query("begin; lock table request_history in access exclusive mode");
    const timedOut = { code: "SERVICE_UNAVAILABLE", retryable: true };
    await expect(history.page(question)).rejects.toMatchObject(timedOut);
    await expect(history.count(question, 10)).rejects.toMatchObject(timedOut);
    expect((await history.stories([filled.terms.requestId])).size).toBe(1);
  } finally {
    await busy.query("rollback");
    busy.release();
    await pool.end();
  }
});

test("amounts without a price neither fail a list nor change its order", async () => {
  const worth = [10n ** 40n, 9_007_199_254_740_993n * 10n ** 12n, 9_007_199_254_740_992n * 10n ** 12n];
  const user = someAddress();
  const ids: string[] = [];
  for (const inputUsd of worth) ids.push((await world.aFilledRequest({ user, inputUsd })).terms.requestId);
  const seen: string[] = [];
  let continuation: string | undefined = "";
  while (continuation !== undefined) {
    const from: string = continuation === "" ? "" : `&continuation=${continuation}`;
    const { body } = await get(`/requests/v3?user=${user}&sortBy=amountUsd&limit=1${from}`);
    const page: { requests: { id: string }[]; continuation?: string } = JSON.parse(body);
    seen.push(...page.requests.map(({ id }) => id));
    continuation = page.continuation;
  }
  expect(seen).toEqual(ids);
  const beyond = Buffer.from("amountUsdDesc 9999999999999999999 1").toString("base64url");
  expect((await get(`/requests/v3?sortBy=amountUsd&continuation=${beyond}`)).statusCode).toBe(400);
});

test("any combination of filters gets a page or a refusal", async () => {
  const random = seededNumbers(20_260_725);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const names = [
    "status",
    "user",
    "id",
    "amountUsdMin",
    "startBlock",
    "features",
    "apiKey",
    "referrer",
    "chainId",
    "term",
    "orderId",
    "fillTimeMax",
    "__proto__",
    "constructor",
    "limit",
    "filters",
    "currencyInSymbol",
    "fillTxHash",
    "depositAddress",
    "",
  ];
  const values = [
    "success",
    "not:success",
    "null",
    "not:null",
    "not:",
    "not:not:x",
    "",
    "0",
    "-1",
    "1e9",
    "9".repeat(30),
    `0x${"ab".repeat(32)}`,
    `0x${"ab".repeat(20)}`,
    "\u0000",
    "\ud800",
    "fast-fill",
    "';--",
    5,
    -5,
    1.5,
    1e300,
    null,
    true,
    [],
    {},
    [[]],
    ["success", "not:refund"],
    ["1", 2],
    [null],
    "123456789012345678",
  ];
  const group = (): unknown =>
    random() < 0.1
      ? pick(values)
      : Object.fromEntries(
          Array.from({ length: Math.floor(random() * 4) }, () => [pick(names), pick(values)]),
        );
  const statuses = new Set<number>();
  for (let run = 0; run < 400; run += 1) {
    const filters =
      random() < 0.05
        ? String(pick(values))
        : JSON.stringify(Array.from({ length: Math.floor(random() * 4) }, group));
    const { statusCode, body } = await get(
      `/requests/v3?filters=${encodeURIComponent(filters.toWellFormed())}`,
    );
    statuses.add(statusCode);
    expect([200, 400, 403], `${filters} ${body}`).toContain(statusCode);
  }
  expect(statuses, "some are pages, some refusals").toEqual(new Set([200, 400, 403]));
});

/** The sponsorship of a quote in the format of a list. `service` is the list's name for the service fee. */
function sponsorshipIn(service: "platform" | "relay", text: FeeSponsorshipText): object {
  const json = JSON.stringify(text).replaceAll('"usd"', '"amountUsd"').replaceAll('"relay"', `"${service}"`);
  return JSON.parse(json) as object;
}
