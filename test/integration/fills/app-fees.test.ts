import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex32, RequestId } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { unreliable } from "../../fakes/adjustable-prices.ts";
import { accountSignatures } from "../../../apps/api/src/chains/signatures.adapter.ts";
import { acceptClaim } from "../../../apps/api/src/balances/accept-claim.ts";
import { reserveSponsorship } from "../../../apps/api/src/balances/sponsor-fees.ts";
import { creditTopUp, reverseTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { offerClaim } from "../../../apps/api/src/balances/offer-claim.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import { transition } from "../../../apps/api/src/requests/transition.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import { approveCall } from "../../support/execution-world.ts";
import { judgeFill } from "../../support/judge-fill.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { aPayingKey } from "../../support/paying-key.ts";
import { someHash } from "../../support/terms.ts";
import type { Sponsor } from "../../support/sponsors.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

/** A wallet's balance of one currency, in base units. Default: USDC. */
async function lineOf(
  wallet: Address,
  currency: Address = world.usdc,
): Promise<{ balance: bigint; pending: bigint }> {
  const { lines } = await world.services.balances.book(wallet);
  const line = lines.find(({ asset }) => asset.currency === currency);
  return { balance: line?.balance ?? 0n, pending: line?.pending ?? 0n };
}

const ETHER = 10n ** 18n;

async function topUpNative({ wallet }: Sponsor, amount: bigint): Promise<void> {
  const { services, origin } = world;
  const asset = { chainId: origin.chain.id, currency: NATIVE_CURRENCY };
  const topUp = { wallet, asset, amount, movementKey: `native:${wallet}` };
  await services.uow.run(async (tx) => await creditTopUp(services, tx, topUp));
}

/** The contexts of a request's ledger movements. */
async function movementsOf(requestId: RequestId): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ context: string }>(
    "select context from ledger_movements where request_id = $1 order by id",
    [requestId],
  );
  return rows.map(({ context }) => context);
}

const sponsored = { subsidizeFees: true };
const requestQuote = async (
  ask: Parameters<EngineWorld["quote"]>[0],
  sponsor?: Sponsor,
  quoteServices?: Parameters<EngineWorld["quote"]>[2],
): Promise<QuotedRequest> =>
  await world.quote(
    { recipient: world.anAddress(), refundTo: world.anAddress(), ...ask },
    sponsor?.key,
    quoteServices,
  );

const receivedAmount = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

/** Makes the deposit and mines it. The fill is then planned and broadcast. */
async function depositAndFill(agreed: QuotedRequest): Promise<void> {
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  await world.work();
}

test("whenever the process crashes while a fill becomes final, apps are credited once, the sponsor is charged once, and the recipient gets everything", async () => {
  const payer = await aPayingKey(world, 100);
  let charged = 0n;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const appFees = [25, 10].map((fee) => ({ recipient: world.anAddress(), fee }));
      const agreed = await requestQuote({ ...sponsored, appFees }, payer);
      await depositAndFill(agreed);
      await world.destination.mine();
      await world.watch(world.destination);
      return agreed;
    },
    run: async (workerServices) => {
      await world.destination.mine(2);
      await world.watch(world.destination, workerServices);
    },
    verify: async (agreed, moment) => {
      expect(await receivedAmount(agreed), moment).toBe(100_000_000n);
      const { appFees, sponsorship } = agreed.terms;
      for (const { recipient, bps } of appFees?.fees ?? [])
        expect(await lineOf(recipient), moment).toEqual({ balance: BigInt(bps) * 10_000n, pending: 0n });
      charged += sponsorship?.amount ?? 0n;
      expect(await lineOf(payer.wallet), moment).toEqual({ balance: 100_000_000n - charged, pending: 0n });
      expect(await movementsOf(agreed.requestId), moment).toEqual([
        "set-pending-amount",
        "pay-fees",
        "app-fee",
        "app-fee",
      ]);
    },
  });
  expect(charged).toBeGreaterThan(0n);
  for (const moment of ["before ledger.post", "before ledger.closeReservation", "after commit"])
    expect(crashes).toContain(moment);
}, 120_000);

