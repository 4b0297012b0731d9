import { fundLocal, permit2Address, startSystem, type Endpoints, type System } from "@causeway/localnet";
import { readFile } from "node:fs/promises";
import pg from "pg";
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  parseUnits,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type Client, type Quote } from "./client.ts";
import {
  contractOf,
  simpleAccount,
  smartEoa,
  type RawCall,
  type SmartAccount,
} from "../support/smart-accounts.ts";
import { portBaseOf } from "./port-bases.ts";

type ChainEndpoint = Endpoints["chains"][number];

/** A row of GET /balance-events: a change of one account of the wallet, in base units. */
interface BalanceEvent {
  readonly account: "balance" | "pending" | "owed";
  readonly delta: string;
  readonly balanceAfter: string;
  readonly context: string;
  readonly requestId: Hex | null;
}

let system: System;
let api: Client;

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("gasless"),
    oracles: 0,
    durable: false,
    users: 1,
  });
  api = createClient(system.endpoints.api.url);
  await system.sponsorship.funded;
});
afterAll(async () => await system.stop());

test("the API receives none of the worker's keys", async () => {
  for (const { logFile } of system.apis) {
    const log = await readFile(logFile, "utf8");
    expect(log).toContain('"event":"listening"');
    expect(log).not.toContain("is ignored: the API does not need it");
  }
});

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());
const amount = parseUnits("25", 6);

/** Creates a new account of each kind. The account has no funds and, unless it is an EOA, no code. */
const kinds: Readonly<Record<string, (chain: ChainEndpoint) => Promise<SmartAccount>>> = {
  "EIP-7702": async (chain) => smartEoa(chain, privateKeyToAccount(generatePrivateKey())),
  "ERC-4337 (EntryPoint 0.7)": async (chain) =>
    await simpleAccount(chain, privateKeyToAccount(generatePrivateKey()), "0.7"),
  "ERC-4337 (EntryPoint 0.8)": async (chain) =>
    await simpleAccount(chain, privateKeyToAccount(generatePrivateKey()), "0.8"),
};

for (const [kind, create] of Object.entries(kinds))
  test(`a new account without native tokens bridges with ${kind}, and the app pays exactly the cost`, async () => {
    const [origin, destination] = chains();
    const [account, recipient] = [await create(origin), anAddress()];
    const node = { url: origin.rpcUrl, chainId: origin.id };
    await fundLocal(node, [{ address: account.address, tokens: [{ token: usdcOf(origin), amount }] }]);
    const before = await books();

    const quote = await quoteFor(account.address, recipient);
    const { requestId } = quote;
    const call = await account.sign(callsOf(quote));
    expect(await execute(call, { requestId, subsidizeFees: true })).toEqual({
      message: "Transaction submitted",
      requestId,
    });
    const end = (await api.follow(requestId)).at(-1);
    expect(end).toMatchObject({ status: "success", fundsAt: "recipient", refundTxHashes: [] });

    // The recipient got everything, and the user never held native tokens.
    const received = await balanceOf(destination, usdcOf(destination), recipient);
    expect(received).toBeGreaterThanOrEqual(BigInt(quote.details.currencyOut.minimumAmount));
    expect(received).toBeLessThanOrEqual(BigInt(quote.details.currencyOut.amount));
    expect(await balanceOf(origin, usdcOf(origin), account.address)).toBe(0n);
    expect(await nativeOf(origin, account.address)).toBe(0n);

    // Every reservation of the app was paid or released, and every unit that left its balance paid for this
    // request.
    const contexts = async () => new Set((await eventsOf(requestId)).map(({ context }) => context));
    await expect
      .poll(contexts, { timeout: 60_000 })
      .toEqual(new Set(["set-pending-amount", "pay-fees", "unset-pending-amount"]));
    const [after, events] = [await books(), await eventsOf(requestId)];
    const charged = before.appBalance - after.appBalance;
    expect(sumOf(events, "balance")).toBe(-charged);
    expect(sumOf(events, "pending")).toBe(0n);
    expect(
      sumOf(
        events.filter(({ context }) => context === "pay-fees"),
        "pending",
      ),
    ).toBe(-charged);

    // The executor spent only gas, the solver paid what the recipient got, and the depository has the
    // deposit.
    const spentWei = await gasOf(end?.inTxHashes);
    expect(before.executorWei - after.executorWei).toBe(spentWei);
    expect(after.executorElsewhereWei).toBe(before.executorElsewhereWei);
    expect(before.solverUsdc - after.solverUsdc).toBe(received);
    expect(after.depositoryUsdc - before.depositoryUsdc).toBe(amount);
    // The app pays exactly the gas at its price and the chain's fee, rounded up.
    const exact = spentWei * ethUsd + flatFeeUsd;
    const rate = 10n ** 12n;
    // The gas and the fee may be rounded up separately.
    const maxRounding = 1n;
    expect(charged).toBeGreaterThanOrEqual((exact + rate - 1n) / rate);
    expect(charged).toBeLessThanOrEqual((exact + rate - 1n) / rate + maxRounding);
  });

