import type { VmType } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import { createApiClient, fundLocal, startSystem, type System, watchPosition } from "@causeway/localnet";
import {
  depositoryVault,
  familyChains,
  familyWallets,
  type FamilyWallet,
  solanaTokensOf,
} from "@causeway/localnet/tour";
import { depositAddressAnswer, quoteAnswer, type QuoteAnswer, type WireChain } from "@causeway/wire";
import { solanaKey } from "@causeway/simulators/solana";
import { p2wpkh, TEST_NETWORK } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  maxUint256,
  parseUnits,
  zeroAddress,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contractOf, smartEoa, type SmartAccount } from "../support/smart-accounts.ts";
import { portBaseOf } from "./port-bases.ts";

// Quote options that concern the EVM side work with any chain on the other side. From Solana, Bitcoin and
// Hyperliquid: calls and gas top-ups. To them: permits, deposit addresses and executions. Each request is
// followed until the hub owes the solver the deposit. Local prices are fixed.

const EVM = "local-a";
const TIMEOUT_MS = 60_000;
const families: Readonly<Record<string, VmType>> = {
  [familyChains.solana]: "solana-vm",
  [familyChains.bitcoin]: "bitcoin-vm",
  [familyChains.hyperliquid]: "hyperliquid-vm",
};

let system: System;
let chains: readonly WireChain[];
let wallets: ReadonlyMap<string, FamilyWallet>;

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("non-evm-options"),
    oracles: 1,
    durable: false,
    users: 1,
    families: true,
    mixedMining: true,
  });
  chains = await createApiClient(system.endpoints.api.url).chains();
  if (system.families === undefined)
    throw new Error("the system was started without the other chain families");
  wallets = await familyWallets(system, system.families);
  const onEvm = ["USDC", "TST", "ETH"].map((symbol) => placeOf(EVM, symbol));
  for (const place of [...nonEvmPlaces(), ...onEvm]) await watchHub(place);
}, 240_000);
afterAll(async () => await system.stop());

/** A currency of a chain, and the test user's wallet there. */
interface Place {
  readonly chain: string;
  readonly chainId: number;
  readonly currency: string;
  readonly wallet: FamilyWallet;
}

function placeOf(chain: string, symbol: string): Place {
  const found = chains.find(({ name }) => name === chain);
  const wallet = wallets.get(chain);
  const currency =
    found && [found.currency, ...found.erc20Currencies].find((candidate) => candidate.symbol === symbol);
  if (found === undefined || wallet === undefined || currency?.address === undefined)
    throw new Error(`GET /chains lists no ${symbol} on ${chain}`);
  return { chain, chainId: found.id, currency: currency.address, wallet };
}

const nonEvmPlaces = () =>
  [
    placeOf(familyChains.solana, "USDC"),
    placeOf(familyChains.bitcoin, "BTC"),
    placeOf(familyChains.hyperliquid, "USDC"),
  ] as const;
/** A hundred dollars in the currency of each of {@link nonEvmPlaces}. */
const HUNDRED = ["100000000", "200000", "10000000000"] as const;

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

function home(): System["endpoints"]["chains"][number] {
  const found = system.endpoints.chains.find(({ name }) => name === EVM);
  if (found === undefined) throw new Error(`the system has no chain ${EVM}`);
  return found;
}
const evmClient = () =>
  createPublicClient({ transport: http(home().rpcUrl), cacheTime: 0, pollingInterval: 50 });

let funding = Promise.resolve();
/** Fundings run one at a time, because one account pays all of them. */
async function fund(...fundings: Parameters<typeof fundLocal>[1]): Promise<void> {
  const { id: chainId, rpcUrl: url } = home();
  funding = funding.then(async () => await fundLocal({ url, chainId }, fundings));
  await funding;
}

/** An account's balance of a currency on the EVM chain. Default: USDC. */
async function tokensOf(holder: Address, token = placeOf(EVM, "USDC").currency as Address): Promise<bigint> {
  if (token === zeroAddress) return await nativeOf(holder);
  return await evmClient().readContract({
    address: token,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [holder],
  });
}
const nativeOf = async (holder: Address): Promise<bigint> =>
  await evmClient().getBalance({ address: holder });

