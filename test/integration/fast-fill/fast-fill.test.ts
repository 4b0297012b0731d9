import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { NATIVE_CURRENCY, quotedState } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { expireFastFills } from "../../../apps/api/src/executions/expire-fast-fills.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import { transition } from "../../../apps/api/src/requests/transition.ts";
import { unreliable } from "../../fakes/adjustable-prices.ts";
import { deposit } from "../../support/deposits.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { aSponsor, type Sponsor } from "../../support/sponsors.ts";
import { someHash } from "../../support/terms.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
});
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

const agree = async (ask: Parameters<EngineWorld["quote"]>[0] = {}, by?: Sponsor): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask }, by?.key.id);

const received = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

/** Mines the fill. Nothing else advances. */
async function fill(): Promise<void> {
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
}

async function mineOrigin(blocks = 1): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    await world.origin.mine();
    await world.watch(world.origin);
  }
}

test("the recipient is paid before the deposit is mined; the hold lasts until deposit and fill are final", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed);
  const before = await sponsor.availableUsd();

  expect(await sponsor.fastFill(agreed)).toBe("queued");
  const hold = await sponsor.holdOf(agreed);
  expect(hold).toMatchObject({
    state: "active",
    wallet: sponsor.wallet,
    keyId: sponsor.key.id,
    chainId: world.destination.chain.id,
    currency: agreed.terms.destination.currency,
    amount: agreed.terms.destination.expectedAmount,
  });
  // The hold is one dollar per USDC plus the fill's maximum gas cost.
  expect(hold?.usd).toBeGreaterThan(agreed.terms.destination.expectedAmount * 10n ** 12n);
  expect(await sponsor.availableUsd()).toBe(before - (hold?.usd ?? 0n));

  await fill();
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", inTxHashes: [] });
  expect(await world.depositsOf(agreed.requestId)).toEqual([]);
  expect(await sponsor.holdState(agreed)).toBe("active");

  await mineOrigin();
  expect((await stateOf(agreed)).front).toBe("covered");
  expect(await sponsor.holdState(agreed), "the fill is not final").toBe("active");
  await finalizeFill();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await sponsor.availableUsd()).toBe(before);
  const [found] = await world.depositsOf(agreed.requestId);
  expect(found).toMatchObject({ disposition: "accepted" });
  expect((await world.status(agreed.requestId)).inTxHashes).toEqual([found?.txHash]);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});

const rawOf = async (hash: TxHash): Promise<TxHash> =>
  (await world.origin.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  })) as TxHash;

/**
 * Mines the approval and the deposit in one block, which the watcher reads. Returns the transactions, so that
 * they can be mined again in another block.
 */
async function mineDeposit(agreed: QuotedRequest): Promise<readonly TxHash[]> {
  await deposit(world.origin, world.user, agreed);
  await mineOrigin();
  const { transactions } = await world.origin.client.getBlock();
  return await Promise.all(transactions.map(rawOf));
}

async function mineAgain(raws: readonly TxHash[]): Promise<void> {
  for (const serializedTransaction of raws)
    await world.origin.client.sendRawTransaction({ serializedTransaction });
  await mineOrigin();
}

/** Makes the fill final. */
async function finalizeFill(): Promise<void> {
  await world.destination.mine(3);
  await world.watch(world.destination);
}

/** Moves the origin chain's time to the service's clock, because other tests move only that clock. */
async function syncOriginClock(): Promise<void> {
  const { timestamp: newest } = await world.origin.client.getBlock();
  const now = BigInt(Math.ceil(world.clock.nowMs() / 1_000));
  await world.origin.client.setNextBlockTimestamp({ timestamp: now > newest ? now : newest + 1n });
}

/** Moves the service's clock and the origin chain forward. The watcher reads the newest block. */
async function later(seconds: number): Promise<void> {
  world.clock.forward(seconds * 1_000);
  await syncOriginClock();
  await mineOrigin();
  await reconcileRequests(world.services);
}

/**
 * The seconds until the app pays for a missing deposit: the lifetime of the request plus the time after its
 * deadline.
 */
const overdueAfter = (ttl: number): number =>
  ttl + world.services.quotePolicy.fillGraceSeconds + world.services.enginePolicy.fastFillGraceMs / 1_000 + 2;

/** A contract that accepts every call. */
async function aContract(): Promise<`0x${string}`> {
  const address = world.anAddress();
  await world.destination.client.setCode({ address, bytecode: "0x00" });
  return address;
}

const movementsOf = async ({
  requestId,
}: QuotedRequest): Promise<readonly { context: string; wallet: string }[]> =>
  (
    await world.pool.query<{ context: string; wallet: string }>(
      "select context, wallet from ledger_movements where request_id = $1 order by id",
      [requestId],
    )
  ).rows;

/** The gas cost of the fill in base units of USDC, rounded up. */
async function gasUsdcOf(agreed: QuotedRequest): Promise<bigint> {
  const slot = await world.services.reads.slotOfLeg("fill", agreed.requestId);
  const wei = (slot?.gasUsed ?? 0n) * (slot?.effectiveGasPrice ?? 0n);
  return (wei * 2_500n + 10n ** 12n - 1n) / 10n ** 12n;
}

/** The gas cost of a reverted fast fill in base units of USDC, rounded up. */
async function revertedGasUsdc({ requestId }: QuotedRequest): Promise<bigint> {
  const { revertedGas } = (await world.services.reads.fastFill(requestId)) ?? {};
  expect(revertedGas?.usd).toBeGreaterThan(0n);
  return ((revertedGas?.usd ?? 0n) + 10n ** 12n - 1n) / 10n ** 12n;
}

const stateOf = async ({ requestId }: QuotedRequest) => (await world.request(requestId)).state;

