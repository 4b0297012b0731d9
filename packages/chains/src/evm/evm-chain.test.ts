import { encodeFunctionData, erc20Abi, keccak256 } from "viem";
import { sign } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { depositoryAbi, testTokenAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { solver, startEvmWorld, user, type EvmWorld } from "../../test/chain.ts";
import {
  nativeTransferCall,
  paymentCall,
  rangeOf,
  routerCall,
  type BlockRange,
  type BlockRef,
  type ChainReader,
  type Head,
} from "@causeway/families/evm";
import { connectEvmChain, type EvmConnection } from "./connect.ts";
import { followTrail } from "./follow-trail.ts";
import { signTransaction } from "./sign-transaction.ts";

const id: Hex = `0x${"1d".repeat(32)}`;
const zero: Address = NATIVE_CURRENCY;
const ether = 10n ** 18n;
const userAddress = user.address.toLowerCase() as Address;
const solverAddress = solver.address.toLowerCase() as Address;
const solverKey = `0x${Buffer.from(solver.getHdKey().privateKey ?? []).toString("hex")}` as const;

let world: EvmWorld;
let connection: EvmConnection;
let reader: ChainReader;
let depository: Address;

beforeAll(async () => {
  world = await startEvmWorld(31_007);
  connection = connectEvmChain({ ...world.chain, wsRpcUrl: world.node.wsUrl });
  reader = connection.reader;
  depository = world.chain.contracts.depository;
  for (const token of [world.token, world.feeToken]) {
    const mint = encodeFunctionData({
      abi: testTokenAbi,
      functionName: "mint",
      args: [user.address, 1_000n * ether],
    });
    await world.wallet.send({ to: token, data: mint });
    const args = [depository, 500n * ether] as const;
    await world.wallet.send({
      to: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args }),
    });
  }
}, 30_000);
afterAll(async () => {
  await connection.close();
  await world.node.stop();
});

function depositNative(depositId: Hex = id): Hex {
  return encodeFunctionData({ abi: depositoryAbi, functionName: "depositNative", args: [zero, depositId] });
}

function depositErc20(token: Address, amount: bigint): Hex {
  return encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositErc20",
    args: [zero, token, amount, id],
  });
}

/** Waits for a head that satisfies `wanted`. */
async function headWhere(heads: EvmConnection["heads"], isWanted: (head: Head) => boolean): Promise<Head> {
  return await new Promise((resolve) => {
    const off = heads.onHead((head) => {
      if (!isWanted(head)) return;
      off();
      resolve(head);
    });
    if (heads.latest !== undefined && isWanted(heads.latest)) {
      off();
      resolve(heads.latest);
    }
  });
}

/** A range of blocks of which only the last hash is known. */
const rangeEndingAt = ({ number, hash }: BlockRef, from: bigint): BlockRange => ({
  from,
  to: number,
  hashes: new Map([[number, hash]]),
});

async function head(): Promise<BlockRef> {
  return await reader.head();
}

test("reads deposits of every kind equally from a block range, from single blocks, and from receipts", async () => {
  const { wallet, token, feeToken } = world;
  const first = (await head()).number + 1n;
  const direct: Hex = `${encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [depository, 3n] })}${id.slice(2)}`;
  const hashes = [
    await wallet.send({ to: depository, data: depositNative(), value: 1n }),
    await wallet.send({ to: depository, data: depositErc20(token, 2n) }),
    await wallet.send({ to: token, data: direct }),
    await wallet.send({ to: depository, data: depositErc20(feeToken, 10_000n) }),
  ];
  const last = await head();
  const deposits = await reader.depositsIn(rangeEndingAt(last, first));

  const held = await reader.balances(depository, [NATIVE_CURRENCY, token, feeToken]);
  expect(held.blockNumber).toBe(last.number);
  expect(deposits.map(({ currency, amount, id: depositId }) => [currency, amount, depositId])).toEqual([
    [NATIVE_CURRENCY, 1n, id],
    [token, 2n, id],
    [token, 3n, id],
    // The amount that arrived, not the requested one.
    [feeToken, held.balances.get(feeToken), id],
  ]);
  expect(held.balances.get(feeToken)).toBeLessThan(10_000n);
  expect(held.balances.get(token)).toBe(5n);
  expect(held.balances.get(NATIVE_CURRENCY)).toBe(1n);
  expect(deposits.every(({ depositor, sender }) => depositor === userAddress && sender === userAddress)).toBe(
    true,
  );

  const fromReceipts = await Promise.all(
    hashes.map(async (hash) => reader.depositsOf(await reader.transaction(hash))),
  );
  expect(fromReceipts.flat()).toEqual(deposits);
  const fromBlocks = [];
  for (let number = first; number <= last.number; number++) {
    const block = await reader.block(number);
    if (block !== undefined) fromBlocks.push(...(await reader.depositsIn(rangeOf([block]))));
  }
  expect(fromBlocks).toEqual(deposits);
});

