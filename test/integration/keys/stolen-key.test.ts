import { rawKeySigner, signPersonalMessage, type Signer } from "@causeway/attest";
import { paymentCall, transferCall } from "@causeway/chains";
import { approvalProxyAbi, depositoryAbi, hubAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import { freePort, programCommand, startProcess, type RunningProcess } from "@causeway/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  encodeFunctionData,
  erc20Abi,
  maxUint256,
  parseEther,
  parseUnits,
  serializeTransaction,
  type TransactionSerializable,
} from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { signerProcessClient } from "../../../apps/api/src/chains/signer-process-client.adapter.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { spentMemory } from "../../../apps/api/src/payments/policy/spent-memory.ts";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";
import type { TestChain } from "../../support/test-chain.ts";
import { someHash } from "../../support/terms.ts";

// A thief who controls the worker's process, its database or its token moves at most what the signing rules
// allow.

const TOKEN = "t".repeat(32);
const DAY_USD = 1_000n;
const TRANSACTION_USD = 260n;
const ETH_USD = 3_000n;
const HUB = `0x${"b0".repeat(20)}` as const;
const ORACLE = `0x${"b1".repeat(20)}` as const;
const RENOUNCE_OWNERSHIP = "0x715018a6";

let world: EngineWorld;
let folder: string;
let port: number;
let signer: RunningProcess;
let thief: Address;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "causeway-signer-"));
  port = await freePort();
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
  thief = world.anAddress();
});
afterEach(async () => {
  await Promise.all([signer.stop(), world.stop()]);
  await rm(folder, { recursive: true });
});

async function startSigner(key: "solver" | "executor", dayUsd = DAY_USD): Promise<void> {
  const { privateKey } = localAccount(key);
  const program = programCommand("apps/api/src/signer.ts");
  const chains = [world.origin, world.destination].map(({ chain: { id, contracts } }) => ({
    chainId: id,
    maxFeePerGasGwei: "500",
    currencies: [
      { address: NATIVE_CURRENCY, decimals: 18, maxPriceUsd: String(ETH_USD) },
      { address: world.usdc, decimals: 6, maxPriceUsd: "1" },
    ],
    router: contracts.router,
    approvalProxy: contracts.approvalProxy,
    hubContracts: [ORACLE],
  }));
  const rules = { key, transactionUsd: String(TRANSACTION_USD), dayUsd: String(dayUsd), chains };
  signer = await startProcess({
    ...program,
    name: "signer",
    env: {
      ...program.env,
      ENVIRONMENT: "local",
      VAULT_SECRETS_DIR: join(folder, "none"),
      [`${key.toUpperCase()}_PRIVATE_KEY`]: privateKey,
      ORDER_SIGNER_URL: `http://127.0.0.1:${port}`,
      ORDER_SIGNER_TOKEN: TOKEN,
      SIGNING_RULES: JSON.stringify(rules),
      SIGNING_RECORD: join(folder, "record"),
    },
    logFile: join(folder, "signer.log"),
    isReady: async (signal) =>
      (await fetch(`http://127.0.0.1:${port}/health/live`, { signal })).status === 200,
  });
}

/** A worker whose key is in the signer process and whose own limits are disabled. */
function worker(): WorkerServices & { readonly signer: Signer } {
  const url = `http://:${TOKEN}@127.0.0.1:${port}`;
  return {
    ...world.services,
    signer: signerProcessClient(url, world.solver.address),
    spentMemory: spentMemory(),
  };
}

interface Unsigned {
  readonly type?: string;
  readonly chainId?: number;
  readonly nonce?: number;
  readonly to?: Address | undefined;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly accessList?: readonly object[];
  readonly authorizationList?: readonly object[];
}

/**
 * Requests a signature from the signer, as the thief.
 * @returns the signed bytes, or the message of the refusal
 */
