import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  evmEvidence,
  paymentCall,
  routerCall,
  nativeTransferCall,
  type EvidenceSource,
} from "@causeway/chains";
import { depositoryAbi, returnsFalseAbi, returnsFalseBytecode } from "@causeway/contracts";
import { encodeOrderCall, NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { encodeFunctionData, erc20Abi } from "viem";
import {
  DEPTH,
  nativeCall,
  orderId,
  solver,
  startEvidenceWorld,
  tokenCall,
  user,
  type EvidenceWorld,
} from "./evidence-world.ts";

// An oracle reads evidence about real contracts from a real node. Case numbers are those of the list of
// hostile cases.

const alice: Address = `0x${"a1".repeat(20)}`;
const userAddress = user.address.toLowerCase() as Address;
const absentHash: Hex = `0x${"77".repeat(32)}`;

let world: EvidenceWorld;
let source: EvidenceSource;
const opened: EvidenceSource[] = [];

function open(chain: ConfiguredChain): EvidenceSource {
  const evidence = evmEvidence(chain, { finalBlockReuseMs: 0, rpc: { deadlineMs: 5_000 } });
  opened.push(evidence);
  return evidence;
}

beforeAll(async () => {
  world = await startEvidenceWorld(31_411);
  source = open(world.chainAt());
});
afterEach(async () => {
  for (const evidence of opened.splice(0)) if (evidence !== source) await evidence.close();
});
afterAll(async () => {
  await source.close();
  await world.node.stop();
});

describe("deposits", () => {
  test("a deposit is attested once its block is final, with the block's time", async () => {
    const hash = await world.deposit(7n);
    const time = await world.newestTime();
    expect(await source.deposits(hash)).toEqual({
      kind: "notFinal",
      reason: expect.stringContaining("needs 3 blocks more") as string,
      retryAfterSeconds: 3,
    });
    await world.mine(DEPTH - 1n);
    expect(await source.deposits(hash)).toMatchObject({ kind: "notFinal", retryAfterSeconds: 1 });
    await world.mine(1n);
    expect(await source.deposits(hash)).toEqual({
      kind: "final",
      value: {
        depository: world.depository,
        deposits: [
          { index: "0", depositor: userAddress, currency: NATIVE_CURRENCY, amount: 7n, depositId: orderId },
        ],
        timestamp: time,
      },
    });
  });

  test("a chain with the finalized tag: a block is final only when the node tags it", async () => {
    const tagged = open(world.chainAt(undefined, {}, { kind: "tag" }));
    const hash = await world.deposit(7n);
    expect(await tagged.deposits(hash)).toMatchObject({ kind: "notFinal" });
    await world.mine(70n);
    expect(await tagged.deposits(hash)).toMatchObject({ kind: "final" });
  });

  test("reports an unknown transaction as absent, and refutes other formats of a known transaction's id (case 14)", async () => {
    const hash = await world.deposit(7n);
    await world.mine(DEPTH);
    expect(await source.deposits(absentHash)).toEqual({ kind: "absent" });
    for (const format of [
      hash.toUpperCase().replace("0X", "0x"),
      hash.slice(2),
      `${hash} `,
      `0x0${hash.slice(2)}`,
    ])
      expect(await source.deposits(format)).toMatchObject({ kind: "refuted" });
  });

  test("a pending transaction is not final", async () => {
    await world.wallet.rpc("evm_setAutomine", [false]);
    try {
      const hash = (await world.wallet.rpc("eth_sendTransaction", [
        { from: user.address, to: alice, value: "0x1", gas: "0x5208" },
      ])) as Hex;
      expect(await source.deposits(hash)).toMatchObject({ kind: "notFinal" });
    } finally {
      await world.wallet.rpc("evm_setAutomine", [true]);
      await world.mine(1n);
    }
  });

  test("refutes a reverted deposit only once its block is final", async () => {
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [user.address, world.token, 5n, orderId],
    });
    const hash = (await world.wallet.rpc("eth_sendTransaction", [
      { from: user.address, to: world.depository, data, gas: "0x493e0" },
    ])) as Hex;
    // The node shows the receipt shortly after it mined the transaction.
    await expect.poll(() => world.wallet.rpc("eth_getTransactionReceipt", [hash])).not.toBeNull();
    expect(await source.deposits(hash)).toMatchObject({ kind: "notFinal" });
    await world.mine(DEPTH);
    expect(await source.deposits(hash)).toEqual({ kind: "refuted", reason: "transaction reverted" });
  });

  test("credits the received amount of a token with a transfer fee", async () => {
    await world.mint(world.feeToken, user.address, 1_000n);
    const approve = encodeFunctionData({
      abi: erc20Abi,
      functionName: "approve",
      args: [world.depository, 1_000n],
    });
    await world.wallet.send({ to: world.feeToken, data: approve });
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [user.address, world.feeToken, 1_000n, orderId],
    });
    const hash = await world.wallet.send({ to: world.depository, data });
    await world.mine(DEPTH);
    expect(await source.deposits(hash)).toMatchObject({
      value: { deposits: [{ currency: world.feeToken, amount: 990n, depositId: orderId }] },
    });
  });

  test("reads the id of a direct transfer from the bytes after its calldata", async () => {
    await world.mint(world.token, user.address, 9n);
    const { data } = tokenCall(world.token, world.depository, 9n);
    const hash = await world.wallet.send({ to: world.token, data: `${data}${orderId.slice(2)}` });
    await world.mine(DEPTH);
    expect(await source.deposits(hash)).toMatchObject({
      value: {
        deposits: [{ depositor: userAddress, currency: world.token, amount: 9n, depositId: orderId }],
      },
    });
  });

  test("does not count a deposit whose block was reorged out", async () => {
    const hash = await world.deposit(7n);
    await world.mine(1n);
    await world.reorg(2);
    await world.mine(DEPTH);
    expect((await source.deposits(hash)).kind).not.toBe("final");
  });
});

