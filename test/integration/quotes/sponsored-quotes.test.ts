import { transferCall } from "@causeway/chains";
import type { Address, RequestId } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { encodeFunctionData, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { trackLane } from "../../../apps/api/src/payments/track-lane.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import {
  approveCall,
  contractOf,
  simpleAccount,
  smartEoa,
  startExecutionWorld,
  type RequestedExecution,
  type ExecutionWorld,
} from "../../support/execution-world.ts";

import { aSponsor } from "../../support/sponsors.ts";

type SmartChain = Parameters<typeof smartEoa>[0];
type Account = Awaited<ReturnType<typeof simpleAccount>>;

let world: ExecutionWorld;
let chain: SmartChain;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
  chain = await world.withSmartAccounts(world.origin);
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const INITIAL_BALANCE = 1_000_000_000n;
const newOwner = () => privateKeyToAccount(generatePrivateKey());

const kinds: Readonly<Record<string, () => Promise<Account>>> = {
  "EIP-7702": async () => smartEoa(chain, newOwner()),
  "ERC-4337 (EntryPoint 0.7)": async () => await simpleAccount(chain, newOwner(), "0.7"),
  "ERC-4337 (EntryPoint 0.8)": async () => await simpleAccount(chain, newOwner(), "0.8"),
};

for (const [kind, create] of Object.entries(kinds))
  test(`a quote is executed by ${kind}: the deposit is made, the recipient is paid, the app is charged`, async () => {
    const account = await create();
    const agreed = await quoteFor(account);
    expect(await world.execute(await signQuote(account, agreed))).toBe(agreed.requestId);
    await world.work();
    await world.origin.mine();
    await world.watch(world.origin);
    const end = await world.untilFinal(agreed.requestId);
    expect(end).toMatchObject({ status: "success", fundsAt: "recipient" });
    expect(await world.statusesOf(agreed.requestId)).toEqual(
      expect.arrayContaining(["waiting", "pending", "success"]),
    );
    const { recipient, destination } = agreed.terms;
    expect(await world.destination.balance(recipient, world.usdc)).toBe(destination.expectedAmount);
    expect(await world.origin.balance(account.address, "0x0000000000000000000000000000000000000000")).toBe(
      0n,
    );
    const { balance, pending, fees } = await world.book();
    expect({ pending, total: balance + fees }).toEqual({ pending: 0n, total: INITIAL_BALANCE });
    expect(fees).toBeGreaterThan(0n);
    expect(await world.execution(agreed.requestId)).toMatchObject({
      settled: true,
      user: account.address.toLowerCase(),
    });
  });

test("a fast fill does not prevent the execution from making the deposit that covers it", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const agreed = await quoteFor(account);
  await world.execute(await signQuote(account, agreed));
  await world.work();
  const sponsor = await aSponsor(world, 1_000);
  expect(await sponsor.fastFill(agreed)).toBe("queued");
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "accepted" }]);
  expect(await sponsor.holdState(agreed), "the fill is not final").toBe("active");
  await world.untilFinal(agreed.requestId);
  expect(await sponsor.holdState(agreed)).toBe("released");
  await world.round();
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: true });
  expect((await world.book()).pending).toBe(0n);
});

test("does not send or charge an executed quote whose deposit was already made", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const agreed = await quoteFor(account);
  await world.execute(await signQuote(account, agreed));
  // Anyone can make the deposit in the user's name.
  const { contracts } = world.origin.chain;
  const { amount } = agreed.terms.origin;
  await world.origin.send(world.user, approveCall(world.usdc, contracts.depository, amount));
  await world.origin.send(world.user, {
    to: contracts.depository,
    data: encodeFunctionData({
      abi: parseAbi(["function depositErc20(address depositor, address token, uint256 amount, bytes32 id)"]),
      args: [agreed.terms.user, world.usdc, amount, agreed.terms.orderId],
    }),
  });
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.depositId).toBeDefined();
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  expect(await world.origin.sentBy(world.executor)).toEqual([]);
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
});

test("an executed quote shows depositing once its transaction is mined and before the deposit is seen", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const agreed = await quoteFor(account);
  await world.execute(await signQuote(account, agreed));
  await world.work();
  await world.origin.mine();
  const head = await world.origin.announce();
  await trackLane(world.services, world.origin.connected, [head]);
  const status = await world.status(agreed.requestId);
  expect(status).toMatchObject({
    status: "depositing",
    fundsAt: "user",
    nextAction: "wait_for_confirmations",
  });
  expect(status.inTxHashes).toHaveLength(1);
});