test("an orphaned fill credits and charges no one until it is final again", async () => {
  const payer = await aPayingKey(world, 10);
  const app = world.anAddress();
  const agreed = await requestQuote({ ...sponsored, appFees: [{ recipient: app, fee: 30 }] }, payer);
  await depositAndFill(agreed);
  await world.destination.mine();
  await world.watch(world.destination);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  const sponsoredAmount = agreed.terms.sponsorship?.amount ?? 0n;
  const whileFilling = { balance: 10_000_000n - sponsoredAmount, pending: sponsoredAmount };
  expect(await lineOf(payer.wallet)).toEqual(whileFilling);
  expect((await lineOf(app)).balance).toBe(0n);

  await world.destination.reorg(1);
  await world.watch(world.destination);
  expect((await lineOf(app)).balance).toBe(0n);
  expect(await lineOf(payer.wallet)).toEqual(whileFilling);

  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect((await lineOf(app)).balance).toBe(300_000n);
  expect(await lineOf(payer.wallet)).toEqual({ balance: 10_000_000n - sponsoredAmount, pending: 0n });
});

test("credited fees can be claimed and paid out like any balance", async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const wallet = account.address.toLowerCase() as Address;
  const agreed = await requestQuote({ appFees: [{ recipient: account.address, fee: "500" }] });
  await depositAndFill(agreed);
  await world.untilFinal(agreed.requestId);
  expect((await lineOf(wallet)).balance).toBe(5_000_000n);
  const recipient = world.anAddress();
  const claim = await offerClaim(
    { ...world.services, random: { bytes32: () => `0x${randomBytes(32).toString("hex")}` } },
    { wallet, chainId: world.origin.chain.id, currency: world.usdc, recipient, amount: 4_000_000n },
  );
  const signature = await account.signMessage({ message: { raw: claim.claimId as Hex32 } });
  const signatures = accountSignatures(world.origin.connected.connection.reader);
  await acceptClaim({ ...world.services, signatures }, claim.claimId, signature);
  for (let round = 0; round < 8; round++) {
    world.clock.forward(20_000);
    await world.round();
  }
  expect(await world.origin.balance(recipient, world.usdc)).toBe(4_000_000n);
});

test("credits no app for a refund and releases the sponsor's reservation", async () => {
  const payer = await aPayingKey(world, 10);
  const app = world.anAddress();
  const agreed = await requestQuote({ ...sponsored, appFees: [{ recipient: app, fee: 30 }] }, payer);
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  const { requestId } = agreed;
  // The fill is planned, and another transaction uses its nonce.
  await world.services.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    await reserveSponsorship(world.services, tx, record.terms, agreed.terms.sponsorship?.usd ?? 0n);
    const { record: planned } = await transition(world.services, tx, record, { kind: "fillPlanned" });
    const fillDead = {
      kind: "fillDead",
      reason: "TRANSACTION_NOT_INCLUDED",
      isDepositOrphaned: false,
    } as const;
    await transition(world.services, tx, planned, fillDead);
  });
  expect(await lineOf(payer.wallet)).toEqual({ balance: 10_000_000n, pending: 0n });
  expect((await world.untilFinal(requestId)).status).toBe("refund");
  expect(await movementsOf(requestId)).toEqual(["set-pending-amount", "unset-pending-amount"]);
  expect((await lineOf(app)).balance).toBe(0n);
});

test.each(["is not filled", "cannot be sponsored when it is planned again"])(
  "gas of a reverted fill is charged to the sponsor and the daily budget when the request %s",
  async (ending) => {
    const payer = await aPayingKey(world, 10);
    const agreed = await requestQuote(sponsored, payer);
    await world.pay(agreed);
    await world.origin.mine();
    await world.watch(world.origin);
    const { requestId, terms } = agreed;
    const today = Math.floor(world.services.clock.nowMs() / (24 * 3600 * 1000));
    const usedGasUsd = 10n ** 16n;
    const spending = await world.services.uow.run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      if (record === undefined) throw new Error("invariant violated: request is not stored");
      const reserve = async (usd: bigint) =>
        (await reserveSponsorship(world.services, tx, record.terms, usd)).kind;
      expect(await reserve(9n * 10n ** 18n)).toBe("reserved");
      const slot = { id: `-${BigInt(requestId) % 10n ** 15n}`, chainId: world.destination.chain.id };
      await tx.fillBurns.note({ ...slot, gasUsed: 100n, effectiveGasPrice: 1n }, requestId, usedGasUsd, 1);
      if (ending !== "is not filled") expect(await reserve(11n * 10n ** 18n)).toBe("refused");
      const { record: planned } = await transition(world.services, tx, record, { kind: "fillPlanned" });
      const fillDead = {
        kind: "fillDead",
        reason: "TRANSACTION_REVERTED",
        isDepositOrphaned: false,
      } as const;
      await transition(world.services, tx, planned, fillDead);
      const budget = { keyId: payer.key.id, day: today, user: terms.user, target: undefined };
      return await tx.executions.lockSpending(budget, undefined);
    });
    expect(await lineOf(payer.wallet)).toEqual({ balance: 9_990_000n, pending: 0n });
    expect(spending).toMatchObject({ todayUsd: usedGasUsd, userTodayUsd: usedGasUsd });
    expect(await world.services.reads.sponsoredBurnWei(requestId)).toBe(100n);
    expect((await world.untilFinal(requestId)).status).toBe("refund");
  },
);