/** The wei that transactions on the EVM chain paid for gas. */
async function gasOf(hashes: readonly string[]): Promise<bigint> {
  const receipts = await Promise.all(
    hashes.map(async (hash) => await evmClient().getTransactionReceipt({ hash: hash as Hex })),
  );
  return receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
}

/** Calls the API with an app's key. */
async function callApi(path: string, body?: object): Promise<unknown> {
  const [key] = system.endpoints.apiKeys;
  const response = await fetch(`${system.endpoints.api.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", "x-api-key": key?.key ?? "" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function quote(from: Place, to: Place, amount: string, options: object = {}): Promise<QuoteAnswer> {
  const answer = await callApi("/quote/v2", {
    user: from.wallet.address,
    recipient: to.wallet.address,
    originChainId: from.chainId,
    destinationChainId: to.chainId,
    originCurrency: from.currency,
    destinationCurrency: to.currency,
    amount,
    tradeType: "EXACT_INPUT",
    ...(from.chain === familyChains.hyperliquid && { protocolVersion: "v2" }),
    ...options,
  });
  return quoteAnswer.parse(answer);
}

const untilEnded = async ({ requestId }: Pick<QuoteAnswer, "requestId">) =>
  await createApiClient(system.endpoints.api.url).waitUntilEnded(
    requestId as Hex,
    AbortSignal.timeout(TIMEOUT_MS),
  );

/** The hub balance that the solver must have for deposits of one currency. */
interface Claim {
  readonly chain: string;
  readonly position: Awaited<ReturnType<typeof watchPosition>>;
  owed: bigint;
}
const claims = new Map<string, Claim>();
const keyOf = ({ chain, currency }: Pick<Place, "chain" | "currency">): string => `${chain} ${currency}`;

async function watchHub({ chain, currency }: Pick<Place, "chain" | "currency">): Promise<void> {
  const { hub, oracles } = system.endpoints;
  if (hub === undefined) throw new Error("the system has no hub");
  const position = await watchPosition({
    hub,
    oracles,
    holder: { chainName: EVM, address: system.solver.address },
    currency: { chainName: chain, address: encodeAddress(families[chain] ?? "ethereum-vm", currency) },
  });
  claims.set(keyOf({ chain, currency }), { chain, position, owed: 0n });
}

/** Adds a deposit to the expected hub balances, which the last test compares with the hub. */
function recordDeposit(place: Pick<Place, "chain" | "currency">, amount: bigint): void {
  const claim = claims.get(keyOf(place));
  if (claim === undefined) throw new Error(`no claim for ${keyOf(place)}`);
  claim.owed += amount;
}

async function until<T>(read: () => Promise<T>, isExpected: (seen: T) => boolean): Promise<T> {
  for (const endMs = Date.now() + TIMEOUT_MS; ;) {
    const seen = await read();
    if (isExpected(seen)) return seen;
    if (Date.now() > endMs) throw new Error(`timed out; last value: ${String(seen)}`);
    await sleep(100);
  }
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

/** The solver's funds on the EVM chain: USDC and wei. */
const readSolver = async () => ({
  usdc: await tokensOf(system.solver.address),
  wei: await nativeOf(system.solver.address),
});

test("from Solana, Bitcoin and Hyperliquid, the deposit pays for the output and for the recipient's gas top-up", async () => {
  const to = placeOf(EVM, "USDC");
  const before = await readSolver();
  const filled = await Promise.all(
    nonEvmPlaces().map(async (from, at) => {
      const [amount, recipient] = [HUNDRED[at] ?? "", anAddress()];
      const quoted = await quote(from, to, amount, {
        recipient,
        topupGas: true,
        topupGasAmount: "3000000",
      });
      await from.wallet.execute(quoted.steps);
      const { status, txHashes } = await untilEnded(quoted);
      expect([from.chain, status]).toEqual([from.chain, "success"]);
      const [usdc, wei] = [await tokensOf(recipient), await nativeOf(recipient)];
      // Three dollars at the fixed price.
      expect([usdc, wei]).toEqual([
        BigInt(quoted.details.currencyOut.amount),
        BigInt(quoted.details.currencyGasTopup?.amount ?? 0),
      ]);
      expect(wei).toBe(parseUnits("3", 18) / 2_500n);
      if (at === 0) expect(usdc + 3_000_000n + BigInt(quoted.fees.relayer.amount)).toBe(BigInt(amount));
      recordDeposit(from, BigInt(amount));
      return { usdc, wei: wei + (await gasOf(txHashes)) };
    }),
  );
  const after = await readSolver();
  expect(before.usdc - after.usdc).toBe(sumOf(filled.map(({ usdc }) => usdc)));
  expect(before.wei - after.wei).toBe(sumOf(filled.map(({ wei }) => wei)));
});

const transfer = (to: Address, amount: bigint) => ({
  to: placeOf(EVM, "USDC").currency,
  value: "0",
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
});

/**
 * The sponsor's app balance before the first sponsored request, and the total that the sponsor should be
 * charged.
 */
let [sponsorBefore, sponsored] = [0n, 0n];
/** A wallet's app balance in base units of USDC. */
async function appBalanceOf(wallet: Address): Promise<bigint> {
  const { amount } = (await callApi(`/app-fees/${wallet}/balances`)) as { amount: string };
  return BigInt(amount);
}

test("from Solana, Bitcoin and Hyperliquid, the fill makes calls with the output, and the recipient gets the rest", async () => {
  await system.sponsorship.funded;
  sponsorBefore = await appBalanceOf(system.sponsor.address);
  const to = placeOf(EVM, "USDC");
  const before = await readSolver();
  // An exact input, an exact output, and an exact input whose fees a sponsor pays.
  const ways = [{}, { tradeType: "EXACT_OUTPUT", amount: "50000000" }, { subsidizeFees: true }];
  const filled = await Promise.all(
    nonEvmPlaces().map(async (from, at) => {
      const [recipient, callee] = [anAddress(), anAddress()];
      const txs = [transfer(callee, 30_000_000n)];
      const quoted = await quote(from, to, HUNDRED[at] ?? "", { recipient, txs, ...ways[at] });
      await from.wallet.execute(quoted.steps);
      const { status, txHashes } = await untilEnded(quoted);
      expect([from.chain, status]).toEqual([from.chain, "success"]);
      const { currencyIn, currencyOut } = quoted.details;
      const [paid, output] = [BigInt(currencyIn.amount), BigInt(currencyOut.amount)];
      expect(await tokensOf(callee)).toBe(30_000_000n);
      expect(await tokensOf(recipient)).toBe(output - 30_000_000n);
      recordDeposit(from, paid);
      return { paid, quoted, usdc: output, wei: await gasOf(txHashes) };
    }),
  );
  const [whole, exact, free] = filled;
  if (whole === undefined || exact === undefined || free === undefined)
    throw new Error("expected three quotes");
  expect(whole.usdc + BigInt(whole.quoted.fees.relayer.amount)).toBe(whole.paid);
  expect(exact.usdc).toBe(50_000_000n);
  expect([free.usdc, free.paid]).toEqual([100_000_000n, 10_000_000_000n]);
  // Hyperliquid counts USDC with 8 decimals, the app balance with 6.
  sponsored = (BigInt(free.quoted.fees.subsidized.amount) + 99n) / 100n;
  const after = await readSolver();
  expect(before.usdc - after.usdc).toBe(sumOf(filled.map(({ usdc }) => usdc)));
  expect(before.wei - after.wei).toBe(sumOf(filled.map(({ wei }) => wei)));
});

test("a deposit on Solana, Bitcoin or Hyperliquid is refunded there when the calls of its fill fail", async () => {
  const to = placeOf(EVM, "USDC");
  const payer = privateKeyToAccount(generatePrivateKey());
  await fund({
    address: payer.address,
    nativeWei: parseUnits("1", 18),
    tokens: [{ token: to.currency as Address, amount: 10_000_000n }],
  });
  const approve = async (amount: bigint): Promise<void> =>
    await send(payer, {
      to: to.currency as Address,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: "approve",
        args: [contractOf(home(), "router"), amount],
      }),
    });
  // The call spends an allowance that the test revokes after the quote.
  const spendsAllowance = {
    to: to.currency,
    value: "0",
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: "transferFrom",
      args: [payer.address, anAddress(), 1_000_000n],
    }),
  };
  await approve(10_000_000n);
  const quotes = await Promise.all(
    nonEvmPlaces().map(
      async (from, at) =>
        await quote(from, to, HUNDRED[at] ?? "", { recipient: anAddress(), txs: [spendsAllowance] }),
    ),
  );
  await approve(0n);

  const solverOnSolana = async (): Promise<bigint> =>
    await solanaTokensOf(
      system.families?.urls.solana ?? "",
      system.families?.solver.solana ?? "",
      nonEvmPlaces()[0].currency,
    );
  const vault = await depositoryVault();
  const vaultBalance = async (): Promise<bigint> =>
    await solanaTokensOf(system.families?.urls.solana ?? "", vault, nonEvmPlaces()[0].currency);
  const before = { ...(await readSolver()), solana: await solverOnSolana(), vault: await vaultBalance() };
  const refunds = await Promise.all(
    nonEvmPlaces().map(async (from, at) => {
      const [quoted, amount] = [quotes[at] as QuoteAnswer, BigInt(HUNDRED[at] ?? 0)];
      const balanceBefore = await from.wallet.balanceOf(from.currency);
      await from.wallet.execute(quoted.steps);
      const end = await untilEnded(quoted);
      expect([from.chain, end.status, end.failReason]).toEqual([from.chain, "refund", "EXECUTION_REVERTED"]);
      const balanceAfter = await until(
        async () => await from.wallet.balanceOf(from.currency),
        (now) => now > balanceBefore - amount,
      );
      // On Bitcoin the user also paid the fee of the deposit.
      const fee = from.chain === familyChains.bitcoin ? BigInt(quoted.fees.gas.amount) : 0n;
      const refund = amount + fee - (balanceBefore - balanceAfter);
      expect(refund).toBeLessThanOrEqual(amount);
      expect(refund).toBeGreaterThanOrEqual(BigInt(quoted.details.refundCurrency.minimumAmount));
      recordDeposit(from, amount);
      return refund;
    }),
  );
  const after = { ...(await readSolver()), solana: await solverOnSolana(), vault: await vaultBalance() };
  expect([after.usdc, after.wei]).toEqual([before.usdc, before.wei]);
  expect(before.solana - after.solana).toBe(refunds[0]);
  expect(after.vault - before.vault).toBe(BigInt(HUNDRED[0]));
});

type Account = ReturnType<typeof privateKeyToAccount>;

/** Signs the step of a quote with `usePermit`, and posts the signature. */
async function permit(user: Account, quoted: QuoteAnswer): Promise<void> {
  const items = quoted.steps.flatMap(({ items: all }) => all.map(({ data }) => data));
  const [data] = items as unknown as {
    readonly sign: Pick<TypedDataDefinition, "domain" | "types" | "primaryType"> & { value: object };
    readonly post: { readonly endpoint: string; readonly body: object };
  }[];
  if (items.length !== 1 || data === undefined)
    throw new Error(`expected one item to sign, got ${items.length}`);
  const { domain, types, primaryType, value: message } = data.sign;
  const signature = await user.signTypedData({ domain, types, primaryType, message } as TypedDataDefinition);
  await callApi(`${data.post.endpoint}?signature=${signature}`, data.post.body);
}

async function send(
  account: Account,
  transaction: { readonly to: Address; readonly data: Hex },
): Promise<void> {
  const wallet = createWalletClient({ account, transport: http(home().rpcUrl) });
  // A higher tip would raise the service's estimate of the gas cost.
  const maxPriorityFeePerGas = 10_000_000n;
  const hash = await wallet.sendTransaction({ ...transaction, maxPriorityFeePerGas, chain: null });
  expect((await evmClient().waitForTransactionReceipt({ hash })).status).toBe("success");
}

test("a new account without native tokens bridges to Solana, Bitcoin and Hyperliquid with one signature", async () => {
  const permit2: Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
  const ways = [
    ["USDC", parseUnits("25", 6), "eip3009"],
    ["TST", parseUnits("50", 18), "eip2612"],
    ["WETH", parseUnits("0.01", 18), "permit2"],
  ] as const;
  const depository = contractOf(home(), "depository");
  const executorBefore = await nativeOf(system.executor.address);
  const users = ways.map(() => privateKeyToAccount(generatePrivateKey()));
  for (const [at, [symbol, units, method]] of ways.entries()) {
    const [user, token] = [users[at] as Account, placeOf(EVM, symbol).currency as Address];
    await fund({ address: user.address, tokens: [{ token, amount: units }] });
    if (method !== "permit2") continue;
    // Wallets usually have an old approval for Permit2. This leaves no native tokens.
    await fund({ address: user.address, nativeWei: parseUnits("1", 18) });
    const args = [permit2, maxUint256] as const;
    await send(user, {
      to: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args }),
    });
    await fund({ address: user.address, nativeWei: 0n });
  }
  const quotes = await Promise.all(
    ways.map(
      async ([symbol, units], at) =>
        await quote(placeOf(EVM, symbol), nonEvmPlaces()[at] as Place, units.toString(), {
          user: users[at]?.address,
          usePermit: true,
        }),
    ),
  );
  const paidIn = new Set(
    quotes.map(({ details }) => details.route.origin.outputCurrency.currency.address as Address),
  );
  const held = new Map<Address, bigint>();
  for (const currency of paidIn) held.set(currency, await tokensOf(depository, currency));
  const spent = await Promise.all(
    ways.map(async ([symbol, , method], at) => {
      const [to, user, quoted] = [
        nonEvmPlaces()[at] as Place,
        users[at] as Account,
        quotes[at] as QuoteAnswer,
      ];
      const balanceBefore = await to.wallet.balanceOf(to.currency);
      await permit(user, quoted);
      const { status, inTxHashes } = await untilEnded(quoted);
      expect([method, status]).toEqual([method, "success"]);
      const received = await until(
        async () => (await to.wallet.balanceOf(to.currency)) - balanceBefore,
        (amount) => amount > 0n,
      );
      const { amount, minimumAmount } = quoted.details.currencyOut;
      // The swap may yield a little more or less than quoted.
      if (method === "permit2") expect(received).toBeGreaterThanOrEqual(BigInt(minimumAmount));
      else expect(received).toBe(BigInt(amount));
      const token = placeOf(EVM, symbol).currency as Address;
      expect([await tokensOf(user.address, token), await nativeOf(user.address)]).toEqual([0n, 0n]);
      return await gasOf(inTxHashes);
    }),
  );
  expect(executorBefore - (await nativeOf(system.executor.address))).toBe(sumOf(spent));
  for (const [currency, balanceBefore] of held)
    recordDeposit({ chain: EVM, currency }, (await tokensOf(depository, currency)) - balanceBefore);
});

test("a signed deposit that is not filled on Solana, Bitcoin or Hyperliquid is refunded to the user, minus the gas", async () => {
  const [from, amount, before] = [placeOf(EVM, "USDC"), 25_000_000n, await readSolver()];
  const refunds = await Promise.all(
    nonEvmPlaces().map(async (to) => {
      const user = privateKeyToAccount(generatePrivateKey());
      await fund({ address: user.address, tokens: [{ token: from.currency as Address, amount }] });
      const options = { user: user.address, usePermit: true, referrer: "debug-force-refund" };
      const quoted = await quote(from, to, amount.toString(), options);
      const balanceBefore = await to.wallet.balanceOf(to.currency);
      await permit(user, quoted);
      const { status } = await untilEnded(quoted);
      expect([to.chain, status]).toEqual([to.chain, "refund"]);
      const refund = await tokensOf(user.address);
      expect(refund).toBeGreaterThanOrEqual(BigInt(quoted.details.refundCurrency.minimumAmount));
      expect(refund).toBeLessThan(amount);
      expect(await to.wallet.balanceOf(to.currency)).toBe(balanceBefore);
      recordDeposit(from, amount);
      return refund;
    }),
  );
  expect(before.usdc - (await readSolver()).usdc).toBe(sumOf(refunds));
});

test("when the service sends an account's calls, the output on Solana, Bitcoin or Hyperliquid pays the gas", async () => {
  const [from, amount] = [placeOf(EVM, "USDC"), 25_000_000n];
  const executorBefore = await nativeOf(system.executor.address);
  const accounts = nonEvmPlaces().map(() => smartEoa(home(), privateKeyToAccount(generatePrivateKey())));
  for (const { address } of accounts)
    await fund({ address, tokens: [{ token: from.currency as Address, amount }] });
  const spent = await Promise.all(
    nonEvmPlaces().map(async (to, at) => {
      const account = accounts[at] as SmartAccount;
      const free = await quote(from, to, amount.toString(), { user: account.address });
      const options = { user: account.address, originGasOverhead: "80000" };
      const quoted = await quote(from, to, amount.toString(), options);
      const balanceBefore = await to.wallet.balanceOf(to.currency);
      const calls = quoted.steps
        .flatMap(({ items }) => items as unknown as { data: { to: Address; value: string; data: Hex } }[])
        .map(({ data }) => ({ to: data.to, value: BigInt(data.value), data: data.data }));
      await callApi("/execute", {
        executionKind: "rawCalls",
        data: await account.sign(calls),
        executionOptions: { referrer: "", subsidizeFees: false },
        requestId: quoted.requestId,
      });
      const { status, inTxHashes } = await untilEnded(quoted);
      expect([to.chain, status]).toEqual([to.chain, "success"]);
      const received = await until(
        async () => (await to.wallet.balanceOf(to.currency)) - balanceBefore,
        (units) => units > 0n,
      );
      expect(received).toBe(BigInt(quoted.details.currencyOut.amount));
      expect(received).toBeLessThan(BigInt(free.details.currencyOut.amount));
      expect([await tokensOf(account.address), await nativeOf(account.address)]).toEqual([0n, 0n]);
      recordDeposit(from, amount);
      return await gasOf(inTxHashes);
    }),
  );
  expect(executorBefore - (await nativeOf(system.executor.address))).toBe(sumOf(spent));
});

/** The deposit address of a quote. */
const addressOf = ({ steps }: QuoteAnswer): Address => steps[0]?.depositAddress as Address;
const pay = async (at: Address, amount: bigint): Promise<void> =>
  await fund({ address: at, tokens: [{ token: placeOf(EVM, "USDC").currency as Address, amount }] });

test("an open deposit address forwards every payment to Solana, Bitcoin and Hyperliquid", async () => {
  const from = placeOf(EVM, "USDC");
  await Promise.all(
    nonEvmPlaces().map(async (to) => {
      const quoted = await quote(from, to, "20000000", { useDepositAddress: true });
      const at = addressOf(quoted);
      const balanceBefore = await to.wallet.balanceOf(to.currency);
      await pay(at, 20_000_000n);
      const { status } = await untilEnded(quoted);
      expect([to.chain, status]).toEqual([to.chain, "success"]);
      const first = await until(
        async () => (await to.wallet.balanceOf(to.currency)) - balanceBefore,
        (amount) => amount > 0n,
      );
      expect(first).toBe(BigInt(quoted.details.currencyOut.amount));
      // A payment of a different amount gets a new quote when it arrives.
      await pay(at, 30_000_000n);
      const both = await until(
        async () => (await to.wallet.balanceOf(to.currency)) - balanceBefore,
        (amount) => amount > first,
      );
      expect(both - first).toBeGreaterThan((first * 3n) / 2n);
      const known = depositAddressAnswer.parse(
        await callApi(`/deposit-addresses/v1?requestId=${quoted.requestId}`),
      );
      expect(known.destinationCurrency).toBe(to.currency);
      expect([to.wallet.address, to.wallet.address.toLowerCase()]).toContain(known.recipient);
      expect(known.deposits.map(({ amount }) => amount)).toEqual(["30000000", "20000000"]);
      expect(await tokensOf(at)).toBe(0n);
    }),
  );
  recordDeposit(from, 150_000_000n);
});

test("a strict deposit address fills its quote to Solana, Bitcoin or Hyperliquid, and refunds the excess and any other amount", async () => {
  const [from, before] = [placeOf(EVM, "USDC"), await readSolver()];
  const refundedTo = async (refundTo: Address): Promise<bigint> =>
    await until(
      async () => await tokensOf(refundTo),
      (amount) => amount > 0n,
    );
  const refunds = await Promise.all(
    nonEvmPlaces().map(async (to) => {
      const balanceBefore = await to.wallet.balanceOf(to.currency);
      const [excessTo, shortTo] = [anAddress(), anAddress()];
      const strict = async (refundTo: Address): Promise<QuoteAnswer> =>
        await quote(from, to, "20000000", { useDepositAddress: true, strict: true, refundTo });
      const [exact, short] = [await strict(excessTo), await strict(shortTo)];
      await pay(addressOf(exact), 26_000_000n);
      await pay(addressOf(short), 5_000_000n);
      const { status } = await untilEnded(exact);
      expect([to.chain, status]).toEqual([to.chain, "success"]);
      const [excess, rest] = [await refundedTo(excessTo), await refundedTo(shortTo)];
      expect(excess).toBeGreaterThan(5_900_000n);
      expect(excess).toBeLessThan(6_000_000n);
      expect(rest).toBeGreaterThan(4_800_000n);
      expect(rest).toBeLessThan(5_000_000n);
      const received = await until(
        async () => (await to.wallet.balanceOf(to.currency)) - balanceBefore,
        (units) => units > 0n,
      );
      expect(received).toBe(BigInt(exact.details.currencyOut.amount));
      recordDeposit(from, 31_000_000n);
      return excess + rest;
    }),
  );
  expect(before.usdc - (await readSolver()).usdc).toBe(sumOf(refunds));
});

test("a payment to a deposit address on Bitcoin is filled on the EVM chain, or refunded minus the fees of its sweep and refund", async () => {
  const [to, [, from]] = [placeOf(EVM, "USDC"), nonEvmPlaces()];
  const before = await readSolver();
  const [filledTo, returnedTo] = [anAddress(), anAddress()];
  const refundTo = p2wpkh(pubECDSA(randomBytes(32)), { ...TEST_NETWORK, bech32: "bcrt" }).address ?? "";
  const options = { useDepositAddress: true, refundTo } as const;
  const filled = await quote(from, to, "200000", { ...options, recipient: filledTo });
  expect(filled.steps[0]?.depositAddress).toMatch(/^bcrt1q/);
  await from.wallet.execute(filled.steps);
  expect((await untilEnded(filled)).status).toBe("success");
  expect(await tokensOf(filledTo)).toBe(BigInt(filled.details.currencyOut.amount));
  const strict = { ...options, strict: true, recipient: returnedTo, referrer: "debug-force-refund" };
  const returned = await quote(from, to, "150000", strict);
  await from.wallet.execute(returned.steps);
  expect((await untilEnded(returned)).status).toBe("refund");
  const refund = await until(
    async () => await satoshisAt(refundTo),
    (amount) => amount > 0n,
  );
  expect(refund).toBeLessThan(150_000n);
  expect(refund).toBeGreaterThan(147_000n);
  expect(await tokensOf(returnedTo)).toBe(0n);
  for (const { steps } of [filled, returned])
    expect(await satoshisAt(steps[0]?.depositAddress ?? "")).toBe(0n);
  expect(before.usdc - (await readSolver()).usdc).toBe(BigInt(filled.details.currencyOut.amount));
  const known = depositAddressAnswer.parse(
    await callApi(`/deposit-addresses/v1?requestId=${filled.requestId}`),
  );
  expect(known).toMatchObject({ refundTo, chainIds: [from.chainId], deposits: [{ amount: "200000" }] });
  recordDeposit(from, 350_000n);
  const claim = claims.get(keyOf(from));
  await claim?.position.grownBy(claim.owed, AbortSignal.timeout(TIMEOUT_MS));
});

test("a payment to a deposit address on Solana is filled on the EVM chain, or refunded minus the fees of its sweep and refund", async () => {
  const [to, [from]] = [placeOf(EVM, "USDC"), nonEvmPlaces()];
  const before = await readSolver();
  const [filledTo, returnedTo] = [anAddress(), anAddress()];
  const refundTo = (await solanaKey()).address;
  const heldAt = async (owner: string): Promise<bigint> =>
    await solanaTokensOf(system.families?.urls.solana ?? "", owner, from.currency);
  const vault = await depositoryVault();
  const inVault = await heldAt(vault);
  const options = { useDepositAddress: true, refundTo } as const;
  const filled = await quote(from, to, "20000000", { ...options, recipient: filledTo });
  const strict = { ...options, strict: true, recipient: returnedTo, referrer: "debug-force-refund" };
  const returned = await quote(from, to, "10000000", strict);
  await from.wallet.execute(filled.steps);
  await from.wallet.execute(returned.steps);
  expect((await untilEnded(filled)).status).toBe("success");
  expect(await tokensOf(filledTo)).toBe(BigInt(filled.details.currencyOut.amount));
  expect((await untilEnded(returned)).status).toBe("refund");
  const refund = await until(
    async () => await heldAt(refundTo),
    (amount) => amount > 0n,
  );
  expect(refund).toBeLessThan(10_000_000n);
  expect(refund).toBeGreaterThan(9_000_000n);
  expect(await tokensOf(returnedTo)).toBe(0n);
  for (const { steps } of [filled, returned]) expect(await heldAt(steps[0]?.depositAddress ?? "")).toBe(0n);
  expect((await heldAt(vault)) - inVault).toBe(30_000_000n);
  expect(before.usdc - (await readSolver()).usdc).toBe(BigInt(filled.details.currencyOut.amount));
  const at = filled.steps[0]?.depositAddress ?? "";
  const known = depositAddressAnswer.parse(await callApi(`/deposit-addresses/v1?address=${at}`));
  expect(known.requestId).toBe(filled.requestId);
  expect(known).toMatchObject({ refundTo, chainIds: [from.chainId], deposits: [{ amount: "20000000" }] });
  recordDeposit(from, 30_000_000n);
  const claim = claims.get(keyOf(from));
  await claim?.position.grownBy(claim.owed, AbortSignal.timeout(TIMEOUT_MS));
});

/** The balance of an address on Bitcoin. */
async function satoshisAt(address: string): Promise<bigint> {
  const url = `${system.families?.urls.esplora}/address/${address}/utxo`;
  const listed = (await (await fetch(url)).json()) as { value: number }[];
  return listed.reduce((sum, { value }) => sum + BigInt(value), 0n);
}

test("at the end, the hub owes the solver every deposit, filled or refunded, and the sponsor has paid its part", async () => {
  const found = await Promise.all(
    [...claims.values()].map(async ({ chain, position, owed }) => {
      const { before, after } = await position.grownBy(owed, AbortSignal.timeout(TIMEOUT_MS));
      return [chain, after - before];
    }),
  );
  expect(found).toEqual([...claims.values()].map(({ chain, owed }) => [chain, owed]));
  expect(sponsored).toBeGreaterThan(0n);
  expect(sponsorBefore - (await appBalanceOf(system.sponsor.address))).toBe(sponsored);
});
