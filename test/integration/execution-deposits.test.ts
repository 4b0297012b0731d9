import { depositErc20Calldata } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import { batchCode, type BatchedCall } from "../support/batch-code.ts";
import type { Deviation } from "../support/deposits.ts";
import type { Agreed } from "../support/engine-world.ts";
import {
  approveCall,
  startExecutionWorld,
  type AskedCall,
  type ExecutionWorld,
} from "../support/execution-world.ts";

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.brokenLaws()).toEqual([]);
  await world.stop();
});

const MUCH = 10_000_000_000n;

const agree = async (ask: Parameters<ExecutionWorld["quote"]>[0] = {}): Promise<Agreed> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

/** What stands for an account whose owner signed: whoever calls it, it makes this deposit out of its own tokens. */
async function payer(agreed: Agreed, deviation: Deviation = {}): Promise<Address> {
  const account = world.anAddress();
  await world.origin.fund(account, { native: 0n, tokens: 1_000n });
  await pays(account, agreed, deviation);
  await world.origin.mine();
  await world.watch(world.origin);
  return account;
}

async function pays(account: Address, agreed: Agreed, ...deviations: readonly Deviation[]): Promise<void> {
  const { depository } = world.origin.chain.contracts;
  const { origin, user, orderId } = agreed.terms;
  const deposits = deviations.map(
    ({
      amount = origin.amount,
      currency = origin.currency,
      depositor = user,
      id = orderId,
    }): BatchedCall => ({
      to: depository,
      data: depositErc20Calldata(depositor, currency, amount, id),
    }),
  );
  const bytecode = batchCode([approveCall(world.usdc, depository, MUCH), ...deposits]);
  await world.origin.client.setCode({ address: account, bytecode });
}

const call = (to: Address, { requestId }: Agreed): AskedCall => ({ to, requestId });

const refundedTo = async ({ terms }: Agreed): Promise<bigint> =>
  await world.origin.balance(terms.refundTo, terms.origin.currency);

test("an executed quote that is to be refunded ends as a refund, and is never told as a failure before", async () => {
  const agreed = await agree({ referrer: "debug-force-refund" });
  await world.execute(call(await payer(agreed), agreed));
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "MANUAL_ADMIN_REFUND" });
  expect(end.refundTxHashes).toHaveLength(1);
  expect(end.inTxHashes).toEqual((await world.origin.sentBy(world.executor)).map(({ hash }) => hash));
  expect(await world.statusesOf(agreed.requestId)).not.toContain("failure");
  expect(await refundedTo(agreed)).toBeGreaterThan(0n);
  expect(await world.paymentsOf(agreed, world.destination)).toEqual([]);
  await world.round();
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: true });
});

test.each<[string, Deviation, string]>([
  ["in another's name", { depositor: `0x${"ab".repeat(20)}` }, "DEPOSIT_ADDRESS_MISMATCH"],
  ["of a unit more", { amount: 100_000_001n }, "DEPOSITED_AMOUNT_MISMATCH"],
  ["of a unit less", { amount: 99_999_999n }, "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL"],
])(
  "a call that would make a deposit %s is refused by name, and nothing is sent",
  async (_what, deviation, reason) => {
    const agreed = await agree();
    const account = await payer(agreed, deviation);
    await expect(world.tryExecute(call(account, agreed))).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining(`${reason}: it deposits`) as string,
    });
    expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
    expect((await world.pool.query("select from executions")).rowCount).toBe(0);
    await pays(account, agreed, {});
    expect(await world.execute(call(account, agreed))).toBe(agreed.requestId);
  },
);

test("a call that would make the agreed deposit and another one beside it is refused", async () => {
  const agreed = await agree();
  const account = await payer(agreed);
  await pays(account, agreed, {}, { amount: 1n });
  await expect(world.tryExecute(call(account, agreed))).rejects.toThrow(/DEPOSITED_AMOUNT_TOO_LOW_TO_FILL/);
});

test("a deposit that turns out otherwise in its block than it was foreseen goes back, and the request says so", async () => {
  const { origin, clock } = world;
  const agreed = await agree();
  const account = await payer(agreed);
  await world.execute(call(account, agreed));
  await world.work();
  // It is a replacement that gets into the block.
  clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.care(origin);
  await pays(account, agreed, { amount: agreed.terms.origin.amount + 1n });
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "DEPOSITED_AMOUNT_MISMATCH" });
  expect(end.refundTxHashes).toHaveLength(1);
  const slot = await world.services.reads.slotOfLeg("execution", agreed.requestId);
  expect(end.inTxHashes).toEqual([slot?.attempts[1]?.txHash]);
  expect(await world.statusesOf(agreed.requestId)).not.toContain("failure");
});

test("the execution of one request does not speak for another one whose order it names", async () => {
  const [agreed, other] = [await agree(), await agree()];
  const account = await payer(agreed);
  await world.execute(call(account, agreed));
  await world.work();
  await pays(account, other, { amount: 1n });
  await world.round();
  expect(await world.depositsOf(other.requestId)).toMatchObject([{ disposition: "refund" }]);
  expect((await world.request(other.requestId)).state.name).toBe("quoted");
  expect(await world.status(other.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
});
