import { depositErc20Calldata } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Tx } from "../../../apps/api/src/db/unit-of-work.port.ts";
import { batchCode, type BatchedCall } from "../../support/batch-code.ts";
import type { Deviation } from "../../support/deposits.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import {
  approveCall,
  startExecutionWorld,
  type RequestedExecution,
  type ExecutionWorld,
} from "../../support/execution-world.ts";
import { aSponsor, type Sponsor } from "../../support/sponsors.ts";

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const MUCH = 10_000_000_000n;

const agree = async (ask: Parameters<ExecutionWorld["quote"]>[0] = {}): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

/** An account that makes this deposit from its own tokens on any call, as if its owner had signed. */
async function payer(agreed: QuotedRequest, deviation: Deviation = {}): Promise<Address> {
  const account = world.anAddress();
  await world.origin.fund(account, { native: 0n, tokens: 1_000n });
  await pays(account, agreed, deviation);
  await world.origin.mine();
  await world.watch(world.origin);
  return account;
}

async function pays(
  account: Address,
  agreed: QuotedRequest,
  ...deviations: readonly Deviation[]
): Promise<void> {
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

const call = (to: Address, { requestId }: QuotedRequest): RequestedExecution => ({ to, requestId });

const refundedTo = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.origin.balance(terms.refundTo, terms.origin.currency);

test("ends an executed quote that must be refunded as a refund, without reporting a failure first", async () => {
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
  ["in another account's name", { depositor: `0x${"ab".repeat(20)}` }, "DEPOSIT_ADDRESS_MISMATCH"],
  ["of one unit more", { amount: 100_000_001n }, "DEPOSITED_AMOUNT_MISMATCH"],
  ["of one unit less", { amount: 99_999_999n }, "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL"],
])(
  "a call that would make a deposit %s is refused with its error code, and nothing is broadcast",
  async (_what, deviation, reason) => {
    const agreed = await agree();
    const account = await payer(agreed, deviation);
    await expect(world.tryExecute(call(account, agreed))).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining(`${reason}: expected `) as string,
    });
    expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
    expect((await world.pool.query("select from executions")).rowCount).toBe(0);
    await pays(account, agreed, {});
    expect(await world.execute(call(account, agreed))).toBe(agreed.requestId);
  },
);

test("a call that would make the agreed deposit and another one is refused", async () => {
  const agreed = await agree();
  const account = await payer(agreed);
  await pays(account, agreed, {}, { amount: 1n });
  await expect(world.tryExecute(call(account, agreed))).rejects.toThrow(/DEPOSITED_AMOUNT_TOO_LOW_TO_FILL/);
});

test("a deposit that turns out different in its block than in the simulation is refunded, and the request says so", async () => {
  const { origin, clock } = world;
  const agreed = await agree();
  const account = await payer(agreed);
  await world.execute(call(account, agreed));
  await world.work();
  // A replacement transaction is mined.
  clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(origin);
  await pays(account, agreed, { amount: agreed.terms.origin.amount + 1n });
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "DEPOSITED_AMOUNT_MISMATCH" });
  expect(end.refundTxHashes).toHaveLength(1);
  const slot = await world.services.reads.slotOfLeg("execution", agreed.requestId);
  expect(end.inTxHashes).toEqual([slot?.attempts[1]?.txHash]);
  expect(await world.statusesOf(agreed.requestId)).not.toContain("failure");
});

/** The fast fill is mined, and nothing else has moved. */
async function fill(): Promise<void> {
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
}

/**
 * The execution's deposit arrives and releases the hold. It is the only deposit, and the recipient was paid
 * once.
 */
async function settled(agreed: QuotedRequest, sponsor: Sponsor): Promise<void> {
  const end = await world.untilFinal(agreed.requestId);
  for (let rounds = 0; rounds < 4; rounds++) await world.round();
  const [sent, ...more] = await world.origin.sentBy(world.executor);
  expect(more).toEqual([]);
  expect(end).toMatchObject({ status: "success", fundsAt: "recipient" });
  expect((await world.status(agreed.requestId)).inTxHashes).toEqual([sent?.hash]);
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "accepted" }]);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  const { recipient, destination } = agreed.terms;
  expect(await world.destination.balance(recipient, world.usdc)).toBe(destination.expectedAmount);
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: true });
  expect((await world.book()).pending).toBe(0n);
}

test.each(["before the fill is broadcast", "after the recipient was paid"])(
  "executes a fast-filled quote %s: its deposit releases the hold, and nothing is filled twice",
  async (when) => {
    const agreed = await agree();
    const account = await payer(agreed);
    const sponsor = await aSponsor(world, 1_000);
    expect(await sponsor.fastFill(agreed)).toBe("queued");
    if (when.startsWith("after")) await fill();
    // The time limit of an execution starts with the execution, however long the fill took.
    world.clock.forward(world.services.enginePolicy.inventoryWaitMs + 1);
    const before = (await world.request(agreed.requestId)).state;
    expect(await world.execute(call(account, agreed))).toBe(agreed.requestId);
    expect((await world.request(agreed.requestId)).state).toEqual(before);
    expect(await world.execute(call(account, agreed)), "a repeated request").toBe(agreed.requestId);
    expect(await sponsor.holdState(agreed)).toBe("active");
    await settled(agreed, sponsor);
  },
);

