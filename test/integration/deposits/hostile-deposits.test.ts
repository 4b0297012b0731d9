import {
  createChainReader,
  createRpcTransport,
  RpcFault,
  TRANSFER_TOPIC,
  type RpcTransport,
} from "@causeway/chains";
import { testTokenAbi } from "@causeway/contracts";
import { depositErc20Calldata, NATIVE_CURRENCY, quotedState, UNATTESTABLE_DEPOSIT } from "@causeway/domain";
import type { Address, Chain, TxHash, Hex } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refundLeg } from "../../../apps/api/src/payments/legs/refund-leg.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import { judgeRefundRelease } from "../../../apps/api/src/payments/judge-refund-release.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import { laggingNode } from "../../fakes/lagging-node.ts";
import { batchCode, type BatchedCall } from "../../support/batch-code.ts";
import { deposit } from "../../support/deposits.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";
import { aSponsor } from "../../support/sponsors.ts";
import { someHash } from "../../support/terms.ts";
import type { TestChain } from "../../support/test-chain.ts";
import { runOperatorRefund } from "../../support/operator-refund.ts";
import { withChain } from "../../support/with-chain.ts";

let world: EngineWorld;
let testToken: Address;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  testToken = world.origin.chain.tokens.find(({ id }) => id !== "usdc")?.address ?? "0x";
});
afterAll(async () => await world.stop());

const agree = async (ask: QuoteOverrides = {}): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

const paidOut = async ({ terms }: QuotedRequest): Promise<{ received: bigint; refunded: bigint }> => ({
  received: await world.destination.balance(terms.recipient, world.usdc),
  refunded: await world.origin.balance(terms.refundTo, world.usdc),
});

async function rounds(count: number, stepMs = 6_000, workerServices = world.services): Promise<void> {
  for (let round = 0; round < count; round++) {
    world.clock.forward(stepMs);
    await world.round(workerServices);
  }
}

const rawOf = async (hash: TxHash): Promise<TxHash> =>
  (await world.origin.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  })) as TxHash;

const call = (
  to: Address,
  name: "approve" | "transfer" | "mint",
  of: Address,
  amount: bigint,
): BatchedCall => ({
  to,
  data: encodeFunctionData({ abi: testTokenAbi, functionName: name, args: [of, amount] }),
});

/** The calls of a contract that deposits its own tokens with the user as depositor. */
function depositing({ terms }: QuotedRequest, currency: Address, amount: bigint): BatchedCall[] {
  const { depository } = world.origin.chain.contracts;
  const data = depositErc20Calldata(world.user.address, currency, amount, terms.orderId);
  return [call(currency, "approve", depository, amount), { to: depository, data }];
}

/** A contract that owns a million units of every listed token and of an unlisted token. */
async function aContract(): Promise<{ contract: Address; worthless: Address }> {
  const { client } = world.origin;
  const [contract, worthless] = [world.anAddress(), world.anAddress()];
  await client.setCode({
    address: worthless,
    bytecode: (await client.getCode({ address: testToken })) ?? "0x",
  });
  await world.origin.fund(contract);
  await world.origin.send(world.stranger, call(worthless, "mint", contract, 10n ** 12n));
  await world.origin.mine();
  return { contract, worthless };
}

const agreedAmount = 20_000_000_000n;
for (const { what, first, second, filled } of [
  {
    what: "a millionth of a dollar, then much of a worthless token",
    first: { isUsdc: true, amount: 1n },
    second: { isUsdc: false, amount: 50_000_000_000n },
    filled: false,
  },
  {
    what: "the agreed amount, then as much of a worthless token",
    first: { isUsdc: true, amount: agreedAmount },
    second: { isUsdc: false, amount: agreedAmount },
    filled: false,
  },
  {
    what: "a worthless token, then the agreed amount",
    first: { isUsdc: false, amount: agreedAmount },
    second: { isUsdc: true, amount: agreedAmount },
    filled: true,
  },
])
  test(`one transaction that contains ${what} after a reorg is judged by the final state of the chain`, async () => {
    const { origin } = world;
    const { contract, worthless } = await aContract();
    const agreed = await agree({ amount: agreedAmount.toString() });
    const setDeposit = async ({ isUsdc, amount }: typeof first): Promise<void> => {
      const calls = depositing(agreed, isUsdc ? world.usdc : worthless, amount);
      await origin.client.setCode({ address: contract, bytecode: batchCode(calls) });
    };
    await setDeposit(first);
    const raw = await rawOf(await origin.send(world.user, { to: contract }));
    await origin.mine();
    await world.watch(origin);
    expect(await world.depositsOf(agreed.requestId)).toMatchObject([
      { amount: first.amount, canonical: true },
    ]);

    await origin.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
    await setDeposit(second);
    await origin.client.sendRawTransaction({ serializedTransaction: raw });
    await origin.mine();
    await world.watch(origin);
    expect(await world.depositsOf(agreed.requestId)).toMatchObject([
      { currency: first.isUsdc ? world.usdc : worthless, amount: first.amount, canonical: false },
      { currency: second.isUsdc ? world.usdc : worthless, amount: second.amount, canonical: true },
    ]);
    await rounds(8);
    expect(await paidOut(agreed)).toEqual({
      received: filled ? agreed.terms.destination.expectedAmount : 0n,
      refunded: 0n,
    });
    expect(await world.paymentsOf(agreed, origin)).toEqual([]);
    // Tokens that the solver does not hold stay in the depository until the operator moments.
    expect(await world.status(agreed.requestId)).toMatchObject(
      filled
        ? { status: "success" }
        : { status: "failure", refundFailReason: "MANUAL_REFUND_REQUIRED", fundsAt: "depository" },
    );
  });

