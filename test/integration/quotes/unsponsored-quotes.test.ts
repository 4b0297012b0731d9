import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { executionLeg } from "../../../apps/api/src/payments/legs/execution-leg.ts";
import { depositErc20Calldata } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { QuotedRequest } from "../../support/engine-world.ts";
import {
  approveCall,
  simpleAccount,
  smartEoa,
  startExecutionWorld,
  type RequestedExecution,
  type ExecutionWorld,
} from "../../support/execution-world.ts";

// Executions whose gas is paid by the output of their quote, if there is an output.

type SmartAccount = Awaited<ReturnType<typeof simpleAccount>>;

let world: ExecutionWorld;
let chain: Parameters<typeof smartEoa>[0];

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
  chain = await world.withSmartAccounts(world.origin);
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const INITIAL_BALANCE = 1_000_000_000n;
/**
 * The value of wei in base units of the token, not rounded, at the fake price of the native token and six
 * decimals.
 */
const usdOf = (wei: bigint): bigint => wei * 2_500n;

test("no call of a key without a wallet, or with an insufficient balance, is broadcast, even if another party pays for it", async () => {
  const { agreed, call } = await quotedExecution();
  const walletless = await world.anApp({ fundingAddress: undefined }, 0n);
  await expect(world.execute(call, walletless)).rejects.toThrow(/require an API key with a funding address/);
  for (const balance of [0n, 1n]) {
    const poor = await world.anApp({}, balance);
    await expect(world.execute(call, poor)).rejects.toThrow(/The app balance of 0x[0-9a-f]{40} has \$0\.00/);
    expect(await world.book(poor)).toMatchObject({ balance, pending: 0n });
  }
  expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
});

test("the maximum cost of a call is reserved, and counts in the key's budgets, until the output has paid for the call", async () => {
  const [first, second] = [await quotedExecution(), await quotedExecution()];
  const app = await world.anApp();
  await world.execute(first.call, app);
  const { pending } = await world.book(app);
  expect(pending).toBeGreaterThan(0n);
  const rules = { ...app.rules, dailyUsd: (pending + pending / 10n) * 10n ** 12n };
  await expect(world.execute(second.call, { ...app, rules })).rejects.toThrow(/Not sponsored \(dailyUsd\)/);
  await world.untilFinal(first.agreed.requestId);
  await world.round();
  expect(await world.book(app)).toMatchObject({ balance: INITIAL_BALANCE, pending: 0n });
  await world.execute(second.call, { ...app, rules });
});

test("an operation that fails only on chain costs the app its gas", async () => {
  const { origin, executor } = world;
  const burner = world.anAddress();
  await origin.client.setCode({ address: burner, bytecode: BURNER });
  const { agreed, call } = await quotedExecution({ originGasOverhead: 4_500_000 }, [
    { to: burner, value: 0n, data: "0x00" },
  ]);
  const before = await origin.balance(executor, native);
  await world.execute(call);
  await world.work();
  await origin.client.setStorageAt({ address: burner, index: 0, value: ONE });
  await rounds(5);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "failure" });
  const spent = before - (await origin.balance(executor, native));
  await expectCharged(agreed, spent);
});

test("a transaction that reverts only on chain costs the app its gas", async () => {
  const { origin, executor, user } = world;
  const { account, agreed, call } = await quotedExecution();
  const idle = await account.sign([]);
  const before = await origin.balance(executor, native);
  await world.execute(call);
  await world.work();
  // The user's transaction comes first in the block and uses the nonce of the account.
  await origin.client.sendTransaction({
    account: privateKeyToAccount(user.privateKey),
    to: idle.to,
    data: idle.data,
    gas: 2_000_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 400_000_000_000n,
  });
  await origin.mine();
  await rounds(5);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "TRANSACTION_REVERTED",
  });
  await expectCharged(agreed, before - (await origin.balance(executor, native)));
});

test("charges the app for gas when the deposit is refunded, because no output can pay it", async () => {
  const { origin, executor } = world;
  const { agreed, call } = await quotedExecution({ referrer: FORCE_REFUND_REFERRER });
  const before = await origin.balance(executor, native);
  await world.execute(call);
  await world.work();
  await rounds(5);
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "refund" }]);
  await expectCharged(agreed, before - (await origin.balance(executor, native)));
});

test("a deposit that is refunded only after its transaction is final charges the app too", async () => {
  const { origin, executor } = world;
  const { agreed, call } = await quotedExecution();
  const before = await origin.balance(executor, native);
  await world.execute(call);
  await pay(world.services, executionLeg, agreed.requestId);
  for (let block = 0; block < 4; block++) {
    await origin.mine();
    await world.watch(origin);
  }
  const spent = before - (await origin.balance(executor, native));
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: false, originUsd: usdOf(spent) });
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "accepted" }]);
  expect((await world.book()).fees).toBe(0n);
  world.clock.forward(agreed.terms.fillDeadlineMs - agreed.terms.createdAtMs + 1);
  await rounds(6);
  expect((await world.request(agreed.requestId)).state.name).toBe("refunded");
  await expectCharged(agreed, spent);
});