test("a hold includes twice the rollup's maximum data fee, and is refused if the balance does not cover it", async () => {
  const plain = await aSponsor(world, 1_000);
  const sponsor = await aSponsor(world, 1_000);
  const [cheap, agreed] = [await agree(), await agree()];
  await plain.fastFill(cheap);
  // 0.001 ETH at $2,500.
  const onRollup = withDataFee(10n ** 15n);
  await sponsor.fastFill(agreed, {}, onRollup);
  const usd = async (of: Sponsor, request: QuotedRequest): Promise<bigint> =>
    (await of.holdOf(request))?.usd ?? 0n;
  expect((await usd(sponsor, agreed)) - (await usd(plain, cheap))).toBe(5n * 10n ** 18n);

  const poor = await aSponsor(world, 104);
  const another = await agree();
  await expect(poor.fastFill(another, {}, onRollup)).rejects.toMatchObject({
    code: "INSUFFICIENT_APP_BALANCE",
  });
  expect(await poor.fastFill(another)).toBe("queued");
});

/** Services for which the destination chain charges this data fee for any transaction. */
function withDataFee(wei: bigint): typeof world.services {
  const { services, destination } = world;
  const { connected } = destination;
  const { connection } = connected;
  const costly = {
    ...connected,
    connection: { ...connection, reader: { ...connection.reader, dataFee: async () => wei } },
  };
  const get = (id: number) => (id === connected.chain.id ? costly : services.chains.get(id));
  return { ...services, chains: { ...services.chains, get } };
}

test("the app pays the exact cost of a missing deposit once it is overdue, and no earlier", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ ttl: 600 });
  await sponsor.fastFill(agreed);
  const hold = await sponsor.holdOf(agreed);
  await fill();
  await finalizeFill();
  await later(overdueAfter(600) - 10);
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect(await movementsOf(agreed)).toEqual([]);

  await later(10);
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  expect((await stateOf(agreed)).front).toBe("debited");
  expect(await movementsOf(agreed)).toEqual([
    { context: "fast-fill-reduce-balance", wallet: sponsor.wallet },
  ]);
  const { heldUsd, lines } = await sponsor.book();
  expect(heldUsd).toBe(0n);
  // The app paid the amount and its gas at one dollar per USDC, which is less than the hold.
  const paid = 1_000_000_000n - (lines[0]?.balance ?? 0n);
  expect(paid).toBe((hold?.amount ?? 0n) + (await gasUsdcOf(agreed)));
  expect(paid).toBeLessThan((hold?.usd ?? 0n) / 10n ** 12n);
  await reconcileRequests(world.services);
  expect(await movementsOf(agreed), "once").toHaveLength(1);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", final: true });
});

test("charges nothing for a missing deposit until the origin chain was read beyond the deadline", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ ttl: 600 });
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  world.clock.forward(overdueAfter(600) * 1_000);
  await reconcileRequests(world.services);
  expect(await sponsor.holdState(agreed)).toBe("active");
  await syncOriginClock();
  await deposit(world.origin, world.user, agreed);
  await mineOrigin();
  await reconcileRequests(world.services);
  expect(await sponsor.holdState(agreed), "the unread block had the deposit").toBe("released");
});

test("if the clock is set back, the hold stays and nothing is debited twice", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const [agreed, covered] = [await agree({ ttl: 600 }), await agree({ ttl: 600 })];
  for (const request of [agreed, covered]) {
    await sponsor.fastFill(request);
    await fill();
  }
  await finalizeFill();
  const held = (await sponsor.holdOf(agreed))?.usd;
  const backMs = (overdueAfter(600) + 3_600) * 1_000;
  const withClockSetBack: WorkerServices = {
    ...world.services,
    clock: { nowMs: () => world.clock.nowMs() - backMs },
  };
  // The origin chain is past the deadline, but the service's clock is not, so the hold stays active.
  world.clock.forward(overdueAfter(600) * 1_000);
  await deposit(world.origin, world.user, covered);
  await mineOrigin();
  await syncOriginClock();
  await mineOrigin();
  await reconcileRequests(withClockSetBack);
  expect(await sponsor.holdState(covered)).toBe("released");
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect((await sponsor.book()).heldUsd).toBe(held);

  await reconcileRequests(world.services);
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const { lines } = await sponsor.book();
  await reconcileRequests(withClockSetBack);
  await reconcileRequests(world.services);
  expect((await sponsor.book()).lines).toEqual(lines);
  expect(await movementsOf(agreed)).toHaveLength(1);
  expect(await movementsOf(covered)).toEqual([]);
});

test("charges nothing for a missing deposit until the fill is final", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ ttl: 600 });
  await sponsor.fastFill(agreed);
  await fill();
  await later(overdueAfter(600));
  expect(await sponsor.holdState(agreed)).toBe("active");
  await finalizeFill();
  await later(1);
  expect(await sponsor.holdState(agreed)).toBe("permanent");
});

test("a deposit that arrives after the app has paid returns exactly what was charged, and is not refunded", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ ttl: 600 });
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  await later(overdueAfter(600));
  expect(await sponsor.holdState(agreed)).toBe("permanent");

  await mineDeposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect((await stateOf(agreed)).front).toBe("covered");
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_000_000_000n);
  expect(await movementsOf(agreed)).toEqual([
    { context: "fast-fill-reduce-balance", wallet: sponsor.wallet },
    { context: "fast-fill-increase-balance", wallet: sponsor.wallet },
  ]);
  await mineOrigin(2);
  await world.work();
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([
    { disposition: "accepted", refundState: "none" },
  ]);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});

test("records a debt when the balance no longer covers the hold, and repays it from the next top-up", async () => {
  const sponsor = await aSponsor(world, 200);
  const agreed = await agree({ ttl: 600 });
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  // Holds do not block the fees of sponsored executions.
  await sponsor.spend(150_000_000n);
  await later(overdueAfter(600));
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const owed = agreed.terms.destination.expectedAmount + (await gasUsdcOf(agreed)) - 50_000_000n;
  expect((await sponsor.book()).lines[0]).toMatchObject({ balance: 0n, owed });
  await sponsor.topUp(100_000_000n);
  expect((await sponsor.book()).lines[0]).toMatchObject({ balance: 100_000_000n - owed, owed: 0n });
});