test("a simultaneous fast fill and execution of one quote are both accepted, or the fast fill must be retried", async () => {
  for (let attempt = 0; attempt < 4; attempt++) {
    const agreed = await agree();
    const account = await payer(agreed);
    const sponsor = await aSponsor(world, 1_000);
    const [filled, executed] = await Promise.allSettled([
      sponsor.fastFill(agreed),
      world.execute(call(account, agreed)),
    ]);
    expect(executed).toEqual({ status: "fulfilled", value: agreed.requestId });
    if (filled.status === "rejected") expect(filled.reason).toMatchObject({ code: "REQUEST_IN_PROGRESS" });
    await world.untilFinal(agreed.requestId);
    await world.round();
    expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "accepted" }]);
    expect(await sponsor.holdState(agreed)).toBe(filled.status === "rejected" ? undefined : "released");
    expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
    expect(await world.origin.sentBy(world.executor)).toHaveLength(attempt + 1);
  }
});

test("an execution is accepted even if a fast fill overtakes it during the check", async () => {
  const agreed = await agree();
  const account = await payer(agreed);
  const sponsor = await aSponsor(world, 1_000);
  let isFirst = true;
  const overtaken = {
    ...world.services,
    uow: {
      run: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
        if (isFirst) {
          isFirst = false;
          await sponsor.fastFill(agreed);
        }
        return await world.services.uow.run(work);
      },
    },
  };
  expect(await world.execute(call(account, agreed), undefined, overtaken)).toBe(agreed.requestId);
  expect((await world.request(agreed.requestId)).state).toMatchObject({ front: "held" });
  await settled(agreed, sponsor);
});

test("refuses calls with the fill for a quote that was fast filled, and gives that reason", async () => {
  const agreed = await agree();
  const account = await payer(agreed);
  const extras = {
    calls: [{ ...world.mintCall(world.anAddress()), value: "0" }],
  };
  const execution = { ...call(account, agreed), callsWithFill: extras };
  await (await aSponsor(world, 1_000)).fastFill(agreed);
  await expect(world.tryExecute(execution)).rejects.toThrow(/destinationChainExecutionData can no longer be/);
  expect(await world.execute(call(account, agreed))).toBe(agreed.requestId);
});

test("a quote that is no longer open is refused with its current state", async () => {
  const { origin } = world;
  const paid = await agree();
  const unsent = call(await payer(paid), paid);
  await world.pay(paid);
  await origin.mine();
  await world.watch(origin);
  await expect(world.tryExecute(unsent)).rejects.toThrow(/already has a deposit$/);
  await world.untilFinal(paid.requestId);
  await expect(world.tryExecute(unsent)).rejects.toThrow(/already has a deposit and is filled/);
  const forced = await agree({ referrer: "debug-force-refund" });
  const late = call(await payer(forced), forced);
  await world.pay(forced);
  await world.untilFinal(forced.requestId);
  await expect(world.tryExecute(late)).rejects.toThrow(/already has a deposit, which was refunded/);
  const fronted = await agree();
  const tooLate = call(await payer(fronted), fronted);
  await (await aSponsor(world, 1_000)).fastFill(fronted);
  await fill();
  world.clock.forward(fronted.terms.fillDeadlineMs - world.clock.nowMs() + 1);
  await expect(world.tryExecute(tooLate)).rejects.toThrow(/was fast filled, and its deposit deadline/);
  expect((await world.pool.query("select from executions")).rowCount).toBe(0);
});

test("the execution of one request does not count for another request whose order it names", async () => {
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

test("refuses to execute a superseded quote and names its successor", async () => {
  const { services } = world;
  const agreed = await agree();
  const execution = call(await payer(agreed), agreed);
  const other = await agree();
  const message = expect.stringContaining(`superseded by request ${other.requestId}`) as string;
  const supersede = async () =>
    await services.uow.run((tx) => tx.depositAddresses.supersede(agreed.requestId, other.requestId, 1));
  const supersededMeanwhile = {
    ...services,
    uow: {
      run: async <T>(job: (tx: Tx) => Promise<T>): Promise<T> => {
        await supersede();
        return await services.uow.run(job);
      },
    },
  };
  await expect(world.tryExecute(execution, undefined, supersededMeanwhile)).rejects.toMatchObject({
    message,
  });
  await expect(world.tryExecute(execution)).rejects.toMatchObject({ code: "INVALID_REQUEST", message });
  expect((await world.pool.query("select from executions")).rowCount).toBe(0);
});