async function requestSignature(
  transaction: Unsigned,
  token = TOKEN,
): Promise<{ raw?: Hex; refusal?: string }> {
  const complete = {
    type: "eip1559",
    chainId: world.destination.chain.id,
    nonce: 900,
    gas: 100_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1n,
    ...transaction,
  } as unknown as TransactionSerializable;
  const answer = await post("/v1/transactions", { unsigned: serializeTransaction(complete) }, token);
  const { signature, message } = answer.body as { readonly signature?: Hex; readonly message?: string };
  if (signature === undefined) return { refusal: `${answer.status} ${message}` };
  const [r, s] = [signature.slice(0, 66) as Hex, `0x${signature.slice(66, 130)}` as const];
  return { raw: serializeTransaction(complete, { r, s, yParity: signature.endsWith("1c") ? 1 : 0 }) };
}

async function post(path: string, body: unknown, token = TOKEN): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

const usdc = (whole: number | bigint): bigint => parseUnits(String(whole), 6);
const call = (to: Address, data: Hex, value = 0n): Unsigned => ({ to, data, value });
const oneCall = [{ to: NATIVE_CURRENCY, data: "0x", value: 0n, allowFailure: false }] as const;

/** Transactions that are refused whatever was signed before. Each has a name and the rule that it breaks. */
function forbidden(): readonly (readonly [string, Unsigned, string])[] {
  const { contracts, tokens } = world.destination.chain;
  const { router, approvalProxy, depository } = contracts;
  const tst = tokens.find(({ id }) => id === "tst")?.address ?? "0x";
  const tokenCall = (name: "approve" | "transferFrom", args: readonly unknown[]): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: name, args } as never);
  const pull = (currency: Address, amount: bigint): Hex =>
    encodeFunctionData({
      abi: approvalProxyAbi,
      functionName: "pullAndRoute",
      args: [currency, amount, oneCall, thief, []],
    });
  const multicall = encodeFunctionData({
    abi: routerAbi,
    functionName: "multicall",
    args: [oneCall, thief, []],
  });
  const hubTransfer = encodeFunctionData({ abi: hubAbi, functionName: "transfer", args: [thief, 1n, 1n] });
  const deposit = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositNative",
    args: [thief, someHash()],
  });
  const permit = { chainId: 0, address: router, nonce: 0, r: someHash(), s: someHash(), yParity: 0 };
  const small = transferCall(world.usdc, thief, 1n);
  return [
    ["tokens above the limit of a transaction", transferCall(world.usdc, thief, usdc(261)), "transaction"],
    ["native tokens above the limit of a transaction", call(thief, "0x", parseEther("0.1")), "transaction"],
    ["a payment with an order above the limit of a transaction", paymentOf(usdc(5_000)), "transaction"],
    ["a token without a price", transferCall(tst, thief, 1n), "currency"],
    ["an allowance", call(world.usdc, tokenCall("approve", [thief, maxUint256])), "call"],
    ["an allowance for our own proxy", call(world.usdc, tokenCall("approve", [approvalProxy, 1n])), "call"],
    ["transferFrom", call(world.usdc, tokenCall("transferFrom", [world.solver.address, thief, 1n])), "call"],
    ["a transfer with native tokens", { ...small, value: 1n }, "call"],
    ["a route above the limit", call(approvalProxy, pull(world.usdc, usdc(261))), "transaction"],
    ["a route of another token", call(approvalProxy, pull(tst, 1n)), "currency"],
    ["a route of native tokens above the limit", call(router, multicall, parseEther("0.1")), "transaction"],
    ["native tokens to a listed contract", call(approvalProxy, "0x", 1n), "recipient"],
    ["a call of a token that is as long as an order", call(world.usdc, someHash()), "recipient"],
    ["the depository", call(depository, deposit, 1n), "call"],
    ["the hub's credit", call(HUB, hubTransfer), "call"],
    ["another function of the oracle contract", call(ORACLE, RENOUNCE_OWNERSHIP), "call"],
    ["native tokens for the oracle contract", call(ORACLE, "0x", 1n), "call"],
    ["an unknown contract", call(thief, "0x12345678"), "call"],
    ["another chain", { ...small, chainId: 1 }, "call"],
    ["a higher gas price", { ...small, maxFeePerGas: 501n * 10n ** 9n }, "fee"],
    ["gas above the limit", { ...small, gas: 10_000_000n, maxFeePerGas: 500n * 10n ** 9n }, "transaction"],
    ["a delegation", { ...small, type: "eip7702", authorizationList: [permit] }, "call"],
  ];
}

