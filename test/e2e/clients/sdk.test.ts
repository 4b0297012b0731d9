import { startSystem, type System } from "@causeway/localnet";
import {
  createClient,
  getClient,
  MAINNET_RELAY_API,
  type Execute,
  type GetQuoteParameters,
  type ProgressData,
} from "@relayprotocol/relay-sdk";
import { fetchChainConfigs } from "@relayprotocol/relay-sdk/chain-utils";
import { createWalletClient, http, parseEther, parseUnits, zeroAddress, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient as createReader, createWallet, type Chain, type Client } from "../client.ts";

// Drives the unmodified public SDK from npm against a local system.

let system: System;
let api: Client;
let chains: readonly Chain[];

beforeAll(async () => {
  system = await startSystem({ env: {}, portBase: 28_500, oracles: 0, durable: false, users: 8 });
  await system.sponsorship.funded;
  const { url } = system.endpoints.api;
  api = createReader(url);
  chains = await api.chains();
  createClient({
    baseApiUrl: url,
    source: "shop.example",
    chains: await fetchChainConfigs(url),
    pollingInterval: 200,
    confirmationPollingInterval: 200,
  });
});
afterAll(async () => await system.stop());

function chainNamed(name: string): Chain {
  const found = chains.find((chain) => chain.name === name);
  if (found === undefined) throw new Error(`GET /chains lists no ${name}`);
  return found;
}

function tokenOf(chain: Chain, symbol: string): Address {
  const found = [chain.currency, ...chain.erc20Currencies].find((one) => one.symbol === symbol);
  if (found === undefined) throw new Error(`no ${symbol} on ${chain.name}`);
  return found.address;
}

let taken = 0;
/** A user whom no other test uses, as a wallet of viem on one chain. */
function aWallet({ id, name, httpRpcUrl }: Chain) {
  const user = system.users[taken++];
  if (user === undefined) throw new Error("the system was started with too few users");
  const chain = {
    id,
    name,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [httpRpcUrl] } },
  };
  return createWalletClient({
    account: privateKeyToAccount(user.privateKey),
    chain,
    transport: http(httpRpcUrl),
  });
}

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

interface Trade {
  readonly from: Chain;
  readonly to: Chain;
  readonly pay: string;
  readonly get: string;
  readonly amount: bigint;
  readonly tradeType?: GetQuoteParameters["tradeType"];
  readonly options?: GetQuoteParameters["options"];
}

/** Quotes and executes with the SDK alone, and returns what the recipient received. */
async function carryOut(trade: Trade): Promise<{ quote: Execute; received: bigint; told: ProgressData[] }> {
  const { from, to, pay, get, amount, tradeType = "EXACT_INPUT", options } = trade;
  const wallet = aWallet(from);
  const recipient = anAddress();
  const { actions } = getClient();
  const quote = await actions.getQuote({
    chainId: from.id,
    currency: tokenOf(from, pay),
    toChainId: to.id,
    toCurrency: tokenOf(to, get),
    tradeType,
    amount: String(amount),
    user: wallet.account.address,
    recipient,
    wallet,
    ...(options !== undefined && { options }),
  });
  const told: ProgressData[] = [];
  await actions.execute({ quote, wallet, onProgress: (data) => void told.push(data) });
  const received = await createWallet(generatePrivateKey(), chains).balance(
    to.id,
    tokenOf(to, get),
    recipient,
  );
  return { quote, received, told };
}

const promised = ({ details }: Execute): bigint => BigInt(details?.currencyOut?.minimumAmount ?? "0");

test("uses the configured base URL", () => {
  expect(getClient().baseApiUrl).toBe(system.endpoints.api.url);
  expect(getClient().baseApiUrl).not.toBe(MAINNET_RELAY_API);
});

test("loads the chains of the service", () => {
  expect(getClient().chains.map(({ id, displayName }) => ({ id, displayName }))).toEqual(
    chains.map(({ id }) => ({ id, displayName: expect.any(String) as string })),
  );
});

test.each([
  ["ETH", "ETH", parseEther("0.01"), {}],
  ["USDC", "USDC", parseUnits("25", 6), {}],
  ["USDC", "ETH", parseUnits("25", 6), {}],
  ["USDC", "USDC", parseUnits("25", 6), { tradeType: "EXACT_OUTPUT" }],
  ["USDC", "USDC", parseUnits("25", 6), { options: { usePermit: true } }],
] as const)("%s to %s between chains, of %d, %j", async (pay, get, amount, how) => {
  const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
  const { quote, received, told } = await carryOut({ from, to, pay, get, amount, ...how });
  if ("tradeType" in how) expect(received).toBe(amount);
  else expect(received).toBeGreaterThanOrEqual(promised(quote));
  const { txHashes = [], steps = [] } = told.at(-1) ?? {};
  expect(steps.every(({ items }) => items.every(({ status }) => status === "complete"))).toBe(true);
  expect(txHashes.map(({ chainId }) => chainId)).toContain(to.id);
});

test("a swap on one chain", async () => {
  const chain = chainNamed("local-a");
  const { quote, received } = await carryOut({
    from: chain,
    to: chain,
    pay: "USDC",
    get: "WETH",
    amount: parseUnits("25", 6),
  });
  expect(received).toBeGreaterThanOrEqual(promised(quote));
});

test("passes on the error message and code of the service", async () => {
  const chain = chainNamed("local-a");
  const asked = getClient().actions.getQuote({
    chainId: chain.id,
    currency: zeroAddress,
    toChainId: chainNamed("local-b").id,
    toCurrency: zeroAddress,
    tradeType: "EXACT_INPUT",
    amount: "1",
    user: anAddress(),
    recipient: anAddress(),
  });
  await expect(asked).rejects.toMatchObject({
    statusCode: 400,
    rawError: { errorCode: "AMOUNT_TOO_LOW", message: expect.any(String) as string },
  });
});

test("reads the app balance", async () => {
  const { actions } = getClient();
  const { fundingAddress } = system.endpoints.apiKeys[0] ?? {};
  const balances = await actions.getAppFees({ wallet: fundingAddress ?? "" });
  expect(balances?.length).toBeGreaterThan(0);
});

test("a fast fill with the app's key pays before the deposit", async () => {
  const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
  const recipient = anAddress();
  const [key] = system.endpoints.apiKeys;
  // The SDK sends its `apiKey` option only to its publisher's own hosts.
  const { actions, utils } = getClient();
  utils.axios.defaults.headers.common["x-api-key"] = key?.key ?? "";
  const quote = await actions.getQuote({
    chainId: from.id,
    currency: tokenOf(from, "USDC"),
    toChainId: to.id,
    toCurrency: tokenOf(to, "USDC"),
    tradeType: "EXACT_INPUT",
    amount: String(parseUnits("25", 6)),
    recipient,
    user: anAddress(),
  });
  const requestId = quote.steps[0]?.requestId as Hex;
  await actions.fastFill({ requestId });
  await expect.poll(async () => (await api.status(requestId)).status, { timeout: 20_000 }).toBe("success");
  expect((await api.status(requestId)).inTxHashes).toEqual([]);
});