describe("payments", () => {
  const question = (
    receipts: readonly { recipient: string; currency: string }[],
    calls: readonly Hex[] = [],
  ) => ({
    orderId,
    solver: alice,
    deadline: 2 ** 33,
    extraData: world.extraData,
    receipts,
    calls,
  });

  test("fills of the solver are proven: a token, native to an account, native to a contract", async () => {
    await world.mint(world.token, solver.address, 100n);
    const token = paymentCall(
      { currency: world.token, recipient: alice, amount: 5n, orderId },
      false,
      world.router,
    );
    const direct = paymentCall(
      { currency: NATIVE_CURRENCY, recipient: alice, amount: 6n, orderId },
      false,
      world.router,
    );
    const routed = paymentCall(
      { currency: NATIVE_CURRENCY, recipient: alice, amount: 7n, orderId },
      true,
      world.router,
    );
    for (const [call, currency, amount] of [
      [token, world.token, 5n],
      [direct, NATIVE_CURRENCY, 6n],
      [routed, NATIVE_CURRENCY, 7n],
    ] as const) {
      const hash = await world.wallet.send({ ...call, from: solver });
      const paymentQuestion = question([{ recipient: alice, currency }]);
      expect(await source.payments(hash, paymentQuestion)).toMatchObject({ kind: "notFinal" });
      await world.mine(DEPTH);
      expect(await source.payments(hash, paymentQuestion)).toMatchObject({
        kind: "final",
        value: { amounts: [amount] },
      });
      const otherOrder = { ...paymentQuestion, orderId: absentHash };
      expect(await source.payments(hash, otherOrder)).toMatchObject({ kind: "refuted" });
      expect(await source.payments(hash, { ...paymentQuestion, deadline: 1 })).toMatchObject({
        kind: "refuted",
      });
    }
  });

  test("calls and a payment of one transaction are proven by the fill contract's events, in order", async () => {
    await world.mint(world.token, world.router, 8n);
    const first = { to: world.token, data: tokenCall(world.token, alice, 8n).data, value: 0n };
    const pay = nativeTransferCall(world.router, alice, 3n);
    const second = { to: alice, data: "0x" as Hex, value: 2n };
    const call = routerCall(world.router, {
      calls: [first, pay, second],
      refundTo: userAddress,
      refundTokens: [],
      value: 5n,
      orderId,
    });
    const hash = await world.wallet.send({ ...call, from: solver });
    await world.mine(DEPTH);
    const receipts = [
      { recipient: alice, currency: NATIVE_CURRENCY },
      { recipient: alice, currency: world.token },
    ];
    const calls = [encodeOrderCall(first), encodeOrderCall(second)];
    expect(await source.payments(hash, question(receipts, calls))).toMatchObject({
      value: { amounts: [3n, 8n] },
    });
    expect(await source.payments(hash, question(receipts, calls.toReversed()))).toMatchObject({
      kind: "refuted",
    });
  });

  test("a withdrawal with an appended order id is not a payment of that order, because anyone can submit it", async () => {
    await world.mint(world.token, world.depository, 50n);
    const { request } = world.payloadOf(tokenCall(world.token, alice, 50n));
    const { to, data } = await world.execution(request);
    const hash = await world.wallet.send({ to, data: `${data}${orderId.slice(2)}`, from: solver });
    await world.mine(DEPTH);
    expect(
      await source.payments(hash, question([{ recipient: alice, currency: world.token }])),
    ).toMatchObject({
      value: { amounts: [0n] },
    });
  });
});