test("an orphaned deposit reinstates the hold, releases it again when it is mined again, and nothing is filled twice", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  const raws = await mineDeposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  const free = await sponsor.availableUsd();

  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect(await sponsor.availableUsd()).toBeLessThan(free);
  expect(await stateOf(agreed)).toMatchObject({ front: "held", depositId: undefined, name: "filled" });
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", inTxHashes: [] });

  await mineAgain(raws);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await sponsor.availableUsd()).toBe(free);
  await world.work();
  await world.untilFinal(agreed.requestId);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("releases the hold when a deposit with another hash replaces the orphaned one", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  await mineDeposit(agreed);
  await world.origin.reorg(1);
  await world.origin.send(world.user, { to: world.anAddress(), value: 1n });
  await mineDeposit(agreed);
  const [, second] = await world.depositsOf(agreed.requestId);
  expect(second).toMatchObject({ canonical: true, disposition: "accepted" });
  expect(await sponsor.holdState(agreed)).toBe("released");
  await world.work();
  await world.untilFinal(agreed.requestId);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});

test("the app pays for a deposit that a reorg dropped permanently", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ ttl: 600 });
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  await mineDeposit(agreed);
  await world.origin.reorg(1);
  await world.watch(world.origin);
  await later(overdueAfter(600));
  expect(await sponsor.holdState(agreed)).toBe("permanent");
});

test.each([
  ["less", { amount: 60_000_000n }],
  ["more", { amount: 140_000_000n }],
])(
  "refunds a deposit of %s than agreed and keeps the hold, because that is the app's risk",
  async (_, deviation) => {
    const sponsor = await aSponsor(world, 1_000);
    const agreed = await agree({ ttl: 600 });
    await sponsor.fastFill(agreed);
    await fill();
    await deposit(world.origin, world.user, agreed, deviation);
    await mineOrigin();
    expect(await sponsor.holdState(agreed)).toBe("active");
    expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "refund" }]);
    for (let round = 0; round < 12; round++) await world.round();
    expect(await world.origin.balance(agreed.terms.refundTo, agreed.terms.origin.currency)).toBeGreaterThan(
      0n,
    );
    expect(await world.status(agreed.requestId)).toMatchObject({ status: "success" });
    await finalizeFill();
    await later(overdueAfter(600));
    expect(await sponsor.holdState(agreed)).toBe("permanent");
  },
);

test("a second deposit that waits for its refund replaces a fast fill's first deposit if a reorg removes that one", async () => {
  const { origin } = world;
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  await mineDeposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  await origin.reorg(1);
  await origin.send(world.user, { to: world.anAddress(), value: 1n });
  // The transaction is reported before the watcher sees the reorg.
  const txHash = await deposit(origin, world.user, agreed);
  await origin.mine();
  await indexTransaction(world.services, { chainId: origin.chain.id, txHash });
  expect((await world.depositsOf(agreed.requestId))[1]).toMatchObject({ txHash, disposition: "refund" });
  await world.watch(origin);
  expect((await world.depositsOf(agreed.requestId))[1]).toMatchObject({ txHash, disposition: "accepted" });
  expect(await sponsor.holdState(agreed)).toBe("released");
  await world.untilFinal(agreed.requestId);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("after a wrong deposit, the agreed deposit still releases the hold, and a second agreed deposit is refunded", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await deposit(world.origin, world.user, agreed, { amount: 1_000_000n });
  await mineOrigin();
  await fill();
  await finalizeFill();
  expect(await sponsor.holdState(agreed)).toBe("active");
  await mineDeposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  await mineDeposit(agreed);
  expect(
    (await world.depositsOf(agreed.requestId)).map(({ disposition, reason }) => [disposition, reason]),
  ).toEqual([
    ["refund", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL"],
    ["accepted", undefined],
    ["refund", "DOUBLE_SPEND"],
  ]);
});

test("fast fills a large deposit before it is confirmed, and releases the hold once it is confirmed", async () => {
  const sponsor = await aSponsor(world, 30_000);
  const agreed = await agree({ amount: "20000000000" });
  await mineDeposit(agreed);
  expect((await stateOf(agreed)).name).toBe("deposited");
  await sponsor.fastFill(agreed);
  await fill();
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  await finalizeFill();
  expect(await sponsor.holdState(agreed)).toBe("active");
  await mineOrigin(3);
  expect(await sponsor.holdState(agreed)).toBe("released");
  await world.work();
  await world.untilFinal(agreed.requestId);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("a deposit that is confirmed before the fill has its nonce releases the hold with the final fill, which is as quoted", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  await mineDeposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect(await stateOf(agreed)).toMatchObject({ name: "fillable", front: "covered" });
  await fill();
  expect(await received(agreed)).toBe((await sponsor.holdOf(agreed))?.amount);
  await world.untilFinal(agreed.requestId);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("a fast fill of a lower input buys less, the app is credited the deposit's excess, and a reorg reverses the credit", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ slippageTolerance: "300" }, sponsor);
  await sponsor.fastFill(agreed, { inputAmount: 98_000_000n });
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  const promised = (await sponsor.holdOf(agreed))?.amount ?? 0n;
  expect(promised).toBeLessThan(expectedAmount);
  expect(promised).toBeGreaterThanOrEqual(minimumAmount);
  await fill();
  expect(await received(agreed)).toBe(promised);

  await finalizeFill();
  const raws = await mineDeposit(agreed);
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_002_000_000n);
  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_000_000_000n);
  await mineAgain(raws);
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_002_000_000n);
  expect((await movementsOf(agreed)).map(({ context }) => context)).toEqual([
    "fast-fill-increase-balance",
    "fast-fill-reduce-balance",
    "fast-fill-increase-balance",
  ]);
});

test("a slightly lower input buys less, because the quote is firm only for the quoted input", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ slippageTolerance: "300" }, sponsor);
  await sponsor.fastFill(agreed, { inputAmount: agreed.terms.origin.amount - 20_000n });
  const { expectedAmount } = agreed.terms.destination;
  const { amount = 0n } = (await sponsor.holdOf(agreed)) ?? {};
  expect(amount).toBeLessThan(expectedAmount);
  expect(amount).toBeGreaterThan(expectedAmount - 25_000n);
});