test("does not charge an execution that is not broadcast, or whose nonce was canceled", async () => {
  const { agreed, call } = await quotedExecution();
  await world.execute(call);
  await world.work();
  world.clock.forward(601_000);
  await world.maintainLaneOf(world.origin);
  await rounds(4);
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: true, costUsd: 0n });
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
});

test.each([
  ["before the execution is broadcast", false],
  ["in the block before the execution's", true],
])("does not charge a deposit by the user %s for the execution's gas", async (_, isSent) => {
  const { origin, destination, executor, usdc } = world;
  const { agreed, call } = await quotedExecution();
  const { recipient, destination: promised } = agreed.terms;
  const before = await origin.balance(executor, native);
  await world.execute(call);
  if (isSent) await world.work();
  await deposit(agreed);
  await rounds(6);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success" });
  // The output was reduced by the cost of its own transaction.
  expect(await destination.balance(recipient, usdc)).toBeGreaterThan(promised.expectedAmount);
  const spent = before - (await origin.balance(executor, native));
  if (isSent) await expectCharged(agreed, spent);
  else expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
});

/** The `referrer` in `POST /quote/v2` that forces a refund. */
const FORCE_REFUND_REFERRER = "debug-force-refund";
const native: Address = "0x0000000000000000000000000000000000000000";
const ONE: Hex = `0x${"1".padStart(64, "0")}`;
/** Code that counts to 100,000, and then reverts if its first storage slot is not zero. */
const BURNER: Hex = "0x620186a05b600190038060045750600054601557005b60006000fd";

/** Makes the deposit of a quote from the account of a third party, first in its block. */
async function deposit({ terms }: QuotedRequest): Promise<void> {
  const { origin, user, usdc } = world;
  const { depository } = origin.chain.contracts;
  await origin.client.sendTransaction({
    ...approveCall(usdc, depository, terms.origin.amount),
    account: privateKeyToAccount(user.privateKey),
    gas: 200_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 400_000_000_000n,
  });
  await origin.client.sendTransaction({
    to: depository,
    data: depositErc20Calldata(terms.user, usdc, terms.origin.amount, terms.orderId),
    account: privateKeyToAccount(user.privateKey),
    gas: 300_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 400_000_000_000n,
    nonce: await origin.client.getTransactionCount({ address: user.address, blockTag: "pending" }),
  });
  await origin.mine();
  await world.watch(origin);
}

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    world.clock.forward(5_000);
    await world.round();
  }
}

async function expectCharged({ requestId }: QuotedRequest, spentWei: bigint): Promise<void> {
  expect(spentWei).toBeGreaterThan(0n);
  expect(await world.execution(requestId)).toMatchObject({ settled: true, costUsd: usdOf(spentWei) });
  const { balance, pending, fees } = await world.book();
  expect({ pending, total: balance + fees }).toEqual({ pending: 0n, total: INITIAL_BALANCE });
  expect(fees * 10n ** 12n - usdOf(spentWei)).toBeLessThan(2n * 10n ** 12n);
  expect(fees * 10n ** 12n).toBeGreaterThanOrEqual(usdOf(spentWei));
}

/**
 * A quote whose output pays for its origin transaction, and that transaction, signed. The account makes the
 * calls `first` before the deposit.
 */
async function quotedExecution(
  ask: object = {},
  first: Parameters<SmartAccount["sign"]>[0] = [],
): Promise<{ account: SmartAccount; agreed: QuotedRequest; call: RequestedExecution }> {
  const { origin } = world;
  const account = await simpleAccount(chain, privateKeyToAccount(generatePrivateKey()), "0.8");
  await origin.fund(account.address, { native: 0n, tokens: 100n });
  await origin.mine();
  await origin.announce();
  const agreed = await world.quote({
    user: account.address,
    recipient: world.anAddress(),
    originGasOverhead: 600_000,
    ...ask,
  });
  const steps = transactionsOf(agreed.answer.steps).map((step) => ({
    to: step.to as Address,
    value: BigInt(step.value),
    data: step.data as Address,
  }));
  const limits = { callGasLimit: first.length > 0 ? 3_500_000n : 400_000n };
  const { to, data } = await account.sign([...first, ...steps], limits);
  return { account, agreed, call: { to, data, requestId: agreed.requestId, subsidizeFees: false } };
}
