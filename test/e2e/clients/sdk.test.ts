import { signedBatchAbi, signedBatchBytecode } from "@causeway/contracts";
import { startSystem, type System } from "@causeway/localnet";
import * as sdk from "@relayprotocol/relay-sdk";
import {
  createClient,
  getClient,
  MAINNET_RELAY_API,
  type BatchExecutorConfig,
  type Execute,
  type GetQuoteParameters,
  type ProgressData,
} from "@relayprotocol/relay-sdk";
import { fetchChainConfigs } from "@relayprotocol/relay-sdk/chain-utils";
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  keccak256,
  parseEther,
  parseUnits,
  toHex,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createClient as createReader, createWallet, type Chain, type Client } from "../client.ts";
import { portBaseOf } from "../port-bases.ts";

// Drives the unmodified public SDK from npm against a local system.

let system: System;
let api: Client;
let chains: readonly Chain[];

beforeAll(async () => {
  system = await startSystem({ env: {}, portBase: portBaseOf("sdk"), oracles: 0, durable: false, users: 14 });
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
  const listedChain = chains.find((chain) => chain.name === name);
  if (listedChain === undefined) throw new Error(`GET /chains lists no ${name}`);
  return listedChain;
}

function tokenOf(chain: Chain, symbol: string): Address {
  const currency = [chain.currency, ...chain.erc20Currencies].find(
    (candidate) => candidate.symbol === symbol,
  );
  if (currency === undefined) throw new Error(`no ${symbol} on ${chain.name}`);
  return currency.address;
}

let usersTaken = 0;
/** A viem wallet on one chain, of a user that only one test uses. */
function aWallet({ id, name, httpRpcUrl }: Chain) {
  const user = system.users[usersTaken++];
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

const isClass = (exported: object): boolean => String(exported).startsWith("class ");
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
async function execute(
  trade: Trade,
): Promise<{ quote: Execute; received: bigint; progress: ProgressData[] }> {
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
  const progress: ProgressData[] = [];
  await actions.execute({ quote, wallet, onProgress: (data) => void progress.push(data) });
  const received = await createWallet(generatePrivateKey(), chains).balance(
    to.id,
    tokenOf(to, get),
    recipient,
  );
  return { quote, received, progress };
}

const minimumOutput = ({ details }: Execute): bigint => BigInt(details?.currencyOut?.minimumAmount ?? "0");

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
] as const)("bridges %s to %s: amount %d, parameters %j", async (pay, get, amount, parameters) => {
  const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
  const { quote, received, progress } = await execute({ from, to, pay, get, amount, ...parameters });
  if ("tradeType" in parameters) expect(received).toBe(amount);
  else expect(received).toBeGreaterThanOrEqual(minimumOutput(quote));
  const { txHashes = [], steps = [] } = progress.at(-1) ?? {};
  expect(steps.every(({ items }) => items.every(({ status }) => status === "complete"))).toBe(true);
  expect(txHashes.map(({ chainId }) => chainId)).toContain(to.id);
});

test("swaps on one chain", async () => {
  const chain = chainNamed("local-a");
  const { quote, received } = await execute({
    from: chain,
    to: chain,
    pay: "USDC",
    get: "WETH",
    amount: parseUnits("25", 6),
  });
  expect(received).toBeGreaterThanOrEqual(minimumOutput(quote));
});

test("the SDK has only the actions and functions that these tests cover", () => {
  expect(Object.keys(getClient().actions).toSorted()).toEqual([
    "claimAppFees",
    "execute",
    "executeGaslessBatch",
    "fastFill",
    "getAppFees",
    "getQuote",
  ]);
  const functions = Object.entries(sdk).filter(
    ([, exported]) => typeof exported === "function" && !isClass(exported),
  );
  expect(functions.map(([name]) => name).toSorted()).toEqual([
    "adaptViemWallet",
    "axios",
    "claimAppFees",
    "convertViemChainToRelayChain",
    "createCaliburExecutor",
    "createClient",
    "execute",
    "executeGaslessBatch",
    "executeSteps",
    "fastFill",
    "getApiKeyHeader",
    "getAppFees",
    "getClient",
    "getCurrentStepData",
    "getDeadAddress",
    "getQuote",
    "isAPIError",
    "isDeadAddress",
    "isRelayApiUrl",
    "isSimulateContractRequest",
    "isViemWalletClient",
    "log",
    "pollUntilHasData",
    "pollUntilOk",
    "prepareCallTransaction",
    "prepareHyperliquidSteps",
    "repeatUntilOk",
    "request",
    "safeStructuredClone",
    "setParams",
  ]);
});

