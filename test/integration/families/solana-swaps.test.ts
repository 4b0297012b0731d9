import type { OpenNonEvmUsers, SolanaDepositData } from "@causeway/chains";
import type { Hex, OrderId } from "@causeway/domain";
import { decodeAddress, encodeAddress } from "@causeway/families";
import {
  createDepository,
  createMint,
  createPools,
  createTokenAccountInstruction,
  JUPITER_PROGRAM,
  mintTo,
  sendInstructions,
  solanaKey,
  startJupiter,
  startSolana,
  associatedTokenAccount,
  type LocalDepository,
  type LocalMint,
  type LocalPools,
  type RunningJupiter,
  type RunningSolana,
  type SolanaKey,
} from "@causeway/simulators/solana";
import { connectSolanaUsers } from "../../../packages/chains/src/solana/users.ts";
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createJupiter } from "../../../apps/api/src/markets/liquidity/jupiter.adapter.ts";
import type { LiquiditySource, SwapAnswer } from "../../../apps/api/src/markets/liquidity/liquidity.port.ts";
import { lookupTable } from "../../support/solana-lookup-table.ts";

// The aggregator's adapter, the checks of the aggregator's proposals, and the user's transaction, over HTTP
// and in a real virtual machine. All amounts are in base units.

const CHAIN_ID = 792_703_809;
const WRAPPED_SOL = "So11111111111111111111111111111111111111112";
const NATIVE = encodeAddress("solana-vm", "11111111111111111111111111111111");
const STOCK = 1_000_000_000_000n;
const API_KEY = "an-api-key-of-the-aggregator";

let node: RunningSolana;
let depository: LocalDepository;
let [user, table] = [undefined, undefined] as unknown as [SolanaKey, SolanaKey];
let token: LocalMint;
let usdc: LocalMint;
let feeToken: LocalMint;
let pools: LocalPools;
let jupiter: RunningJupiter;
let source: LiquiditySource;
let users: OpenNonEvmUsers;
const faults: unknown[] = [];
let nowMs = 0;

beforeAll(async () => {
  node = await startSolana({ slotMs: 0 });
  const owner = await solanaKey();
  [user, table] = [await solanaKey(), await solanaKey()];
  depository = await createDepository(node, { owner, allocator: await solanaKey() });
  node.controls.setAccount(owner.address, account(10n * STOCK));
  node.controls.setAccount(user.address, account(STOCK));
  token = await createMint(node.url, { authority: owner, decimals: 5 });
  usdc = await createMint(node.url, { authority: owner, decimals: 6 });
  feeToken = await createMint(node.url, { authority: owner, decimals: 6, feeBps: 100 });
  await mintTo(node.url, token, user.address, STOCK);
  await mintTo(node.url, feeToken, user.address, STOCK);
  const stocks = [token, usdc].map((mint) => ({ of: mint, amount: STOCK }));
  pools = await createPools(node, stocks, { from: owner, lamports: STOCK });
  const accounts = [...pools.vaults.values(), pools.authority, usdc.mint, token.mint, depository.vault];
  node.controls.setAccount(table.address, lookupTable(accounts));
  jupiter = await startJupiter({ pools, apiKey: API_KEY, lookupTables: [table.address] });
  source = createJupiter({
    chain: { id: CHAIN_ID, family: "solana-vm", native: { address: NATIVE } },
    aggregator: {
      url: jupiter.url,
      apiKey: { reveal: () => API_KEY },
      programs: [JUPITER_PROGRAM],
    },
    clock: { nowMs: () => nowMs },
    onFault: (error) => faults.push(error),
  });
  node.controls.finalize();
  users = await connectSolanaUsers({
    chain: { rpcUrl: node.url, depository: bytesOf(depository.program) },
  });
}, 60_000);
afterAll(async () => {
  await users.close();
  await jupiter.close();
  await node.close();
});
afterEach(() => {
  [jupiter.change, jupiter.respond] = [undefined, undefined];
  faults.length = 0;
  // After a fault the adapter pauses its requests for some seconds.
  nowMs += 10_000;
});

const bytesOf = (text: string): Hex => encodeAddress("solana-vm", text);
const account = (lamports: bigint) => ({
  lamports,
  owner: "11111111111111111111111111111111",
  executable: false,
  data: new Uint8Array(),
});
const anOrder = (): OrderId => `0x${randomBytes(32).toString("hex")}` as OrderId;

