import { ServiceError } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { aBalanceCurrency, fakeAppBalance } from "../../../../test/fakes/app-balance.ts";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { aServer } from "../../../../test/support/route-server.ts";
import type { BalanceEvent } from "./balance-reads.port.ts";
import type { HoldRecord } from "./ledger.port.ts";

const ONE = 10n ** 18n;
const wallet = `0x${"a1".repeat(20)}` as const;
const otherWallet = `0x${"b2".repeat(20)}` as const;
const claimId = `0x${"c1".repeat(32)}`;
const body = { chainId: 11, currency: `0x${"00".repeat(20)}`, recipient: otherWallet, amount: "5" };

const rows = Array.from({ length: 45 }, (_, index): BalanceEvent => ({
  id: String(45 - index),
  account: "balance",
  chainId: 11,
  currency: `0x${"00".repeat(20)}`,
  delta: -1n,
  balanceAfter: BigInt(index),
  context: "pay-fees",
  reason: "fees paid",
  requestId: undefined,
  atMs: 1_790_000_000_000 + index,
}));
const holdRecords = Array.from({ length: 25 }, (_, index): HoldRecord => ({
  requestId: `0x${(100 + index).toString(16).padStart(64, "0")}` as const,
  wallet,
  keyId: "key",
  state: index === 0 ? "active" : "released",
  usd: 3n * ONE,
  chainId: 12,
  currency: `0x${"00".repeat(20)}`,
  amount: 7n,
  debits: 0,
  placedAtMs: 1_790_000_000_000 - 60_000 - index,
  resolvedAtMs: index === 0 ? undefined : 1_790_000_000_000 - 50_000,
}));
const posted: unknown[] = [];
const { app } = await aServer({
  apiKeys: fakeApiKeys({
    own: anApiKey({ fundingAddress: wallet }),
    unfunded: anApiKey({ id: "1".repeat(16) }),
    blind: anApiKey({ id: "2".repeat(16), fundingAddress: wallet, scopes: ["quote"] }),
  }),
  ...fakeAppBalance({
    readBalances: async (requested) => {
      const entry = {
        currency: aBalanceCurrency,
        amount: 3n * ONE,
        pending: 1n,
        owed: 0n,
        usd: 6_000n * ONE + 1n,
      };
      if (requested !== wallet) return await fakeAppBalance().readBalances(requested);
      return {
        main: entry,
        all: [entry],
        totalUsd: 6_000n * ONE + 1n,
        heldUsd: 5n * ONE,
        availableUsd: 5_995n * ONE,
      };
    },
    readBalanceEvents: async (_, { limit, after }) =>
      rows.filter(({ id }) => after === undefined || Number(id) < Number(after)).slice(0, limit),
    readHolds: async (_, { limit, after }) => ({
      holds: holdRecords
        .filter(({ placedAtMs }) => after === undefined || placedAtMs < after.atMs)
        .slice(0, limit),
      exposureUsd: 3n * ONE,
    }),
    readClaims: async () => [
      {
        claim: {
          claimId: `0x${"c1".repeat(32)}`,
          wallet,
          chainId: 11,
          currency: `0x${"00".repeat(20)}`,
          recipient: otherWallet,
          amount: ONE,
          feeAmount: 2n,
          expiresAt: 1_790_000_600,
          state: "returned",
          tries: 1,
          txHash: undefined,
          failReason: "TRANSACTION_REVERTED",
          createdAtMs: 1_790_000_000_000,
        },
        currency: aBalanceCurrency,
        usd: 2_000n * ONE,
      },
    ],
    acceptClaim: async (...args) => {
      if (args[0] !== claimId) throw new ServiceError("INVALID_REQUEST", "Claim not found");
      posted.push(args);
    },
  }),
});
afterAll(() => app.close());

const get = async (url: string, key?: string) =>
  await app.inject({ method: "GET", url, headers: key === undefined ? {} : { "x-api-key": key } });
const post = async (url: string, payload: object, headers: Record<string, string> = {}) =>
  await app.inject({ method: "POST", url, payload, headers });