function paymentOf(amount: bigint): Unsigned {
  return paymentCall(
    { currency: world.usdc, amount, recipient: thief, orderId: someHash() },
    false,
    NATIVE_CURRENCY,
  );
}

/**
 * What an account owns on both chains, in USD with 18 decimals, at the prices of the rules and with TST at
 * $1.
 */
async function worth(account: Address): Promise<bigint> {
  const parts = await Promise.all(
    [world.origin, world.destination].map(async (chain) => {
      const [native, tokens, tst] = await Promise.all([
        chain.balance(account, NATIVE_CURRENCY),
        chain.balance(account, world.usdc),
        chain.balance(account, chain.chain.tokens.find(({ id }) => id === "tst")?.address ?? "0x"),
      ]);
      return native * ETH_USD + tokens * 10n ** 12n + tst;
    }),
  );
  return parts.reduce((sum, part) => sum + part, 0n);
}

async function broadcast(chain: TestChain, raws: readonly (Hex | undefined)[]): Promise<void> {
  for (const serializedTransaction of raws)
    if (serializedTransaction !== undefined)
      await chain.client.sendRawTransaction({ serializedTransaction }).catch(() => undefined);
  await chain.mine(2);
}

/** Inserts a payout and its slot, as anyone with write access to the database could. */
async function plantClaim(amount: bigint, sender: Address): Promise<void> {
  const { destination, pool, services } = world;
  const id = someHash();
  await pool.query(
    `insert into claims (claim_id, wallet, chain_id, currency, recipient, amount, fee_amount, expires_at, state, created_at_ms, updated_at_ms)
     values ($1, $3, $2, $4, $3, $5, 0, 1, 'paying', 1, 1)`,
    [id, destination.chain.id, thief, world.usdc, amount.toString()],
  );
  const { maxFeePerGas, maxPriorityFeePerGas } = destination.connected.pulse.gasPrices();
  await services.uow.run(async (tx) => {
    await tx.lanes.reserve(
      [
        {
          chainId: destination.chain.id,
          sender,
          leg: { kind: "claim", id, requestId: undefined },
          call: transferCall(world.usdc, thief, amount),
          gasLimit: 100_000n,
          maxFeePerGas,
          maxPriorityFeePerGas,
          outflow: { currency: world.usdc, amount: 0n },
          cancelAfterMs: services.clock.nowMs() + 3_600_000,
        },
      ],
      services.clock.nowMs(),
    );
  });
}