test.each([
  { what: "is charged gas of a swap that reverts", isPlain: false, isPriced: true, paid: 2_500n },
  { what: "is not charged gas of a plain transfer that reverts", isPlain: true, isPriced: true, paid: 0n },
  {
    what: "is charged nothing while the price of gas is being fetched",
    isPlain: false,
    isPriced: false,
    paid: 0n,
  },
])("the sponsor of a fill $what", { timeout: 20_000 }, async ({ isPlain, isPriced, paid }) => {
  const payer = await aPayingKey(world, 10);
  const agreed = await requestQuote(sponsored, payer);
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  const { requestId, terms } = agreed;
  const { currency, expectedAmount: amount, chainId } = terms.destination;
  const services: typeof world.services = isPriced
    ? world.services
    : { ...world.services, prices: { ...world.prices, usd: () => new Promise<bigint>(() => {}) } };
  await world.services.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    await reserveSponsorship(world.services, tx, record.terms, 10n ** 18n);
    const planned = await transition(world.services, tx, record, { kind: "fillPlanned" });
    const slot = {
      id: `-${BigInt(requestId) % 10n ** 15n}`,
      chainId,
      sender: world.solver.address,
      leg: { kind: "fill", id: requestId, requestId },
      call: { to: isPlain ? currency : world.anAddress(), value: 0n, data: "0x" } as const,
      gasLimit: 10n ** 6n,
      maxFeePerGas: 10n ** 6n,
      maxPriorityFeePerGas: 0n,
      outflow: { currency, amount },
      cancelAfterMs: 0,
      nonce: 1,
      state: "dead",
      cancelReason: undefined,
      minedAttempt: 1,
      minedBlockNumber: 1n,
      minedBlockHash: someHash(),
      minedStatus: "reverted",
      gasUsed: 10n ** 6n,
      effectiveGasPrice: 10n ** 6n,
      unexplainedSince: undefined,
      createdAtMs: 0,
      attempts: [],
    } as const;
    await fillLeg.dead({ services, tx, slot, record: planned.record }, "TRANSACTION_REVERTED");
  });
  expect(await lineOf(payer.wallet)).toEqual({ balance: 10_000_000n - paid, pending: 0n });
  expect((await world.untilFinal(requestId)).status).toBe("refund");
});

test("refunds the deposit when the sponsor can no longer pay in full", async () => {
  const payer = await aPayingKey(world, 1);
  const agreed = await requestQuote(sponsored, payer);
  const sponsoredAmount = agreed.terms.sponsorship?.amount ?? 0n;
  await payer.spend(1_000_000n - sponsoredAmount + 1n);
  await depositAndFill(agreed);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "SPONSOR_BALANCE_TOO_LOW",
  });
  expect(await receivedAmount(agreed)).toBe(0n);
  expect(await lineOf(payer.wallet)).toEqual({ balance: sponsoredAmount - 1n, pending: 0n });
});

test("a sponsor pays despite holds, and one fill's reservation never pays for another fill", async () => {
  const payer = await aPayingKey(world, 1);
  const [first, second] = [await requestQuote(sponsored, payer), await requestQuote(sponsored, payer)];
  const sponsoredAmount = first.terms.sponsorship?.amount ?? 0n;
  await payer.spend(1_000_000n - 2n * sponsoredAmount + 1n);
  for (const agreed of [first, second]) await depositAndFill(agreed);
  const outcomes = [await world.untilFinal(first.requestId), await world.untilFinal(second.requestId)];
  expect(outcomes.map(({ status }) => status)).toEqual(["success", "refund"]);
  expect(await receivedAmount(first)).toBe(100_000_000n);
  expect(await lineOf(payer.wallet)).toEqual({ balance: sponsoredAmount - 1n, pending: 0n });
});