test("a repeated execution of a quote gets the same answer and is broadcast once, and a different one is refused", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const agreed = await quoteFor(account);
  const call = await signQuote(account, agreed);
  const answers = await Promise.all(Array.from({ length: 20 }, async () => await world.execute(call)));
  expect(new Set(answers)).toEqual(new Set([agreed.requestId]));
  expect((await world.pool.query("select from executions")).rowCount).toBe(1);
  expect((await world.pool.query("select from fee_reservations")).rowCount).toBe(1);
  await expect(world.execute({ ...call, value: 1n })).rejects.toThrow(/already executed/);
  const other = await world.anApp();
  await expect(world.execute(call, other)).rejects.toThrow(/already executed/);
  await world.work();
  await world.origin.mine();
  expect(await world.execute(call)).toBe(agreed.requestId);
  expect(await world.origin.sentBy(world.executor)).toHaveLength(1);
});

test("refuses to execute a quote that is closed, on another chain or unknown", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const agreed = await quoteFor(account);
  const call = await signQuote(account, agreed);
  const unknown = `0x${"ab".repeat(32)}` as RequestId;
  await expect(world.tryExecute({ ...call, requestId: unknown })).rejects.toThrow(
    `Request ${unknown} not found`,
  );
  await expect(world.tryExecute({ ...call, chainId: world.destination.chain.id })).rejects.toThrow(
    /origin chain of the quote/,
  );
  world.clock.forward(agreed.terms.fillDeadlineMs - agreed.terms.createdAtMs + 1);
  await expect(world.tryExecute(call)).rejects.toThrow(/expired; request a new quote/);
});

test("broadcasts only the quote's own deposit for a quote id", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const [agreed, other] = [await quoteFor(account), await quoteFor(account)];
  const elsewhere = { ...(await signQuote(account, other)), requestId: agreed.requestId };
  await expect(world.execute(elsewhere)).rejects.toThrow(/does not make the deposit of the quote/);
  const idle = { ...world.mintCall(world.anAddress()), requestId: agreed.requestId };
  await expect(world.execute(idle)).rejects.toThrow(/does not make the deposit of the quote/);
  expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
});

test("refuses user operations that pay fees, cannot be decoded or use entry point 0.6", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const agreed = await quoteFor(account);
  const expensive = await signQuote(account, agreed, { maxFeePerGas: 1n });
  await expect(world.tryExecute(expensive)).rejects.toThrow(/maxFeePerGas of user operation 0 must be 0/);
  const to = contractOf(chain, "entryPoint08");
  await expect(world.tryExecute({ to, data: "0x1fad948c" })).rejects.toThrow(/entry point 0\.6/);
  await expect(world.tryExecute({ to, data: "0x765e827f00" })).rejects.toThrow(/cannot be decoded/);
});

test("an operation that fails inside a successful handleOps ends the request, and nothing is filled", async () => {
  const { origin, usdc } = world;
  const account = await simpleAccount(chain, newOwner(), "0.8");
  // The first operation of the account creates it.
  const { to, data } = await account.sign([]);
  await world.untilFinal(await world.execute({ to, data }));
  const agreed = await quoteFor(account);
  await world.execute(await signQuote(account, agreed));
  await world.work();
  // The tokens leave before the block: the transfer inside the operation fails, and the entry point
  // continues.
  await origin.client.impersonateAccount({ address: account.address });
  await origin.client.setBalance({ address: account.address, value: 10n ** 18n });
  const transferAway = transferCall(usdc, world.anAddress(), 60_000_000n);
  await origin.client.sendTransaction({
    account: account.address,
    ...transferAway,
    gas: 200_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 400_000_000_000n,
  });
  await origin.mine();
  const sent = (await origin.sentBy(world.executor)).at(-1);
  expect(sent?.succeeded).toBe(true);
  await world.watch(origin);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "EXECUTION_REVERTED",
  });
  await world.round();
  await world.round();
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: true });
  expect((await world.book()).fees).toBeGreaterThan(0n);
  expect(await world.paymentsOf(agreed, world.destination)).toEqual([]);
});