test("listing a token later does not make an earlier deposit count twice", async () => {
  const { origin } = world;
  const { depository } = origin.chain.contracts;
  const { contract } = await aContract();
  const agreed = await agree();
  const calls = [
    call(testToken, "transfer", depository, 1n),
    ...depositing(agreed, world.usdc, 100_000_000n),
  ];
  await origin.client.setCode({ address: contract, bytecode: batchCode(calls) });
  const txHash = await origin.send(world.user, { to: contract });
  await origin.mine();

  const unlisted = {
    ...origin.chain,
    tokens: origin.chain.tokens.filter(({ address }) => address !== testToken),
  };
  const transport = createRpcTransport({ url: origin.chain.rpcUrl });
  const { depositsIn, depositsOf } = createChainReader(unlisted, transport, { knownHead: () => undefined });
  const reader = { ...origin.connected.connection.reader, depositsIn, depositsOf };
  await world.watch(
    origin,
    withChain(world.services, origin.connected, { chain: unlisted, connection: { reader } }),
  );
  await transport.close();
  await world.work();
  await world.untilFinal(agreed.requestId);

  expect(await indexTransaction(world.services, { chainId: origin.chain.id, txHash })).toEqual({
    message: expect.stringMatching(
      /^Transaction indexed, but one of its deposits does not match any known request/,
    ),
  });
  const { rows } = await world.pool.query("select currency from deposits where tx_hash = $1", [txHash]);
  expect(rows.map(({ currency }: { currency: Address }) => currency).toSorted()).toEqual(
    [world.usdc, testToken].toSorted(),
  );
  await rounds(6);
  expect(await paidOut(agreed)).toEqual({ received: agreed.terms.destination.expectedAmount, refunded: 0n });
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", refundTxHashes: [] });
});

test("a fill whose process crashes while its deposit is reorged out leaves the request waiting, and the deposit mined again is filled", async () => {
  const { origin, destination } = world;
  const agreed = await agree();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  const raws = await Promise.all((await origin.client.getBlock()).transactions.map(rawOf));
  await world.watch(origin);
  const broadcast = async () => ({ kind: "rejected", reason: "intrinsic gas too low" }) as const;
  await world.work(
    withChain(world.services, destination.connected, { connection: { writer: { broadcast } } }),
  );
  await origin.reorg(1);
  await world.watch(origin);
  await world.maintainLaneOf(destination);
  for (const blocks of [1, 2]) {
    await destination.mine(blocks);
    await world.watch(destination);
  }
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "waiting",
    fundsAt: "user",
    nextAction: "send_deposit",
    inTxHashes: [],
    txHashes: [],
  });

  for (const serializedTransaction of raws) await origin.client.sendRawTransaction({ serializedTransaction });
  await rounds(6);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", final: true });
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("a deposit that was mined before its deadline and is read after it causes no interim failure", async () => {
  const agreed = await agree({ ttl: 60 });
  await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
  world.clock.forward(61_000);
  await reconcileRequests(world.services);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", failReason: "N/A" });
  await rounds(6);
  expect((await world.status(agreed.requestId)).status).toBe("refund");
  expect(await world.statusesOf(agreed.requestId)).toEqual(["waiting", "pending", "refund"]);
});

test("a stranger's deposit for a filled request is refunded to the stranger, and its hash is not shown as the user's", async () => {
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed);
  await rounds(6);
  const depositor = world.anAddress();
  await deposit(world.origin, world.stranger, agreed, { depositor, amount: 1_000_000n });
  await rounds(6);
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
  expect(await world.origin.balance(depositor, world.usdc)).toBeGreaterThan(0n);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", refundTxHashes: [] });
});

test("a refund above the solver's balance of the token waits and is paid when the solver is funded", async () => {
  const { origin } = world;
  const agreed = await agree();
  const amount = (await origin.balance(world.solver.address, world.usdc)) + 1_000_000n;
  await origin.fund(world.user.address, { tokens: amount / 10n ** 6n });
  await deposit(origin, world.user, agreed, { amount });
  await rounds(6);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    nextAction: "wait_for_refund",
    refundFailReason: "N/A",
  });
  expect(await paidOut(agreed)).toEqual({ received: 0n, refunded: 0n });

  await origin.fund(world.solver.address, { tokens: 1_000_000n });
  await rounds(4);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund", final: true });
  const { refunded } = await paidOut(agreed);
  expect(refunded).toBeLessThan(amount);
  expect(refunded).toBeGreaterThan(amount - 10_000_000n);
});