test("held funds never sponsor app fees, neither in the quote nor in the fill", async () => {
  const payer = await aPayingKey(world, 1_000);
  const app = world.anAddress();
  const ask = { ...sponsored, appFees: [{ recipient: app, fee: 5_000 }] };
  const agreed = await requestQuote(ask, payer);
  // After the quote, a fast fill holds 990 of the 1,000 USDC.
  const front = await requestQuote({ amount: "990000000" }, payer);
  await payer.fastFill(front);
  await expect(requestQuote(ask, payer)).rejects.toMatchObject({
    code: "INSUFFICIENT_FUNDS",
    message: expect.stringContaining("not held for fast fills") as string,
  });
  await depositAndFill(agreed);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "SPONSOR_BALANCE_TOO_LOW",
  });
  expect(await lineOf(app)).toEqual({ balance: 0n, pending: 0n });
  expect(await lineOf(payer.wallet)).toEqual({ balance: 1_000_000_000n, pending: 0n });
  // The sponsor still pays gas and the service's fee.
  const withoutAppFees = await requestQuote(sponsored, payer);
  await depositAndFill(withoutAppFees);
  expect((await world.untilFinal(withoutAppFees.requestId)).status).toBe("success");
});

test("a volatile balance pays neither app fees nor a fixed rate, neither in the quote nor in the fill", async () => {
  const payer = await aPayingKey(world, 100);
  const app = world.anAddress();
  const ask = { ...sponsored, appFees: [{ recipient: app, fee: 5_000 }] };
  const rate = { ...sponsored, fixedRate: "1:1.02" };
  const quotes = [await requestQuote(ask, payer), await requestQuote(rate, payer)];
  // After the quotes, the wallet has only native tokens, whose price is volatile.
  await payer.spend(100_000_000n);
  await topUpNative(payer, ETHER);
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 30 });
  onTestFinished(() => world.prices.trust("ethereum", undefined));
  for (const feeAsk of [ask, rate])
    await expect(requestQuote(feeAsk, payer)).rejects.toMatchObject({
      code: "INSUFFICIENT_FUNDS",
      message: expect.stringMatching(/has \$0\.0+ in stablecoins \(USDC/) as string,
    });
  for (const agreed of quotes) {
    await depositAndFill(agreed);
    expect(await world.untilFinal(agreed.requestId)).toMatchObject({
      status: "refund",
      failReason: "SPONSOR_BALANCE_TOO_LOW",
    });
    expect(await receivedAmount(agreed)).toBe(0n);
  }
  expect(await lineOf(app)).toEqual({ balance: 0n, pending: 0n });
  expect(await lineOf(payer.wallet, NATIVE_CURRENCY)).toEqual({ balance: ETHER, pending: 0n });
  // The sponsor still pays gas and the service's fee.
  const withoutAppFees = await requestQuote(sponsored, payer);
  await depositAndFill(withoutAppFees);
  expect((await world.untilFinal(withoutAppFees.requestId)).status).toBe("success");
  expect((await lineOf(payer.wallet, NATIVE_CURRENCY)).balance).toBeLessThan(ETHER);
});

test("pays app fees from the balance's stablecoins and the remaining service fees from its other currencies", async () => {
  const payer = await aPayingKey(world, 50);
  const app = world.anAddress();
  const ask = { ...sponsored, appFees: [{ recipient: app, fee: 5_000 }] };
  await topUpNative(payer, ETHER);
  const agreed = await requestQuote(ask, payer);
  await depositAndFill(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await receivedAmount(agreed)).toBe(100_000_000n);
  expect((await lineOf(app)).balance).toBe(50_000_000n);
  expect(await lineOf(payer.wallet)).toEqual({ balance: 0n, pending: 0n });
  const { balance, pending } = await lineOf(payer.wallet, NATIVE_CURRENCY);
  expect(pending).toBe(0n);
  // At $2,500: the sponsorship beyond the app's fee, exact to the base unit.
  const restUsd = (agreed.terms.sponsorship?.usd ?? 0n) - 50n * 10n ** 18n;
  expect(ETHER - balance).toBe((restUsd + 2_499n) / 2_500n);
});