test("without a sponsor the quoted output pays for the gas, and the app's reservation is released", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const plain = await quoteFor(account);
  const agreed = await quoteFor(account, { originGasOverhead: "600000" });
  const charged = plain.terms.destination.expectedAmount - agreed.terms.destination.expectedAmount;
  const { originGasUsd = 0n } = agreed.terms;
  expect(charged * 10n ** 12n - originGasUsd).toBeLessThan(2n * 10n ** 12n);
  expect(charged * 10n ** 12n).toBeGreaterThanOrEqual(originGasUsd - 10n ** 12n);
  const call = { ...(await signQuote(account, agreed)), subsidizeFees: false };
  expect(await world.execute(call)).toBe(agreed.requestId);
  expect((await world.book()).pending).toBeGreaterThan(0n);
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "success", fundsAt: "recipient" });
  const { recipient, destination } = agreed.terms;
  expect(await world.destination.balance(recipient, world.usdc)).toBe(destination.expectedAmount);
  await world.round();
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
  const { originUsd = 0n, settled, costUsd } = await world.execution(agreed.requestId);
  expect({ settled, costUsd }).toEqual({ settled: true, costUsd: 0n });
  expect(originUsd).toBeLessThanOrEqual(originGasUsd);
});

test.each([
  ["an app pays for the origin transaction", true],
  ["the user sends the origin transaction", false],
])("pays the quoted origin gas to the recipient when %s", async (_what, isSponsored) => {
  const account = isSponsored ? await simpleAccount(chain, newOwner(), "0.8") : undefined;
  const ask = { originGasOverhead: 300_000 };
  const agreed = account
    ? await quoteFor(account, ask)
    : await world.quote({ recipient: world.anAddress(), ...ask });
  if (account) await world.execute(await signQuote(account, agreed));
  else await world.pay(agreed);
  await world.untilFinal(agreed.requestId);
  const { recipient, destination, originGasUsd = 0n } = agreed.terms;
  expect(await world.destination.balance(recipient, world.usdc)).toBe(
    destination.expectedAmount + originGasUsd / 10n ** 12n,
  );
});

test("without a sponsor, refuses a call that costs more than the quote included, makes no deposit, or carries value", async () => {
  const account = await simpleAccount(chain, newOwner(), "0.8");
  const short = await quoteFor(account, { originGasOverhead: 0 });
  const expensive = { ...(await signQuote(account, short)), subsidizeFees: false };
  await expect(world.execute(expensive)).rejects.toThrow(
    /costs \$\d+\.\d{6}, but the quote pays only \$\d+\.\d{6}/,
  );
  const agreed = await quoteFor(account, { originGasOverhead: 600_000 });
  const { to, data } = await account.sign([]);
  const idle = { to, data, requestId: agreed.requestId, subsidizeFees: false };
  await expect(world.execute(idle)).rejects.toThrow(/does not make the deposit of the quote/);
  const other = await quoteFor(account);
  const mistaken = {
    ...(await signQuote(account, other)),
    requestId: agreed.requestId,
    subsidizeFees: false,
  };
  await expect(world.execute(mistaken)).rejects.toThrow(/does not make the deposit of the quote/);
  const carrying = { ...(await signQuote(account, agreed)), value: 1n, subsidizeFees: false };
  await expect(world.execute(carrying)).rejects.toThrow(/value must be 0/);
  expect((await world.pool.query("select from executions")).rowCount).toBe(0);
});

async function quoteFor(account: { readonly address: Address }, ask: object = {}): Promise<QuotedRequest> {
  await world.origin.fund(account.address, { native: 0n, tokens: 100n });
  await world.origin.mine();
  await world.origin.announce();
  return await world.quote({ user: account.address, recipient: world.anAddress(), ...ask });
}

async function signQuote(
  account: Account,
  agreed: QuotedRequest,
  change: object = {},
): Promise<RequestedExecution> {
  const calls = transactionsOf(agreed.answer.steps).map(({ to, value, data }) => ({
    to: to as Address,
    value: BigInt(value),
    data: data as Address,
  }));
  const { to, data, value, authorizationList } = await account.sign(calls, change);
  return {
    to,
    data,
    value: BigInt(value),
    authorizationList: authorizationList?.map((authorization) => ({
      ...authorization,
      yParity: authorization.yParity === 1 ? 1 : 0,
    })),
    requestId: agreed.requestId,
  };
}