/** The balance of a token account. */
function tokenBalance(tokenAccount: string): bigint {
  const tokenData = node.controls.account(tokenAccount);
  return tokenData === undefined ? 0n : Buffer.from(tokenData.data).readBigUInt64LE(64);
}
const tokensOf = async (wallet: string, mint: string): Promise<bigint> =>
  tokenBalance(await associatedTokenAccount(wallet, mint));

async function quoteSwap(mode: "exactIn" | "exactOut", output: Hex, amount: bigint, input = token.mint) {
  return await source[mode](
    {
      chainId: CHAIN_ID,
      tokenIn: bytesOf(input),
      tokenOut: output,
      included: undefined,
      excluded: new Set(),
      maxHops: 3,
      shouldQueryExternal: false,
    },
    amount,
  );
}

/** The step for the user that the service builds from an answer. */
async function stepOf(...args: Parameters<typeof depositOf>): Promise<SolanaDepositData> {
  return (await depositOf(...args))?.data as SolanaDepositData;
}

async function depositOf(answer: SwapAnswer | undefined, output: Hex, input = token.mint) {
  if (answer?.propose === undefined) throw new Error("the aggregator has no route");
  const proposed = await answer.propose(bytesOf(user.address));
  return await users.deposit?.({
    user: bytesOf(user.address),
    currency: output,
    amount: answer.amountOut,
    orderId: anOrder(),
    swap: {
      currency: bytesOf(input),
      maxInput: answer.amountIn,
      programs: [JUPITER_PROGRAM],
      proposed,
    },
  });
}

async function send({ instructions, addressLookupTableAddresses }: SolanaDepositData): Promise<void> {
  expect(addressLookupTableAddresses).toEqual([table.address]);
  const keys = Buffer.from(node.controls.account(table.address)?.data ?? []).subarray(56);
  const addresses = Array.from({ length: keys.length / 32 }, (_, index) =>
    decodeAddress("solana-vm", `0x${keys.subarray(32 * index, 32 * index + 32).toString("hex")}`),
  );
  await sendInstructions(node.url, [user], instructions, { lookupTables: { [table.address]: addresses } });
  node.controls.passSlots(1);
}

/** All balances that a swap could change. */
async function holdings() {
  return {
    tokens: await tokensOf(user.address, token.mint),
    usdc: await tokensOf(user.address, usdc.mint),
    wrapped: await tokensOf(user.address, WRAPPED_SOL),
    sol: node.controls.account(user.address)?.lamports ?? 0n,
    vaultUsdc: await tokensOf(depository.vault, usdc.mint),
    vaultSol: node.controls.account(depository.vault)?.lamports ?? 0n,
  };
}

test("swaps an exact input, deposits the minimum output, and leaves the rest to the user", async () => {
  const before = await holdings();
  const output = bytesOf(usdc.mint);
  const answer = await quoteSwap("exactIn", output, 10_000_000n);
  const poolQuote = pools.quote({
    inputMint: token.mint,
    outputMint: usdc.mint,
    mode: "ExactIn",
    amount: 10_000_000n,
  });
  expect(answer).toMatchObject({
    source: "jupiter",
    amountIn: 10_000_000n,
    amountOut: ((poolQuote?.out ?? 0n) * 9_950n) / 10_000n,
    slippageBps: 0,
  });
  await send(await stepOf(answer, output));
  const after = await holdings();
  const deposit = answer?.amountOut ?? 0n;
  expect(before.tokens - after.tokens).toBe(10_000_000n);
  expect(after.vaultUsdc - before.vaultUsdc).toBe(deposit);
  expect(after.usdc - before.usdc).toBe((poolQuote?.out ?? 0n) - deposit);
});

test("an exact output is deposited exactly, for at most the quoted input", async () => {
  const before = await holdings();
  const output = bytesOf(usdc.mint);
  const answer = await quoteSwap("exactOut", output, 5_000_000n);
  await send(await stepOf(answer, output));
  const after = await holdings();
  expect([after.vaultUsdc - before.vaultUsdc, after.usdc - before.usdc]).toEqual([5_000_000n, 0n]);
  expect(before.tokens - after.tokens).toBeLessThanOrEqual(answer?.amountIn ?? 0n);
  expect(answer?.amountOut).toBe(5_000_000n);
});

