import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { DepositAddressAnswer } from "@causeway/wire";
import { afterAll, expect, test } from "vitest";
import { anApiKey, fakeApiKeys } from "../../../../../test/fakes/api-keys.ts";
import { aServer } from "../../../../../test/support/route-server.ts";
import type { ReindexInput } from "./reindex-address.ts";

const ADDRESS = `0x${"aD".repeat(20)}`;
const issuedAnswer: DepositAddressAnswer = {
  depositAddress: ADDRESS.toLowerCase(),
  address: ADDRESS.toLowerCase(),
  type: "open",
  depositAddressType: "open",
  requestId: `0x${"01".repeat(32)}`,
  supersededByRequestId: null,
  orderId: `0x${"02".repeat(32)}`,
  depositor: ADDRESS.toLowerCase(),
  recoveryAddress: null,
  refundTo: null,
  chainId: 11,
  originChainId: 11,
  currency: "eth",
  originCurrency: NATIVE_CURRENCY,
  destinationChainId: 12,
  destinationCurrency: NATIVE_CURRENCY,
  recipient: ADDRESS.toLowerCase(),
  chainIds: [11, 12],
  createdAt: "2026-01-01T00:00:00.001Z",
  activeAt: "2026-01-01T00:00:00.002Z",
  funds: [
    {
      chainId: 11,
      currency: NATIVE_CURRENCY,
      amount: "5",
      seenAt: "2026-01-01T00:00:00.003Z",
      heldReason: "AMOUNT_TOO_LOW",
      requestId: null,
    },
  ],
  deposits: [],
};
const KEY = "reader";
const PAGE = "https://app.example";
const reindexed: ReindexInput[] = [];
const lookups: object[] = [];
const keyIds: (string | undefined)[] = [];
const { app } = await aServer({
  apiKeys: fakeApiKeys({
    [KEY]: anApiKey({ scopes: ["read"] }),
    page: anApiKey({ scopes: ["read"], origins: [PAGE] }),
  }),
  reindexAddress: async (call) => {
    reindexed.push(call);
    if (call.chainId !== 11) throw new ServiceError("NOT_FOUND", "not issued here", {});
    return {
      message: "done",
      triggeredCurrencies: [{ currency: NATIVE_CURRENCY, symbol: "ETH", balance: "5" }],
      checkedCurrencies: 1,
      failedCurrencies: 0,
      failedAddresses: [],
    };
  },
  lookUpAddress: async (lookup, keyId) => {
    lookups.push(lookup);
    keyIds.push(keyId);
    return "address" in lookup && lookup.address === issuedAnswer.address ? issuedAnswer : undefined;
  },
});
afterAll(() => app.close());

const reindex = async (payload: object) =>
  await app.inject({ method: "POST", url: "/transactions/deposit-address/reindex", payload });
const lookUp = async (query: string, headers: Record<string, string> = { "x-api-key": KEY }) =>
  await app.inject({ method: "GET", url: `/deposit-addresses/v1${query}`, headers });

test("reindexes by chain and address, accepting the chain id as a number or as digits", async () => {
  for (const chainId of [11, "11"]) {
    const answer = await reindex({ chainId, depositAddress: ADDRESS, targetChainId: "12", unknown: 1 });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ message: "done", triggeredCurrencies: [{ balance: "5" }] });
    expect(reindexed.at(-1)).toEqual({
      chainId: 11,
      depositAddress: ADDRESS,
      targetChainId: 12,
      currency: undefined,
    });
  }
});

test("answers 404 for an address that was not issued, and 400 without an address or a chain", async () => {
  expect((await reindex({ chainId: 12, depositAddress: ADDRESS })).statusCode).toBe(404);
  for (const body of [{}, { chainId: 11 }, { chainId: "x", depositAddress: ADDRESS }]) {
    const answer = await reindex(body);
    expect([answer.statusCode, typeof answer.json().message]).toEqual([400, "string"]);
  }
});

test("shows an address to keys that may read, by address or by request", async () => {
  expect((await lookUp(`?address=${ADDRESS}`, {})).statusCode).toBe(401);
  const answer = await lookUp(`?address=${ADDRESS}`);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual(issuedAnswer);
  const requestId = `0x${"AB".repeat(32)}`;
  expect((await lookUp(`?requestId=${requestId}`)).statusCode).toBe(404);
  expect(lookups.at(-1)).toEqual({ requestId: requestId.toLowerCase() });
});

test("lets a publishable key look up an address by request only, without identifying the key", async () => {
  const asPage = async (query: string) => await lookUp(query, { "x-api-key": "page", origin: PAGE });
  const refused = await asPage(`?address=${ADDRESS}`);
  expect([refused.statusCode, refused.json().message]).toEqual([
    403,
    "Publishable API keys cannot look up deposit addresses by address, only by requestId; use a secret key with scope read",
  ]);
  await asPage(`?requestId=0x${"ab".repeat(32)}`);
  await lookUp(`?requestId=0x${"ab".repeat(32)}`);
  expect(keyIds.slice(-2)).toEqual([undefined, anApiKey().id]);
});

test("refuses a lookup without address and requestId, with both, or with an invalid address", async () => {
  for (const query of ["", `?address=${ADDRESS}&requestId=0x${"01".repeat(32)}`, "?address=0x12"])
    expect((await lookUp(query)).statusCode).toBe(400);
});
