import { RpcFault, type ChainWriter } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";
import { withChain } from "../../support/with-chain.ts";

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
});
afterEach(async () => await world.stop());

async function aDeposit(ask: QuoteOverrides = {}): Promise<QuotedRequest> {
  const agreed = await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  return agreed;
}

const slotOf = async ({ requestId }: QuotedRequest) =>
  await world.services.reads.slotOfLeg("fill", requestId);
const statusOf = async ({ requestId }: QuotedRequest) => (await world.status(requestId)).status;

/** The services with a destination node that hands broadcasts to `broadcast`. */
const sendingBy = (broadcast: ChainWriter["broadcast"]): WorkerServices =>
  withChain(world.services, world.destination.connected, { connection: { writer: { broadcast } } });

async function mineDestination(): Promise<void> {
  await world.destination.mine();
  await world.watch(world.destination);
}

test("a native fill that would leave no native tokens for gas waits without a nonce while later fills are paid, and is finally refunded", async () => {
  const { destination, clock, services } = world;
  const greedy = await aDeposit({ destinationCurrency: NATIVE_CURRENCY });
  const { expectedAmount } = greedy.terms.destination;
  // The balance covers the payment, or the gas of other payments, but not the payment and its own gas.
  await destination.client.setBalance({ address: world.solver.address, value: expectedAmount + 10n ** 9n });
  await mineDestination();
  await world.work();
  expect(await slotOf(greedy)).toBeUndefined();
  expect(world.events.of("fill_waits").at(-1)?.facts).toMatchObject({ requestId: greedy.requestId });
  expect(await statusOf(greedy)).toBe("pending");

  const behind = await aDeposit();
  await world.work();
  await mineDestination();
  expect(await statusOf(behind)).toBe("success");
  expect(world.events.of("attempt_refused")).toEqual([]);

  clock.forward(services.enginePolicy.inventoryWaitMs + 1);
  expect(await world.untilFinal(greedy.requestId, 1_000)).toMatchObject({
    status: "refund",
    failReason: "SOLVER_BALANCE_TOO_LOW",
  });
});

test("a payment that every node refuses is canceled at its nonce, whatever the error, later payments are mined, and its deposit is refunded", async () => {
  const { destination, clock, services } = world;
  const { writer } = destination.connected.connection;
  let refused: Hex | undefined;
  const workerServices = sendingBy(async (raw) => {
    refused ??= raw;
    if (raw !== refused) return await writer.broadcast(raw);
    const reason =
      "the node returned error -32000: in-flight transaction limit reached for delegated accounts";
    throw new RpcFault({ kind: "refused", method: "eth_sendRawTransaction", reason });
  });
  const odd = await aDeposit();
  await expect(world.work(workerServices)).rejects.toThrow("in-flight");
  const behind = await aDeposit();
  await world.work(workerServices);
  await mineDestination();
  expect(await statusOf(behind)).toBe("submitted");

  clock.forward(services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(destination, workerServices);
  expect((await slotOf(odd))?.attempts.map(({ kind }) => kind)).toEqual(["pay", "noop"]);
  await mineDestination();
  expect(await statusOf(behind)).toBe("success");
  expect(await world.untilFinal(odd.requestId)).toMatchObject({
    status: "refund",
    failReason: "TRANSACTION_SUBMISSION_FAILED",
  });
  expect(await world.paymentsOf(odd, destination)).toEqual([]);
});

test("a stuck payment is replaced in time although its bytes are broadcast again every few seconds", async () => {
  const { destination, clock, services } = world;
  const { stuckAfterMs, rebroadcastIntervalMs } = services.enginePolicy;
  const agreed = await aDeposit();
  let broadcasts = 0;
  const workerServices = sendingBy(async (raw) => {
    broadcasts++;
    return await destination.connected.connection.writer.broadcast(raw);
  });
  await world.work(workerServices);
  const first = (await slotOf(agreed))?.attempts[0]?.maxFeePerGas ?? 0n;
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: first * 3n });
  await mineDestination();
  for (let passedMs = 0; passedMs <= stuckAfterMs; passedMs += 2_000) {
    clock.forward(2_000);
    await world.maintainLaneOf(destination, workerServices);
  }
  expect(broadcasts, "the first bytes were broadcast again meanwhile").toBeGreaterThan(
    Math.floor(stuckAfterMs / (rebroadcastIntervalMs + 2_000)),
  );
  expect((await slotOf(agreed))?.attempts).toHaveLength(2);
  await mineDestination();
  expect(await statusOf(agreed)).toBe("success");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
});