test("held funds never subsidize a fixed rate, neither in the quote nor in the fill", async () => {
  const payer = await aPayingKey(world, 1_000);
  const ask = { ...sponsored, amount: "700000000", fixedRate: "1:1.02" };
  const agreed = await requestQuote(ask, payer);
  // After the quote, a fast fill holds 990 of the 1,000 USDC.
  const front = await requestQuote({ amount: "990000000" }, payer);
  await payer.fastFill(front);
  await expect(requestQuote(ask, payer)).rejects.toMatchObject({
    code: "INSUFFICIENT_FUNDS",
    message: expect.stringContaining("not held for fast fills") as string,
  });
  await depositAndFill(agreed);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "SPONSOR_BALANCE_TOO_LOW",
  });
  expect(await receivedAmount(agreed)).toBe(0n);
  expect(await lineOf(payer.wallet)).toEqual({ balance: 1_000_000_000n, pending: 0n });
});

test.each([
  { change: "is listed again", end: { status: "success" } },
  { change: "stays removed", end: { status: "refund", failReason: "SPONSOR_BALANCE_TOO_LOW" } },
])(
  "a fill waits while its sponsor owes a currency that was removed from the list, and ends as $end.status if the currency $change",
  async ({ change, end }) => {
    const { services, origin } = world;
    const payer = await aPayingKey(world, 10);
    const agreed = await requestQuote(sponsored, payer);
    const asset = { chainId: origin.chain.id, currency: NATIVE_CURRENCY };
    const movementKey = `reversed:${agreed.requestId}`;
    const debt = { wallet: payer.wallet, asset, amount: 1_000n, movementKey };
    await services.uow.run(async (tx) => await reverseTopUp(services, tx, debt));
    const currencies = services.appBalance.currencies.filter(({ address }) => address !== NATIVE_CURRENCY);
    const shortened = { ...services, appBalance: { ...services.appBalance, currencies } };
    await world.pay(agreed);
    await origin.mine();
    await world.watch(origin, shortened);
    await world.work(shortened);
    expect(world.events.of("fill_waits").at(-1)?.facts).toMatchObject({
      requestId: agreed.requestId,
      why: expect.stringContaining("owes 1000 base units") as string,
    });
    expect(await lineOf(payer.wallet)).toEqual({ balance: 10_000_000n, pending: 0n });
    if (change === "stays removed") {
      world.clock.forward(services.enginePolicy.inventoryWaitMs + 1);
      await reconcileRequests(shortened);
      await world.work(shortened);
    }
    expect(await world.untilFinal(agreed.requestId)).toMatchObject(end);
    expect(await receivedAmount(agreed)).toBe(change === "is listed again" ? 100_000_000n : 0n);
  },
);

test("concurrent fills together stay within the key's daily budget", async () => {
  const probe = await requestQuote(sponsored, await aPayingKey(world, 1));
  const usd = probe.terms.sponsorship?.usd ?? 0n;
  const payer = await aPayingKey(world, 10, { dailyUsd: usd + usd / 2n });
  const [first, second] = [await requestQuote(sponsored, payer), await requestQuote(sponsored, payer)];
  for (const agreed of [first, second]) await depositAndFill(agreed);
  expect((await world.untilFinal(first.requestId)).status).toBe("success");
  expect(await world.untilFinal(second.requestId)).toMatchObject({
    status: "refund",
    failReason: "SPONSOR_BALANCE_TOO_LOW",
  });
  // The next quote takes the spending into account.
  await expect(requestQuote(sponsored, payer)).rejects.toMatchObject({
    facts: { data: { rule: "dailyUsd" } },
  });
});