test("refunds at least the order's minimum when gas costs a hundred times more", async () => {
  const { origin } = world;
  const gwei = 10n ** 9n;
  const mineAt = async (baseFeePerGas: bigint): Promise<void> => {
    await origin.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await origin.mine();
    await world.watch(origin);
  };
  await mineAt(gwei);
  const agreed = await agree({ referrer: "debug-force-refund" });
  await deposit(origin, world.user, agreed);
  await mineAt(100n * gwei);
  await world.work();
  await rounds(4);
  expect((await world.status(agreed.requestId)).status).toBe("refund");
  const { refunded } = await paidOut(agreed);
  const minimum = agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? agreed.terms.origin.amount;
  expect(minimum).toBeGreaterThan(0n);
  expect(refunded).toBeGreaterThanOrEqual(minimum);
  expect(refunded).toBeLessThan(agreed.terms.origin.amount);
});

/** A contract that accepts native tokens. */
async function aPayableContract(): Promise<Address> {
  const recipient = world.anAddress();
  await world.destination.client.setCode({ address: recipient, bytecode: "0x00" });
  return recipient;
}

test("charges the deposit for the gas of a fill that the recipient's code burns only in its block", async () => {
  const { origin, destination, usdc, solver } = world;
  const gwei = 10n ** 9n;
  const at = async (chain: TestChain, baseFeePerGas: bigint): Promise<void> => {
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await chain.mine();
    await world.watch(chain);
  };
  await at(destination, 30n * gwei);
  await at(origin, gwei / 100n);
  const recipient = await aPayableContract();
  const before = await destination.balance(solver.address, NATIVE_CURRENCY);
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY, amount: "50000000", recipient });
  await world.pay(agreed);
  await at(origin, gwei / 100n);
  await world.work();
  await destination.client.setCode({ address: recipient, bytecode: "0xfe" });
  const end = await world.untilFinal(agreed.requestId, 1_000);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED" });
  expect(await world.services.reads.unpaidBurnsSince(0), "the deposit has paid for it").toEqual([]);

  const gasWei = before - (await destination.balance(solver.address, NATIVE_CURRENCY));
  const { refunded } = await paidOut(agreed);
  // At $2,500 per ETH, in millionths of a dollar.
  const gasUsdc = (gasWei * 2_500n) / 10n ** 12n;
  expect(gasUsdc).toBeGreaterThan(1_000_000n);
  expect(50_000_000n - refunded).toBeGreaterThanOrEqual(gasUsdc);
  expect(refunded).toBeGreaterThanOrEqual(agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n);
  expect(await origin.balance(agreed.terms.refundTo, usdc)).toBe(refunded);
  expect(world.events.of("fill_burnt").map(({ facts }) => facts["requestId"])).toEqual([agreed.requestId]);
  const { rows } = await world.pool.query("select wei, unpaid_wei from fill_burns");
  expect(rows).toEqual([{ wei: gasWei, unpaid_wei: 0n }]);
});

test("a deposit too low for a refund pays for the gas that its fills used", async () => {
  const agreed = await agree({});
  await deposit(world.origin, world.user, agreed, { amount: 1_000_000n });
  await world.origin.mine(3);
  await world.watch(world.origin);
  const [stored] = await world.depositsOf(agreed.requestId);
  if (stored === undefined) throw new Error("the deposit was not read");
  await world.pool.query(
    "insert into fill_burns (slot_id, request_id, chain_id, wei, unpaid_wei, at_ms) values (-2, $1, $2, 100, 100, 1)",
    [agreed.requestId, world.destination.chain.id],
  );
  const end = { reason: "AMOUNT_TOO_LOW_TO_REFUND", revertedGas: 4_000_000n } as const;
  await refundLeg.giveUp(world.services, { deposit: stored }, end);
  const { rows } = await world.pool.query("delete from fill_burns where slot_id = -2 returning unpaid_wei");
  expect(rows).toEqual([{ unpaid_wei: 75n }]);
});