test("a plain transfer with an id in its input is not a deposit", async () => {
  const hash = await world.wallet.send({ to: user.address, data: id, value: 5n });
  expect(reader.depositsOf(await reader.transaction(hash))).toEqual([]);
});

test("reading deposits of an orphaned block is a fault, not an empty answer", async () => {
  const { wallet } = world;
  await wallet.send({ to: depository, data: depositNative(), value: 1n });
  const orphan = await head();
  expect(await reader.depositsIn(rangeOf([orphan]))).toHaveLength(1);
  await wallet.rpc("anvil_reorg", [1, []]);
  const replaced = await reader.block(orphan.number);
  expect(replaced?.hash).not.toBe(orphan.hash);
  const early = orphan.number - 1n;
  await expect(reader.depositsIn(rangeOf([orphan]))).rejects.toMatchObject({
    name: expect.stringMatching(/RpcFault|NodeRefusal/),
  });
  await expect(reader.depositsIn(rangeEndingAt(orphan, early))).rejects.toMatchObject({
    kind: "inconsistent",
  });
});

test("follows a reorg from headers alone, so that the trail ends with the node's chain", async () => {
  const { wallet } = world;
  await wallet.rpc("anvil_mine", ["0x8"]);
  const start = await head();
  const from = await reader.block(start.number - 6n);
  let trail = from === undefined ? [] : [from];
  const follow = async (limit?: number): Promise<void> => {
    const change = await followTrail(reader, trail, await head(), limit);
    if (change.kind === "unchanged") return;
    trail = [
      ...trail.filter(({ number }) => number < (change.orphanedFrom ?? number + 1n)),
      ...change.append,
    ];
  };
  await follow(4);
  expect(trail.at(-1)?.number).toBe(start.number - 2n);
  await follow(4);
  expect(trail.at(-1)?.hash).toBe(start.hash);

  await wallet.rpc("anvil_reorg", [3, []]);
  await wallet.rpc("anvil_mine", ["0x2"]);
  await follow();
  const blocks = await Promise.all(trail.map(async ({ number }) => await reader.block(number)));
  expect(trail).toEqual(blocks);
  expect(trail.some(({ hash }) => hash === start.hash)).toBe(false);
});

test("heads arrive quickly by subscription, with the time of their arrival", async () => {
  const before = await head();
  const arrived = headWhere(connection.heads, ({ number }) => number > before.number);
  const requestedAtMs = Date.now();
  await world.wallet.rpc("anvil_mine", ["0x1"]);
  const received = await arrived;
  expect(received.hash).toBe((await head()).hash);
  expect(received.parentHash).toBe(before.hash);
  expect(received.seenAtMs - requestedAtMs).toBeLessThan(400);
});

test("reports a block of equal height with another hash", async () => {
  const before = await head();
  await headWhere(connection.heads, ({ hash }) => hash === before.hash);
  const replaced = headWhere(
    connection.heads,
    ({ number, hash }) => number === before.number && hash !== before.hash,
  );
  await world.wallet.rpc("anvil_reorg", [1, []]);
  expect((await replaced).parentHash).toBe(before.parentHash);
});