test("a planned fast fill is not made once its hold is released", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ slippageTolerance: "300" }, sponsor);
  await sponsor.fastFill(agreed, { inputAmount: 98_000_000n });
  // While this worker simulates its payment, another worker abandons the fast fill, and the deposit arrives.
  const overtaken = whileSimulating(async () => {
    await world.services.uow.run(async (tx) => {
      const record = await tx.requests.lock(agreed.requestId);
      if (record)
        await transition(world.services, tx, record, {
          kind: "fillImpossible",
          reason: "SOLVER_BALANCE_TOO_LOW",
        });
    });
    await mineDeposit(agreed);
  });
  await pay(overtaken, fillLeg, agreed.requestId);
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  await fill();
  expect(await received(agreed), "the deposit's own fill pays the whole amount").toBe(
    agreed.terms.destination.expectedAmount,
  );
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await movementsOf(agreed)).toEqual([]);
});

/** Services of a worker whose first simulation on the destination runs `during`. */
function whileSimulating(during: () => Promise<void>): WorkerServices {
  const { services } = world;
  let isFirst = true;
  return {
    ...services,
    chains: {
      ...services.chains,
      get: (chainId) => {
        const connected = services.chains.get(chainId);
        if (connected === undefined || chainId !== world.destination.chain.id) return connected;
        const { reader } = connected.connection;
        const simulate: typeof reader.simulate = async (...args) => {
          const outcome = await reader.simulate(...args);
          if (isFirst) {
            isFirst = false;
            await during();
          }
          return outcome;
        };
        return {
          ...connected,
          connection: { ...connected.connection, reader: { ...reader, simulate } },
        };
      },
    },
  };
}

test("credits nothing for a deposit while its fast fill may fail, so that its refund has nothing to reverse", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ slippageTolerance: "300", destinationCurrency: NATIVE_CURRENCY }, sponsor);
  await sponsor.fastFill(agreed, { inputAmount: 98_000_000n });
  await mineDeposit(agreed);
  expect(await stateOf(agreed)).toMatchObject({ name: "fillable", front: "covered" });
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_000_000_000n);
  await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  await world.work();
  expect(await stateOf(agreed)).toMatchObject({ name: "refunding", front: "none" });
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await movementsOf(agreed)).toEqual([]);
});

test.each([
  ["with a price", "2500"],
  ["without a price until later", undefined],
] as const)(
  "a deposit that is confirmed before its fast fill reverts is refunded, and the app can claim no surplus and no held gas: %s",
  async (_, price) => {
    const sponsor = await aSponsor(world, 10);
    const agreed = await agree(
      {
        recipient: await aContract(),
        slippageTolerance: "10000",
        destinationCurrency: NATIVE_CURRENCY,
        amount: "1000000000",
      },
      sponsor,
    );
    await sponsor.fastFill(agreed, { inputAmount: 3_000_000n });
    await world.work();
    await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0xfe" });
    await world.destination.mine();
    await world.watch(world.destination);
    await mineDeposit(agreed);
    await mineOrigin(3);
    expect((await stateOf(agreed)).front).toBe("covered");
    expect(await sponsor.holdState(agreed)).toBe("active");
    expect((await sponsor.book()).lines).toMatchObject([{ balance: 10n * USDC }]);

    const usdc = world.services.appBalance.currencies[0]?.priceId ?? "";
    if (price === undefined) world.prices.set(usdc, undefined);
    await finalizeFill();
    expect(await stateOf(agreed)).toMatchObject({ name: "refunding", front: "none" });
    if (price === undefined) {
      expect(await sponsor.holdState(agreed), "its gas is not charged yet").toBe("active");
      world.prices.set(usdc, "1");
      await reconcileRequests(world.services);
    }
    expect(await sponsor.holdState(agreed)).toBe("released");
    expect(await movementsOf(agreed)).toEqual([{ context: "pay-fees", wallet: sponsor.wallet }]);
    const [line] = (await sponsor.book()).lines;
    expect(line?.owed).toBe(0n);
    expect(line?.balance).toBe(10n * USDC - (await revertedGasUsdc(agreed)));
  },
);

test("a deposit that is confirmed while its fast fill waits for funds is refunded, and nothing was credited in the meantime", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ slippageTolerance: "300" }, sponsor);
  await sponsor.fastFill(agreed, { inputAmount: 98_000_000n });
  const { address } = world.solver;
  const whole = await world.destination.client.getBalance({ address });
  await world.destination.client.setBalance({ address, value: 1n });
  await world.destination.mine();
  await world.watch(world.destination);
  await world.work();
  await mineDeposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("active");
  world.clock.forward(world.services.enginePolicy.inventoryWaitMs + 1);
  await world.work();
  await world.destination.client.setBalance({ address, value: whole });
  await world.destination.mine();
  await world.watch(world.destination);
  expect(await stateOf(agreed)).toMatchObject({ name: "refunding", front: "none" });
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await movementsOf(agreed)).toEqual([]);
});

test("a deposit is booked when its fill is final, and a fill that is orphaned before changes nothing", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ slippageTolerance: "300" }, sponsor);
  await sponsor.fastFill(agreed, { inputAmount: 98_000_000n });
  await fill();
  await mineDeposit(agreed);
  expect(await stateOf(agreed)).toMatchObject({ name: "filled", front: "covered" });
  await world.destination.reorg(1);
  await world.watch(world.destination);
  expect(await stateOf(agreed)).toMatchObject({ name: "submitted", front: "covered" });
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect(await movementsOf(agreed)).toEqual([]);
  for (let round = 0; round < 6; round++) await world.round();
  await finalizeFill();
  await world.untilFinal(agreed.requestId);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_002_000_000n);
  expect(await movementsOf(agreed)).toHaveLength(1);
});