test("starts fills one at a time when together they could burn more gas than the daily limit", async () => {
  const { destination } = world;
  const gwei = 10n ** 9n;
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 500n * gwei });
  await destination.mine();
  await world.watch(destination);
  const maxUnpaidRevertedGasUsd = 60n * 10n ** 18n;
  const bounded = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, maxUnpaidRevertedGasUsd },
  };
  const ask = { destinationCurrency: NATIVE_CURRENCY, amount: "900000000" };
  const recipient = await aPayableContract();
  // An order whose minimum refund leaves nothing for gas.
  const uncovered = async (): Promise<QuotedRequest> => {
    const agreed = await agree({ ...ask, recipient });
    const { order } = agreed.terms;
    const inputs = order.inputs.map((input) => ({
      ...input,
      refunds: input.refunds.map((refund) => ({ ...refund, minimumAmount: input.payment.amount })),
    }));
    const terms = {
      ...agreed.terms,
      requestId: someHash(),
      orderId: someHash(),
      order: { ...order, inputs },
    };
    await world.services.uow.run((tx) => tx.requests.insert(terms, quotedState("bridge")));
    return { ...agreed, terms, requestId: terms.requestId };
  };
  const both = [await uncovered(), await uncovered()];
  for (const agreed of both) await deposit(world.origin, world.user, agreed);
  await world.origin.mine(4);
  await world.watch(world.origin);
  await world.work(bounded);
  const states = async () =>
    (
      await Promise.all(both.map(async ({ requestId }) => (await world.request(requestId)).state.name))
    ).toSorted();
  expect(await states()).toEqual(["fillable", "submitted"]);
  const waits = world.events.of("fill_waits").at(-1);
  expect(waits?.facts["why"]).toBe(
    "fills in progress could use up the rest of REVERTED_GAS_DAILY_USD if they revert",
  );

  await destination.mine();
  await world.watch(destination);
  await world.work(bounded);
  expect(await states()).toEqual(["filled", "submitted"]);
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei });
  await destination.mine(4);
  await world.watch(destination);
});

test("fills only requests without foreign code once reverted fills have cost the daily limit", async () => {
  const maxUnpaidRevertedGasUsd = 100n * 10n ** 18n;
  const bounded = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, maxUnpaidRevertedGasUsd },
  };
  // 0.05 ETH is worth 125 USD.
  await world.pool.query(
    "insert into fill_burns (slot_id, request_id, chain_id, wei, unpaid_wei, at_ms) values (-1, 'one', $1, $2, $2, $3)",
    [world.destination.chain.id, 5n * 10n ** 16n, world.clock.nowMs() - 1_000],
  );
  const toContract = await agree({
    destinationCurrency: NATIVE_CURRENCY,
    amount: "50000000",
    recipient: await aPayableContract(),
  });
  const toppedUp = await agree({ topupGas: true });
  const plain = await agree();
  for (const agreed of [toContract, toppedUp, plain]) await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  await world.work(bounded);
  expect((await world.request(plain.requestId)).state.name).toBe("submitted");
  for (const { requestId } of [toContract, toppedUp]) {
    expect((await world.request(requestId)).state.name).toBe("fillable");
    const waits = world.events.of("fill_waits").filter(({ facts }) => facts["requestId"] === requestId);
    expect(waits.at(-1)?.facts["why"]).toMatch(
      /^reverted fills cost the solver \$125.*, so REVERTED_GAS_DAILY_USD is used up$/,
    );
  }

  await world.pool.query("update fill_burns set at_ms = at_ms - 24 * 3600 * 1000 where slot_id = -1");
  await world.work(bounded);
  expect((await world.untilFinal(toContract.requestId, 1_000)).status).toBe("success");
});

/** The watcher's services with an origin URL behind which one of two nodes lags. */
function behindBalancer(
  options: Omit<Parameters<typeof laggingNode>[1], "blocks"> & { readonly blocks?: bigint },
): WorkerServices {
  const honest = createRpcTransport({ url: world.origin.chain.rpcUrl });
  transports.push(honest);
  const lagging = laggingNode(honest, { blocks: 2n, ...options });
  const reader = createChainReader(world.origin.chain, lagging, { knownHead: () => undefined });
  return withChain(world.services, world.origin.connected, { connection: { reader } });
}
const transports: RpcTransport[] = [];
afterAll(async () => await Promise.all(transports.map(async (transport) => await transport.close())));

for (const lag of ["logs", "logs without an error", "blocks", "receipts"] as const)
  test(`records every deposit in a final block even if a node behind the same URL lags: ${lag}`, async () => {
    const { origin } = world;
    const first = (await origin.client.getBlockNumber()) + 1n;
    const missedBefore = world.events.of("deposit_missed").length;
    let tries = 0;
    let failed = 0;
    const workerServices = behindBalancer({ lag, isLagging: () => tries === 0 });
    const watch = async (): Promise<void> => {
      for (tries = 0; tries < 3; tries++)
        try {
          await world.watch(origin, workerServices);
          return;
        } catch {
          failed++;
        }
      throw new Error("no watch succeeded");
    };
    for (const blocks of [1, 3, 12, 1, 2, 1]) {
      await deposit(origin, world.user, await agree());
      await origin.mine(blocks);
      await watch();
    }
    await origin.mine(20);
    await watch();
    const onChain = await origin.client.getLogs({
      address: origin.chain.contracts.depository,
      fromBlock: first,
      toBlock: "latest",
    });
    const { rows } = await world.pool.query<{ tx_hash: string }>(
      "select tx_hash from deposits where chain_id = $1 and block_number >= $2 and canonical order by block_number",
      [origin.chain.id, first],
    );
    expect(onChain).toHaveLength(6);
    expect(rows.map((row) => row.tx_hash)).toEqual(onChain.map((log) => log.transactionHash));
    const missed = world.events.of("deposit_missed").length - missedBefore;
    expect({ failed: failed > 0, missed: missed > 0 }).toEqual({
      // A refused request is retried immediately. Hidden logs are detected when the block is final.
      failed: lag !== "logs without an error",
      missed: lag === "logs without an error",
    });
  });