test("learns from the WebSocket alone that a bridge succeeded", async () => {
  const opened: string[] = [];
  const statuses: string[] = [];
  // The SDK opens a socket only if `window` exists.
  class Recorder extends WebSocket {
    constructor(url: string) {
      super(url);
      opened.push(url);
      this.addEventListener("message", ({ data }) => {
        const { data: update } = JSON.parse(String(data)) as { data?: { status?: string } };
        if (update?.status !== undefined) statuses.push(update.status);
      });
    }
  }
  vi.stubGlobal("WebSocket", Recorder);
  vi.stubGlobal("window", { WebSocket: Recorder });
  const url = system.endpoints.api.url.replace("http", "ws");
  getClient().configure({ websocket: { enabled: true, url } });
  const { axios } = getClient().utils;
  const requestedUrls: string[] = [];
  const watch = axios.interceptors.request.use((config) => {
    requestedUrls.push(config.url ?? "");
    return config;
  });
  try {
    const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
    const bridge = { from, to, pay: "USDC", get: "USDC", amount: parseUnits("25", 6) };
    const { quote, received } = await execute(bridge);
    expect(received).toBeGreaterThanOrEqual(minimumOutput(quote));
    expect(opened).toEqual([url]);
    expect(statuses.at(-1)).toBe("success");
    expect(requestedUrls.filter((path) => path.includes("/intents/status"))).toEqual([]);
  } finally {
    axios.interceptors.request.eject(watch);
    getClient().configure({ websocket: { enabled: false } });
    vi.unstubAllGlobals();
  }
});

test("reports that a request was refunded", async () => {
  const chain = chainNamed("local-a");
  const wallet = aWallet(chain);
  const { actions } = getClient();
  const quote = await actions.getQuote({
    chainId: chain.id,
    currency: tokenOf(chain, "USDC"),
    toChainId: chainNamed("local-b").id,
    toCurrency: tokenOf(chainNamed("local-b"), "USDC"),
    tradeType: "EXACT_INPUT",
    amount: String(parseUnits("25", 6)),
    user: wallet.account.address,
    recipient: anAddress(),
    options: { referrer: "debug-force-refund" },
  });
  await expect(actions.execute({ quote, wallet })).rejects.toThrow(/refund/i);
  const requestId = quote.steps[0]?.requestId as Hex;
  const { status, refundTxHashes } = await api.status(requestId);
  expect([status, refundTxHashes.length]).toEqual(["refund", 1]);
});

test("pays through a deposit address", async () => {
  const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
  const { quote, received } = await execute({
    from,
    to,
    pay: "ETH",
    get: "USDC",
    amount: parseEther("0.004"),
    options: { useDepositAddress: true },
  });
  expect(quote.steps[0]?.depositAddress).toMatch(/^0x[0-9a-f]{40}$/);
  expect(received).toBeGreaterThanOrEqual(minimumOutput(quote));
});

