import { encodeAddress } from "@causeway/families";
import { createApiClient, startSystem, type System, watchPosition } from "@causeway/localnet";
import {
  depositoryVault,
  familyChains,
  familyWallets,
  type FamilyWallet,
  solanaTokensOf,
} from "@causeway/localnet/tour";
import { quoteAnswer, type QuoteAnswer, type WireChain } from "@causeway/wire";
import { createPublicClient, erc20Abi, http, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portBaseOf } from "./port-bases.ts";

// A token that is in no chain file is swapped on Solana before the deposit. The test accounts for every unit:
// the pool, the depository, the user, the recipient or the solver holds it. Local prices are fixed.

const EVM = "local-a";
const TIMEOUT_MS = 60_000;

let system: System;
let wallet: FamilyWallet;
let vault: string;
/** The addresses of the unlisted token and of USDC, and the ids of both chains. */
let unlisted: string;
let [solanaUsdc, evmUsdc] = ["", ""];
let [solanaId, evmId] = [0, 0];

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("solana-swaps"),
    oracles: 1,
    durable: false,
    users: 1,
    families: true,
  });
  const { families } = system;
  if (families === undefined) throw new Error("the system was started without the other chain families");
  unlisted = families.solanaSwaps.unlisted.mint;
  const chains = await createApiClient(system.endpoints.api.url).chains();
  [solanaId, solanaUsdc] = usdcOn(chains, familyChains.solana);
  [evmId, evmUsdc] = usdcOn(chains, EVM);
  const wallets = await familyWallets(system, families);
  const found = wallets.get(familyChains.solana);
  if (found === undefined) throw new Error("the user has no wallet on Solana");
  wallet = found;
  vault = await depositoryVault();
}, 240_000);
afterAll(async () => await system.stop());

function usdcOn(chains: readonly WireChain[], name: string): [number, string] {
  const chain = chains.find((candidate) => candidate.name === name);
  const usdc = chain?.erc20Currencies.find(({ symbol }) => symbol === "USDC")?.address;
  if (chain === undefined || usdc === undefined) throw new Error(`GET /chains lists no USDC on ${name}`);
  return [chain.id, usdc];
}

async function quote(amount: string, options: object): Promise<QuoteAnswer> {
  const response = await fetch(`${system.endpoints.api.url}/quote/v2`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      user: wallet.address,
      originChainId: solanaId,
      destinationChainId: evmId,
      originCurrency: unlisted,
      destinationCurrency: evmUsdc,
      amount,
      ...options,
    }),
  });
  const answer: unknown = await response.json();
  if (response.status !== 200) throw new Error(`quote: ${response.status} ${JSON.stringify(answer)}`);
  return quoteAnswer.parse(answer);
}

const untilEnded = async ({ requestId }: QuoteAnswer) =>
  await createApiClient(system.endpoints.api.url).waitUntilEnded(
    requestId as Hex,
    AbortSignal.timeout(TIMEOUT_MS),
  );

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

async function evmUsdcOf(holder: Address): Promise<bigint> {
  const rpcUrl = system.endpoints.chains.find(({ name }) => name === EVM)?.rpcUrl;
  return await createPublicClient({ transport: http(rpcUrl), cacheTime: 0 }).readContract({
    address: evmUsdc as Address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [holder],
  });
}

const solanaUsdcOf = async (holder: string): Promise<bigint> =>
  await solanaTokensOf(system.families?.urls.solana ?? "", holder, solanaUsdc);

/** The balances of all parties. */
async function readBalances() {
  const solver = system.families?.solver.solana ?? "";
  return {
    tokens: await wallet.balanceOf(unlisted),
    usdc: await solanaUsdcOf(wallet.address),
    vault: await solanaUsdcOf(vault),
    solverOnSolana: await solanaUsdcOf(solver),
    solver: await evmUsdcOf(system.solver.address),
  };
}