test("a deposit whose transaction was reported is searched on chain before its request fails for a missing deposit", async () => {
  const { origin } = world;
  const agreed = await agree({ ttl: 60 });
  const txHash = await deposit(origin, world.user, agreed);
  const report = { chainId: origin.chain.id, txHash, requestId: agreed.requestId };
  expect((await indexTransaction(world.services, report)).message).toMatch(/waiting to be mined/);
  await origin.mine();
  await world.watch(origin, behindBalancer({ lag: "logs without an error", isLagging: () => true }));
  expect(await world.depositsOf(agreed.requestId)).toEqual([]);

  await rounds(4, 300_000);
  expect(await world.statusesOf(agreed.requestId)).toEqual(["waiting", "pending", "refund"]);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund", failReason: "TTL_EXPIRED" });
});

/** Code of an unknown token that emits 257 transfers to `to` on each call. */
function noisyTokenCode(to: Address): `0x${string}` {
  // mstore(0, 1); for (i = 257; i > 0; i--) log3(0, 32, Transfer, caller, to)
  return `0x60016000526101015b73${to.slice(2)}33${`7f${TRANSFER_TOPIC.slice(2)}`}60206000a36001900380600857`;
}

/** Makes the agreed deposit in a transaction with 257 transfers of an unknown token to the depository. */
async function depositNextToTransfers(): Promise<{ agreed: QuotedRequest; txHash: TxHash }> {
  const { origin } = world;
  const { contract } = await aContract();
  const token = world.anAddress();
  const bytecode = noisyTokenCode(origin.chain.contracts.depository);
  await origin.client.setCode({ address: token, bytecode });
  const agreed = await agree();
  const calls = [
    ...depositing(agreed, world.usdc, agreed.terms.origin.amount),
    { to: token, data: "0x" as const },
  ];
  await origin.client.setCode({ address: contract, bytecode: batchCode(calls) });
  const txHash = await origin.send(world.user, { to: contract, gas: 1_500_000n });
  await origin.mine();
  return { agreed, txHash };
}

for (const lag of ["logs", "logs without an error", "blocks"] as const)
  test(`a node that lags while deposits are counted does not make an unattestable deposit attestable: ${lag}`, async () => {
    const { origin } = world;
    const { agreed } = await depositNextToTransfers();
    const node = createRpcTransport({ url: origin.chain.rpcUrl });
    transports.push(node);
    let isCounting = false;
    const lagging = laggingNode(node, { lag, blocks: 2n, isLagging: () => isCounting });
    const request: RpcTransport["request"] = async (method, params, options) => {
      const answer = await lagging.request(method, params, options);
      isCounting ||= method === "eth_getTransactionByHash";
      return answer;
    };
    const reader = createChainReader(origin.chain, { ...lagging, request }, { attestation: {} });
    const workerServices = withChain(world.services, origin.connected, { connection: { reader } });
    await expect(world.watch(origin, workerServices)).rejects.toThrow();
    expect(await world.depositsOf(agreed.requestId)).toEqual([]);
    const honest = createChainReader(origin.chain, node, { attestation: {} });
    await world.watch(
      origin,
      withChain(world.services, origin.connected, { connection: { reader: honest } }),
    );
    expect((await world.depositsOf(agreed.requestId))[0]).toMatchObject({ isUnattestable: true });
  });

for (const { hub, attestation, isFilled } of [
  { hub: "without depositPartsSince", attestation: {}, isFilled: false },
  {
    hub: "whose depositPartsSince is in the future",
    attestation: { depositPartsSince: 9e9 },
    isFilled: false,
  },
  { hub: "whose depositPartsSince has passed", attestation: { depositPartsSince: 1 }, isFilled: true },
  { hub: "that attests every deposit in parts", attestation: { depositPartsSince: 0 }, isFilled: true },
])
  test(`a deposit next to 257 transfers of an unknown token is ${isFilled ? "filled" : "not filled"} with a hub ${hub}`, async () => {
    const { origin } = world;
    const { agreed, txHash } = await depositNextToTransfers();
    // A client's report must not record what only the watcher can judge.
    const { message } = await indexTransaction(world.services, { chainId: origin.chain.id, txHash });
    expect(message).toBe("Transaction will be indexed when its block is scanned");

    const transport = createRpcTransport({ url: origin.chain.rpcUrl });
    transports.push(transport);
    const reader = createChainReader(origin.chain, transport, { attestation });
    await world.watch(origin, withChain(world.services, origin.connected, { connection: { reader } }));
    await rounds(6);
    const { received, refunded } = await paidOut(agreed);
    const [stored] = await world.depositsOf(agreed.requestId);
    expect({ received, isRefunded: refunded > 0n, why: stored?.unrepaidReason }).toEqual({
      received: isFilled ? agreed.terms.destination.expectedAmount : 0n,
      isRefunded: !isFilled,
      why: isFilled ? undefined : UNATTESTABLE_DEPOSIT,
    });
    expect(await world.status(agreed.requestId)).toMatchObject(
      isFilled ? { status: "success" } : { status: "refund", failReason: "DEPOSIT_UNATTESTABLE" },
    );
  });