test("without a sponsor, gas is paid from the quoted output: the recipient gets less, and the app pays nothing", async () => {
  const [origin, destination] = chains();
  const account = smartEoa(origin, privateKeyToAccount(generatePrivateKey()));
  const recipient = anAddress();
  const node = { url: origin.rpcUrl, chainId: origin.id };
  await fundLocal(node, [{ address: account.address, tokens: [{ token: usdcOf(origin), amount }] }]);
  const before = await books();
  const withoutGas = await quoteFor(account.address, recipient);
  const quote = await quoteFor(account.address, recipient, { originGasOverhead: "80000" });
  const { requestId } = quote;
  await execute(await account.sign(callsOf(quote)), { requestId, subsidizeFees: false });
  const end = (await api.follow(requestId)).at(-1);
  expect(end?.status).toBe("success");

  const received = await balanceOf(destination, usdcOf(destination), recipient);
  const gasUsdc = ((await gasOf(end?.inTxHashes)) * ethUsd) / 10n ** 12n;
  expect(received + gasUsdc).toBeLessThanOrEqual(BigInt(withoutGas.details.currencyOut.amount));
  // The app's balance is reserved while the request may have no output, and released once the output paid the
  // gas.
  const contexts = async () => new Set((await eventsOf(requestId)).map(({ context }) => context));
  await expect
    .poll(contexts, { timeout: 60_000 })
    .toEqual(new Set(["set-pending-amount", "unset-pending-amount"]));
  expect((await books()).appBalance).toBe(before.appBalance);
});

/** The permit methods and their amounts. With Permit2, the service swaps the signed tokens first. */
const signedFor = [
  ["USDC", parseUnits("25", 6), "eip3009"],
  ["TST", parseUnits("50", 18), "eip2612"],
  ["WETH", parseUnits("0.01", 18), "permit2"],
] as const;

for (const [symbol, units, method] of signedFor)
  test(`a new account without native tokens bridges ${symbol} with one signature (${method}), and its output pays the gas`, async () => {
    const [origin, destination] = chains();
    const [key, recipient] = [generatePrivateKey(), anAddress()];
    const user = privateKeyToAccount(key);
    const token = origin.tokens.find((candidate) => candidate.symbol === symbol)?.address ?? "0x";
    const node = { url: origin.rpcUrl, chainId: origin.id };
    await fundLocal(node, [{ address: user.address, tokens: [{ token, amount: units }] }]);
    // Wallets usually have an old approval for Permit2. This leaves no native tokens.
    if (method === "permit2") await approvePermit2(origin, token, key);
    const before = await books();

    const options = { originCurrency: token, amount: units.toString(), usePermit: true };
    const quote = await quoteFor(user.address, recipient, options);
    expect(quote.steps.map(({ id }) => id)).toEqual(["authorize1"]);
    const [item] = quote.steps.flatMap(({ items }) => items);
    if (item === undefined) throw new Error("the quote has no item to sign");
    const { sign, post } = item.data as unknown as SignatureData;
    expect(post.body).toEqual({ kind: method, requestId: quote.requestId, api: "bridge" });
    const { domain, types, primaryType, value: message } = sign;
    const signature = await user.signTypedData({
      domain,
      types,
      primaryType,
      message,
    } as TypedDataDefinition);
    const accepted = { message: "Signature accepted", requestId: quote.requestId };
    // Clients also send a referrer.
    for (const body of [post.body, { ...post.body, referrer: "a client" }])
      expect(await callApi(`${post.endpoint}?signature=${signature}`, body)).toEqual(accepted);

    const end = (await api.follow(quote.requestId)).at(-1);
    expect(end).toMatchObject({ status: "success", fundsAt: "recipient" });
    const received = await balanceOf(destination, usdcOf(destination), recipient);
    expect(received).toBeGreaterThanOrEqual(BigInt(quote.details.currencyOut.minimumAmount));
    expect(await balanceOf(origin, token, user.address)).toBe(0n);
    expect(await nativeOf(origin, user.address)).toBe(0n);
    const after = await books();
    expect(before.executorWei - after.executorWei).toBe(await gasOf(end?.inTxHashes));
    expect(after.appBalance).toBe(before.appBalance);
  });