test("returns the first currency, the list and numeric totals of a balance, without an API key", async () => {
  const answer = await get(`/app-fees/${wallet.toUpperCase().replace("0X", "0x")}/balances`);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({
    currency: { symbol: "ETH", chainId: 11, decimals: 18 },
    amount: "3000000000000000000",
    amountFormatted: "3",
    amountUsd: "6000.000000",
    minimumAmount: "3000000000000000000",
    balances: [{ amount: "3000000000000000000", pendingAmount: "1", owedAmount: "0" }],
    totalBalanceUsd: 6000,
    outstandingFastFillBalanceUsd: 5,
    availableBalanceUsd: 5995,
  });
});

test("an unknown wallet has zero balance and an empty list; a malformed address is refused", async () => {
  expect((await get(`/app-fees/${otherWallet}/balances`)).json()).toMatchObject({
    amount: "0",
    balances: [],
    totalBalanceUsd: 0,
    availableBalanceUsd: 0,
  });
  const wrong = await get("/app-fees/0x12/balances");
  expect([wrong.statusCode, wrong.json().errorCode]).toEqual([400, "INVALID_ADDRESS"]);
});

test("events, holds and claims are only visible to a key that the wallet funds", async () => {
  for (const path of [
    `/balance-events/${wallet}`,
    `/app-fees/${wallet}/holds`,
    `/app-fees/${wallet}/claims`,
  ]) {
    const statuses = [undefined, "wrong", "own", "unfunded", "blind"].map(
      async (key) => (await get(path, key)).statusCode,
    );
    expect([path, ...(await Promise.all(statuses))]).toEqual([path, 401, 401, 200, 403, 403]);
    expect((await get(path.replace(wallet, otherWallet), "own")).statusCode, "another's wallet").toBe(403);
  }
});

test("events are paged without gaps or duplicates, and the last page has no cursor", async () => {
  const seen: number[] = [];
  let continuation: string | undefined;
  for (let page = 0; page < 3; page++) {
    const cursorParameter = continuation === undefined ? "" : `&continuation=${continuation}`;
    const answer = (await get(`/balance-events/${wallet}?limit=20${cursorParameter}`, "own")).json();
    seen.push(...answer.events.map(({ id }: { id: number }) => id));
    ({ continuation } = answer);
  }
  expect(seen).toEqual(rows.map(({ id }) => Number(id)));
  expect(continuation).toBeUndefined();
  const afterCursor = (await get(`/balance-events/${wallet}?limit=2&cursor=40`, "own")).json();
  expect(afterCursor).toMatchObject({
    wallet,
    events: [
      { id: 39, wallet },
      { id: 38, wallet },
    ],
  });
  expect(afterCursor.balances).toEqual([
    { chainId: 11, currency: expect.any(String), amount: expect.any(String) },
  ]);
  expect((await get(`/balance-events/${wallet}?limit=1`, "own")).json().events).toEqual([
    {
      id: 45,
      wallet,
      account: "balance",
      chainId: 11,
      currency: `0x${"00".repeat(20)}`,
      delta: "-1",
      balanceAfter: "0",
      context: "pay-fees",
      reason: "fees paid",
      requestId: null,
      createdAt: new Date(1_790_000_000_000).toISOString(),
    },
  ]);
});

test("holds report their age and the total that they guarantee", async () => {
  const first = (await get(`/app-fees/${wallet}/holds`, "own")).json();
  expect(first.exposureUsd).toBe("3.000000");
  expect(first.holds[0]).toMatchObject({
    state: "active",
    ageSeconds: 60,
    resolvedAt: null,
    amountUsd: "3.000000",
  });
  expect(first.holds[1]).toMatchObject({ state: "released", ageSeconds: 10 });
  const second = (await get(`/app-fees/${wallet}/holds?continuation=${first.continuation}`, "own")).json();
  expect(first.holds.length + second.holds.length).toBe(25);
  expect(second.continuation).toBeUndefined();
});

test("refuses an invalid cursor and a limit out of range", async () => {
  for (const query of ["limit=0", "limit=51", "limit=x", "continuation=zzz", "continuation=MTs"])
    for (const path of [
      `/balance-events/${wallet}`,
      `/app-fees/${wallet}/holds`,
      `/app-fees/${wallet}/claims`,
    ])
      expect([path, query, (await get(`${path}?${query}`, "own")).statusCode]).toEqual([path, query, 400]);
});