test("a token that is in no chain file is swapped, deposited, filled on the EVM chain and settled on the hub", async () => {
  const { hub, oracles } = system.endpoints;
  if (hub === undefined) throw new Error("the system has no hub");
  const claim = await watchPosition({
    hub,
    oracles,
    holder: { chainName: EVM, address: system.solver.address },
    currency: { chainName: familyChains.solana, address: encodeAddress("solana-vm", solanaUsdc) },
  });
  const before = await readBalances();
  const amountIn = 1_000_000_000n;
  const recipients = [anAddress(), anAddress()] as const;
  const whole = await quote(amountIn.toString(), { tradeType: "EXACT_INPUT", recipient: recipients[0] });
  const { currencyIn, currencyOut, refundCurrency, route } = whole.details;
  const deposit = BigInt(refundCurrency.amount);
  expect(currencyIn.amount).toBe(amountIn.toString());
  expect(route.origin).toMatchObject({ router: "jupiter", includedSwapSources: ["jupiter"] });
  expect(whole.protocol.v2.paymentDetails).toMatchObject({
    currency: solanaUsdc,
    amount: deposit.toString(),
  });
  expect(whole.steps[0]?.description).toMatch(/what the swap yields above .* USDC stays in your wallet$/);
  await wallet.execute(whole.steps);
  expect((await untilEnded(whole)).status).toBe("success");
  expect(await evmUsdcOf(recipients[0])).toBe(BigInt(currencyOut.amount));
  expect(BigInt(currencyOut.amount) + BigInt(whole.fees.relayer.amount)).toBe(deposit);

  const filled = await readBalances();
  expect(before.tokens - filled.tokens).toBe(amountIn);
  expect(filled.vault - before.vault).toBe(deposit);
  expect(before.solver - filled.solver).toBe(BigInt(currencyOut.amount));
  // The user keeps what the pool yields above the deposit.
  const amountAfterFee = (amountIn * 9_970n) / 10_000n;
  const yielded = (1_000_000_000_000n * amountAfterFee) / (10_000_000_000_000n + amountAfterFee);
  expect(filled.usdc - before.usdc).toBe(yielded - deposit);
  expect(deposit).toBe((yielded * 9_950n) / 10_000n);

  const exact = await quote("20000000", { tradeType: "EXACT_OUTPUT", recipient: recipients[1] });
  await wallet.execute(exact.steps);
  expect((await untilEnded(exact)).status).toBe("success");
  expect(await evmUsdcOf(recipients[1])).toBe(20_000_000n);
  const after = await readBalances();
  const second = BigInt(exact.details.refundCurrency.amount);
  expect([after.vault - filled.vault, after.usdc - filled.usdc]).toEqual([second, 0n]);
  const spent = filled.tokens - after.tokens;
  expect(spent).toBeLessThanOrEqual(BigInt(exact.details.currencyIn.amount));
  expect(spent).toBeGreaterThan((BigInt(exact.details.currencyIn.amount) * 99n) / 100n);

  await claim.waitForGrowth(deposit + second, AbortSignal.timeout(TIMEOUT_MS));
}, 120_000);

test("a swapped deposit that is not filled is refunded in the deposited currency, minus the fee of the refund", async () => {
  const before = await readBalances();
  const quoted = await quote("500000000", {
    tradeType: "EXACT_INPUT",
    recipient: anAddress(),
    referrer: "debug-force-refund",
  });
  const { refundCurrency } = quoted.details;
  const deposit = BigInt(refundCurrency.amount);
  await wallet.execute(quoted.steps);
  const swapped = await readBalances();
  expect((await untilEnded(quoted)).status).toBe("refund");
  const after = await readBalances();
  const refund = swapped.solverOnSolana - after.solverOnSolana;
  expect(refund).toBeGreaterThanOrEqual(BigInt(refundCurrency.minimumAmount));
  expect(refund).toBeLessThan(deposit);
  expect(after.usdc - swapped.usdc).toBe(refund);
  expect([before.tokens - after.tokens, after.vault - before.vault]).toEqual([500_000_000n, deposit]);
  expect(after.solver).toBe(before.solver);
}, 120_000);

test("refuses to quote when the aggregator adds an instruction that does not belong to a swap", async () => {
  const jupiter = system.families?.solanaSwaps.jupiter;
  if (jupiter === undefined) throw new Error("the system has no aggregator");
  jupiter.change = (path, answer) =>
    path === "quote" ? answer : { ...answer, cleanupInstruction: answer["swapInstruction"] };
  const hostile = await quote("500000000", { tradeType: "EXACT_INPUT", recipient: anAddress() }).catch(
    String,
  );
  jupiter.change = undefined;
  expect(hostile).toMatch(
    /503 .*an instruction of JUP\w+ that does not belong to a swap.*SERVICE_UNAVAILABLE/,
  );
});