test("a stolen solver key moves at most the limit of a day, whatever the thief tries", async () => {
  await startSigner("solver");
  const { origin, destination, services, solver } = world;
  const before = await worth(solver.address);

  for (const [what, transaction, rule] of forbidden())
    expect([what, (await requestSignature(transaction)).refusal]).toEqual([
      what,
      expect.stringMatching(`^403 ${rule}:`),
    ]);
  const small = transferCall(world.usdc, thief, 1n);
  for (const malformed of [
    { ...small, accessList: [{ address: world.usdc, storageKeys: [] }] },
    { ...small, type: "legacy", gasPrice: 1n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined },
    { ...small, to: undefined },
  ])
    expect((await requestSignature(malformed)).refusal).toMatch(/^400 unsigned must be/);
  expect((await requestSignature(small, "wrong".repeat(8))).refusal).toMatch(/^401/);
  // A signed message other than an order could authorize a withdrawal from the hub.
  for (const path of ["/v1/messages", "/v1/digests", "/v1/typed-data"])
    expect((await post(path, { bytes: someHash(), digest: someHash() })).status).toBe(404);
  await expect(
    worker().signer.signDigest(someHash(), { kind: "message", bytes: someHash() }),
  ).rejects.toThrow("signing key unavailable (refused)");

  // Attack through the database: two concurrent workers, whose counters are deleted, make planted payouts.
  const former = rawKeySigner(`0x${"e7".repeat(32)}`);
  await destination.fund(former.address, { native: 10n ** 18n, tokens: 1_000n });
  const workers = [worker(), worker()].map((workerServices) => ({
    ...workerServices,
    formerSigners: [former],
  }));
  await services.uow.run((tx) => tx.lanes.open(destination.chain.id, former.address, 0));
  await plantClaim(usdc(900), former.address);
  for (let n = 0; n < 6; n++) {
    await plantClaim(usdc(60), solver.address);
    world.clock.forward(services.enginePolicy.orphanedAfterMs + 1);
    await world.pool.query("delete from spent_days");
    await Promise.all(
      workers.map(async (workerServices) => await world.maintainLaneOf(destination, workerServices)),
    );
  }
  // No ledger has the planted claims, so they could not be booked when they are final.
  await world.pool.query("delete from claims");
  await destination.mine(2);
  const planted = await destination.balance(thief, world.usdc);
  expect(planted).toBe(usdc(360));

  // Attack through the worker's process: two workers with clocks a year ahead request signatures on two
  // chains.
  world.clock.forward(365 * 24 * 3_600_000);
  const firstNonces = await Promise.all(
    [origin, destination].map(
      async ({ client }) => await client.getTransactionCount({ address: solver.address }),
    ),
  );
  const drained: (readonly (Hex | undefined)[])[] = [];
  for (let n = 0; n < 12; n += 2) {
    const attempts = [origin, destination].flatMap(({ chain }, index) =>
      [n, n + 1].map(async (offset) => {
        const nonce = (firstNonces[index] ?? 0) + offset;
        return await requestSignature({
          ...transferCall(world.usdc, thief, usdc(90)),
          chainId: chain.id,
          nonce,
        });
      }),
    );
    drained.push((await Promise.all(attempts)).map(({ raw }) => raw));
  }
  expect(drained.flat().filter((raw) => raw !== undefined).length).toBeGreaterThan(4);
  await broadcast(
    origin,
    drained.flatMap((raws) => raws.slice(0, 2)),
  );
  await broadcast(
    destination,
    drained.flatMap((raws) => raws.slice(2)),
  );

  // A killed signer keeps its counters, and a signed nonce cannot be signed again for a larger amount.
  signer.kill("SIGKILL");
  await signer.exited;
  await startSigner("solver");
  const nonceOffsets = [0, 1, 2, 3].map((index) => index * 100);
  for (const chain of [origin, destination]) {
    const next = await chain.client.getTransactionCount({ address: solver.address });
    const again = await Promise.all([
      ...nonceOffsets.map(
        async (offset) =>
          await requestSignature({
            ...call(thief, "0x", parseEther("0.03")),
            nonce: next + offset,
            chainId: chain.chain.id,
          }),
      ),
      requestSignature({
        ...transferCall(world.usdc, thief, usdc(250)),
        nonce: next,
        chainId: chain.chain.id,
      }),
      requestSignature({
        ...call(solver.address, "0x"),
        nonce: next,
        gas: 170_000n,
        maxFeePerGas: 500n * 10n ** 9n,
        chainId: chain.chain.id,
      }),
    ]);
    expect(again.map(({ refusal }) => refusal)).toEqual(again.map(() => expect.stringMatching(/^403 day:/)));
    const bumped = await requestSignature({
      ...transferCall(world.usdc, thief, usdc(250)),
      nonce: Math.max(0, next - 1),
      chainId: chain.chain.id,
    });
    await broadcast(chain, [bumped.raw, ...again.map(({ raw }) => raw)]);
  }

  const lost = before - (await worth(solver.address));
  expect(lost).toBeLessThanOrEqual(DAY_USD * 10n ** 18n);
  // The loss is close to the limit, which proves that the test detects moved funds.
  expect(lost).toBeGreaterThan(700n * 10n ** 18n);
  expect(await destination.balance(former.address, world.usdc)).toBe(usdc(1_000));
  for (const chain of [origin, destination]) expect(await chain.balance(thief, NATIVE_CURRENCY)).toBe(0n);
});