describe("after the depository was replaced", () => {
  let newSource: EvidenceSource;
  const currentDepository: Address = `0x${"de".repeat(20)}`;

  beforeAll(async () => {
    const code = await world.wallet.rpc("eth_getCode", [world.depository, "latest"]);
    await world.wallet.rpc("anvil_setCode", [currentDepository, code]);
  });
  beforeEach(() => {
    const former = { depository: currentDepository, additionalDepositories: [world.depository] };
    newSource = open(world.chainAt(undefined, former));
  });

  test("attests a deposit to the former depository", async () => {
    const hash = await world.deposit(7n);
    await world.mine(DEPTH);
    expect(await newSource.deposits(hash)).toEqual(await source.deposits(hash));
    expect(await newSource.deposits(hash)).toMatchObject({ value: { deposits: [{ depositId: orderId }] } });
  });

  test("attests a withdrawal that the former depository paid as executed, and never as expired", async () => {
    await world.deposit(100n);
    const expiration = (await world.newestTime()) + 1_000n;
    const { payload, request } = world.payloadOf(nativeCall(alice, 10n), expiration);
    await world.mine(DEPTH);
    expect(await newSource.withdrawal(payload, undefined)).toMatchObject({
      value: { status: "pending", depository: currentDepository },
    });
    await world.wallet.send(await world.execution(request));
    await world.advanceTime(2_000);
    await world.mine(DEPTH);
    expect(await newSource.withdrawal(payload, undefined)).toMatchObject({
      value: { status: "executed", depository: world.depository },
    });
  });

  test("expires a withdrawal that neither depository paid", async () => {
    const expiration = (await world.newestTime()) + 1_000n;
    const { payload } = world.payloadOf(nativeCall(alice, 10n), expiration);
    await world.advanceTime(2_000);
    await world.mine(DEPTH);
    expect(await newSource.withdrawal(payload, undefined)).toMatchObject({
      value: { status: "expired", depository: currentDepository, formerDepositories: [world.depository] },
    });
    expect(await source.withdrawal(payload, undefined)).not.toHaveProperty("value.formerDepositories");
  });

  test("does not treat a withdrawal from the former depository to the current one as a transfer to itself", async () => {
    await world.deposit(100n);
    const { payload, request } = world.payloadOf(nativeCall(alice, 10n));
    const toCurrent = world.payloadOf(nativeCall(currentDepository, 10n));
    await world.wallet.send(await world.execution(request));
    await world.mine(DEPTH);
    expect(await newSource.withdrawal(payload, undefined)).toMatchObject({ value: { status: "executed" } });
    expect(await newSource.withdrawal(toCurrent.payload, undefined)).toMatchObject({
      value: { status: "pending" },
    });
  });
});