test("heads arrive by polling without a socket, and with a dead one", async () => {
  const faults: unknown[] = [];
  const onFault = (fault: unknown): void => void faults.push(fault);
  const dead = { ...world.chain, wsRpcUrl: "ws://user:hunter22@127.0.0.1:9" };
  for (const chain of [world.chain, dead]) {
    const polled = connectEvmChain(chain, { onFault });
    const before = await headWhere(polled.heads, () => true);
    const arrived = headWhere(polled.heads, ({ number }) => number > before.number);
    await world.wallet.rpc("anvil_mine", ["0x1"]);
    expect((await arrived).hash).toBe((await head()).hash);
    await polled.close();
  }
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.map(String).join()).not.toMatch(/hunter22|127\.0\.0\.1/);
});

test("refuses a node of another chain before anything is read from or sent to it", async () => {
  const wrong = connectEvmChain({ ...world.chain, id: 31_008, wsRpcUrl: world.node.wsUrl });
  await expect(wrong.verify()).rejects.toMatchObject({ kind: "wrongChain", retryable: false });
  await expect(wrong.reader.head()).rejects.toMatchObject({ kind: "wrongChain" });
  await expect(wrong.writer.broadcast("0x02")).rejects.toMatchObject({ kind: "wrongChain" });
  expect(await wrong.reader.remoteChainId()).toBe(31_007);
  await world.wallet.rpc("anvil_mine", ["0x1"]);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(wrong.heads.latest).toBeUndefined();
  await wrong.close();
});

test("balance and allowance match their reported block, and are cached until the next head", async () => {
  const now = await head();
  await headWhere(connection.heads, ({ hash }) => hash === now.hash);
  const before = await reader.accountState(userAddress, world.token, depository);
  expect(before.blockNumber).toBe(now.number);
  expect(before.allowance).toBe(500n * ether - 2n);
  const native = await reader.accountState(userAddress, NATIVE_CURRENCY, depository);
  expect(native.allowance).toBe(2n ** 256n - 1n);
  expect(native.balance).toBeGreaterThan(9_000n * ether);

  const args = [solver.address, 11n] as const;
  await world.wallet.send({
    to: world.token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args }),
  });
  const next = await head();
  await headWhere(connection.heads, ({ hash }) => hash === next.hash);
  expect((await reader.accountState(userAddress, world.token, depository)).balance).toBe(
    before.balance - 11n,
  );
});

test("a balance of an address that is not a token is a fault, and other balances in the batch succeed", async () => {
  const [good, bad] = await Promise.allSettled([
    reader.accountState(userAddress, world.token, depository),
    reader.accountState(userAddress, depository, depository),
  ]);
  expect(good.status).toBe("fulfilled");
  expect(bad).toMatchObject({ status: "rejected", reason: { name: "RpcFault" } });
});

test("gas prices respect the configured floor and cap", async () => {
  const prices = await reader.gasPrices();
  expect(prices.maxPriorityFeePerGas).toBeGreaterThanOrEqual(world.chain.fees.minPriorityFeeWei);
  expect(prices.maxFeePerGas).toBeGreaterThanOrEqual(prices.baseFeePerGas + prices.maxPriorityFeePerGas);
  expect(prices.maxFeePerGas).toBeLessThanOrEqual(world.chain.fees.maxFeePerGasWei);
});

test("a simulation distinguishes success, revert and insufficient funds", async () => {
  const call = { to: depository, data: depositNative(), value: 1n };
  expect(await reader.simulate(userAddress, call)).toMatchObject({ kind: "ok" });
  const args = [user.address, 10n ** 40n] as const;
  const tooMuch = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  const reverts = await reader.simulate(userAddress, { to: world.token, data: tooMuch, value: 0n });
  expect(reverts.kind).toBe("reverts");
  expect(reverts).toMatchObject({ data: expect.stringMatching(/^0x[0-9a-f]{8}/) as unknown });
  expect(await reader.simulate(`0x${"77".repeat(20)}`, call)).toEqual({ kind: "insufficientFunds" });
  // The depository has no receive function: an empty revert.
  expect(await reader.simulate(userAddress, { ...call, data: "0x" })).toMatchObject({
    kind: "reverts",
    data: "0x",
  });
});