test("the signer signs a fill and its order within the rules, and counts a fee bump only once", async () => {
  await startSigner("solver", 250n);
  const workerServices = worker();
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  for (let round = 0; round < 6; round++) {
    world.clock.forward(3_000);
    await world.round(workerServices);
  }
  const { recipient, destination, orderId, order } = agreed.terms;
  expect(await world.destination.balance(recipient, destination.currency)).toBe(destination.expectedAmount);
  expect(await signPersonalMessage(workerServices.signer, orderId, order)).toMatch(/^0x[0-9a-f]{130}$/);
  // The signer refuses an order that does not match its id.
  const other = await world.quote({ recipient: thief });
  await expect(signPersonalMessage(workerServices.signer, orderId, other.terms.order)).rejects.toMatchObject({
    fault: "bad-answer",
  });
  const payment = { ...transferCall(world.usdc, thief, usdc(100)), nonce: 950 };
  for (const gwei of [2n, 4n, 8n])
    expect(await requestSignature({ ...payment, maxFeePerGas: gwei * 10n ** 9n })).toHaveProperty("raw");
  expect((await requestSignature({ ...payment, nonce: 951 })).refusal).toMatch(
    /^403 day: found \$\d+\.\d\d, allowed: at most \$250\.00 in 24 hours$/,
  );
});

test("a stolen executor key moves at most the limit of a day in gas and native tokens, and no tokens", async () => {
  await startSigner("executor", 300n);
  const { destination, services } = world;
  const account = services.executor?.address ?? "0x";
  await destination.fund(account, { native: parseEther("10"), tokens: 500n });
  const before = await worth(account);
  const { approvalProxy } = destination.chain.contracts;
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [approvalProxy, 1n] });
  expect((await requestSignature(transferCall(world.usdc, thief, 1n))).refusal).toMatch(/^403 call:/);
  expect((await requestSignature(call(world.usdc, approve))).refusal).toMatch(/^403 call:/);
  expect(
    (await requestSignature({ ...call(thief, "0x"), gas: 10n ** 7n, maxFeePerGas: 500n * 10n ** 9n }))
      .refusal,
  ).toMatch(/^403 transaction:/);
  expect((await post("/v1/orders", {})).status).toBe(404);
  // The executor may sign transactions that carry delegations of users' accounts.
  const delegation = {
    chainId: 0,
    address: approvalProxy,
    nonce: 0,
    r: someHash(),
    s: someHash(),
    yParity: 0,
  };
  const delegating = { ...call(thief, "0xabcdef01"), type: "eip7702", authorizationList: [delegation] };
  expect((await requestSignature(delegating)).raw).toMatch(/^0x04/);
  const next = await destination.client.getTransactionCount({ address: account });
  const answers = await Promise.all(
    Array.from({ length: 12 }, async (_, index) =>
      requestSignature({
        ...call(thief, "0xabcdef01", parseEther("0.02")),
        nonce: next + index,
        gas: 30_000n,
      }),
    ),
  );
  await broadcast(
    destination,
    answers.map(({ raw }) => raw),
  );
  const lost = before - (await worth(account));
  expect(lost).toBeLessThanOrEqual(300n * 10n ** 18n);
  expect(lost).toBeGreaterThan(200n * 10n ** 18n);
});