test("a hold keeps its original value, and the final debit values the fill at the higher of both prices", async () => {
  const sponsor = await aSponsor(world, 10_000);
  const agreed = await agree({
    ttl: 600,
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: NATIVE_CURRENCY,
    amount: (10n ** 17n).toString(),
  });
  await sponsor.fastFill(agreed);
  const { usd = 0n, amount = 0n } = (await sponsor.holdOf(agreed)) ?? {};
  expect(usd).toBeGreaterThan(amount * 2_500n);
  world.prices.set("ethereum", "5000");
  await fill();
  await finalizeFill();
  await later(overdueAfter(600));
  world.prices.set("ethereum", "2500");
  expect((await sponsor.holdOf(agreed))?.usd).toBe(usd);
  const charged = 10_000_000_000n - ((await sponsor.book()).lines[0]?.balance ?? 0n);
  const fillUsdc = (amount * 5_000n) / 10n ** 12n;
  expect(charged).toBeGreaterThanOrEqual(fillUsdc);
  expect(charged).toBeLessThan(fillUsdc + 5_000_000n);
});

test("releases the hold of a fast fill that the solver cannot fund, and the request waits for its deposit", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  const { address } = world.solver;
  const whole = await world.destination.client.getBalance({ address });
  await world.destination.client.setBalance({ address, value: 1n });
  await world.destination.mine();
  await world.watch(world.destination);
  await world.work();
  expect(await sponsor.holdState(agreed)).toBe("active");
  world.clock.forward(world.services.enginePolicy.inventoryWaitMs + 1);
  await world.work();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await stateOf(agreed)).toMatchObject({ name: "quoted", front: "none" });
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
  await expect(sponsor.fastFill(agreed), "a request is fast filled at most once").rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    facts: { data: { rule: "fastFillFailed" } },
  });

  await world.destination.client.setBalance({ address, value: whole });
  await world.destination.mine();
  await world.watch(world.destination);
  await mineDeposit(agreed);
  await world.work();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await movementsOf(agreed)).toEqual([]);
});

test("releases the hold of a fast fill that would revert", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY });
  await sponsor.fastFill(agreed);
  await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  await world.work();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("deposits for the order of an unfunded fast fill extend neither its wait nor its hold", async () => {
  const { services, destination, origin } = world;
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await sponsor.fastFill(agreed);
  const { address } = world.solver;
  const whole = await destination.client.getBalance({ address });
  await destination.client.setBalance({ address, value: 1n });
  await destination.mine();
  await world.watch(destination);
  await world.work();
  const { inventoryWaitMs } = services.enginePolicy;
  for (const depositor of [world.stranger, world.user]) {
    world.clock.forward(inventoryWaitMs / 2 + 1);
    await deposit(origin, depositor, agreed, { amount: 1n });
    await mineOrigin();
  }
  const { nowMs } = services.clock;
  expect(
    await services.reads.overdueFills({ sinceBeforeMs: nowMs() - inventoryWaitMs, nowMs: nowMs() }, 500),
  ).toContain(agreed.requestId);
  await world.work();
  expect(await sponsor.holdState(agreed)).toBe("released");
  await destination.client.setBalance({ address, value: whole });
  await destination.mine();
  await world.watch(destination);
});

test("after a failed fast fill, the user's wrong deposit that arrived in the meantime is shown for the request and refunded", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY });
  await sponsor.fastFill(agreed);
  await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  await deposit(world.origin, world.user, agreed, { amount: 1_000_000n });
  await mineOrigin();
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  await world.work();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    fundsAt: "depository",
    nextAction: "wait_for_refund",
    failReason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "refund", fundsAt: "refunded" });
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
});

test("a fast fill that reverts in its block releases the hold once that block is final", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY, recipient: await aContract() });
  await sponsor.fastFill(agreed);
  await world.work();
  expect((await stateOf(agreed)).name).toBe("submitted");
  // The fill reverts in its block, because the recipient no longer accepts transfers.
  await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  await world.destination.mine();
  await world.watch(world.destination);
  expect(await sponsor.holdState(agreed)).toBe("active");
  await finalizeFill();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await stateOf(agreed)).toMatchObject({ name: "quoted", front: "none" });
});

test("charges the app once for the gas of a reverted fast fill, and refuses further fast fills above the daily limit", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree({ destinationCurrency: NATIVE_CURRENCY, recipient: await aContract() });
  await sponsor.fastFill(agreed);
  const { usd = 0n } = (await sponsor.holdOf(agreed)) ?? {};
  await world.work();
  await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0xfe" });
  const solver = async () => await world.destination.balance(world.solver.address, NATIVE_CURRENCY);
  const before = await solver();
  await world.destination.mine();
  await world.watch(world.destination);
  const revertedGasUsd = async () =>
    await world.services.uow.run((tx) => tx.fastFills.revertedGasUsd(sponsor.wallet, 0));
  const mined = await revertedGasUsd();
  expect(mined, "the gas counts before its block is final").toBeGreaterThan(0n);
  await finalizeFill();
  expect(await revertedGasUsd()).toBe(mined);
  const lost = ((before - (await solver())) * 2_500n) / 10n ** 12n;
  expect(lost).toBeGreaterThan(0n);
  const charged = 1_000_000_000n - ((await sponsor.book()).lines[0]?.balance ?? 0n);
  expect(charged - lost).toBeGreaterThanOrEqual(0n);
  expect(charged - lost).toBeLessThanOrEqual(1n);
  expect(charged * 10n ** 12n, "no more than was held").toBeLessThan(usd);
  expect(await movementsOf(agreed)).toEqual([{ context: "pay-fees", wallet: sponsor.wallet }]);
  await reconcileRequests(world.services);
  expect(await movementsOf(agreed)).toHaveLength(1);

  const strict = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, maxFastFillRevertedGasUsd: 0 },
  };
  await expect(sponsor.fastFill(await agree(), {}, strict)).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    facts: { data: { rule: "dailyBurntUsd" } },
  });
  expect(world.events.of("fast_fill_gas_spent")).toMatchObject([{ facts: { wallet: sponsor.wallet } }]);
});

