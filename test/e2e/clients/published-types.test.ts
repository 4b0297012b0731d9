import { startSystem, type System } from "@causeway/localnet";
import {
  isAddressEqual,
  parseEther,
  parseUnits,
  zeroAddress,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPublishedTypes, type PublishedTypes } from "../../support/published-types.ts";
import { createClient, createWallet, type Chain, type Client, type Quote } from "../client.ts";
import { smartEoa } from "../../support/smart-accounts.ts";
import { portBaseOf } from "../port-bases.ts";

// Validates the answers of a local system against the types that the public SDK publishes.

/**
 * Deliberate differences between answers and their published types, with reasons. The test fails if a
 * difference appears or disappears.
 */
const differences: Readonly<Record<string, string>> = {
  "GET /intents/status status: must be equal to one of the allowed values":
    "every version reports waiting and refund, like the newest",
  "GET /requests requests[].status: must be equal to one of the allowed values":
    "every version reports refund, like the newest",
  "GET /requests/v2 requests[].data.refundFailReason: must be equal to one of the allowed values":
    "recorded answers of the API family contain N/A, although the type does not",
  "GET /requests/v3 requests[].features[]: must be equal to one of the allowed values":
    "our own values are listed next to the published ones, and both work as filters",
  "POST /quote/v2 400 errorData: must be string": "a string cannot name several fields with their limits",
};

/** Published operations that the service does not have. docs/CLIENTS.md says why. */
const notServed = [
  "POST /execute/swap",
  "GET /loadforge.txt",
  "POST /conduit/install",
  "GET /prices/rates",
  "GET /chains/{chainId}/currencies/{address}",
  "GET /chains/{chainId}/currencies/{address}/chart",
  "POST /provision/chain",
  "GET /sanctioned/{address}",
  "POST /wallets/screen",
  "POST /wallets/screen/override",
  "GET /wallets/screen/info",
  "POST /withdrawals/attest-deposit",
  "POST /withdrawals/request",
  "GET /withdrawals/status",
];

let types: PublishedTypes;
let system: System;
let api: Client;
let origin: Chain;
let destination: Chain;
let chains: readonly Chain[];
const called = new Set<string>();
const found = new Set<string>();