/** Deploys exactly this code. */
async function deployCode(code: string): Promise<Address> {
  const size = (code.length / 2).toString(16).padStart(2, "0");
  // PUSH1 size, DUP1, PUSH1 0x0a, PUSH1 0, CODECOPY, PUSH1 0, RETURN, filled to ten bytes.
  return await world.wallet.deploy([], `0x60${size}80600a5f395ff300${code}`);
}

const feesOf = (maxFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas: 10n ** 9n });

test("the recipient cannot distinguish a simulation with fees from the payment itself", async () => {
  const fees = feesOf(50n * 10n ** 9n);
  // Both read GASPRICE: one reverts if it is zero, the other burns all gas if it is not.
  const wary = { to: await deployCode("3a6007575f5ffd5b00"), data: id, value: 1n };
  const deceptive = { to: await deployCode("3a600557005b600556"), data: id, value: 1n };
  expect(await reader.simulate(userAddress, wary)).toMatchObject({ kind: "reverts" });
  expect(await reader.simulate(userAddress, wary, fees)).toMatchObject({ kind: "ok" });
  expect(await reader.simulate(userAddress, deceptive)).toMatchObject({ kind: "ok" });
  expect(await reader.simulate(userAddress, deceptive, fees)).toMatchObject({ kind: "reverts" });
  // The same for a sender with a low balance: all its gas is burned, but an honest recipient would have cost
  // less.
  const modestSender: Address = `0x${"79".repeat(20)}`;
  await world.wallet.rpc("anvil_setBalance", [
    modestSender,
    `0x${(100_000n * fees.maxFeePerGas).toString(16)}`,
  ]);
  expect(await reader.simulate(modestSender, deceptive, fees)).toMatchObject({ kind: "reverts" });
});

test("with fees, gas that the sender cannot pay for is insufficient funds, not a revert", async () => {
  const fees = feesOf(50n * 10n ** 9n);
  const poor: Address = `0x${"78".repeat(20)}`;
  const fund = async (gas: bigint, beyondGas: bigint): Promise<void> => {
    const wei = gas * fees.maxFeePerGas + beyondGas;
    await world.wallet.rpc("anvil_setBalance", [poor, `0x${wei.toString(16)}`]);
  };
  const inner = nativeTransferCall(world.chain.contracts.router, `0x${"7a".repeat(20)}`, 1_000n);
  const plan = { calls: [inner], refundTo: poor, refundTokens: [], orderId: id, value: 1_000n };
  for (const call of [
    { to: depository, data: depositNative(), value: 1_000n },
    // Here an inner call runs out of gas, and the router reports the failure as a revert.
    routerCall(world.chain.contracts.router, plan),
  ]) {
    await fund(10n ** 6n, 1_000n);
    const outcome = await reader.simulate(poor, call, fees);
    if (outcome.kind !== "ok") throw new Error(`${outcome.kind} although there is plenty`);
    for (const gas of [0n, 10_000n, outcome.gas / 2n, outcome.gas - 1n]) {
      await fund(gas, 1_000n);
      expect(await reader.simulate(poor, call, fees), `gas for ${gas}`).toEqual({
        kind: "insufficientFunds",
      });
      // Without fees, only the value is checked.
      expect(await reader.simulate(poor, call)).toMatchObject({ kind: "ok" });
    }
    await fund(outcome.gas, 1_000n);
    expect(await reader.simulate(poor, call, fees)).toEqual(outcome);
    await fund(0n, 999n);
    expect(await reader.simulate(poor, call, fees)).toEqual({ kind: "insufficientFunds" });
  }
  // A call that reverts at any gas price reverts, with or without funds.
  const refused = { to: depository, data: "0x12345678", value: 0n } as const;
  for (const gas of [0n, 30_000n, 10n ** 6n]) {
    await fund(gas, 0n);
    expect(await reader.simulate(poor, refused, fees)).toMatchObject({ kind: "reverts" });
  }
});