test("fast fills a variable deposit at its minimum, only for the API key that quoted it, and credits any surplus to the app", async () => {
  const [sponsor, stranger] = [await aSponsor(world, 1_000), await aSponsor(world, 1_000)];
  const quoted = await agree({ slippageTolerance: "500" }, sponsor);
  const { origin } = quoted.terms;
  // The terms of a quote after a swap whose minimum output is 97 of 100.
  const terms = {
    ...quoted.terms,
    requestId: someHash(),
    orderId: someHash(),
    origin: { ...origin, minimumAmount: 97_000_000n },
  };
  await world.services.uow.run((tx) => tx.requests.insert(terms, quotedState("bridge")));
  const agreed = { ...quoted, terms, requestId: terms.requestId };
  await expect(stranger.fastFill(agreed)).rejects.toMatchObject({
    facts: { data: { rule: "variableDeposit" } },
  });
  expect(await sponsor.fastFill(agreed)).toBe("queued");
  await fill();
  expect(await received(agreed)).toBeLessThan(97_000_000n);
  await finalizeFill();
  await deposit(world.origin, world.user, agreed, { amount: 101_000_000n });
  await mineOrigin();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect((await sponsor.book()).lines[0]?.balance).toBe(1_004_000_000n);
});

const ETHER = 10n ** 18n;
const USDC = 10n ** 6n;

/** A quote of 10 ETH on one chain for USDC on the chain of app balances. */
const agreeOnEther = async (
  by: Sponsor,
  ask: Parameters<EngineWorld["quote"]>[0] = {},
): Promise<QuotedRequest> =>
  await agree(
    {
      originChainId: world.destination.chain.id,
      destinationChainId: world.origin.chain.id,
      originCurrency: NATIVE_CURRENCY,
      destinationCurrency: world.usdc,
      amount: (10n * ETHER).toString(),
      ttl: 600,
      ...ask,
    },
    by,
  );

/** Overrides for a request whose deposit is made on the second chain. */
const onSecondChain = {
  async fill(): Promise<void> {
    await world.work();
    for (let block = 0; block < 4; block++) {
      await world.origin.mine();
      await world.watch(world.origin);
    }
  },
  async later(seconds: number): Promise<void> {
    world.clock.forward(seconds * 1_000);
    const { timestamp: newest } = await world.destination.client.getBlock();
    const now = BigInt(Math.ceil(world.clock.nowMs() / 1_000));
    await world.destination.client.setNextBlockTimestamp({ timestamp: now > newest ? now : newest + 1n });
    await world.destination.mine();
    await world.watch(world.destination);
    await reconcileRequests(world.services);
  },
  async deposit(agreed: QuotedRequest, amount?: bigint): Promise<void> {
    await deposit(world.destination, world.user, agreed, amount === undefined ? {} : { amount });
    for (let block = 0; block < 4; block++) {
      await world.destination.mine();
      await world.watch(world.destination);
    }
  },
};

const balanceOf = async (sponsor: Sponsor): Promise<bigint> => {
  const { lines } = await sponsor.book();
  const line = lines.find(({ asset }) => asset.currency === world.usdc);
  return (line?.balance ?? 0n) - (line?.owed ?? 0n);
};

test("a deposit that arrives after the app has paid is credited at no more than its current value", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor);
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  await onSecondChain.later(overdueAfter(600));
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const debited = 40_000n * USDC - (await balanceOf(sponsor));
  expect(debited).toBeGreaterThan(24_900n * USDC);

  world.prices.set("ethereum", "1250");
  await onSecondChain.deposit(agreed);
  world.prices.set("ethereum", "2500");
  expect(await sponsor.holdState(agreed)).toBe("released");
  const kept = 40_000n * USDC - (await balanceOf(sponsor));
  // 10 ETH are now worth 12,500 USDC. The rest of the debit stays.
  expect(debited - kept).toBeLessThanOrEqual(12_500n * USDC);
  expect(debited - kept).toBeGreaterThan(12_499n * USDC);
});

test("reprices a deposit that arrives after the firm period, charges the app the difference, and reverses that on a reorg", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor);
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  await onSecondChain.later(120);
  world.prices.set("ethereum", "2000");
  await onSecondChain.deposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  const paid = 40_000n * USDC - (await balanceOf(sponsor));
  // A fifth of the fill.
  const fifth = agreed.terms.destination.expectedAmount / 5n;
  expect(paid).toBeGreaterThanOrEqual(fifth);
  expect(paid).toBeLessThan(fifth + 10n);

  await world.destination.reorg(4);
  await world.watch(world.destination);
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect(await balanceOf(sponsor)).toBe(40_000n * USDC);
  world.prices.set("ethereum", "2500");
  await onSecondChain.deposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await balanceOf(sponsor)).toBe(40_000n * USDC);
  expect(await movementsOf(agreed)).toHaveLength(2);
});

test("a deposit during the firm quote costs nothing, within the tolerance of quotes", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor);
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  world.prices.set("ethereum", "2499");
  await onSecondChain.deposit(agreed);
  world.prices.set("ethereum", "2500");
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await balanceOf(sponsor)).toBe(40_000n * USDC);
});

test.each([
  ["fallen", "2000", 2_000n],
  ["risen", "3000", 2_500n],
])(
  "a deposit's excess over the fill is credited at the lower of its prices at the fill and now: it has %s",
  async (_, price, credited) => {
    const sponsor = await aSponsor(world, 10_000);
    const agreed = await agreeOnEther(sponsor, { slippageTolerance: "10000" });
    await sponsor.fastFill(agreed, { inputAmount: ETHER });
    await onSecondChain.fill();
    world.prices.set("ethereum", price);
    await onSecondChain.deposit(agreed);
    world.prices.set("ethereum", "2500");
    const gain = (await balanceOf(sponsor)) - 10_000n * USDC;
    // The fee of 6 bps is deducted.
    const maxGain = (9n * credited * USDC * 9_994n) / 10_000n;
    expect(gain).toBeLessThanOrEqual(maxGain);
    // If ETH fell by a fifth, the deposit is also worth a fifth less of the fill.
    expect(gain).toBeGreaterThan(maxGain - 501n * USDC);
  },
);