test("forwards the error message and code of the service", async () => {
  const chain = chainNamed("local-a");
  const refusedQuote = getClient().actions.getQuote({
    chainId: chain.id,
    currency: zeroAddress,
    toChainId: chainNamed("local-b").id,
    toCurrency: zeroAddress,
    tradeType: "EXACT_INPUT",
    amount: "1",
    user: anAddress(),
    recipient: anAddress(),
  });
  await expect(refusedQuote).rejects.toMatchObject({
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

test("claims from the app balance with one signature", async () => {
  const { actions } = getClient();
  const { fundingAddress } = system.endpoints.apiKeys[0] ?? {};
  const sponsor = system.endpoints.accounts.find(
    ({ address }) => address.toLowerCase() === fundingAddress?.toLowerCase(),
  );
  if (sponsor === undefined) throw new Error("no local account has the funding address");
  const [balance] = (await actions.getAppFees({ wallet: sponsor.address })) ?? [];
  const { chainId = 0, address: currency = zeroAddress } = balance?.currency ?? {};
  const chain = chains.find(({ id }) => id === chainId);
  if (chain === undefined) throw new Error(`GET /chains lists no chain ${chainId}`);
  const recipient = anAddress();
  await actions.claimAppFees({
    wallet: createWalletClient({
      account: privateKeyToAccount(sponsor.privateKey),
      transport: http(chain.httpRpcUrl),
    }),
    chainId,
    currency,
    recipient,
    amount: "5000000",
  });
  const holder = createWallet(generatePrivateKey(), chains);
  await expect
    .poll(async () => await holder.balance(chainId, currency as Address, recipient))
    .toBe(5_000_000n);
});

test("executes a gasless batch through an executor that the account delegates to", async () => {
  const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
  const owner = aWallet(from);
  const reads = createPublicClient({ chain: owner.chain, transport: http(from.httpRpcUrl) });
  const deployment = await aWallet(from).deployContract({
    abi: signedBatchAbi,
    bytecode: signedBatchBytecode,
  });
  const { contractAddress } = await reads.waitForTransactionReceipt({ hash: deployment });
  const recipient = anAddress();
  const { actions } = getClient();
  const quote = await actions.getQuote({
    chainId: from.id,
    currency: tokenOf(from, "USDC"),
    toChainId: to.id,
    toCurrency: tokenOf(to, "USDC"),
    tradeType: "EXACT_INPUT",
    amount: String(parseUnits("25", 6)),
    user: owner.account.address,
    recipient,
  });
  const before = await reads.getBalance({ address: owner.account.address });
  await withApiKey(async () => {
    const { requestId } = await actions.executeGaslessBatch({
      quote,
      walletClient: owner,
      executor: signedBatch(contractAddress ?? zeroAddress),
      subsidizeFees: true,
    });
    expect((await api.status(requestId as Hex)).status).toBe("success");
  });
  expect(await reads.getBalance({ address: owner.account.address })).toBe(before);
  const received = await createWallet(generatePrivateKey(), chains).balance(
    to.id,
    tokenOf(to, "USDC"),
    recipient,
  );
  expect(received).toBeGreaterThanOrEqual(minimumOutput(quote));
});

/**
 * Runs as an app's backend, with the app's secret key. The SDK itself sends `apiKey` only to its publisher's
 * hosts.
 */
async function withApiKey<T>(run: () => Promise<T>): Promise<T> {
  const client = getClient();
  const { key } = system.endpoints.apiKeys[0] ?? {};
  const { common } = client.utils.axios.defaults.headers;
  client.apiKey = key ?? "";
  common["x-api-key"] = key ?? "";
  try {
    return await run();
  } finally {
    delete client.apiKey;
    delete common["x-api-key"];
  }
}

/** Describes the test contract SignedBatch to the SDK as a batch executor. */
function signedBatch(address: Address): BatchExecutorConfig {
  const salt = keccak256(toHex("causeway.test.SignedBatch"));
  return {
    address,
    abi: signedBatchAbi,
    originGasOverhead: 80_000,
    eip712Types: {
      Batch: [
        { name: "calls", type: "BatchedCall[]" },
        { name: "nonce", type: "uint256" },
      ],
      BatchedCall: [
        { name: "to", type: "address" },
        { name: "value", type: "uint256" },
        { name: "data", type: "bytes" },
      ],
    },
    eip712PrimaryType: "Batch",
    salt,
    buildSignDomain: (chainId, verifyingContract) => ({
      name: "SignedBatch",
      version: "1",
      chainId: BigInt(chainId),
      verifyingContract,
      salt,
    }),
    buildSignMessage: (calls, nonce) => ({ calls, nonce }),
    encodeExecute: ({ calls }, wrappedSignature) =>
      encodeFunctionData({
        abi: signedBatchAbi,
        functionName: "execute",
        args: [calls as readonly { to: Address; value: bigint; data: Hex }[], wrappedSignature],
      }),
    // The account has no code yet.
    getNonce: async () => 0n,
  };
}

test("a fast fill with the app's key pays the recipient before the deposit", async () => {
  const [from, to] = [chainNamed("local-a"), chainNamed("local-b")];
  const recipient = anAddress();
  const { actions } = getClient();
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
  await withApiKey(async () => await actions.fastFill({ requestId }));
  await expect.poll(async () => (await api.status(requestId)).status, { timeout: 20_000 }).toBe("success");
  expect((await api.status(requestId)).inTxHashes).toEqual([]);
});