test("the ledger matches the chain: top-ups are custody, charges are fees, and no unit is unaccounted for", async () => {
  const paidIn = await system.sponsorship.funded;
  const [events, { appBalance }] = [await balanceEvents(), await books()];
  for (const account of ["balance", "pending", "owed"] as const)
    expect(sumOf(events, account), account).toBe(
      BigInt(events.find((event) => event.account === account)?.balanceAfter ?? 0),
    );
  expect(sumOf(events, "balance")).toBe(appBalance);

  const charged = -sumOf(
    events.filter(({ context }) => context === "pay-fees"),
    "pending",
  );
  expect(charged).toBeGreaterThan(0n);
  expect(appBalance + charged).toBe(paidIn);
  expect(await serviceAccounts()).toEqual({ custody: -paidIn, fees: charged });
  expect(await paidToSolver()).toBe(paidIn);
});

test("a user operation that offers a fee is refused before anything moves, because the service would be paid twice", async () => {
  const [origin] = chains();
  const account = await kinds["ERC-4337 (EntryPoint 0.7)"]?.(origin);
  const before = await books();
  const call = { to: anAddress(), value: 0n, data: "0x" } as const;
  const offer = (await account?.sign([call], { maxFeePerGas: 1n })) as RawCall;
  await expect(execute(offer, { subsidizeFees: true })).rejects.toThrow(
    /^\/execute: 400 \{"error":".*maxFeePerGas/,
  );
  expect(await books()).toEqual(before);
});

interface SignatureData {
  readonly sign: Pick<TypedDataDefinition, "domain" | "types" | "primaryType"> & { value: object };
  readonly post: { readonly endpoint: string; readonly body: object };
}

async function approvePermit2({ id, rpcUrl }: ChainEndpoint, token: Address, key: Hex): Promise<void> {
  const account = privateKeyToAccount(key);
  const node = { url: rpcUrl, chainId: id };
  await fundLocal(node, [{ address: account.address, nativeWei: parseUnits("1", 18) }]);
  const wallet = createWalletClient({ account, transport: http(rpcUrl) });
  const args = [permit2Address, 2n ** 256n - 1n] as const;
  const hash = await wallet.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: "approve",
    args,
    chain: null,
  });
  await createPublicClient({ transport: http(rpcUrl), pollingInterval: 50 }).waitForTransactionReceipt({
    hash,
  });
  await fundLocal(node, [{ address: account.address, nativeWei: 0n }]);
}

/** The price in the fixed price source. */
const ethUsd = 2_500n;
/** The local chains' fee per transaction, in USD with 18 decimals. */
const flatFeeUsd = 10n ** 16n;

function chains(): readonly [ChainEndpoint, ChainEndpoint] {
  const [origin, destination] = system.endpoints.chains;
  if (origin === undefined || destination === undefined)
    throw new Error("the system has fewer than two chains");
  return [origin, destination];
}

function usdcOf({ name, tokens }: ChainEndpoint): Address {
  const usdc = tokens.find(({ symbol }) => symbol === "USDC");
  if (usdc === undefined) throw new Error(`no USDC on ${name}`);
  return usdc.address;
}

function callsOf({ steps }: Quote) {
  return steps
    .flatMap(({ items }) => items)
    .map(({ data }) => ({ to: data.to, value: BigInt(data.value), data: data.data }));
}

async function quoteFor(user: Address, recipient: Address, more: object = {}): Promise<Quote> {
  const [origin, destination] = chains();
  return await callApi<Quote>("/quote/v2", {
    user,
    recipient,
    originChainId: origin.id,
    originCurrency: usdcOf(origin),
    destinationChainId: destination.id,
    destinationCurrency: usdcOf(destination),
    amount: amount.toString(),
    tradeType: "EXACT_INPUT",
    ...more,
  });
}