test("books a deposit, and releases its hold, only once there is a price", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor);
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  await onSecondChain.later(120);
  world.prices.set("ethereum", undefined);
  await onSecondChain.deposit(agreed);
  expect((await stateOf(agreed)).front).toBe("covered");
  expect(await sponsor.holdState(agreed)).toBe("active");
  world.prices.set("ethereum", "2000");
  for (let n = 0; n < 2; n++) await reconcileRequests(world.services);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await movementsOf(agreed)).toHaveLength(1);
  expect(await balanceOf(sponsor)).toBeLessThan(36_000n * USDC);
  world.prices.set("ethereum", "2500");
});

test.each(["disputed", "too old"] as const)(
  "with a %s price no deposit is booked: its shortfall and surplus wait for a reliable one",
  async (doubt) => {
    const sponsor = await aSponsor(world, 40_000);
    const agreed = await agreeOnEther(sponsor, { slippageTolerance: "10000" });
    await sponsor.fastFill(agreed, { inputAmount: 5n * ETHER });
    await onSecondChain.fill();
    await onSecondChain.later(120);
    world.prices.trust("ethereum", unreliable[doubt]);
    await onSecondChain.deposit(agreed);
    await reconcileRequests(world.services);
    expect((await stateOf(agreed)).front).toBe("covered");
    expect(await sponsor.holdState(agreed)).toBe("active");
    expect(await movementsOf(agreed)).toEqual([]);

    // The price during the time when it was unknown does not matter.
    world.prices.set("ethereum", "2000");
    world.prices.trust("ethereum", undefined);
    await reconcileRequests(world.services);
    world.prices.set("ethereum", "2500");
    expect(await sponsor.holdState(agreed)).toBe("released");
    expect(await movementsOf(agreed)).toHaveLength(2);
    const fifth = agreed.terms.destination.expectedAmount / 10n;
    const gain = (await balanceOf(sponsor)) - 40_000n * USDC;
    // The fee of 6 bps is deducted.
    expect(gain).toBeGreaterThan(9_994n * USDC - fifth - USDC);
    expect(gain).toBeLessThan(9_994n * USDC - fifth + 10n * USDC);
  },
);

test("a deposit far above its quote credits at most a tenth more than quoted, and the rest is reported to the operator", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const quoted = await agreeOnEther(sponsor, { slippageTolerance: "2000" });
  const { origin } = quoted.terms;
  // The terms of a quote after a swap whose minimum output is 9 of 10.
  const terms = {
    ...quoted.terms,
    requestId: someHash(),
    orderId: someHash(),
    origin: { ...origin, minimumAmount: 9n * ETHER },
  };
  await world.services.uow.run((tx) => tx.requests.insert(terms, quotedState("bridge")));
  const agreed = { ...quoted, terms, requestId: terms.requestId };
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  await onSecondChain.deposit(agreed, 500n * ETHER);
  expect(await sponsor.holdState(agreed)).toBe("released");
  // 2 ETH at $2,500, minus the fee of 6 bps: 11 ETH are credited, and 9 were filled.
  expect((await balanceOf(sponsor)) - 40_000n * USDC).toBe(4_997n * USDC);
  const kept = world.events.of("fast_fill_surplus_kept").map(({ facts }) => facts);
  expect(kept).toMatchObject([{ requestId: agreed.requestId, units: 489n * ETHER }]);
});

test("surplus in another asset pays the spread, and waits while its asset's exposure limit per minute is used up", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor, { slippageTolerance: "10000" });
  await sponsor.fastFill(agreed, { inputAmount: 5n * ETHER });
  await onSecondChain.fill();
  const { maxPriceExposureUsd } = world.services.enginePolicy;
  const use = async (): Promise<boolean> =>
    await world.services.uow.run(
      async (tx) =>
        await tx.priceExposure.add(
          "ethereum",
          BigInt(maxPriceExposureUsd) * ETHER - ETHER,
          BigInt(maxPriceExposureUsd) * ETHER,
          world.clock.nowMs(),
        ),
    );
  world.clock.forward(5 * 60_000);
  expect(await use()).toBe(true);
  await onSecondChain.deposit(agreed);
  expect((await stateOf(agreed)).front).toBe("covered");
  expect(await sponsor.holdState(agreed)).toBe("active");
  expect(await movementsOf(agreed)).toEqual([]);

  world.clock.forward(5 * 60_000);
  // 2 x 25 bps x sqrt(1 minute): a spread of 50 bps.
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 25 });
  await reconcileRequests(world.services);
  world.prices.trust("ethereum", undefined);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect((await balanceOf(sponsor)) - 40_000n * USDC).toBe((12_500n * USDC * (10_000n - 56n)) / 10_000n);
});

test("surplus and late deposits wait while a price is too volatile to trade at, and charge nothing", async () => {
  const sponsor = await aSponsor(world, 80_000);
  const [early, late] = [
    await agreeOnEther(sponsor, { slippageTolerance: "10000" }),
    await agreeOnEther(sponsor, { slippageTolerance: "10000" }),
  ];
  await sponsor.fastFill(early, { inputAmount: 5n * ETHER });
  await sponsor.fastFill(late);
  await onSecondChain.fill();
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 6_000 });
  await onSecondChain.deposit(early);
  expect(await sponsor.holdState(early)).toBe("active");
  expect(await balanceOf(sponsor)).toBe(80_000n * USDC);
  world.prices.trust("ethereum", undefined);
  await reconcileRequests(world.services);
  expect(await sponsor.holdState(early)).toBe("released");
  const booked = await balanceOf(sponsor);

  await onSecondChain.later(overdueAfter(600));
  expect(await sponsor.holdState(late)).toBe("permanent");
  const debited = await balanceOf(sponsor);
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 7_500 });
  await onSecondChain.deposit(late);
  expect(await balanceOf(sponsor)).toBe(debited);
  world.prices.trust("ethereum", undefined);
  await reconcileRequests(world.services);
  expect(await balanceOf(sponsor)).toBeGreaterThan(debited);
  expect(await balanceOf(sponsor)).toBeLessThanOrEqual(booked);
});