test("at the fee cap, broadcasts a cancel transaction at an abandoned payment's nonce, and not the payment again", async () => {
  const { destination, clock, services } = world;
  const agreed = await aDeposit({ ttl: 120 });
  await world.work();
  const [payment] = (await slotOf(agreed))?.attempts ?? [];
  const { fees } = destination.chain;
  const sent: Hex[] = [];
  const workerServices = withChain(services, destination.connected, {
    chain: { fees: { ...fees, maxFeePerGasWei: payment?.maxFeePerGas ?? 0n } },
    connection: {
      writer: {
        broadcast: async (raw) => {
          sent.push(raw);
          return await destination.connected.connection.writer.broadcast(raw);
        },
      },
    },
  });
  clock.forward(120_000 + services.enginePolicy.cancelAfterDeadlineMs + 1_000);
  await world.maintainLaneOf(destination, workerServices);
  const { attempts } = (await slotOf(agreed)) ?? {};
  expect(attempts?.map(({ kind }) => kind)).toEqual(["pay", "noop"]);
  expect(sent).toEqual([attempts?.[1]?.raw]);
  await mineDestination();
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "TRANSACTION_NOT_INCLUDED",
  });
  expect(await destination.balance(agreed.terms.recipient, world.usdc)).toBe(0n);
});

test("a cancel transaction that the node rejects is broadcast again at the usual interval, and bumped once it is stuck", async () => {
  const { destination, clock, services } = world;
  const { rebroadcastIntervalMs, stuckAfterMs } = services.enginePolicy;
  let broadcasts = 0;
  const workerServices = sendingBy(async () => {
    broadcasts++;
    return { kind: "rejected", reason: "in-flight transaction limit reached" };
  });
  const agreed = await aDeposit();
  await world.work(workerServices);
  await world.maintainLaneOf(destination, workerServices);
  expect((await slotOf(agreed))?.attempts.map(({ kind }) => kind)).toEqual(["pay", "noop"]);
  for (let passedMs = 1_000; passedMs < stuckAfterMs; passedMs += 1_000) {
    clock.forward(1_000);
    await world.maintainLaneOf(destination, workerServices);
  }
  // The payment, its cancel transaction and the repetitions were broadcast.
  expect(broadcasts).toBeGreaterThan(2);
  expect(broadcasts).toBeLessThanOrEqual(2 + stuckAfterMs / rebroadcastIntervalMs);
  clock.forward(1_000);
  await world.maintainLaneOf(destination, workerServices);
  expect((await slotOf(agreed))?.attempts.map(({ kind }) => kind)).toEqual(["pay", "noop", "noop"]);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "refund" });
});

test("a payment that is stuck at the fee cap is broadcast again at the usual interval", async () => {
  const { destination, clock, services } = world;
  const { rebroadcastIntervalMs, stuckAfterMs } = services.enginePolicy;
  const agreed = await aDeposit();
  await world.work();
  let broadcasts = 0;
  const workerServices = withChain(services, destination.connected, {
    chain: { fees: { ...destination.chain.fees, maxFeePerGasWei: 1n } },
    connection: {
      writer: {
        broadcast: async (raw) => {
          broadcasts++;
          return await destination.connected.connection.writer.broadcast(raw);
        },
      },
    },
  });
  clock.forward(stuckAfterMs + 1);
  for (let passedMs = 0; passedMs <= 2 * rebroadcastIntervalMs; passedMs += 1_000) {
    await world.maintainLaneOf(destination, workerServices);
    clock.forward(1_000);
  }
  expect((await slotOf(agreed))?.attempts).toHaveLength(1);
  expect(broadcasts).toBeGreaterThan(1);
  expect(broadcasts).toBeLessThanOrEqual(3);
});