async function execute(
  data: RawCall,
  { requestId, subsidizeFees }: { readonly requestId?: Hex; readonly subsidizeFees: boolean },
): Promise<unknown> {
  return await callApi("/execute", {
    executionKind: "rawCalls",
    data,
    executionOptions: { referrer: "", subsidizeFees },
    ...(requestId === undefined ? {} : { requestId }),
  });
}

/**
 * Calls the API with the app's key.
 * @throws Error with the whole answer if its status is not 200
 */
async function callApi<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(`${system.endpoints.api.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", "x-api-key": system.sponsorship.apiKey.key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/**
 * The balances of every account that a sponsored bridge uses, read from the chains. The app balance is read
 * from the service.
 */
async function books() {
  const [origin, destination] = chains();
  const [appBalance, executorWei, executorElsewhereWei, solverUsdc, depositoryUsdc] = await Promise.all([
    appBalanceUsdc(),
    nativeOf(origin, system.executor.address),
    nativeOf(destination, system.executor.address),
    balanceOf(destination, usdcOf(destination), system.solver.address),
    balanceOf(origin, usdcOf(origin), contractOf(origin, "depository")),
  ]);
  return { appBalance, executorWei, executorElsewhereWei, solverUsdc, depositoryUsdc };
}

async function appBalanceUsdc(): Promise<bigint> {
  const { balances } = await callApi<{
    balances: readonly { currency: { address: string }; amount: string }[];
  }>(`/app-fees/${system.sponsor.address}/balances`);
  const usdc = usdcOf(chains()[0]).toLowerCase();
  return BigInt(balances.find(({ currency }) => currency.address.toLowerCase() === usdc)?.amount ?? "0");
}

/** The events of the sponsor's balance from all pages, newest first. */
async function balanceEvents(): Promise<readonly BalanceEvent[]> {
  const all: BalanceEvent[] = [];
  for (let more = ""; ;) {
    const { events, continuation } = await callApi<{
      events: readonly BalanceEvent[];
      continuation?: string;
    }>(`/balance-events/${system.sponsor.address}?limit=5${more}`);
    all.push(...events);
    if (continuation === undefined) return all;
    more = `&continuation=${encodeURIComponent(continuation)}`;
  }
}

async function eventsOf(requestId: Hex): Promise<readonly BalanceEvent[]> {
  return (await balanceEvents()).filter((event) => event.requestId === requestId);
}

function sumOf(events: readonly BalanceEvent[], account: BalanceEvent["account"]): bigint {
  return events
    .filter((event) => event.account === account)
    .reduce((total, { delta }) => total + BigInt(delta), 0n);
}

/** The service's own accounts in the ledger. The API does not return them. */
async function serviceAccounts(): Promise<Readonly<Record<string, bigint>>> {
  const database = new pg.Client({ connectionString: system.databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ account: string; total: string }>(
      "select account, sum(amount)::text as total from ledger_entries where wallet is null group by account",
    );
    return Object.fromEntries(rows.map(({ account, total }) => [account, BigInt(total)]));
  } finally {
    await database.end();
  }
}

/** The amount that the sponsor paid to the solver on the home chain. */
async function paidToSolver(): Promise<bigint> {
  const [home] = chains();
  const transfers = await createPublicClient({ transport: http(home.rpcUrl) }).getContractEvents({
    address: usdcOf(home),
    abi: erc20Abi,
    eventName: "Transfer",
    args: { from: system.sponsor.address, to: system.solver.address },
    fromBlock: 0n,
    strict: true,
  });
  return transfers.reduce((total, { args }) => total + args.value, 0n);
}

async function gasOf(hashes: readonly Hex[] = []): Promise<bigint> {
  const [origin] = chains();
  const reads = createPublicClient({ transport: http(origin.rpcUrl) });
  const receipts = await Promise.all(hashes.map(async (hash) => await reads.getTransactionReceipt({ hash })));
  for (const { from } of receipts) expect(from).toBe(system.executor.address.toLowerCase());
  return receipts.reduce((total, { gasUsed, effectiveGasPrice }) => total + gasUsed * effectiveGasPrice, 0n);
}

async function nativeOf(chain: ChainEndpoint, address: Address): Promise<bigint> {
  return await createPublicClient({ transport: http(chain.rpcUrl) }).getBalance({ address });
}

async function balanceOf(chain: ChainEndpoint, token: Address, holder: Address): Promise<bigint> {
  return await createPublicClient({ transport: http(chain.rpcUrl) }).readContract({
    address: token,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [holder],
  });
}
