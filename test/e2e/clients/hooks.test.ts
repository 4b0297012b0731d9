import { startSystem, type System } from "@causeway/localnet";
import * as hooks from "@relayprotocol/relay-kit-hooks";
import { parseUnits, zeroAddress, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, createWallet, type Chain, type Client, type Quote, type Wallet } from "../client.ts";
import { portBaseOf } from "../port-bases.ts";

// Runs the query functions of the public React hooks, unmodified from npm, against a local system.

const {
  queryDepositAddressStatus,
  queryExecutionStatus,
  queryQuote,
  queryRelayChains,
  queryRelayConfig,
  queryRequests,
  queryTokenList,
  queryTokenPrice,
  queryTrendingCurrencies,
} = hooks;

let system: System;
let url: string;
let api: Client;
let chains: readonly Chain[];
let origin: Chain;
let destination: Chain;
let user: Wallet;
/** The user's completed bridge. Another user's bridge completes after it. */
let ownBridge: { readonly requestId: Hex; readonly hash: Hex };

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("hooks"),
    oracles: 0,
    durable: false,
    users: 3,
  });
  url = system.endpoints.api.url;
  api = createClient(url);
  chains = await api.chains();
  [origin, destination] = ["local-a", "local-b"].map((name) =>
    chains.find((chain) => chain.name === name),
  ) as [Chain, Chain];
  user = aWallet(0);
  ownBridge = await completeBridge(user);
  await completeBridge(aWallet(1));
});
afterAll(async () => await system.stop());

function aWallet(at: number): Wallet {
  const keys = system.users[at];
  if (keys === undefined) throw new Error("the system was started with too few users");
  return createWallet(keys.privateKey, chains);
}

function usdcOn(chain: Chain): Address {
  return chain.erc20Currencies.find(({ symbol }) => symbol === "USDC")?.address ?? zeroAddress;
}

const trade = (from: Address) => ({
  user: from,
  recipient: privateKeyToAddress(generatePrivateKey()),
  originChainId: origin.id,
  destinationChainId: destination.id,
  originCurrency: usdcOn(origin),
  destinationCurrency: usdcOn(destination),
  amount: String(parseUnits("25", 6)),
  tradeType: "EXACT_INPUT" as const,
});

/** Requests a quote with the function of the React hook. */
async function requestQuote(from: Wallet, more: object = {}): Promise<Quote> {
  return (await queryQuote(url, { ...trade(from.address), ...more })) as unknown as Quote;
}

async function completeBridge(from: Wallet): Promise<{ requestId: Hex; hash: Hex }> {
  const quote = await requestQuote(from);
  const { hash } = await from.execute(quote);
  const { requestId } = quote;
  expect((await api.follow(requestId)).at(-1)?.status).toBe("success");
  return { requestId, hash };
}

test("the package exports only the query functions that these tests cover", () => {
  expect(Object.keys(hooks).filter((name) => name.startsWith("query"))).toEqual([
    "queryDepositAddressStatus",
    "queryExecutionStatus",
    "queryQuote",
    "queryRelayChains",
    "queryRelayConfig",
    "queryRequests",
    "queryTokenList",
    "queryTokenPrice",
    "queryTrendingCurrencies",
  ]);
});

test("queryRelayChains lists the chains", async () => {
  const { chains: listed } = await queryRelayChains(url);
  expect(listed?.map(({ id }) => id)).toEqual(expect.arrayContaining([origin.id, destination.id]));
});

test("queryRelayConfig reports the solver's capacity for a route", async () => {
  const config = await queryRelayConfig(url, {
    originChainId: String(origin.id),
    destinationChainId: String(destination.id),
    currency: "usdc",
    user: user.address,
  });
  expect(config).toMatchObject({
    enabled: true,
    solver: { capacityPerRequest: expect.any(String) as string },
  });
});

test("queryTokenList finds tokens by name, chain and address", async () => {
  const byTerm = await queryTokenList(url, { term: "usdc", chainIds: [origin.id] });
  expect(byTerm).toMatchObject([{ symbol: "USDC", chainId: origin.id, address: usdcOn(origin) }]);
  const byAddress = await queryTokenList(url, { address: usdcOn(destination), chainIds: [destination.id] });
  expect(byAddress).toMatchObject([{ symbol: "USDC", chainId: destination.id }]);
});

test("queryTokenPrice returns a price, and forwards the service's error for an unknown token", async () => {
  expect(await queryTokenPrice(url, { address: usdcOn(origin), chainId: origin.id })).toEqual({ price: 1 });
  const unknown = { address: `0x${"ab".repeat(20)}`, chainId: origin.id };
  await expect(queryTokenPrice(url, unknown)).rejects.toThrow(/price|token|currency/i);
});

test("queryTrendingCurrencies lists currencies", async () => {
  const trending = await queryTrendingCurrencies(url, {});
  expect(trending?.length).toBeGreaterThan(0);
});

test("queryExecutionStatus follows a request to its final status", async () => {
  const status = await queryExecutionStatus(url, { requestId: ownBridge.requestId });
  expect(status).toMatchObject({ status: "success", inTxHashes: [ownBridge.hash] });
});

test("queryRequests finds requests by user, and exactly one request by hash", async () => {
  const byUser = await queryRequests(url, { user: user.address });
  expect(byUser.requests?.map(({ id }) => id)).toEqual([ownBridge.requestId]);
  const byHash = await queryRequests(url, { hash: ownBridge.hash });
  expect(byHash.requests).toMatchObject([
    { id: ownBridge.requestId, status: "success", data: { inTxs: [{ hash: ownBridge.hash }] } },
  ]);
  expect(await queryRequests(url, { hash: `0x${"77".repeat(32)}` })).toMatchObject({ requests: [] });
});

test("queryDepositAddressStatus reports that a transfer to a deposit address arrived", async () => {
  const payer = aWallet(2);
  const quote = await requestQuote(payer, {
    useDepositAddress: true,
    originCurrency: zeroAddress,
    amount: "4000000000000000",
  });
  const address = (quote as unknown as { steps: { depositAddress: Address }[] }).steps[0]?.depositAddress;
  await payer.execute(quote);
  const query = { depositAddress: address ?? "none" };
  await expect.poll(async () => (await queryDepositAddressStatus(url, query))?.status).toBe("success");
  const [fill] = (await api.status(quote.requestId)).txHashes;
  expect((await queryDepositAddressStatus(url, query))?.txHashes).toEqual([fill]);
});

test("queryQuote forwards the service's error", async () => {
  await expect(requestQuote(user, { amount: "1" })).rejects.toMatchObject({
    response: { status: 400, data: { errorCode: "AMOUNT_TOO_LOW" } },
  });
});

test("queryRequests fetches the next page", async () => {
  const { requestId } = await completeBridge(user);
  const query = { user: user.address, limit: 1 };
  const first = await queryRequests(url, query);
  const second = await queryRequests(url, query, first.continuation);
  expect([first, second].map((page) => page.requests?.[0]?.id)).toEqual([requestId, ownBridge.requestId]);
});