beforeAll(async () => {
  types = await readPublishedTypes();
  system = await startSystem({
    env: {},
    portBase: portBaseOf("published-types"),
    oracles: 1,
    durable: false,
    users: 12,
  });
  await system.sponsorship.funded;
  api = createClient(system.endpoints.api.url);
  chains = await api.chains();
  [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
});
afterAll(async () => await system.stop());

function chainNamed(name: string): Chain {
  const found = chains.find((chain) => chain.name === name);
  if (found === undefined) throw new Error(`GET /chains lists no ${name}`);
  return found;
}

function usdcOn(chain: Chain): Address {
  const usdc = chain.erc20Currencies.find(({ symbol }) => symbol === "USDC");
  if (usdc === undefined) throw new Error(`no USDC on ${chain.name}`);
  return usdc.address;
}

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

let usersTaken = 0;
function aWallet() {
  const user = system.users[usersTaken++];
  if (user === undefined) throw new Error("the system was started with too few users");
  return createWallet(user.privateKey, chains);
}

interface CallOptions {
  /** The path with its parameters and query filled in. Default: the path in the name of the operation. */
  readonly at?: string;
  readonly body?: object;
  readonly withKey?: boolean;
  readonly status?: number;
}

/** Calls an operation and records where its answer differs from the published type. */
async function call<T = unknown>(operation: string, options: CallOptions = {}): Promise<T> {
  const { at, body, withKey = false, status = 200 } = options;
  const [method = "", template = ""] = operation.split(" ");
  const [key] = system.endpoints.apiKeys;
  const response = await fetch(`${system.endpoints.api.url}${at ?? template}`, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(withKey && { "x-api-key": key?.key ?? "" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const answer: unknown = await response.json();
  expect([operation, response.status, answer]).toEqual([operation, status, answer]);
  called.add(operation);
  const label = status === 200 ? operation : `${operation} ${status}`;
  for (const mismatch of types.mismatches(operation, status, answer)) found.add(`${label} ${mismatch}`);
  return answer as T;
}

const bridge = (user: Address, more: object = {}) => ({
  user,
  originChainId: origin.id,
  destinationChainId: destination.id,
  originCurrency: usdcOn(origin),
  destinationCurrency: usdcOn(destination),
  amount: String(parseUnits("25", 6)),
  tradeType: "EXACT_INPUT",
  ...more,
});

test("chains, configuration and currencies match their published types", async () => {
  const pair = `originChainId=${origin.id}&destinationChainId=${destination.id}`;
  const user = aWallet().address;
  const price = `?address=${usdcOn(origin)}&chainId=${origin.id}`;
  await call("GET /chains");
  await call("GET /chains/health", { at: `/chains/health?chainId=${origin.id}` });
  await call("GET /chains/liquidity", { at: `/chains/liquidity?chainId=${origin.id}` });
  await call("GET /config", { at: `/config?${pair}&user=${user}` });
  await call("GET /config/v2", { at: `/config/v2?${pair}&user=${user}&currency=usdc` });
  await call("POST /currencies/v1", { body: { defaultList: true } });
  await call("POST /currencies/v2", { body: { chainIds: [origin.id], term: "usd" } });
  await call("GET /currencies/token/price", { at: `/currencies/token/price${price}` });
  await call("GET /currencies/token/price/v2", { at: `/currencies/token/price/v2${price}` });
  await call("GET /currencies/trending");
  await call("GET /swap-sources", { at: `/swap-sources?chainId=${origin.id}` });
  await call("GET /lives");
});

test("quotes and their errors match their published types", async () => {
  const user = aWallet().address;
  const native = {
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount: "10000000000000000",
  };
  const kinds = [
    {},
    native,
    { tradeType: "EXACT_OUTPUT" },
    { tradeType: "EXPECTED_OUTPUT", destinationCurrency: zeroAddress, amount: "10000000000000000" },
    { destinationChainId: origin.id, destinationCurrency: zeroAddress },
    { usePermit: true },
    { useDepositAddress: true, refundTo: user },
    { topupGas: true },
    { appFees: [{ recipient: anAddress(), fee: "100" }] },
    { ...native, txs: [{ to: anAddress(), value: "0x0", data: "0x" }] },
  ];
  for (const kind of kinds) await call("POST /quote/v2", { body: bridge(user, kind) });
  await call("POST /quote", { body: bridge(user) });
  await call("POST /price", { body: bridge(user) });
  await call("POST /quote/v2", { body: bridge(user, { amount: "1" }), status: 400 });
  await call("POST /quote/v2", { body: bridge("0x12"), status: 400 });
});

test("every answer about a bridge, from the quote to the history, matches its published type", async () => {
  const wallet = aWallet();
  const quote = await call<Quote>("POST /quote/v2", {
    body: bridge(wallet.address, { appFees: [{ recipient: anAddress(), fee: "100" }] }),
  });
  await readStatuses(quote);
  const { hash: txHash } = await wallet.execute(quote);
  await call("POST /transactions/index", { body: { chainId: String(origin.id), txHash } });
  await call("GET /intents/status/v3", { at: `/intents/status/v3?requestId=${quote.requestId}` });
  await api.follow(quote.requestId);
  await readStatuses(quote);
  const settlement = async (): Promise<object | undefined> => {
    const { requests } = await call<{ requests: { protocol: { settlement?: object } }[] }>(
      "GET /requests/v3",
      {
        at: `/requests/v3?id=${quote.requestId}`,
      },
    );
    return requests[0]?.protocol.settlement;
  };
  await expect.poll(settlement, { timeout: 60_000 }).toBeDefined();
  for (const path of ["signature", "signature/v2"])
    await call(`GET /requests/{requestId}/${path}`, { at: `/requests/${quote.requestId}/${path}` });
  await call("POST /requests/metadata", {
    body: { requestId: quote.requestId, additionalMetadata: { moonPayId: "1" } },
  });
  await readLists(wallet.address);
});

test("every answer about a swap on one chain with a reported transaction matches its published type", async () => {
  const wallet = aWallet();
  const quote = await call<Quote>("POST /quote/v2", {
    body: bridge(wallet.address, { destinationChainId: origin.id, destinationCurrency: zeroAddress }),
  });
  const { hash: txHash } = await wallet.execute(quote);
  const tx = JSON.stringify({ ...quote.steps.at(-1)?.items[0]?.data, txHash });
  await call("POST /transactions/single", {
    body: { requestId: quote.requestId, chainId: String(origin.id), tx },
  });
  await api.follow(quote.requestId);
  await readLists(wallet.address);
});

test("every answer about a refund matches its published type", async () => {
  const wallet = aWallet();
  const quote = await call<Quote>("POST /quote/v2", {
    body: bridge(wallet.address, {
      originCurrency: zeroAddress,
      destinationCurrency: zeroAddress,
      amount: String(parseEther("0.01")),
      referrer: "debug-force-refund",
    }),
  });
  await wallet.execute(quote);
  expect((await api.follow(quote.requestId)).at(-1)?.status).toBe("refund");
  await readStatuses(quote);
  await readLists(wallet.address);
});

test("every answer about a deposit address matches its published type", async () => {
  const wallet = aWallet();
  const native = { originCurrency: zeroAddress, destinationCurrency: zeroAddress };
  const quote = await call<Quote>("POST /quote/v2", {
    body: bridge(wallet.address, {
      ...native,
      amount: String(parseEther("0.01")),
      useDepositAddress: true,
      refundTo: wallet.address,
    }),
  });
  await wallet.execute(quote);
  await api.follow(quote.requestId);
  const depositAddress = quote.steps[0]?.items[0]?.data.to;
  const at = `/deposit-addresses/v1?requestId=${quote.requestId}`;
  await call("GET /deposit-addresses/v1", { at, withKey: true });
  await call("GET /deposit-addresses/v1", { at, status: 401 });
  await call("POST /transactions/deposit-address/reindex", {
    body: { chainId: origin.id, depositAddress },
    withKey: true,
  });
  await readLists(wallet.address);
});

test("every answer about a bridge by signature matches its published type", async () => {
  const user = system.users[usersTaken++];
  const account = privateKeyToAccount(user?.privateKey ?? "0x");
  const quote = await call<Quote>("POST /quote/v2", { body: bridge(account.address, { usePermit: true }) });
  const { sign, post } = signatureDataOf(quote);
  const { domain, types: fields, primaryType, value: message } = sign;
  const signature = await account.signTypedData({
    domain,
    types: fields,
    primaryType,
    message,
  } as TypedDataDefinition);
  await call("POST /execute/permits", {
    at: `/execute/permits?signature=${signature}`,
    body: post.body,
  });
  await api.follow(quote.requestId);
  await readLists(account.address);
});

test("every answer about a sponsored execution matches its published type", async () => {
  const [chain] = system.endpoints.chains;
  if (chain === undefined) throw new Error("the system has no chain");
  const account = smartEoa(chain, privateKeyToAccount(generatePrivateKey()));
  const data = await account.sign([{ to: anAddress(), value: 0n, data: "0x" }]);
  const executionOptions = { referrer: "", subsidizeFees: true };
  const body = { executionKind: "rawCalls", data, executionOptions };
  await call("POST /execute", { body, withKey: true });
  await call("POST /execute", { body, status: 401 });
  await call("POST /execute", { body: { ...body, data: {} }, withKey: true, status: 400 });
});

test("every answer about a fast fill and its app balance matches its published type", async () => {
  const [key] = system.endpoints.apiKeys;
  const wallet = key?.fundingAddress ?? "0x";
  const quote = await call<Quote>("POST /quote/v2", { body: bridge(anAddress()), withKey: true });
  const { requestId } = quote;
  await call("POST /fast-fill", { body: { requestId }, status: 401 });
  await call("POST /fast-fill", { body: { requestId }, withKey: true });
  await api.follow(requestId);

  await call("GET /app-fees/{wallet}/balances", { at: `/app-fees/${wallet}/balances` });
  const claim = await call<Quote>("POST /app-fees/{wallet}/claim", {
    at: `/app-fees/${wallet}/claim`,
    body: { chainId: origin.id, currency: usdcOn(origin), recipient: anAddress(), amount: "5000000" },
  });
  const { sign, post } = signatureDataOf(claim);
  const owner = system.endpoints.accounts.find(({ address }) => isAddressEqual(address, wallet));
  const signature = await privateKeyToAccount(owner?.privateKey ?? "0x").signMessage({
    message: { raw: sign.message },
  });
  await call("POST /execute/permits", { at: `/execute/permits?signature=${signature}`, body: post.body });
  const claims = async () =>
    await call<{ claims: { status: string }[] }>("GET /app-fees/{wallet}/claims", {
      at: `/app-fees/${wallet}/claims`,
      withKey: true,
    });
  await expect.poll(async () => (await claims()).claims[0]?.status).toBe("success");
  await call("GET /balance-events/{wallet}", { at: `/balance-events/${wallet}`, withKey: true });
  await call("GET /balance-events/{wallet}", { at: `/balance-events/${wallet}`, status: 401 });
  const usage = async () =>
    await call<{ metrics: unknown[] }>("GET /metrics/usage", {
      at: "/metrics/usage?granularity=minutely",
      withKey: true,
    });
  await expect.poll(async () => (await usage()).metrics.length).toBeGreaterThan(0);
});

test("every answer about a sponsored bridge with app fees and a gas top-up matches its published type", async () => {
  const wallet = aWallet();
  const quote = await call<Quote>("POST /quote/v2", {
    body: bridge(wallet.address, {
      subsidizeFees: true,
      topupGas: true,
      appFees: [{ recipient: anAddress(), fee: "100" }],
      referrer: "shop.example",
    }),
    withKey: true,
  });
  await wallet.execute(quote);
  await api.follow(quote.requestId);
  await readLists(wallet.address, true);
});

test("pages of requests, and fields that are returned only on demand, match their published types", async () => {
  await call("GET /requests", { at: "/requests?limit=1", withKey: true });
  await call("GET /requests/v2", { at: "/requests/v2?limit=1&includeOrderData=true", withKey: true });
  await call("GET /requests/v3", {
    at: "/requests/v3?limit=1&includeTotal=true&includeAuthenticatedData=true",
    withKey: true,
  });
});

interface SignatureData {
  /** Typed data has a `value`, a claim has a `message`. */
  readonly sign: Pick<TypedDataDefinition, "domain" | "types" | "primaryType"> & {
    value: object;
    message: Hex;
  };
  readonly post: { readonly body: object };
}

function signatureDataOf({ steps }: Quote): SignatureData {
  const [item] = steps.flatMap(({ items }) => items);
  if (item === undefined) throw new Error("the answer has no item to sign");
  return item.data as unknown as SignatureData;
}

async function readStatuses({ requestId }: Quote): Promise<void> {
  for (const path of ["/intents/status", "/intents/status/v2", "/intents/status/v3"])
    await call(`GET ${path}`, { at: `${path}?requestId=${requestId}` });
}

/** Reads the user's requests from every list. */
async function readLists(user: Address, withKey = false): Promise<void> {
  for (const path of ["/requests", "/requests/v2", "/requests/v3"]) {
    const { requests } = await call<{ requests: unknown[] }>(`GET ${path}`, {
      at: `${path}?user=${user}`,
      withKey: withKey || path === "/requests/v3",
    });
    expect(requests.length).toBeGreaterThan(0);
  }
}

test("the tests above validated every published operation that the service has", () => {
  expect(types.operations.filter((operation) => !called.has(operation)).toSorted()).toEqual(
    notServed.toSorted(),
  );
});

test("answers match their published types, except for the listed differences", () => {
  expect([...found].toSorted()).toEqual(Object.keys(differences).toSorted());
});