test("a request is fast filled on a mined deposit only if oracles can attest the deposit", async () => {
  const { origin } = world;
  const sponsor = await aSponsor(world, 50_000);
  const { agreed, txHash } = await depositNextToTransfers();
  const transport = createRpcTransport({ url: origin.chain.rpcUrl });
  transports.push(transport);
  const byHub = (attestation: { depositPartsSince?: number }): WorkerServices =>
    withChain(world.services, origin.connected, {
      connection: { reader: createChainReader(origin.chain, transport, { attestation }) },
    });
  await expect(sponsor.fastFill(agreed, { txHash }, byHub({}))).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    facts: { data: { rule: "originUnattestable", txHash } },
  });
  expect(await sponsor.holdOf(agreed)).toBeUndefined();
  expect(await sponsor.fastFill(agreed, { txHash }, byHub({ depositPartsSince: 0 }))).toBe("queued");
});

/** The origin chain with a new depository, after these former ones. */
async function depositoryReplaced(
  formerDepositories: readonly Address[],
): Promise<{ present: Address; chain: Chain; services: WorkerServices }> {
  const { origin } = world;
  const present = world.anAddress();
  const bytecode = await origin.client.getCode({ address: origin.chain.contracts.depository });
  await origin.client.setCode({ address: present, bytecode: bytecode ?? "0x" });
  const contracts = { ...origin.chain.contracts, depository: present, formerDepositories };
  const chain = { ...origin.chain, contracts };
  const transport = createRpcTransport({ url: chain.rpcUrl });
  transports.push(transport);
  const reader = createChainReader(chain, transport, { attestation: {} });
  return {
    present,
    chain,
    services: withChain(world.services, origin.connected, { chain, connection: { reader } }),
  };
}

test("a deposit to a former depository that was not listed while its block became final is left to the operator", async () => {
  const { origin } = world;
  const agreed = await agree();
  const txHash = await world.pay(agreed);
  const unlisted = await depositoryReplaced([]);
  await origin.mine(20);
  await world.watch(origin, unlisted.services);
  const listed = await depositoryReplaced([origin.chain.contracts.depository]);
  await indexTransaction(listed.services, { chainId: origin.chain.id, txHash });
  await world.watch(origin, listed.services);
  expect(await world.depositsOf(agreed.requestId)).toEqual([]);
});

test.for(["a block", "a client's hint"])(
  "refunds a deposit to a former depository, shown by %s, when its transaction also pays the current one",
  async (way) => {
    const { origin } = world;
    const { contract, worthless } = await aContract();
    const former = origin.chain.contracts.depository;
    const { present, chain, services: replaced } = await depositoryReplaced([former]);
    const agreed = await agree();
    const other = depositErc20Calldata(world.user.address, worthless, 1n, someHash());
    const calls = [
      ...depositing(agreed, world.usdc, agreed.terms.origin.amount),
      call(worthless, "approve", present, 1n),
      { to: present, data: other },
    ];
    await origin.client.setCode({ address: contract, bytecode: batchCode(calls) });
    const txHash = await origin.send(world.user, { to: contract, gas: 1_500_000n });
    await origin.mine();
    if (way === "a client's hint") await indexTransaction(replaced, { chainId: chain.id, txHash });
    await world.watch(origin, replaced);
    expect(await world.depositsOf(agreed.requestId)).toMatchObject([
      { depository: former, isUnattestable: true },
    ]);
    await rounds(6, 6_000, replaced);
    const { received, refunded } = await paidOut(agreed);
    expect({ received, isRefunded: refunded > 0n }).toEqual({ received: 0n, isRefunded: true });
    expect((await world.depositsOf(agreed.requestId))[0]?.unrepaidReason).toBe(UNATTESTABLE_DEPOSIT);
  },
);

/**
 * The origin chain through a node that cannot return transaction receipts, because they are too large or time
 * out.
 */