test("accepts signed payments once, reports them as known after that, and classifies every refusal", async () => {
  const { writer } = connection;
  const recipient: Address = `0x${"4e".repeat(20)}`;
  const signDigest = async (hash: Hex): Promise<{ r: Hex; s: Hex; yParity: 0 | 1 }> => {
    const { r, s, yParity } = await sign({ hash, privateKey: solverKey });
    return { r, s, yParity: yParity === 1 ? 1 : 0 };
  };
  const prices = await reader.gasPrices();
  const nonce = await reader.nonce(solverAddress, "latest");
  const payment = paymentCall(
    { currency: NATIVE_CURRENCY, recipient, amount: 9n, orderId: id },
    false,
    depository,
  );
  const plan = { ...payment, ...prices, chainId: world.chain.id, gas: 60_000n, nonce };
  const signedPayment = await signTransaction(plan, signDigest);

  await world.wallet.rpc("evm_setAutomine", [false]);
  expect(await writer.broadcast(signedPayment.raw)).toEqual({ kind: "accepted" });
  expect(await writer.broadcast(signedPayment.raw)).toEqual({ kind: "alreadyKnown" });
  expect(await reader.transaction(signedPayment.hash)).toMatchObject({
    kind: "pending",
    transaction: { nonce, input: id },
  });
  expect(await reader.nonce(solverAddress, "pending")).toBe(nonce + 1);
  const rival = await signTransaction({ ...plan, value: 8n }, signDigest);
  expect(await writer.broadcast(rival.raw)).toEqual({ kind: "underpriced" });
  await world.wallet.rpc("evm_setAutomine", [true]);
  await world.wallet.rpc("anvil_mine", ["0x1"]);

  expect(signedPayment.hash).toBe(keccak256(signedPayment.raw));
  expect(await reader.transaction(signedPayment.hash)).toMatchObject({
    kind: "mined",
    receipt: { status: "success" },
  });
  expect((await reader.balances(recipient, [NATIVE_CURRENCY])).balances.get(NATIVE_CURRENCY)).toBe(9n);
  expect(await writer.broadcast(rival.raw)).toEqual({ kind: "nonceTooLow" });
  expect(["alreadyKnown", "nonceTooLow"]).toContain((await writer.broadcast(signedPayment.raw)).kind);
  const overspending = await signTransaction({ ...plan, nonce: nonce + 1, value: 10n ** 30n }, signDigest);
  expect(await writer.broadcast(overspending.raw)).toEqual({ kind: "insufficientFunds" });
  const starved = await signTransaction({ ...plan, nonce: nonce + 1, gas: 100n }, signDigest);
  expect(await writer.broadcast(starved.raw)).toMatchObject({ kind: "rejected" });
  const foreign = await signTransaction({ ...plan, nonce: nonce + 1, chainId: 1 }, signDigest);
  expect(await writer.broadcast(foreign.raw)).toMatchObject({ kind: "rejected" });
  expect(await writer.broadcast("0x02deadbeef")).toMatchObject({ kind: "rejected" });
});

test("a reverted transaction deposits nothing", async () => {
  const prices = await reader.gasPrices();
  const hash = await world.wallet.rpc("eth_sendTransaction", [
    { from: userAddress, to: depository, data: depositErc20(world.token, 10n ** 40n), gas: "0x30000" },
  ]);
  // A busy node may answer before its block exists.
  const state = await vi.waitFor(async () => {
    const transactionState = await reader.transaction(String(hash) as Hex);
    expect(transactionState).toMatchObject({ kind: "mined", receipt: { status: "reverted" } });
    return transactionState;
  });
  expect(prices.baseFeePerGas).toBeGreaterThan(0n);
  expect(reader.depositsOf(state)).toEqual([]);
});

test("returns missing objects as values", async () => {
  expect(await reader.transaction(`0x${"00".repeat(31)}01`)).toEqual({ kind: "absent" });
  expect(await reader.receipt(`0x${"00".repeat(31)}01`)).toBeUndefined();
  expect(await reader.block(10_000_000n)).toBeUndefined();
  expect(await reader.blockByHash(`0x${"00".repeat(31)}01`)).toBeUndefined();
  expect(await reader.hasCode(userAddress)).toBe(false);
  expect(await reader.hasCode(depository)).toBe(true);
});
