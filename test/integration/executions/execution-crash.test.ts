import type { Address, RequestId } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Crashed, crashingServices } from "../../fakes/crashing-services.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import {
  approveCall,
  simpleAccount,
  startExecutionWorld,
  transferFromCall,
  type RequestedExecution,
  type ExecutionWorld,
} from "../../support/execution-world.ts";

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

/** The parts of a quote that the crash helper reads. A call has no quote. */
const asAgreed = (requestId: RequestId, recipient: Address): QuotedRequest =>
  ({ requestId, terms: { recipient } }) as unknown as QuotedRequest;

/** The service earned everything that the app paid, and nothing is reserved any longer. */
async function expectSettled(moment: string): Promise<void> {
  const { balance, pending, fees } = await world.book();
  expect({ pending, total: balance + fees }, moment).toEqual({ pending: 0n, total: 1_000_000_000n });
  const { rows } = await world.pool.query<{ open: number }>(
    "select count(*) as open from executions where not settled",
  );
  expect(rows[0]?.open, moment).toBe(0);
}

test("whenever the process crashes between the acceptance of a call and its end, it runs exactly once and is charged exactly once", async () => {
  const { origin, usdc } = world;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const recipient = world.anAddress();
      return asAgreed(await world.execute(world.mintCall(recipient, 7n)), recipient);
    },
    run: async (by) => {
      await world.work(by);
      await origin.mine();
      await world.watch(origin, by);
      await origin.mine(2);
      await world.watch(origin, by);
    },
    verify: async ({ requestId, terms }, moment) => {
      expect(await origin.balance(terms.recipient, usdc), moment).toBe(7n);
      expect((await world.status(requestId)).status, moment).toBe("success");
      await expectSettled(moment);
    },
  });
  for (const moment of [
    "before commit",
    "after commit",
    "before reader.trace",
    "before lanes.reserve",
    "before sign",
    "before lanes.addAttempts",
    "before broadcast",
    "after broadcast",
    "before lanes.setMined",
    "before lanes.setFinal",
    "before ledger.post",
    "before executions.settle",
  ])
    expect(crashes).toContain(moment);
}, 120_000);

test("whenever the process crashes while it drops a call that would now revert, the app's reservation is released", async () => {
  const { origin, usdc, user, executor } = world;
  await crashAtEveryStep(world, {
    prepare: async () => {
      await origin.send(user, approveCall(usdc, executor, 10n));
      await origin.mine();
      const recipient = world.anAddress();
      const requestId = await world.execute(transferFromCall(usdc, user.address, recipient, 10n));
      await origin.send(user, approveCall(usdc, executor, 0n));
      await origin.mine();
      return asAgreed(requestId, recipient);
    },
    run: async (by) => await world.work(by),
    verify: async ({ requestId, terms }, moment) => {
      expect(await world.status(requestId), moment).toMatchObject({ failReason: "EXECUTION_REVERTED" });
      expect(await origin.balance(terms.recipient, usdc), moment).toBe(0n);
      expect((await world.book()).fees, moment).toBe(0n);
      await expectSettled(moment);
    },
  });
  expect(await origin.sentBy(executor)).toEqual([]);
}, 120_000);

test("whenever the process crashes while it accepts the execution of a quote, a retry accepts it once, and it is filled once", async () => {
  const { origin, destination, usdc } = world;
  const chain = await world.withSmartAccounts(origin);
  const crashes: string[] = [];
  for (let crashAt = 0; ; crashAt++) {
    const account = await simpleAccount(chain, privateKeyToAccount(generatePrivateKey()), "0.8");
    await origin.fund(account.address, { native: 0n, tokens: 100n });
    await origin.mine();
    await origin.announce();
    const agreed = await world.quote({ user: account.address, recipient: world.anAddress() });
    const steps = transactionsOf(agreed.answer.steps);
    const { to, data } = await account.sign(
      steps.map((step) => ({
        to: step.to as Address,
        value: BigInt(step.value),
        data: step.data as Address,
      })),
    );
    const execution: RequestedExecution = { to, data, requestId: agreed.requestId };
    const crashing = crashingServices(world.services, crashAt);
    await world.execute(execution, world.app, crashing).catch((error: unknown) => {
      if (!crashing.hasCrashed() || !(error instanceof Crashed)) throw error;
    });
    const moment = crashing.moments.at(-1) ?? "before anything";
    expect(await world.execute(execution), moment).toBe(agreed.requestId);
    await world.untilFinal(agreed.requestId);
    expect(await world.paymentsOf(agreed, destination), moment).toHaveLength(1);
    expect(await destination.balance(agreed.terms.recipient, usdc), moment).toBe(
      agreed.terms.destination.expectedAmount,
    );
    await world.round();
    await expectSettled(moment);
    if (!crashing.hasCrashed()) break;
    crashes.push(moment);
  }
  for (const moment of [
    "before executions.add",
    "before outbox.add",
    "before ledger.addReservation",
    "before commit",
    "after commit",
  ])
    expect(crashes).toContain(moment);
}, 120_000);