function withoutReceipts(kind: "tooLarge" | "deadline" = "tooLarge"): WorkerServices {
  const { origin } = world;
  const node = createRpcTransport({ url: origin.chain.rpcUrl });
  transports.push(node);
  const request: RpcTransport["request"] = async (method, params, options) => {
    if (method === "eth_getTransactionReceipt")
      throw new RpcFault({ kind, method, reason: "no whole answer" });
    const answer = await node.request(method, params, options);
    return method === "eth_getTransactionByHash" ? { ...(answer as object), gas: "0x3938700" } : answer;
  };
  const reader = createChainReader(origin.chain, { ...node, request }, { knownHead: () => undefined });
  return withChain(world.services, origin.connected, { connection: { reader } });
}

/** A reorg moves all transactions of the newest block into another block, which `by` reads. */
async function movedByReorg(workerServices: WorkerServices): Promise<void> {
  const { client } = world.origin;
  const { transactions } = await client.getBlock();
  const raws = await Promise.all(
    transactions.map(
      async (hash) =>
        (await client.request({
          method: "eth_getRawTransactionByHash" as never,
          params: [hash] as never,
        })) as Hex,
    ),
  );
  await client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  for (const serializedTransaction of raws) await client.sendRawTransaction({ serializedTransaction });
  await world.origin.mine();
  await world.watch(world.origin, workerServices);
}

test("a deposit that oracles can no longer attest after a reorg moved it is not filled", async () => {
  const { origin } = world;
  const agreed = await agree();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "pending", failReason: "N/A" });
  await movedByReorg(withoutReceipts());
  expect((await world.depositsOf(agreed.requestId))[0]).toMatchObject({
    canonical: true,
    isUnattestable: true,
  });
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    nextAction: "wait_for_refund",
    failReason: "DEPOSIT_UNATTESTABLE",
  });
  await rounds(3);
  expect((await paidOut(agreed)).received).toBe(0n);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund" });
  expect((await world.depositsOf(agreed.requestId))[0]?.unrepaidReason).toBe(UNATTESTABLE_DEPOSIT);
});

test("a fill that was broadcast before a reorg made its deposit unattestable is reported as exposed", async () => {
  const { origin } = world;
  const agreed = await agree();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin);
  await world.work();
  await movedByReorg(withoutReceipts());
  const alarms = world.events.of("deposit_exposed").map(({ facts }) => facts);
  expect(alarms.at(-1)).toMatchObject({ requestId: agreed.requestId, reason: UNATTESTABLE_DEPOSIT });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
});

test("an app stays liable for its fast fill when a reorg makes the deposit unattestable, and no release pays the user twice", async () => {
  const { origin } = world;
  const sponsor = await aSponsor(world, 10_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await world.work();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin);
  const blind = withoutReceipts();
  await movedByReorg(blind);
  await rounds(4, 6_000, blind);
  expect(await sponsor.holdState(agreed)).toBe("active");
  const [stored] = await world.depositsOf(agreed.requestId);
  const request = await world.request(agreed.requestId);
  expect({ disposition: stored?.disposition, state: request.state.name }).toEqual({
    disposition: "unattributed",
    state: "filled",
  });
  if (stored === undefined) throw new Error("the deposit was not stored");

  const facts = {
    deposit: stored,
    chain: origin.chain,
    currency: world.services.chains.currency(origin.chain.id, stored.currency),
    headNumber: stored.confirmAtBlock,
    fillDeposit: undefined,
    isUnmapped: false,
  };
  expect(judgeRefundRelease({ ...facts, request })).toEqual({
    kind: "refused",
    reason: "the deposit's request is filled: a refund would pay twice",
  });
  const another = { ...stored, id: "999999" };
  expect(
    judgeRefundRelease({ ...facts, request, fillDeposit: another }),
    "another deposit pays",
  ).toMatchObject({
    kind: "release",
  });
  const confirmedLater = { ...another, confirmAtBlock: another.confirmAtBlock + 1n };
  expect(
    judgeRefundRelease({ ...facts, request, fillDeposit: confirmedLater }),
    "a reorg could still drop the deposit that pays",
  ).toMatchObject({ kind: "refused" });
  const waiting = { ...request, state: { ...request.state, name: "quoted" as const } };
  expect(judgeRefundRelease({ ...facts, request: waiting })).toMatchObject({
    kind: "release",
    why: UNATTESTABLE_DEPOSIT,
  });
});

test("a deposit that oracles cannot attest is refunded if its fast fill is not made", async () => {
  const { origin, destination } = world;
  const sponsor = await aSponsor(world, 10_000);
  const recipient = await aPayableContract();
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY, amount: "50000000", recipient });
  await sponsor.fastFill(agreed);
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin, withoutReceipts());
  expect((await world.depositsOf(agreed.requestId))[0]?.disposition).toBe("unattributed");
  await destination.client.setCode({ address: recipient, bytecode: "0xfe" });
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    fundsAt: "depository",
    nextAction: "wait_for_refund",
    failReason: "DEPOSIT_UNATTESTABLE",
  });
  expect(await world.untilFinal(agreed.requestId, 1_000)).toMatchObject({ status: "refund" });
  expect(await sponsor.holdState(agreed)).toBe("released");
});