describe("withdrawals", () => {
  test("a withdrawal is pending until a final block shows its execution", async () => {
    await world.deposit(100n);
    const { payload, request } = world.payloadOf(nativeCall(alice, 10n));
    await world.mine(DEPTH);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({
      value: {
        status: "pending",
        recipient: alice,
        currency: NATIVE_CURRENCY,
        amount: 10n,
        depository: world.depository,
      },
    });
    await world.wallet.send(await world.execution(request));
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "pending" } });
    await world.mine(DEPTH);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "executed" } });
    // An executed withdrawal stays executed, however late it is asked about.
    expect((await source.withdrawal(payload, absentHash)).kind).toBe("final");
  });

  test("expires a withdrawal only once a final block is later than the expiration", async () => {
    await world.mine(DEPTH);
    const expiration = (await world.newestTime()) + 100n;
    const { payload } = world.payloadOf(nativeCall(alice, 10n), expiration);
    await world.advanceTime(99);
    expect(await world.newestTime()).toBeLessThanOrEqual(expiration);
    await world.advanceTime(50);
    // The newest block is past the expiration, but the final block is not.
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "pending" } });
    await world.mine(DEPTH - 1n);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "pending" } });
    await world.mine(1n);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "expired" } });
  });

  test("a withdrawal is not expired at the exact second of its expiration, because it can still be executed then", async () => {
    const expiration = (await world.newestTime()) + 500n;
    const { payload } = world.payloadOf(nativeCall(alice, 10n), expiration);
    for (const [time, status] of [
      [expiration, "pending"],
      [expiration + 1n, "expired"],
    ] as const) {
      await world.wallet.rpc("evm_setNextBlockTimestamp", [`0x${time.toString(16)}`]);
      await world.mine(1n);
      const exact = open(world.chainAt(undefined, {}, { kind: "depth", blocks: 0n, seconds: 0n }));
      expect(await exact.withdrawal(payload, undefined)).toMatchObject({ value: { status } });
    }
  });

  test("does not count an execution that was reorged out, and expires it", async () => {
    await world.deposit(100n);
    await world.mine(DEPTH + 2n);
    const expiration = (await world.newestTime()) + 1_000n;
    const { payload, request } = world.payloadOf(nativeCall(alice, 10n), expiration);
    await world.wallet.send(await world.execution(request));
    await world.mine(DEPTH - 1n);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "pending" } });
    await world.reorg(Number(DEPTH));
    await world.mine(DEPTH);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "pending" } });
    await world.advanceTime(2_000);
    await world.mine(DEPTH);
    expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "expired" } });
  });

  test("proves a token withdrawal by the requested transaction, or by one that the oracle finds", async () => {
    await world.mint(world.token, world.depository, 50n);
    const { payload, request } = world.payloadOf(tokenCall(world.token, alice, 50n));
    const hash = await world.wallet.send(await world.execution(request));
    await world.mine(DEPTH);
    for (const hint of [undefined, hash, absentHash])
      expect(await source.withdrawal(payload, hint)).toMatchObject({
        value: { status: "executed", currency: world.token, amount: 50n },
      });
  });

  test("neither executes nor expires a withdrawal whose token returned false", async () => {
    const liar = await world.wallet.deploy(returnsFalseAbi, returnsFalseBytecode);
    const expiration = (await world.newestTime()) + 100n;
    const { payload, request } = world.payloadOf(tokenCall(liar, alice, 50n), expiration);
    const hash = await world.wallet.send(await world.execution(request));
    await world.advanceTime(200);
    await world.mine(DEPTH);
    for (const hint of [undefined, hash])
      expect(await source.withdrawal(payload, hint)).toMatchObject({
        kind: "refuted",
        reason: "request was executed, but its token was not transferred",
      });
  });

  test("refuses to attest when the depository address has no code", async () => {
    const empty = open(world.chainAt(undefined, { depository: alice }));
    const { payload } = world.payloadOf(nativeCall(userAddress, 10n), 1n);
    await expect(empty.withdrawal(payload, undefined)).rejects.toMatchObject({
      code: "RPC_FAULT",
      kind: "garbage",
    });
  });

  test("a chain without depository attests neither deposits nor withdrawals", async () => {
    const withoutDepository = open(world.chainAt(undefined, { depository: undefined }));
    const { payload } = world.payloadOf(nativeCall(userAddress, 10n));
    expect(await withoutDepository.withdrawal(payload, undefined)).toMatchObject({ kind: "refuted" });
    expect(await withoutDepository.deposits(absentHash)).toMatchObject({ kind: "refuted" });
  });
});

test("does not use a node of another chain", async () => {
  const { evm } = world.chainAt();
  if (evm === undefined) throw new Error("the chain has no EVM configuration");
  const other = open(world.chainAt(undefined, { evm: { ...evm, chainId: 1 } }));
  await expect(other.deposits(absentHash)).rejects.toMatchObject({ kind: "wrongChain" });
});