test("does not charge the app of an API key that was revoked after the quote", async () => {
  const payer = await aPayingKey(world, 10);
  const agreed = await requestQuote(sponsored, payer);
  await world.pool.query("update api_keys set revoked_at_ms = 1 where id = $1", [payer.key.id]);
  await depositAndFill(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("refund");
  expect(await lineOf(payer.wallet)).toEqual({ balance: 10_000_000n, pending: 0n });
});

test("a sponsored output type is paid to the unit, and app fees in the native token are credited at the quote's prices", async () => {
  const payer = await aPayingKey(world, 10);
  const app = world.anAddress();
  const ask = {
    ...sponsored,
    tradeType: "EXACT_OUTPUT" as const,
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: NATIVE_CURRENCY,
    amount: "20000000000000000",
    appFees: [{ recipient: app, fee: 100 }],
  };
  const agreed = await requestQuote(ask, payer);
  expect(agreed.terms.origin.amount).toBe(20_000_000_000_000_000n);
  await depositAndFill(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await receivedAmount(agreed)).toBe(20_000_000_000_000_000n);
  // One percent of 0.02 ETH at $2,500.
  expect((await lineOf(app)).balance).toBe(500_000n);
});

test.each([
  ["no", () => world.prices.set("ethereum", undefined)],
  ["a disputed", () => world.prices.trust("ethereum", unreliable.disputed)],
  ["a stale", () => world.prices.trust("ethereum", unreliable["too old"])],
])(
  "credits a fee at no more than its current value minus the spread, and waits while there is %s price",
  async (_, doubt) => {
    const app = world.anAddress();
    const ask = {
      originCurrency: NATIVE_CURRENCY,
      destinationCurrency: NATIVE_CURRENCY,
      amount: "40000000000000000",
      appFees: [{ recipient: app, fee: 100 }],
    };
    const agreed = await requestQuote(ask);
    expect(agreed.terms.appFees?.fees[0]?.amount).toBe(1_000_000n);
    await depositAndFill(agreed);
    await world.destination.mine();
    await world.watch(world.destination);
    doubt();
    await world.destination.mine(2);
    await world.watch(world.destination);
    expect((await world.status(agreed.requestId)).final).toBe(true);
    await world.work();
    expect((await lineOf(app)).balance).toBe(0n);
    world.prices.set("ethereum", "2000");
    // 2 x 25 bps x sqrt(1 minute).
    world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 25 });
    for (const _again of [1, 2]) await world.work();
    world.prices.set("ethereum", "2500");
    world.prices.trust("ethereum", undefined);
    expect((await lineOf(app)).balance).toBe(796_000n);
  },
);

test("an app fee without a price is credited once, later, even if the queue lost its job", async () => {
  const app = world.anAddress();
  const ask = {
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: NATIVE_CURRENCY,
    amount: "40000000000000000",
    appFees: [{ recipient: app, fee: 100 }],
  };
  const agreed = await requestQuote(ask);
  await depositAndFill(agreed);
  world.prices.set("ethereum", undefined);
  for (const blocks of [1, 2]) {
    await world.destination.mine(blocks);
    await world.watch(world.destination);
  }
  expect((await world.status(agreed.requestId)).final).toBe(true);
  // Simulates that Redis lost the jobs, which are marked as published.
  await world.pool.query("update outbox set published_at_ms = 1 where published_at_ms is null");
  const feesDue = async () => (await world.pool.query("select request_id from app_fees_due")).rows;
  expect(await feesDue()).toEqual([{ request_id: agreed.requestId }]);

  for (const price of [undefined, "2500", "2500"]) {
    world.prices.set("ethereum", price);
    world.clock.forward(world.services.enginePolicy.overdueAfterMs + 1);
    await reconcileRequests(world.services);
    await world.work();
    const [balance, dueCount] = price === undefined ? [0n, 1] : [1_000_000n, 0];
    expect((await lineOf(app)).balance).toBe(balance);
    expect(await feesDue()).toHaveLength(dueCount);
  }
});