test("a returned claim has the status failure and a reason", async () => {
  expect((await get(`/app-fees/${wallet}/claims`, "own")).json().claims).toMatchObject([
    {
      status: "failure",
      failReason: "TRANSACTION_REVERTED",
      txHash: null,
      currency: { amount: "1000000000000000000" },
    },
  ]);
});

test("a claim is one signature step over the raw id, without a check, posted to the permits endpoint", async () => {
  const answer = await post(`/app-fees/${wallet}/claim`, { ...body, chainId: "11", referrer: "app.example" });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    steps: [
      {
        id: "authorize",
        action: expect.any(String),
        description: expect.any(String),
        kind: "signature",
        requestId: claimId,
        depositAddress: "",
        items: [
          {
            status: "incomplete",
            data: {
              sign: { signatureKind: "eip191", message: claimId },
              post: {
                endpoint: "/execute/permits",
                method: "POST",
                body: { kind: "claim", requestId: claimId },
              },
            },
          },
        ],
      },
    ],
    claim: { amount: "5", fee: "2", expiresAt: 1_790_000_600_000 },
  });
});

test("refuses a claim with a missing wallet, currency or recipient or an invalid amount, naming the field", async () => {
  for (const [change, field] of [
    [{ recipient: "0x12" }, "recipient"],
    [{ currency: "usdc" }, "currency"],
    [{ amount: "-1" }, "amount"],
    [{ chainId: "x" }, "chainId"],
  ] as const) {
    const answer = await post(`/app-fees/${wallet}/claim`, { ...body, ...change });
    expect([answer.statusCode, JSON.stringify(answer.json())]).toEqual([400, expect.stringContaining(field)]);
  }
  expect((await post("/app-fees/nobody/claim", body)).statusCode).toBe(400);
});

test("a claim signature is accepted under both kinds and with extra fields; other permits are refused", async () => {
  const url = "/execute/permits?signature=0xAB";
  for (const kind of ["claim", "request"]) {
    const answer = await post(url, {
      kind,
      requestId: claimId.toUpperCase().replace("0X", "0x"),
      referrer: "a",
    });
    expect([kind, answer.statusCode, answer.json()]).toEqual([kind, 200, { message: "Claim accepted" }]);
  }
  expect(posted.at(-1)).toEqual([claimId, "0xab", undefined]);
  for (const kind of ["transfer", "eip3009 ", ""]) {
    const answer = await post(url, { kind, requestId: claimId });
    expect([kind, answer.statusCode, answer.json().errorCode]).toEqual([
      kind,
      400,
      "UNSUPPORTED_EXECUTION_TYPE",
    ]);
  }
  expect((await post(url, { kind: "claim", requestId: `0x${"00".repeat(32)}` })).statusCode).toBe(400);
  expect((await post("/execute/permits", { kind: "claim", requestId: claimId })).statusCode).toBe(400);
  expect(
    (await post("/execute/permits?signature=xyz", { kind: "claim", requestId: claimId })).statusCode,
  ).toBe(400);
});

test("offers a claim once and accepts its signature once per Idempotency-Key", async () => {
  const headers = { "idempotency-key": "one" };
  const before = posted.length;
  const sign = async () =>
    await post("/execute/permits?signature=0xab", { kind: "claim", requestId: claimId }, headers);
  const [first, again] = [await sign(), await sign()];
  expect([first.statusCode, again.statusCode, again.headers["idempotency-replayed"]]).toEqual([
    200,
    200,
    "true",
  ]);
  expect(posted).toHaveLength(before + 1);
  expect(posted.at(-1)).toMatchObject([
    claimId,
    "0xab",
    { answer: { status: 200, body: '{"message":"Claim accepted"}' } },
  ]);
  const offers = [
    await post(`/app-fees/${wallet}/claim`, body, headers),
    await post(`/app-fees/${wallet}/claim`, body, headers),
  ];
  expect(offers.map(({ headers: sent }) => sent["idempotency-replayed"])).toEqual([undefined, "true"]);
});