test("a stranger's unattestable one-unit deposit does not affect a request whose fast fill fails", async () => {
  const { origin, destination } = world;
  const sponsor = await aSponsor(world, 10_000);
  const recipient = await aPayableContract();
  const code = await destination.client.getCode({ address: recipient });
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY, amount: "50000000", recipient });
  await sponsor.fastFill(agreed);
  await deposit(origin, world.stranger, agreed, { amount: 1n });
  await origin.mine();
  await world.watch(origin, withoutReceipts());
  await destination.client.setCode({ address: recipient, bytecode: "0xfe" });
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "waiting",
    nextAction: "send_deposit",
    inTxHashes: [],
  });
  await destination.client.setCode({ address: recipient, bytecode: code ?? "0x" });
  await deposit(origin, world.user, agreed);
  await origin.mine();
  expect(await world.untilFinal(agreed.requestId, 1_000)).toMatchObject({ status: "success" });
});

test("if a fast fill is not made, every deposit that waited for it is refunded", async () => {
  const { origin, destination } = world;
  const sponsor = await aSponsor(world, 10_000);
  const recipient = await aPayableContract();
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY, amount: "50000000", recipient });
  await sponsor.fastFill(agreed);
  await deposit(origin, world.user, agreed);
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin, withoutReceipts());
  await destination.client.setCode({ address: recipient, bytecode: "0xfe" });
  await world.work();
  expect(await world.untilFinal(agreed.requestId, 1_000)).toMatchObject({ status: "refund" });
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([
    { disposition: "refund", refundState: "final" },
    { disposition: "refund", refundState: "final" },
  ]);
});

test("a deposit whose receipt a slow node did not return is judged when its block is final", async () => {
  const { origin } = world;
  const sponsor = await aSponsor(world, 10_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await world.work();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin, withoutReceipts("deadline"));
  expect((await world.depositsOf(agreed.requestId))[0]?.disposition).toBe("unattributed");
  const missed = world.events.of("deposit_missed").length;
  await origin.mine(20);
  await world.watch(origin);
  expect((await world.depositsOf(agreed.requestId))[0]).toMatchObject({ disposition: "accepted" });
  expect(world.events.of("deposit_missed")).toHaveLength(missed);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  expect(await sponsor.holdState(agreed)).toBe("released");
});

test("a slow node at the second reading of a final block changes nothing about its deposits", async () => {
  const { origin } = world;
  const agreed = await agree();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin);
  await origin.mine(20);
  await world.watch(origin, withoutReceipts("deadline"));
  expect((await world.depositsOf(agreed.requestId))[0]).not.toHaveProperty("isUnattestable");
  await world.watch(origin);
});

test("a deposit that oracles can attest after a reorg moved it is refunded as one that settlement repays", async () => {
  const { origin } = world;
  const agreed = await agree();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin, withoutReceipts());
  expect((await world.depositsOf(agreed.requestId))[0]).toMatchObject({ isUnattestable: true });
  await movedByReorg(world.services);
  expect((await world.depositsOf(agreed.requestId))[0]).not.toHaveProperty("isUnattestable");
  await rounds(3);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund" });
  expect((await world.depositsOf(agreed.requestId))[0]).not.toHaveProperty("unrepaidReason");
});

test("a deposit that oracles cannot attest is not filled, and is refunded within the daily limit", async () => {
  const { origin } = world;
  const agreed = await agree();
  const hash = await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin, withoutReceipts());
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    fundsAt: "depository",
    nextAction: "wait_for_refund",
    failReason: "DEPOSIT_UNATTESTABLE",
    inTxHashes: [hash],
  });
  await rounds(3);
  expect((await paidOut(agreed)).received).toBe(0n);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund" });
  expect((await world.depositsOf(agreed.requestId))[0]?.unrepaidReason).toContain("its receipt is too large");
});

test("above the daily limit a deposit that oracles cannot attest waits for the operator, and its status says so", async () => {
  const { origin } = world;
  const agreed = await agree();
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin, withoutReceipts());
  const { enginePolicy } = world.services;
  const limited = { ...world.services, enginePolicy: { ...enginePolicy, maxUnrepaidRefundsUsd: 1n } };
  await world.work(limited);
  world.clock.forward(24 * 3600_000);
  await world.round(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    fundsAt: "depository",
    nextAction: "contact_operator",
    failReason: "DEPOSIT_UNATTESTABLE",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
  });
  expect(await paidOut(agreed)).toEqual({ received: 0n, refunded: 0n });

  const released = await runOperatorRefund(world, agreed.requestId, "--yes");
  expect(released).toMatchObject({
    code: 0,
    steps: [{ why: expect.stringContaining("its receipt is too large") }, { step: "released" }],
  });
  await world.work(limited);
  for (let round = 0; round < 3; round++) await world.round(limited);
  expect((await paidOut(agreed)).refunded).toBeGreaterThan(0n);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund", fundsAt: "refunded" });
});