test("a fixed rate is paid exactly, and the sponsor is charged its cost at the fill", async () => {
  const payer = await aPayingKey(world, 10);
  const agreed = await requestQuote({ ...sponsored, fixedRate: "1:1.001" }, payer);
  // The sponsor also pays the increase of the destination's gas cost since the quote.
  const quotedUsd = agreed.terms.sponsorship?.usd ?? 0n;
  world.prices.set("ethereum", "2600");
  await depositAndFill(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  world.prices.set("ethereum", "2500");
  expect(await receivedAmount(agreed)).toBe(100_100_000n);
  const { balance, pending } = await lineOf(payer.wallet);
  expect(pending).toBe(0n);
  expect((10_000_000n - balance) * 10n ** 12n).toBeGreaterThan(quotedUsd);
});

test("pays the gas top-up and the output in one transaction that oracles count as both payments", async () => {
  const { destination, solver, usdc } = world;
  await destination.send(solver, approveCall(usdc, destination.chain.contracts.approvalProxy, 2n ** 255n));
  await destination.mine();
  await world.watch(destination);
  await openLane(world.services, destination.connected);
  const agreed = await requestQuote({ topupGas: true, topupGasAmount: "1000000" });
  await depositAndFill(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  const { recipient, destination: promised } = agreed.terms;
  expect(await receivedAmount(agreed)).toBe(promised.expectedAmount);
  // One dollar of ETH at $2,500.
  expect(await destination.balance(recipient, NATIVE_CURRENCY)).toBe(4n * 10n ** 14n);
  const [payment, ...others] = await world.paymentsOf(agreed, destination);
  expect(others).toEqual([]);
  expect(await judgeFill(world, agreed, payment?.hash ?? "0x")).toEqual({
    amounts: [promised.expectedAmount, 4n * 10n ** 14n],
  });
});

test("a gas top-up waits while the native token's price is disputed", async () => {
  const agreed = await requestQuote({ topupGas: true, topupGasAmount: "90000000" });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  world.prices.trust("ethereum", unreliable.disputed);
  await expect(world.work()).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  world.prices.trust("ethereum", undefined);
  await world.work();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
});

test("gas top-ups count against the limit per minute on exposure to the native token's price", async () => {
  const { enginePolicy } = world.services;
  const bounded = { ...world.services, enginePolicy: { ...enginePolicy, maxPriceExposureUsd: 150 } };
  const requests: QuotedRequest[] = [];
  for (let n = 0; n < 2; n++) {
    const request = await requestQuote({ topupGas: true, topupGasAmount: "90000000" });
    await world.pay(request);
    requests.push(request);
  }
  await world.origin.mine();
  await world.watch(world.origin);
  // The clock moves to the start of a minute, so that both fills are in the same minute.
  world.clock.forward(60_000 - (world.clock.nowMs() % 60_000));
  await world.work(bounded);
  const stateOf = async ({ requestId }: QuotedRequest) => (await world.request(requestId)).state.name;
  expect((await Promise.all(requests.map(stateOf))).sort()).toEqual(["fillable", "submitted"]);
  world.clock.forward(60_000);
  await world.work(bounded);
  expect(await Promise.all(requests.map(stateOf))).toEqual(["submitted", "submitted"]);
  for (const { requestId } of requests) expect((await world.untilFinal(requestId)).status).toBe("success");
});

test("the deposit pays for a gas top-up whose native token rose by more than the pair's fee", async () => {
  const ask = { topupGas: true, topupGasAmount: "20000000" };
  const [withinFee, repriced, exact] = [
    await requestQuote(ask),
    await requestQuote({ ...ask, slippageTolerance: "1000" }),
    await requestQuote({ ...ask, tradeType: "EXACT_OUTPUT", amount: "50000000" }),
  ];
  // 4 bps more. The pair's fee is 6 bps.
  world.prices.set("ethereum", "2501");
  await depositAndFill(withinFee);
  expect((await world.untilFinal(withinFee.requestId)).status).toBe("success");
  expect(await receivedAmount(withinFee)).toBe(withinFee.terms.destination.expectedAmount);

  // 2.8% more.
  world.prices.set("ethereum", "2570");
  await depositAndFill(repriced);
  expect((await world.untilFinal(repriced.requestId)).status).toBe("success");
  expect(repriced.terms.destination.expectedAmount - (await receivedAmount(repriced))).toBeGreaterThanOrEqual(
    560_000n,
  );
  await depositAndFill(exact);
  expect(await world.untilFinal(exact.requestId)).toMatchObject({ status: "refund", failReason: "SLIPPAGE" });
  world.prices.set("ethereum", "2500");
});

test("refuses to fast fill a request with app fees or a sponsor", async () => {
  const payer = await aPayingKey(world, 1_000);
  for (const ask of [sponsored, { appFees: [{ recipient: world.anAddress(), fee: 1 }] }]) {
    const agreed = await requestQuote(ask, payer);
    await expect(payer.fastFill(agreed)).rejects.toMatchObject({ facts: { data: { rule: "othersShare" } } });
  }
});