test("a disputed price neither debits nor sizes a hold", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const ether = { originCurrency: NATIVE_CURRENCY, destinationCurrency: NATIVE_CURRENCY };
  const agreed = await agree({ ...ether, amount: (10n ** 17n).toString(), ttl: 600 });
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  const other = await agree({ ...ether, amount: (10n ** 17n).toString() });
  world.prices.trust("ethereum", unreliable.disputed);
  await expect(sponsor.fastFill(other)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  await later(overdueAfter(600));
  expect(await sponsor.holdState(agreed)).toBe("active");
  world.prices.trust("ethereum", undefined);
  await reconcileRequests(world.services);
  expect(await sponsor.holdState(agreed)).toBe("permanent");
});

test("the hold's margin covers the debt if ETH rises by half before the app pays", async () => {
  const ask = {
    originCurrency: world.usdc,
    destinationCurrency: NATIVE_CURRENCY,
    amount: "1000000000",
    ttl: 600,
  };
  const poor = await aSponsor(world, 1_400);
  await expect(poor.fastFill(await agree(ask, poor))).rejects.toMatchObject({
    code: "INSUFFICIENT_APP_BALANCE",
    message: expect.stringContaining("margin"),
  });
  const sponsor = await aSponsor(world, 1_520);
  const agreed = await agree(ask, sponsor);
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  world.prices.set("ethereum", "3750");
  await later(overdueAfter(600));
  world.prices.set("ethereum", "2500");
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const left = await balanceOf(sponsor);
  expect(left).toBeGreaterThanOrEqual(0n);
  expect(left).toBeLessThan(60n * USDC);
});

test("deposits that wait for a price take turns, so that the oldest does not block the others", async () => {
  const sponsor = await aSponsor(world, 80_000);
  const agreed = [await agreeOnEther(sponsor), await agreeOnEther(sponsor)];
  for (const request of agreed) await sponsor.fastFill(request);
  await onSecondChain.fill();
  world.prices.trust("ethereum", unreliable.disputed);
  for (const request of agreed) await onSecondChain.deposit(request);
  const attempted: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    attempted.push(...(await world.services.reads.fastFillsDue(1)));
    await expireFastFills(world.services, 1);
    world.clock.forward(1_000);
  }
  const [first = "", second = ""] = attempted;
  expect(new Set([first, second])).toEqual(new Set(agreed.map(({ requestId }) => requestId)));
  expect(attempted).toEqual([first, second, first]);
  world.prices.trust("ethereum", undefined);
  await reconcileRequests(world.services);
  for (const request of agreed) expect(await sponsor.holdState(request)).toBe("released");
});

test("the caps on fast fills and holds include the deposit's excess over the fill", async () => {
  const capped = await aSponsor(world, 40_000, {
    rules: { maxCallValueUsd: 0n, maxFastFillUsd: 20_000n * ETHER, maxHoldsUsd: 20_000n * ETHER },
  });
  const agreed = await agreeOnEther(capped, { slippageTolerance: "10000" });
  const rule = async (change: Parameters<Sponsor["fastFill"]>[1], by = capped, of = agreed) =>
    await by
      .fastFill(of, change)
      .catch((error: { facts: { data: { rule: string } } }) => error.facts.data.rule);
  const lowInput = { inputAmount: ETHER / 1_000n };
  expect(await rule(lowInput)).toBe("maxFastFillUsd");
  expect(await rule({ ...lowInput, maxUsd: 20_000n * ETHER })).toBe("maxFillAmountUsd");
  const exposed = await aSponsor(world, 40_000, {
    rules: { maxCallValueUsd: 0n, maxHoldsUsd: 20_000n * ETHER },
  });
  const other = await agreeOnEther(exposed, { slippageTolerance: "10000" });
  expect(await rule(lowInput, exposed, other)).toBe("maxHoldsUsd");
});

test("between different assets a deposit more than a day late is refunded, and the app stays liable", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor, { ttl: 7 * 24 * 3_600 });
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  await onSecondChain.later(24 * 3_600 + 60);
  await onSecondChain.deposit(agreed);
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([
    { disposition: "refund", reason: "TTL_EXPIRED" },
  ]);
  expect(await sponsor.holdState(agreed)).toBe("active");
});

test("charges the app for the fill and its gas at the higher of both prices when the deposit never arrives", async () => {
  const sponsor = await aSponsor(world, 200_000);
  const agreed = await agree(
    { originCurrency: world.usdc, destinationCurrency: NATIVE_CURRENCY, amount: "1000000000", ttl: 600 },
    sponsor,
  );
  await sponsor.fastFill(agreed);
  await fill();
  await finalizeFill();
  world.prices.set("ethereum", "5000");
  await later(overdueAfter(600));
  world.prices.set("ethereum", "2500");
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const paid = 200_000n * USDC - (await balanceOf(sponsor));
  const [slot] = await world.paymentsOf(agreed, world.destination);
  expect(slot).toBeDefined();
  const fillNow = (agreed.terms.destination.expectedAmount * 5_000n * USDC) / ETHER;
  expect(paid).toBeGreaterThan(fillNow);
  expect(paid).toBeLessThan(fillNow + 5n * USDC);
});

test("a booked deposit that a reorg removed covers the fast fill again when it is mined again, no matter how late", async () => {
  const sponsor = await aSponsor(world, 40_000);
  const agreed = await agreeOnEther(sponsor, { ttl: 7 * 24 * 3_600 });
  await sponsor.fastFill(agreed);
  await onSecondChain.fill();
  await onSecondChain.deposit(agreed);
  expect(await sponsor.holdState(agreed)).toBe("released");
  const [booked] = await world.depositsOf(agreed.requestId);

  await world.destination.reorg(4);
  await world.watch(world.destination);
  expect(await sponsor.holdState(agreed)).toBe("active");
  await onSecondChain.later(24 * 3_600 + 60);
  await onSecondChain.deposit(agreed);
  // Signing the same call again gives the same transaction.
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([
    { txHash: booked?.txHash, canonical: true, disposition: "accepted", refundState: "none" },
  ]);
  expect(await sponsor.holdState(agreed)).toBe("released");
});