test("SOL is unwrapped before it is deposited", async () => {
  const before = await holdings();
  const answer = await quoteSwap("exactIn", NATIVE, 10_000_000n);
  await send(await stepOf(answer, NATIVE));
  const after = await holdings();
  expect(after.vaultSol - before.vaultSol).toBe(answer?.amountOut);
  expect(after.wrapped).toBe(0n);
  // The user keeps the rest of the output, minus the fee of the signature.
  expect(after.sol - before.sol).toBeGreaterThan(0n);
});

test("the fee of a swap into SOL includes the rent of a missing account, although the rent is returned", async () => {
  const rent = 2_039_280n;
  const wrapped = await associatedTokenAccount(user.address, WRAPPED_SOL);
  const sol = { mint: WRAPPED_SOL as LocalMint["mint"], tokenProgram: usdc.tokenProgram };
  const answer = await quoteSwap("exactIn", NATIVE, 10_000_000n);
  expect((await depositOf(answer, NATIVE))?.fee).toBe(5_000n + rent);
  const create = createTokenAccountInstruction(user.address, wrapped, user.address, sol);
  await sendInstructions(node.url, [user], [create]);
  node.controls.passSlots(1);
  expect((await depositOf(answer, NATIVE))?.fee).toBe(5_000n);
  // The transaction closes the account after the deposit.
  await send(await stepOf(answer, NATIVE));
  expect((await depositOf(answer, NATIVE))?.fee).toBe(5_000n + rent);
});

test("a price change beyond the slippage fails the transaction, and no balance changes", async () => {
  const output = bytesOf(usdc.mint);
  const answer = await quoteSwap("exactIn", output, 10_000_000n);
  const step = await stepOf(answer, output);
  // Another trade moves the price by two percent.
  await send(await stepOf(await quoteSwap("exactIn", output, STOCK / 100n), output));
  const before = await holdings();
  await expect(send(step)).rejects.toThrow('"Custom":6001');
  expect(await holdings()).toEqual(before);
});

test("a token that charges a fee on transfers is refused", async () => {
  const answer = await quoteSwap("exactIn", bytesOf(usdc.mint), 10_000_000n);
  await expect(stepOf(answer, bytesOf(usdc.mint), feeToken.mint)).rejects.toThrow("charges a transfer fee");
});

test("offers no swap into a Token-2022 currency, because long logs could hide its deposit", async () => {
  const answer = await quoteSwap("exactIn", bytesOf(usdc.mint), 10_000_000n);
  await expect(stepOf(answer, bytesOf(feeToken.mint))).rejects.toThrow("a Token-2022 token");
});

test("the program reads a swap from the start of its data and ignores trailing bytes", async () => {
  const before = await holdings();
  const quoteRequest = {
    inputMint: token.mint,
    outputMint: usdc.mint,
    mode: "ExactIn",
    amount: 7_000n,
  } as const;
  const honest = await pools.swap(user.address, { ...quoteRequest, quoted: 1n, slippageBps: 0 });
  const largerSwap = await pools.swap(user.address, {
    ...quoteRequest,
    amount: 9_000n,
    quoted: STOCK,
    slippageBps: 0,
  });
  const largerAmounts = Buffer.from(largerSwap.data as Uint8Array).subarray(-19);
  const data = Buffer.concat([honest.data as Uint8Array, largerAmounts]);
  await sendInstructions(node.url, [user], [{ ...honest, data }]);
  node.controls.passSlots(1);
  expect(before.tokens - (await holdings()).tokens).toBe(7_000n);
});

/** An instruction in the format of the aggregator's API. */
interface WireInstruction {
  readonly programId: string;
  readonly accounts: readonly {
    readonly pubkey: string;
    readonly isSigner: boolean;
    readonly isWritable: boolean;
  }[];
  readonly data: string;
}
type Proposal = Record<string, unknown> & { readonly swapInstruction: WireInstruction };

const withAccounts = (
  proposal: Proposal,
  change: (accounts: WireInstruction["accounts"]) => WireInstruction["accounts"],
): Proposal => ({
  ...proposal,
  swapInstruction: { ...proposal.swapInstruction, accounts: change(proposal.swapInstruction.accounts) },
});
const writableAccount = (pubkey: string) => ({ pubkey, isSigner: false, isWritable: true });

test.each<[what: string, change: (proposal: Proposal) => Promise<Proposal>, about: string, reason: string]>([
  [
    "pays another account",
    async (proposal) =>
      withAccounts(proposal, (accounts) =>
        accounts.map((meta, index) => (index === 3 ? writableAccount(pools.authority) : meta)),
      ),
    "aggregator",
    "a swap that pays another account",
  ],
  [
    "has no output, so that the user's own tokens would be deposited",
    async (proposal) => {
      const data = Buffer.from(proposal.swapInstruction.data, "base64");
      data.writeBigUInt64LE(0n, data.length - 11);
      const swapInstruction = { ...proposal.swapInstruction, data: data.toString("base64") };
      return { ...proposal, swapInstruction };
    },
    "aggregator",
    "a swap whose minimum output is 0 base units",
  ],
  [
    "appends honest amounts to those that the program reads",
    async (proposal) => {
      const honest = Buffer.from(proposal.swapInstruction.data, "base64");
      const [plan, amounts] = [honest.subarray(0, -19), honest.subarray(-19)];
      const hostileAmounts = Buffer.from(amounts);
      hostileAmounts.writeBigUInt64LE(await tokensOf(user.address, token.mint), 0);
      hostileAmounts.writeBigUInt64LE(0n, 8);
      const data = Buffer.concat([plan, hostileAmounts, amounts]).toString("base64");
      return { ...proposal, swapInstruction: { ...proposal.swapInstruction, data } };
    },
    "aggregator",
    "a swap with 19 bytes after its amounts",
  ],
  [
    "writes to another token account of the user",
    async (proposal) => {
      const savings = await associatedTokenAccount(user.address, feeToken.mint, feeToken.tokenProgram);
      return withAccounts(proposal, (accounts) => [...accounts, writableAccount(savings)]);
    },
    "aggregator",
    "another token account of the user",
  ],
  [
    "names an account that is not a lookup table",
    async (proposal) => ({ ...proposal, addressLookupTableAddresses: [user.address] }),
    "aggregator",
    "not an active lookup table",
  ],
  [
    "does not fit into a transaction",
    async (proposal) => {
      const strangers = await Promise.all(
        Array.from({ length: 24 }, async () => (await solanaKey()).address),
      );
      return withAccounts(proposal, (accounts) => [
        ...accounts,
        ...strangers.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
      ]);
    },
    "size",
    "at most 1220 fit",
  ],
])("a proposal that %s is refused", async (_, change, subject, reason) => {
  const output = bytesOf(usdc.mint);
  const answer = await quoteSwap("exactIn", output, 10_000_000n);
  jupiter.change = async (path, honest) => (path === "quote" ? honest : await change(honest as Proposal));
  await expect(stepOf(answer, output)).rejects.toMatchObject({
    name: "SwapRefused",
    subject,
    message: expect.stringContaining(reason) as string,
  });
});

test.each([
  [
    "another amount",
    (answer: Record<string, unknown>) => ({ ...answer, inAmount: "1" }),
    "a different amount than requested",
  ],
  [
    "another token",
    (answer: Record<string, unknown>) => ({ ...answer, outputMint: WRAPPED_SOL }),
    "different tokens than requested",
  ],
  [
    "another slippage",
    (answer: Record<string, unknown>) => ({ ...answer, slippageBps: 51 }),
    "a different slippage than requested",
  ],
  [
    "a platform fee",
    (answer: Record<string, unknown>) => ({ ...answer, platformFee: { amount: "1", feeBps: 1 } }),
    "a platform fee",
  ],
  ["text", () => "not a quote", "expected object"],
])("a quote with %s is the aggregator's fault", async (_, change, reason) => {
  jupiter.change = (_path, answer) => change(answer);
  await expect(quoteSwap("exactIn", bytesOf(usdc.mint), 10_000_000n)).rejects.toThrow(
    "The swap aggregator did not respond; try again",
  );
  expect(String(faults[0])).toContain(reason);
});

test("a missing route is not reported as a fault", async () => {
  const stranger = (await solanaKey()).address;
  expect(await quoteSwap("exactIn", bytesOf(stranger), 10_000_000n)).toBeUndefined();
  expect(faults).toEqual([]);
});

test("a slow or oversized answer is reported as the aggregator's fault", async () => {
  jupiter.respond = (_request, response) => void response.end("x".repeat(300_000));
  await expect(quoteSwap("exactIn", bytesOf(usdc.mint), 10_000_001n)).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
  });
  expect(String(faults[0])).toContain("exceeds");
});
