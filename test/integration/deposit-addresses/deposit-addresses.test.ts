import { sweepLeg } from "../../../apps/api/src/payments/legs/sweep-leg.ts";
import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { hexAddressFormat } from "../../fakes/hex-address-format.ts";
import { depositAddressFactoryAbi, returnsNothingAbi, returnsNothingBytecode } from "@causeway/contracts";
import { cloneCodeHash, NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Currency } from "@causeway/domain";
import { depositAddressAnswer } from "@causeway/wire";
import type { QuoteInput } from "@causeway/wire";
import { randomUUID } from "node:crypto";
import { encodeFunctionData, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresRequestHistory } from "../../../apps/api/src/requests/history/request-history.postgres.ts";
import { webhookQueue } from "../../../apps/api/src/push/webhook-queue.postgres.ts";
import { addressReport } from "../../../apps/api/src/deposits/addresses/deposit-address-report.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { AnyConnectedChain } from "../../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import type { TokenBook } from "../../../apps/api/src/markets/tokens/token-book.port.ts";
import { createAddressWatch } from "../../../apps/api/src/deposits/addresses/address-watch.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { pauseStore } from "../../../apps/api/src/payments/policy/policy.postgres.ts";
import { scanAddresses } from "../../../apps/api/src/deposits/addresses/watch-balances.ts";
import { lookUpAddress } from "../../../apps/api/src/deposits/addresses/look-up-address.ts";
import { reindexAddress } from "../../../apps/api/src/deposits/addresses/reindex-address.ts";
import { requestTrace } from "../../../apps/api/src/requests/history/request-trace.ts";
import { statusView } from "../../../apps/api/src/requests/request-status.ts";
import { startAddressWorld, type AddressWorld } from "../../support/address-world.ts";
import { aSponsor } from "../../support/sponsors.ts";
import type { TestChain } from "../../support/test-chain.ts";

// Users who can only make plain transfers pay to deposit addresses. Each payment is filled or refunded, or
// stays visible.

let world: AddressWorld;

beforeAll(async () => {
  world = await startAddressWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => await world.stop());

const usd = (dollars: number): bigint => BigInt(Math.round(dollars * 1e6));

test("a quoted deposit address is the one that the factory derives from the order, and the quote's only step is a plain transfer", async () => {
  const { origin, usdc } = world;
  const factory = origin.chain.contracts.depositAddressFactory as Address;
  const { answer, terms, at } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  const read = { abi: depositAddressFactoryAbi, address: factory } as const;
  expect(await origin.client.readContract({ ...read, functionName: "initCodeHash" })).toBe(
    cloneCodeHash(factory),
  );
  const key = { id: terms.orderId, depositor: terms.user, recovery: NATIVE_CURRENCY, strict: true };
  const derived = await origin.client.readContract({ ...read, functionName: "addressOf", args: [key] });
  expect(derived.toLowerCase()).toBe(at);
  expect(answer.steps).toHaveLength(1);
  expect(answer.steps[0]).toMatchObject({ id: "deposit", depositAddress: at });
  expect(answer.steps[0]?.items[0]?.data).toMatchObject({ to: at, data: "0x", value: "0" });
  expect(answer.details.currencyIn).toMatchObject({ amount: "100000000", currency: { address: usdc } });

  const native = await world.quoteAddress({ originCurrency: NATIVE_CURRENCY, amount: "40000000000000000" });
  expect(native.answer.steps[0]?.items[0]?.data).toMatchObject({ data: "0x", value: "40000000000000000" });
});

test("fills three payments of other amounts to an open address: the first under the quote, and each later one under a new request", async () => {
  const { destination, origin, usdc } = world;
  const { at, terms } = await world.quoteAddress();
  const { recipient } = terms;
  await world.sendTo(at, terms.origin.amount);
  expect(await world.untilSettled(at, 1)).toEqual([terms.requestId]);
  expect(await destination.balance(recipient, usdc)).toBe(terms.destination.expectedAmount);

  await world.sendTo(at, usd(37));
  const [, second] = await world.untilSettled(at, 2);
  await world.sendTo(at, usd(2_500));
  const [, , third] = await world.untilSettled(at, 3);
  expect(new Set([terms.requestId, second, third]).size).toBe(3);
  for (const [id, amount] of [
    [second, usd(37)],
    [third, usd(2_500)],
  ] as const) {
    if (id === undefined) throw new Error("an amount has no request");
    const record = await world.request(id);
    expect(record.terms.origin.amount).toBe(amount);
    expect(record.terms.depositAddress?.address).toBe(at);
    expect(await world.status(id)).toMatchObject({ status: "success", fundsAt: "recipient" });
    expect((await world.depositsOf(id)).map((deposit) => deposit.amount)).toEqual([amount]);
  }
  const [a, b, c] = await Promise.all(
    [terms.requestId, second, third].map(
      async (id) => (await world.request(id as `0x${string}`)).terms.destination,
    ),
  );
  const expected = (a?.expectedAmount ?? 0n) + (b?.expectedAmount ?? 0n) + (c?.expectedAmount ?? 0n);
  expect(await destination.balance(recipient, usdc)).toBe(expected);
  expect(await origin.balance(at, usdc)).toBe(0n);
});

test("a second payment of the quoted amount during the firm quote belongs to another request", async () => {
  const { destination, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress();
  await world.sendTo(at, terms.origin.amount);
  await world.round();
  await world.sendTo(at, terms.origin.amount);
  for (let n = 0; n < 2; n++) await world.round();
  expect(world.clock.nowMs()).toBeLessThan(terms.firmUntilMs);
  expect(await world.sweepsFrom(at)).toHaveLength(2);
  const [first, second] = await world.untilSettled(at, 2);
  expect(first).toBe(requestId);
  expect(second).not.toBe(requestId);
  const secondOutput = (await world.request(second ?? "0x")).terms.destination.expectedAmount;
  expect(await destination.balance(terms.recipient, usdc)).toBe(
    terms.destination.expectedAmount + secondOutput,
  );
});

test("funds stay at a deposit address until they have the confirmations that a deposit of their value needs", async () => {
  const { origin } = world;
  const { at } = await world.quoteAddress();
  await world.sendTo(at, usd(2_500));
  await origin.mine();
  await world.watch(origin);
  expect(await world.sweepsFrom(at)).toEqual([]);
  expect(await world.reads.fundsAt(at)).toMatchObject([{ amount: usd(2_500), held: undefined }]);
  await origin.mine();
  await world.watch(origin);
  expect((await world.sweepsFrom(at)).map(({ amount }) => amount)).toEqual([usd(2_500)]);
});

/** Advances the clock and the chains' blocks together. */
async function advance(ms: number): Promise<void> {
  world.clock.forward(ms);
  for (const { client } of [world.origin, world.destination]) {
    const { timestamp } = await client.getBlock();
    const now = BigInt(Math.ceil(world.clock.nowMs() / 1000));
    await client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n });
  }
  await world.round();
}

const waitingAtAddress = {
  status: "depositing",
  fundsAt: "depositAddress",
  nextAction: "wait_for_confirmations",
} as const;

test("every endpoint shows funds at a deposit address once they are seen, and a timely payment is filled even if gas is missing for long", async () => {
  const { origin, destination, usdc, services, pool } = world;
  const operator = services.depositAddressOperator?.address ?? "0x";
  const balanceBefore = await origin.balance(operator, NATIVE_CURRENCY);
  await origin.client.setBalance({ address: operator, value: 0n });
  const keyId = randomUUID();
  await pool.query(
    `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
     values ($1, 'test', convert_to($1, 'utf8'), '{read}', '{}', '{}', '{}', 0, 0)`,
    [keyId],
  );
  await pool.query(
    `insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms)
     values ($1, $1, 'https://a.test', '', '{}', 's', 0, 0)`,
    [keyId],
  );
  const unpaid = await world.quoteAddress({ ttl: 600 });
  const { at, requestId, terms } = await world.quoteAddress(
    { ttl: 600, strict: true, refundTo: world.anAddress() },
    keyId,
  );
  await world.sendTo(at, usd(100));
  await origin.mine();
  await world.watch(origin);
  expect(await world.status(requestId)).toMatchObject(waitingAtAddress);
  for (let n = 0; n < 3; n++) await world.round();
  // The sweep is planned, but cannot be sent without gas.
  expect(await world.sweepsFrom(at)).toMatchObject([{ state: "planned" }]);
  expect(await world.status(requestId)).toMatchObject(waitingAtAddress);
  const lookup = await lookUpAddress(world.watching(), { address: at }, undefined);
  expect(lookup?.funds).toMatchObject([{ currency: usdc, amount: "100000000", heldReason: null, requestId }]);
  const listed = await pool.query("select status from request_history where request_id = $1", [requestId]);
  expect(listed.rows).toEqual([{ status: "depositing" }]);
  const history = postgresRequestHistory(sqlOn(pool));
  const trace = await requestTrace({ history, chains: services.chains }, requestId);
  expect(trace).toMatchObject({ status: "depositing", fundsAt: "depositAddress" });
  const deliveries = await webhookQueue(sqlOn(pool)).claim({
    nowMs: world.clock.nowMs(),
    leaseMs: 1,
    perEndpoint: 10,
    perKey: 10,
    limit: 10,
  });
  expect(
    deliveries.map(({ change }) => [
      change.record.requestId,
      statusView(change.record, world.clock.nowMs(), hexAddressFormat).status,
    ]),
  ).toEqual([[requestId, "depositing"]]);

  for (let n = 0; n < 8; n++) await advance(600_000);
  expect(await world.status(unpaid.requestId)).toMatchObject({ status: "failure", fundsAt: "user" });
  expect(await world.status(requestId)).toMatchObject(waitingAtAddress);
  expect(await origin.balance(at, usdc)).toBe(usd(100));

  await origin.client.setBalance({ address: operator, value: balanceBefore });
  await world.untilSettled(at, 1);
  expect(await world.status(requestId)).toMatchObject({ status: "success", fundsAt: "recipient" });
  expect(await destination.balance(terms.recipient, usdc)).toBe(terms.destination.expectedAmount);
  const ended = await pool.query("select status from request_history where request_id = $1", [requestId]);
  expect(ended.rows).toEqual([{ status: "success" }]);
});

test("shows a late payment to a strict address, and refunds it under its request", async () => {
  const { origin, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress({
    ttl: 60,
    strict: true,
    refundTo: world.anAddress(),
  });
  for (let n = 0; n < 3; n++) await advance(300_000);
  expect(await world.status(requestId)).toMatchObject({
    status: "failure",
    fundsAt: "user",
    nextAction: "quote_again",
  });
  await world.sendTo(at, usd(100));
  await origin.mine();
  await world.watch(origin);
  expect(await world.status(requestId)).toMatchObject({ status: "failure", fundsAt: "depositAddress" });
  expect(await world.untilSettled(at, 1)).toEqual([requestId]);
  expect(await world.status(requestId)).toMatchObject({ status: "refund", failReason: "TTL_EXPIRED" });
  expect(await origin.balance(terms.refundTo, usdc)).toBeGreaterThan(usd(99));
});

test("an expired request shows the outcome of a later payment to its open address", async () => {
  const { origin, destination, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress({ ttl: 60 });
  for (let n = 0; n < 3; n++) await advance(300_000);
  expect((await world.status(requestId)).status).toBe("failure");
  await world.sendTo(at, usd(100));
  await origin.mine();
  await world.watch(origin);
  const [successor] = await world.untilSettled(at, 1);
  expect(successor).not.toBe(requestId);
  expect(await world.status(requestId)).toMatchObject({
    status: "success",
    supersededByRequestId: successor,
  });
  const { expectedAmount } = (await world.request(successor ?? "0x")).terms.destination;
  expect(await destination.balance(terms.recipient, usdc)).toBe(expectedAmount);
});

test("dust in every block for an hour does not delay a payment: it is swept with the confirmations for its value, and the dust stays", async () => {
  const { origin, usdc } = world;
  const { at, requestId } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  const { connection } = origin.connected;
  const first = (await origin.announce()).number;
  const addresses = (await world.reads.active(0, 10_000)).filter(({ address }) => address === at);
  let balance = 0n;
  const connectedWithDust = {
    ...origin.connected,
    chain: {
      ...origin.chain,
      confirmationTiers: [
        { belowUsd: parseEther("1"), confirmations: 1 },
        { belowUsd: undefined, confirmations: 24 },
      ],
    },
    connection: {
      ...connection,
      reader: {
        ...connection.reader,
        accountBalances: async (accounts: readonly Address[], currencies: readonly Address[]) =>
          accounts.flatMap((account) =>
            currencies.map((currency) => ({ account, currency, amount: currency === usdc ? balance : 0n })),
          ),
      },
    },
  };
  const alarms = world.events.of("funds_held").length;
  const PAYMENT_BLOCK = 10;
  const watching = world.watching();
  let sweptInBlock: number | undefined;
  for (let block = 1; block <= 120; block++) {
    world.clock.forward(30_000);
    balance += block === PAYMENT_BLOCK ? usd(100) : 1n;
    const look = { addresses, currencies: [usdc], atBlock: first + BigInt(block) };
    await scanAddresses(watching, connectedWithDust, look);
    sweptInBlock ??= (await world.sweepsFrom(at)).length > 0 ? block : undefined;
  }
  expect(sweptInBlock).toBe(PAYMENT_BLOCK + 23);
  expect(await world.sweepsFrom(at)).toMatchObject([{ requestId, amount: usd(100), excess: 0n }]);
  const [dust] = await world.reads.fundsAt(at);
  expect(dust?.amount).toBe(119n);
  expect(dust?.layers.length).toBeLessThanOrEqual(8);
  expect(world.events.of("funds_held").length - alarms).toBeLessThanOrEqual(1);
  // The test simulated the balance, so there is nothing to sweep.
  await world.pool.query("update deposit_sweeps set state = 'void' where address = $1", [at]);
});

test("refunds less than the quoted amount at a strict address to refundTo, minus gas", async () => {
  const { origin, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(at, usd(60));
  expect(await world.untilSettled(at, 1)).toEqual([requestId]);
  expect(await world.status(requestId)).toMatchObject({
    status: "refund",
    failReason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
    fundsAt: "refunded",
  });
  const refund = await origin.balance(terms.refundTo, usdc);
  expect(refund).toBeLessThan(usd(60));
  expect(refund).toBeGreaterThan(usd(59));
  expect(await world.destination.balance(terms.recipient, usdc)).toBe(0n);
});

test("fills the quoted amount at a strict address and refunds the excess, from one sweep", async () => {
  const { origin, destination, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(at, usd(130));
  await world.untilSettled(at, 1);
  await world.round();
  expect(await world.status(requestId)).toMatchObject({ status: "success" });
  expect(await destination.balance(terms.recipient, usdc)).toBe(terms.destination.expectedAmount);
  const deposits = await world.depositsOf(requestId);
  expect(deposits.map(({ amount, disposition }) => [amount, disposition])).toEqual([
    [usd(100), "accepted"],
    [usd(30), "refund"],
  ]);
  expect(new Set(deposits.map(({ txHash }) => txHash)).size).toBe(1);
  for (let n = 0; n < 5; n++) await world.round();
  const refund = await origin.balance(terms.refundTo, usdc);
  expect(refund).toBeLessThan(usd(30));
  expect(refund).toBeGreaterThan(usd(29));
});

test("a sweep that only refunds pays its own gas; an excess swept with the quoted amount does not", async () => {
  const { origin, usdc } = world;
  const costOf = async (
    sent: number,
    refundable: number,
    changes: Partial<QuoteInput> = {},
  ): Promise<bigint> => {
    const { at, terms } = await world.quoteAddress({ strict: true, refundTo: world.anAddress(), ...changes });
    await world.sendTo(at, usd(sent));
    await world.untilSettled(at, 1);
    for (let n = 0; n < 5; n++) await world.round();
    return usd(refundable) - (await origin.balance(terms.refundTo, usdc));
  };
  const [alone, withQuoted] = [await costOf(30, 30), await costOf(130, 30)];
  expect(withQuoted).toBeGreaterThan(0n);
  expect(alone).toBeGreaterThan(withQuoted * 2n);
  // The quoted amount also pays its own gas if only its refund was ever planned.
  const forced = await costOf(100, 100, { referrer: "debug-force-refund" });
  expect(forced).toBeGreaterThan(withQuoted * 2n);
});

test("holds dust at an open address without a request to a rate-limited destination", async () => {
  const { chains } = world.services;
  const priced: string[] = [];
  const rateLimited: WorkerServices = {
    ...world.services,
    chains: {
      ...chains,
      get(chainId) {
        const connected = chains.get(chainId);
        if (chainId !== world.destination.chain.id || connected === undefined) return connected;
        const costOfPaying: NonNullable<AnyConnectedChain["costOfPaying"]> = async (_, account) => {
          priced.push(account);
          throw new Error("unreachable");
        };
        return { ...connected, isRateLimited: true, costOfPaying } as typeof connected;
      },
    },
  };
  const dust = await world.quoteAddress();
  await world.sendTo(dust.at, 1n);
  const enough = await world.quoteAddress();
  await world.sendTo(enough.at, usd(50));
  for (let n = 0; n < 5; n++) await world.origin.mine();
  await world.scan(world.origin);
  await world.scanAddresses(world.origin, rateLimited);
  expect(priced).toContain(enough.terms.recipient);
  expect(priced).not.toContain(dust.terms.recipient);
  expect(await world.reads.fundsAt(dust.at)).toMatchObject([{ amount: 1n, held: "AMOUNT_TOO_LOW" }]);
});

test("an excess below its own refund cost stays at the strict address, and the quote is filled", async () => {
  const { origin, destination, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(at, usd(100) + 1n);
  await world.untilSettled(at, 1);
  expect(await destination.balance(terms.recipient, usdc)).toBe(terms.destination.expectedAmount);
  await world.round();
  expect(await origin.balance(at, usdc)).toBe(1n);
  expect(await world.reads.fundsAt(at)).toMatchObject([{ amount: 1n, held: "AMOUNT_TOO_LOW" }]);
  expect((await world.status(requestId)).status).toBe("success");
});

test("refunds another token at a strict address, and the quoted token on another chain, in place and in kind", async () => {
  const { origin, destination, tst, usdc } = world;
  const wrongToken = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(wrongToken.at, parseEther("100"), { currency: tst });
  const wrongChain = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(wrongChain.at, usd(100), { chain: destination });
  await world.untilSettled(wrongToken.at, 1);
  await world.untilSettled(wrongChain.at, 1);
  expect(await world.status(wrongToken.requestId)).toMatchObject({
    status: "refund",
    failReason: "INCORRECT_DEPOSIT_CURRENCY",
  });
  expect(await origin.balance(wrongToken.terms.refundTo, tst)).toBeGreaterThan(parseEther("98"));
  expect(await world.status(wrongChain.requestId)).toMatchObject({
    status: "refund",
    failReason: "DEPOSIT_CHAIN_MISMATCH",
  });
  expect(await destination.balance(wrongChain.terms.refundTo, usdc)).toBeGreaterThan(usd(99));
});

test("another token at an open address, and native tokens, get their own quotes and are filled", async () => {
  const { destination, tst, usdc } = world;
  const { at, terms } = await world.quoteAddress();
  await world.sendTo(at, parseEther("100"), { currency: tst });
  await world.sendTo(at, parseEther("0.02"), { currency: NATIVE_CURRENCY });
  const ids = await world.untilSettled(at, 2);
  const records = await Promise.all(ids.map(async (id) => await world.request(id)));
  expect(records.map(({ state }) => state.name)).toEqual(["filled", "filled"]);
  expect(new Set(records.map((record) => record.terms.origin.currency))).toEqual(
    new Set([tst, NATIVE_CURRENCY]),
  );
  const expected = records.reduce((sum, record) => sum + record.terms.destination.expectedAmount, 0n);
  expect(await destination.balance(terms.recipient, usdc)).toBe(expected);
});

test("the first request of an address shows the outcome of the request that replaced it", async () => {
  const { at, requestId } = await world.quoteAddress();
  await world.sendTo(at, usd(55));
  const [successor] = await world.untilSettled(at, 1);
  expect(successor).not.toBe(requestId);
  const { txHashes } = await world.status(successor ?? requestId);
  expect(await world.status(requestId)).toMatchObject({
    requestId,
    status: "success",
    supersededByRequestId: successor,
    txHashes,
    final: true,
  });
  // The request must not be reported as failed for a missing deposit.
  await world.pool.query("update requests set fill_deadline_ms = 1 where request_id = $1", [requestId]);
  await world.round();
  expect((await world.request(requestId)).state.name).toBe("quoted");
});

test.each([
  ["open", {}],
  ["strict", { strict: true }],
])(
  "refuses to fast fill a request with an %s deposit address until its sweep has a nonce, then pays once",
  async (_, changes) => {
    const { origin, destination, usdc } = world;
    const app = await aSponsor(world, 10_000);
    const { at, requestId, ...agreed } = await world.quoteAddress({
      amount: usd(2_500).toString(),
      refundTo: world.anAddress(),
      ...changes,
    });
    const fastFill = async () => await app.fastFill({ ...agreed, requestId });
    const notSwept = { code: "REQUEST_IN_PROGRESS", facts: { data: { rule: "depositAddressNotSwept" } } };
    await expect(fastFill(), "nothing was paid").rejects.toMatchObject(notSwept);
    await world.sendTo(at, usd(2_500));
    await origin.mine();
    await world.watch(origin);
    await expect(fastFill(), "the payment lacks confirmations").rejects.toMatchObject(notSwept);
    await origin.mine();
    await world.watch(origin);
    await expect(fastFill(), "the sweep has no nonce").rejects.toMatchObject(notSwept);
    await world.work();
    expect(await fastFill()).toBe("queued");
    await world.work();
    await destination.mine();
    await world.watch(destination);
    const { recipient, destination: output } = agreed.terms;
    expect(await destination.balance(recipient, usdc)).toBe(output.expectedAmount);
    expect(await app.holdState({ ...agreed, requestId })).toBe("active");
    expect(await world.untilSettled(at, 1)).toEqual([requestId]);
    for (let n = 0; n < 3; n++) await world.round();
    expect(await app.holdState({ ...agreed, requestId })).toBe("released");
    expect(await destination.balance(recipient, usdc)).toBe(output.expectedAmount);
    expect(await world.requestsOf(at)).toEqual([requestId]);
  },
);

test("a sweep that cannot become the agreed deposit does not allow a fast fill", async () => {
  const { origin } = world;
  const app = await aSponsor(world, 10_000);
  const agreed = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(agreed.at, usd(60));
  await origin.mine();
  await world.watch(origin);
  await world.work();
  expect(await world.sweepsFrom(agreed.at)).toMatchObject([{ state: "sent", requestId: agreed.requestId }]);
  await expect(app.fastFill(agreed)).rejects.toMatchObject({
    facts: { data: { rule: "depositAddressNotSwept" } },
  });
});

test("refuses to fast fill a superseded request and names its successor", async () => {
  const { origin, destination, usdc, services } = world;
  const app = await aSponsor(world, 10_000);
  const agreed = await world.quoteAddress();
  await world.sendTo(agreed.at, usd(55));
  await origin.mine();
  await world.watch(origin);
  const [, successor] = await world.requestsOf(agreed.at);
  if (successor === undefined) throw new Error("the 55 USDC have no request of their own");
  await expect(app.fastFill(agreed)).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    message: expect.stringContaining(successor) as string,
    facts: { data: { rule: "superseded", supersededByRequestId: successor } },
  });
  await world.work();
  const successorQuote = { ...agreed, requestId: successor, terms: (await world.request(successor)).terms };
  expect(await app.fastFill(successorQuote)).toBe("queued");
  await world.untilSettled(agreed.at, 1);
  expect(await destination.balance(agreed.terms.recipient, usdc)).toBe(
    successorQuote.terms.destination.expectedAmount,
  );

  const lateQuote = await world.quote({ recipient: world.anAddress() });
  const supersededMeanwhile = {
    ...services,
    uow: {
      run: async <T>(job: Parameters<typeof services.uow.run<T>>[0]): Promise<T> => {
        await services.uow.run((tx) => tx.depositAddresses.supersede(lateQuote.requestId, successor, 1));
        return await services.uow.run(job);
      },
    },
  };
  await expect(app.fastFill(lateQuote, {}, supersededMeanwhile)).rejects.toMatchObject({
    facts: { data: { rule: "superseded" } },
  });
});

test("funds that cannot be routed stay at an open address without refundTo and are reported, and its recovery address can withdraw them", async () => {
  const { origin, usdc } = world;
  const weth = origin.chain.liquidity?.wrappedNative as Address;
  const recovery = world.user;
  const { at, requestId, terms } = await world.quoteAddress({ recoveryAddress: recovery.address });
  await world.sendTo(at, 20n);
  await origin.client.setBalance({ address: world.stranger.address, value: parseEther("100") });
  await origin.send(world.stranger, { to: weth, data: "0xd0e30db0", value: parseEther("1") });
  await world.round();
  await world.sendTo(at, parseEther("1"), { currency: weth });
  for (let n = 0; n < 6; n++) await world.round();
  const held = await world.reads.fundsAt(at);
  expect(new Map(held.map((funds) => [funds.currency, funds.held]))).toEqual(
    new Map([
      [usdc, "AMOUNT_TOO_LOW"],
      [weth, "CURRENCY_NOT_HELD"],
    ]),
  );
  expect(await world.status(requestId)).toMatchObject({
    fundsAt: "depositAddress",
    nextAction: "contact_operator",
  });
  const reported = await addressReport(sqlOn(world.pool));
  expect(reported).toContainEqual(
    expect.objectContaining({ state: "held", reason: "CURRENCY_NOT_HELD", address: at, requestId }),
  );
  const key = { id: terms.orderId, depositor: terms.user, recovery: recovery.address, strict: false };
  const before = await origin.balance(recovery.address, weth);
  await origin.send(recovery, {
    to: origin.chain.contracts.depositAddressFactory as Address,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "recover", args: [key, weth] }),
  });
  await world.round();
  await world.round();
  expect((await origin.balance(recovery.address, weth)) - before).toBe(parseEther("1"));
  expect((await world.reads.fundsAt(at)).map(({ currency }) => currency)).toEqual([usdc]);
});

test("funds at an open address that cannot be routed are refunded to its refundTo, in a separate request", async () => {
  const { origin, usdc } = world;
  const refundTo = world.anAddress();
  const { at } = await world.quoteAddress({ refundTo, destinationCurrency: world.tst });
  // The payment exceeds the solver's balance of the output currency.
  await origin.fund(world.stranger.address, { tokens: 70_000_000n });
  await world.sendTo(at, usd(60_000_000));
  for (let n = 0; n < 6; n++) await world.round();
  expect(await world.sweepsFrom(at)).toEqual([]);
  // Inventory may still arrive, so the fill waits as long as any fill.
  world.clock.forward(world.services.enginePolicy.inventoryWaitMs);
  const [refund] = await world.untilSettled(at, 1);
  expect(await world.status(refund ?? "0x")).toMatchObject({ status: "refund", failReason: "NO_QUOTES" });
  expect(await origin.balance(refundTo, usdc)).toBeGreaterThan(usd(59_999_999));
});

test("funds without a refund address are reported to the operator instead of being sent to a placeholder", async () => {
  const dead: Address = "0x000000000000000000000000000000000000dead";
  const { at, requestId } = await world.quoteAddress({ user: dead, referrer: "debug-force-refund" });
  await world.sendTo(at, usd(100));
  await world.untilSettled(at, 1);
  expect(await world.status(requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
    fundsAt: "depository",
  });
  expect(await world.origin.balance(dead, world.usdc)).toBe(0n);
});

test("refunds to the sender if there is only one sender, and to no one if there are two", async () => {
  const { origin, usdc, user, stranger } = world;
  const strictOptions = { strict: true, refundTo: NATIVE_CURRENCY };
  const first = await world.quoteAddress(strictOptions);
  const before = await origin.balance(stranger.address, usdc);
  await world.sendTo(first.at, usd(60), { from: stranger });
  const [refund] = await world.untilSettled(first.at, 1);
  expect(await world.status(refund ?? "0x")).toMatchObject({ status: "refund" });
  expect(before - (await origin.balance(stranger.address, usdc))).toBeLessThan(usd(1));

  const native = await world.quoteAddress({
    ...strictOptions,
    originCurrency: NATIVE_CURRENCY,
    amount: parseEther("1").toString(),
  });
  const balanceBefore = await origin.balance(stranger.address, NATIVE_CURRENCY);
  await world.sendTo(native.at, parseEther("0.5"), { currency: NATIVE_CURRENCY, from: stranger });
  await world.untilSettled(native.at, 1);
  expect(balanceBefore - (await origin.balance(stranger.address, NATIVE_CURRENCY))).toBeLessThan(
    parseEther("0.01"),
  );

  const second = await world.quoteAddress(strictOptions);
  await world.sendTo(second.at, usd(30), { from: stranger });
  await world.sendTo(second.at, usd(30), { from: user });
  for (let n = 0; n < 4; n++) await world.round();
  expect(await world.reads.fundsAt(second.at)).toMatchObject([{ amount: usd(60), held: "SENDER_UNKNOWN" }]);
  // The quoted amount is still filled when it arrives.
  await world.sendTo(second.at, usd(40), { from: stranger });
  await world.untilSettled(second.at, 1);
  expect((await world.status(second.requestId)).status).toBe("success");
});

test("two workers that detect the same payment concurrently sweep it once, under one request", async () => {
  const { origin, usdc, destination } = world;
  const { at, terms } = await world.quoteAddress();
  await world.sendTo(at, usd(77));
  await origin.mine();
  const head = await origin.announce();
  const workers = Array.from({ length: 4 }, () => ({ ...world.services }));
  await Promise.all(
    workers.map(async (workerServices) => {
      const look = {
        addresses: await world.reads.active(0, 1_000),
        currencies: [usdc, NATIVE_CURRENCY],
        atBlock: head.number,
      };
      await scanAddresses(world.watching(workerServices), origin.connected, look);
    }),
  );
  const sweeps = await world.sweepsFrom(at);
  expect(sweeps.map(({ amount }) => amount)).toEqual([usd(77)]);
  expect(await world.requestsOf(at)).toHaveLength(2);
  // The other worker found the stored decision instead of violating the database's constraint.
  expect(world.events.of("deposit_address_fault")).toEqual([]);
  const [id] = await world.untilSettled(at, 1);
  expect(await world.sweepsFrom(at)).toHaveLength(1);
  const { destination: successorOutput } = (await world.request(id ?? "0x")).terms;
  expect(await destination.balance(terms.recipient, usdc)).toBe(successorOutput.expectedAmount);
});

test("a sweep that reverted because its owner recovered the funds keeps later funds assigned until the revert is final", async () => {
  const { origin, destination, usdc, user } = world;
  const { at, requestId, terms } = await world.quoteAddress({
    strict: true,
    refundTo: world.anAddress(),
    recoveryAddress: user.address,
  });
  await world.sendTo(at, usd(100));
  await origin.mine();
  await world.watch(origin);
  await world.work();
  const key = { id: terms.orderId, depositor: terms.user, recovery: user.address, strict: true };
  await origin.client.sendTransaction({
    account: privateKeyToAccount(user.privateKey),
    to: origin.chain.contracts.depositAddressFactory as Address,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "recover", args: [key, usdc] }),
    gas: 300_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 50_000_000_000n,
    nonce: await origin.client.getTransactionCount({ address: user.address }),
  });
  await origin.mine();
  await world.watch(origin);
  const states = async (): Promise<string[]> => (await world.sweepsFrom(at)).map(({ state }) => state);
  expect(world.events.of("slot_mined").at(-1)?.facts).toMatchObject({ leg: "sweep", status: "reverted" });
  // The sweep may still succeed in another block, because more funds may arrive.
  expect(await states()).toEqual(["sent"]);
  await world.sendTo(at, usd(100));
  await world.untilSettled(at, 1);
  expect(await states()).toEqual(["void", "final"]);
  expect((await world.status(requestId)).status).toBe("success");
  expect(await destination.balance(terms.recipient, usdc)).toBe(terms.destination.expectedAmount);
});

test("a sweep whose commit a failover lost is not repeated with funds that arrived later", async () => {
  const { origin, usdc, services, pool } = world;
  const operator = services.depositAddressOperator?.address as Address;
  const { at, requestId } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(at, usd(100));
  await origin.mine();
  await world.watch(origin);
  await world.work();
  const [sweep] = await world.sweepsFrom(at);
  const slot = await services.reads.slotOfLeg("sweep", sweep?.id ?? "");
  if (sweep === undefined || slot === undefined) throw new Error("the sweep has no nonce");
  await origin.mine();
  const sentBefore = (await origin.sentBy(operator)).length;
  // The database failed over to a copy without the commit that gave the sweep its nonce.
  const deleteRow = async (table: string, column: string): Promise<unknown> =>
    (
      await pool.query<{ row: unknown }>(
        `with gone as (delete from ${table} t where ${column} = $1 returning to_jsonb(t) as row) select row from gone`,
        [slot.id],
      )
    ).rows[0]?.row;
  const [attemptRow, slotRow] = [await deleteRow("attempts", "slot_id"), await deleteRow("slots", "id")];
  const setNonce = "update lanes set next_nonce = $3 where chain_id = $1 and sender = $2";
  await pool.query(setNonce, [slot.chainId, operator, slot.nonce]);
  await pool.query("update deposit_sweeps set state = 'planned' where id = $1", [sweep.id]);
  await world.sendTo(at, usd(100));
  await origin.mine();
  for (let look = 0; look < 3; look++) {
    await openLane(services, origin.connected);
    expect(await pay({ ...services, depositAddresses: world.reads }, sweepLeg, sweep.id)).toMatchObject({
      why: "the sending key used a nonce that the database does not know",
    });
  }
  await origin.mine();
  expect(world.events.of("payment_unrecorded").at(-1)?.facts).toMatchObject({ requestId, sender: operator });
  expect(await origin.sentBy(operator)).toHaveLength(sentBefore);
  expect(await origin.balance(at, usdc)).toBe(usd(100));
  // The operator restores the lost rows, and the lane continues.
  const restore = (table: string): string =>
    `insert into ${table} overriding system value select * from jsonb_populate_record(null::${table}, $1)`;
  await pool.query(restore("slots"), [JSON.stringify(slotRow)]);
  await pool.query(restore("attempts"), [JSON.stringify(attemptRow)]);
  await pool.query(setNonce, [slot.chainId, operator, slot.nonce + 1]);
  await pool.query("update deposit_sweeps set state = 'sent' where id = $1", [sweep.id]);
  await world.untilSettled(at, 2);
  expect((await world.status(requestId)).status).toBe("success");
});

test("if the sweep of a new quote is refused after a wait, the funds are still reported, and the first request never asks for a second payment", async () => {
  const { origin, services } = world;
  const operator = services.depositAddressOperator?.address;
  if (operator === undefined) throw new Error("the operator is not configured");
  const agreed = await world.quoteAddress();
  const { at, requestId } = agreed;
  await origin.client.setBalance({ address: operator, value: 0n });
  await world.sendTo(at, usd(37));
  for (let n = 0; n < 3; n++) await world.round();
  const [planned] = await world.sweepsFrom(at);
  if (planned === undefined) throw new Error("no sweep of the 37 USDC is planned");
  expect(planned.requestId).not.toBe(requestId);
  world.clock.forward(120_000);
  await origin.client.setBalance({ address: operator, value: 10n ** 21n });
  const { connected } = origin;
  const reader = new Proxy(connected.connection.reader, {
    get: (target, name) =>
      name === "simulate"
        ? async () => ({ kind: "reverts", reason: "BalanceTooLow" })
        : (Reflect.get(target, name) as unknown),
  });
  const lagging = { ...connected, connection: { ...connected.connection, reader } };
  const workerServices = {
    ...services,
    depositAddresses: world.reads,
    chains: {
      ...services.chains,
      get: (id: number) => (id === origin.chain.id ? lagging : services.chains.get(id)),
    },
  };
  const states = async (): Promise<string[]> => (await world.sweepsFrom(at)).map(({ state }) => state);
  await pay(workerServices, sweepLeg, planned.id);
  expect(await states(), "one refusal does not void a sweep, however long it waited before").toEqual([
    "planned",
  ]);
  world.clock.forward(61_000);
  await pay(workerServices, sweepLeg, planned.id);
  expect(await states()).toEqual(["void"]);
  const isAtAddress = {
    status: "depositing",
    fundsAt: "depositAddress",
    nextAction: "wait_for_confirmations",
  };
  expect(await world.status(requestId)).toMatchObject(isAtAddress);
  expect(await world.status(planned.requestId)).toMatchObject(isAtAddress);
  const [successor] = await world.untilSettled(at, 1);
  for (const id of [requestId, planned.requestId])
    expect(await world.status(id)).toMatchObject({
      status: "success",
      supersededByRequestId: successor,
      fundsAt: "recipient",
      nextAction: "none",
    });
  expect((await world.sweepsFrom(at)).map(({ state, amount }) => [state, amount])).toEqual([
    ["void", usd(37)],
    ["final", usd(37)],
  ]);
});

test("waits before another sweep is planned if two sweeps moved nothing", async () => {
  const { origin, pool, usdc } = world;
  const { at, requestId } = await world.quoteAddress();
  await pool.query(
    `insert into deposit_sweeps (observation, address, chain_id, currency, amount, excess, order_id, request_id, arrived_at_ms, created_at_ms, state)
     select -n, $1, $2, $3, 1, 0, $4, $4, 1, $5, 'void' from generate_series(1, 2) n`,
    [at, origin.chain.id, usdc, requestId, world.clock.nowMs()],
  );
  await world.sendTo(at, usd(37));
  for (let n = 0; n < 3; n++) await world.round();
  expect((await world.sweepsFrom(at)).map(({ state }) => state)).toEqual(["void", "void"]);
  world.clock.forward(120_000);
  const [successor] = await world.untilSettled(at, 1);
  expect((await world.status(successor ?? "0x")).status).toBe("success");
});

/** The owner of an address recovers all funds before a broadcast sweep is mined. */
async function recoverBeforeSweep(agreed: Awaited<ReturnType<AddressWorld["quoteAddress"]>>): Promise<void> {
  const { origin, usdc, user } = world;
  const key = (await world.reads.find(agreed.at))?.key;
  if (key === undefined) throw new Error("the address was not issued");
  await origin.client.sendTransaction({
    account: privateKeyToAccount(user.privateKey),
    to: origin.chain.contracts.depositAddressFactory as Address,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "recover", args: [key, usdc] }),
    gas: 300_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 50_000_000_000n,
    nonce: await origin.client.getTransactionCount({ address: user.address }),
  });
}

test.each([
  ["an open address", {}],
  ["a strict address", { strict: true, refundTo: "0x00000000000000000000000000000000000b0b0b" }],
  ["a strict address that refunds to the sender", { strict: true, refundTo: NATIVE_CURRENCY }],
])(
  "after a fast fill's payment to %s never arrived, covers the fill with a late second payment that is one unit too large, and pays the recipient once",
  async (_, changes) => {
    const { origin, destination, usdc } = world;
    const app = await aSponsor(world, 1_000);
    const first = await world.quoteAddress({ recoveryAddress: world.user.address, ...changes });
    await world.sendTo(first.at, usd(100));
    await origin.mine();
    await world.watch(origin);
    await world.work();
    const [sweep] = await world.sweepsFrom(first.at);
    if (sweep === undefined) throw new Error("the payment has no sweep");
    // If refunds go to the sender, the order is recreated with the sender in it.
    const agreed = {
      ...first,
      requestId: sweep.requestId,
      terms: (await world.request(sweep.requestId)).terms,
    };
    expect(await app.fastFill(agreed)).toBe("queued");
    await recoverBeforeSweep(first);
    for (let n = 0; n < 5; n++) await world.round();
    expect((await world.sweepsFrom(first.at)).map(({ state }) => state)).toEqual(["void"]);
    const { recipient, destination: output, firmUntilMs } = agreed.terms;
    expect(await destination.balance(recipient, usdc)).toBe(output.expectedAmount);
    expect(await app.holdState(agreed)).toBe("active");
    const requests = await world.requestsOf(first.at);

    world.clock.forward(120_000);
    expect(world.clock.nowMs()).toBeGreaterThan(firmUntilMs);
    // A smaller payment covers nothing: whether filled or refunded, the amount would be paid twice.
    await world.sendTo(first.at, usd(60));
    for (let n = 0; n < 3; n++) await world.round();
    expect(await world.sweepsFrom(first.at)).toHaveLength(1);
    await world.sendTo(first.at, usd(40) + 1n);
    await world.untilSettled(first.at, 1);
    for (let n = 0; n < 3; n++) await world.round();
    expect(
      (await world.sweepsFrom(first.at)).map(({ state, amount, excess }) => [state, amount, excess]),
    ).toEqual([
      ["void", usd(100), 0n],
      ["final", usd(100), 0n],
    ]);
    expect(await app.holdState(agreed)).toBe("released");
    expect(await world.requestsOf(first.at)).toEqual(requests);
    expect(await destination.balance(recipient, usdc)).toBe(output.expectedAmount);
    expect(await origin.balance(first.at, usdc)).toBe(1n);
  },
);

test("a payment that is orphaned before its sweep is not owed, and is swept once when it is mined again", async () => {
  const { origin, destination, usdc } = world;
  const { at, requestId, terms } = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  await world.sendTo(at, usd(100));
  await origin.mine();
  await world.watch(origin);
  expect(await world.sweepsFrom(at)).toHaveLength(1);
  await origin.reorg(1);
  for (let n = 0; n < 3; n++) {
    await world.round();
    world.clock.forward(30_000);
  }
  for (let n = 0; n < 3; n++) await world.round();
  expect((await world.sweepsFrom(at)).map(({ state }) => state)).toEqual(["void"]);
  expect((await world.status(requestId)).status).toBe("waiting");
  await world.sendTo(at, usd(100));
  await world.untilSettled(at, 1);
  expect((await world.status(requestId)).status).toBe("success");
  expect(await destination.balance(terms.recipient, usdc)).toBe(terms.destination.expectedAmount);
});

const tokensOf = (testChain: TestChain): TokenBook => ({
  token: async (chainId, address) =>
    testChain.chain.tokens.find((token) => token.address === address) ??
    ({
      ...testChain.chain.native,
      chainId,
      address,
      id: address,
      symbol: "ANY",
      supportsBridging: false,
    } as Currency),
});

test("a requested check finds funds that scans missed, reconsiders held funds, and is refused for an unknown address, chain or currency", async () => {
  const { origin, usdc } = world;
  const services = { ...world.watching(), tokens: tokensOf(origin) };
  const { at, requestId } = await world.quoteAddress({ recoveryAddress: world.user.address });
  const chainId = origin.chain.id;
  const scope = { chainId, depositAddress: at, targetChainId: undefined, currency: undefined };
  expect(await reindexAddress(services, scope)).toMatchObject({
    triggeredCurrencies: [],
    checkedCurrencies: origin.chain.tokens.length + 1,
    failedCurrencies: 0,
    failedAddresses: [],
  });

  // The amount is too low while gas is expensive, and sufficient while gas is cheap.
  await world.sendTo(at, usd(0.5));
  world.prices.set("ethereum", "250000");
  for (let n = 0; n < 3; n++) await world.round();
  expect(await world.reads.fundsAt(at)).toMatchObject([{ amount: usd(0.5), held: "AMOUNT_TOO_LOW" }]);
  world.prices.set("ethereum", "2500");
  await world.round();
  expect(await world.sweepsFrom(at)).toEqual([]);
  expect(await reindexAddress(services, scope)).toMatchObject({
    triggeredCurrencies: [{ currency: usdc, symbol: "USDC", balance: "500000" }],
  });
  const [id] = await world.untilSettled(at, 1);
  expect((await world.status(id ?? "0x")).status).toBe("success");
  expect((await world.status(requestId)).fundsAt).toBe("recipient");

  // An unlisted token is reported, and waits until its owner recovers it.
  const created = await origin.client.sendTransaction({
    account: privateKeyToAccount(world.stranger.privateKey),
    data: returnsNothingBytecode,
    gas: 3_000_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    nonce: await origin.client.getTransactionCount({ address: world.stranger.address }),
  });
  await origin.mine();
  const { contractAddress } = await origin.client.getTransactionReceipt({ hash: created });
  const unlistedToken = contractAddress?.toLowerCase() as Address;
  const mint = encodeFunctionData({ abi: returnsNothingAbi, functionName: "mint", args: [at, 5n] });
  await origin.send(world.stranger, { to: unlistedToken, data: mint });
  await world.round();
  expect(await world.reads.fundsAt(at)).toEqual([]);
  const lookup = await reindexAddress(services, { ...scope, currency: unlistedToken });
  expect(lookup).toMatchObject({
    triggeredCurrencies: [{ currency: unlistedToken, symbol: "ANY", balance: "5" }],
  });
  for (let n = 0; n < 5; n++) await world.round();
  expect(await world.reads.fundsAt(at)).toMatchObject([
    { currency: unlistedToken, held: "CURRENCY_NOT_HELD" },
  ]);

  // The shared scan skips this token, because one token that burns all gas would break the scan for all.
  const { accountBalances } = origin.connected.connection.reader;
  const readCurrencies: Address[] = [];
  const recording = {
    ...origin.connected,
    connection: {
      ...origin.connected.connection,
      reader: {
        ...origin.connected.connection.reader,
        accountBalances: async (...question: Parameters<typeof accountBalances>) => {
          readCurrencies.push(...question[1]);
          return await accountBalances(...question);
        },
      },
    },
  };
  await createAddressWatch(world.watching(), recording).scan(await origin.client.getBlockNumber());
  expect(readCurrencies).toContain(usdc);
  expect(readCurrencies).not.toContain(unlistedToken);

  const refusalCode = async (changes: object): Promise<unknown> =>
    await reindexAddress(services, { ...scope, ...changes }).catch(
      (error: unknown) => (error as { code: string }).code,
    );
  expect(await refusalCode({ depositAddress: "0x12" })).toBe("INVALID_ADDRESS");
  expect(await refusalCode({ depositAddress: world.anAddress() })).toBe("NOT_FOUND");
  expect(await refusalCode({ chainId: 5 })).toBe("UNSUPPORTED_CHAIN");
  expect(await refusalCode({ targetChainId: 5 })).toBe("UNSUPPORTED_CHAIN");
  expect(await refusalCode({ currency: "0x12" })).toBe("INVALID_INPUT_CURRENCY");
});

test("the status asks for no second payment if the whole amount is at the address, even if it does not cover the current fees", async () => {
  const { at, requestId } = await world.quoteAddress({ amount: "2000000" });
  world.clock.forward(120_000);
  world.prices.set("ethereum", "25000000");
  await world.sendTo(at, usd(1));
  for (let n = 0; n < 4; n++) await world.round();
  expect(await world.status(requestId)).toMatchObject({ fundsAt: "user", nextAction: "send_deposit" });
  await world.sendTo(at, usd(1));
  for (let n = 0; n < 4; n++) await world.round();
  expect(await world.reads.fundsAt(at)).toMatchObject([{ amount: usd(2), held: "AMOUNT_TOO_LOW" }]);
  expect(await world.status(requestId)).toMatchObject({
    fundsAt: "depositAddress",
    nextAction: "contact_operator",
  });
  world.prices.set("ethereum", "2500");
});

for (const [name, referrer] of [
  ["the NUL character", "a\0b"],
  ["half a character", "a\ud800"],
] as const)
  test(`a quote whose text contains ${name} blocks neither its own deposit address nor others`, async () => {
    const affected = await world.quoteAddress({ referrer });
    const other = await world.quoteAddress();
    for (const { at, terms } of [affected, other]) await world.sendTo(at, terms.origin.amount);
    for (const { at, terms } of [affected, other])
      expect(await world.untilSettled(at, 1)).toEqual([terms.requestId]);
  });

test("searches for senders from the last complete scan if the result of a later one was not stored", async () => {
  const { origin } = world;
  const { at } = await world.quoteAddress();
  const watching = world.watching();
  let isBroken = false;
  const uow: typeof watching.uow = {
    run: async (work) => {
      if (isBroken) throw new Error("the database is unreachable");
      return await watching.uow.run(work);
    },
  };
  const watch = createAddressWatch({ ...watching, uow }, origin.connected);
  const scannedBlock = await origin.client.getBlockNumber();
  await watch.scan(scannedBlock);
  await world.sendTo(at, usd(100));
  await origin.mine();
  isBroken = true;
  await watch.scan(scannedBlock + 1n);
  expect(await world.reads.fundsAt(at)).toEqual([]);
  isBroken = false;
  await origin.mine();
  await watch.scan(scannedBlock + 2n);
  const sweeps = await world.pool.query<{ layers: string }>(
    "select layers from deposit_sweeps where address = $1",
    [at],
  );
  const [[, sinceBlock, unseenBlock] = []] = JSON.parse(sweeps.rows[0]?.layers ?? "[]") as string[][];
  expect([sinceBlock, unseenBlock]).toEqual([String(scannedBlock + 2n), String(scannedBlock)]);
});

test("a fault at one address does not hide funds at another address", async () => {
  const [broken, other] = [await world.quoteAddress(), await world.quoteAddress()];
  await world.sendTo(broken.at, usd(100));
  await world.sendTo(other.at, usd(100));
  await world.pool.query(
    "alter table requests add constraint broken check (deposit_address <> '" +
      broken.at +
      "' or not funds_seen) not valid",
  );
  try {
    for (let n = 0; n < 4; n++) await world.round();
    expect((await world.status(broken.requestId)).nextAction).toBe("send_deposit");
    expect(await world.untilSettled(other.at, 1)).toEqual([other.requestId]);
  } finally {
    await world.pool.query("alter table requests drop constraint broken");
  }
  expect(await world.untilSettled(broken.at, 1)).toEqual([broken.requestId]);
});

test("unconfigured tokens and dust change no status, raise no alert and add a bounded number of rows", async () => {
  const { origin, usdc } = world;
  const finished = await world.quoteAddress();
  await world.sendTo(finished.at, usd(100));
  await world.untilSettled(finished.at, 1);
  const unpaid = await world.quoteAddress();
  const worthless = Array.from({ length: 15 }, () => world.anAddress());
  const { connection } = origin.connected;
  const reader = {
    ...connection.reader,
    accountBalances: async (accounts: readonly Address[], currencies: readonly Address[]) =>
      accounts.flatMap((account) =>
        currencies.map((currency) => ({
          account,
          currency,
          amount: worthless.includes(currency) ? 5n : currency === usdc ? 1n : 0n,
        })),
      ),
  };
  const connected = { ...origin.connected, connection: { ...connection, reader } };
  const watching = world.watching();
  const chains = { ...watching.chains, get: () => connected };
  const services = { ...watching, chains, tokens: tokensOf(origin) };
  const before = await Promise.all(
    [finished, unpaid].map(async ({ requestId }) => await world.status(requestId)),
  );
  const alarms = world.events.all.filter(({ level }) => level === "alarm").length;
  for (const { at } of [finished, unpaid])
    for (const currency of [usdc, ...worthless]) {
      const scope = { chainId: origin.chain.id, depositAddress: at, targetChainId: undefined, currency };
      const found = await reindexAddress(services, scope);
      expect(found.triggeredCurrencies).toMatchObject([{ currency }]);
    }
  const look = {
    addresses: (await world.reads.quiet("0x", 10_000)).filter(({ address }) =>
      [finished.at, unpaid.at].includes(address),
    ),
    currencies: [usdc, ...worthless],
    atBlock: (await origin.announce()).number + 100n,
  };
  await scanAddresses(services, connected, look);
  for (const { at } of [finished, unpaid]) {
    const held = await world.reads.fundsAt(at);
    expect(held.map((funds) => funds.held)).toContain("CURRENCY_NOT_HELD");
    expect(held.filter(({ currency }) => currency !== usdc)).toHaveLength(10);
  }
  const after = await Promise.all(
    [finished, unpaid].map(async ({ requestId }) => await world.status(requestId)),
  );
  expect(after).toEqual(before);
  expect(after.map(({ status, nextAction }) => [status, nextAction])).toEqual([
    ["success", "none"],
    ["waiting", "send_deposit"],
  ]);
  expect(world.events.all.filter(({ level }) => level === "alarm")).toHaveLength(alarms);
  await world.pool.query("delete from deposit_address_funds where address = any($1)", [
    [finished.at, unpaid.at],
  ]);
});

test.each([
  ["an open", {}],
  ["a strict", { strict: true, refundTo: "0x00000000000000000000000000000000000b0b0b" }],
])(
  "finds and reports a quoted token at %s address after it was unlisted, and fills once it is configured again",
  async (_, changes) => {
    const { origin, destination, tst } = world;
    const { at, requestId, terms } = await world.quoteAddress({
      ...changes,
      originCurrency: tst,
      amount: parseEther("100").toString(),
    });
    const chain = { ...origin.chain, tokens: origin.chain.tokens.filter(({ address }) => address !== tst) };
    const connected = { ...origin.connected, chain };
    const { chains } = world.services;
    const chainsWithoutToken = {
      ...chains,
      get: (id: number) => (id === chain.id ? connected : chains.get(id)),
      currency: (id: number, address: Address) =>
        id === chain.id && address === tst ? undefined : chains.currency(id, address),
    };
    const services = world.watching({ ...world.services, chains: chainsWithoutToken });
    await world.sendTo(at, parseEther("100"), { currency: tst });
    for (let n = 0; n < 4; n++) {
      await origin.mine();
      await world.scan(origin);
      await scanAddresses(services, connected, {
        addresses: (await world.reads.quiet("0x", 10_000)).filter(({ address }) => address === at),
        currencies: chain.tokens.map(({ address }) => address),
        atBlock: (await origin.announce()).number,
      });
      expect((await world.status(requestId)).fundsAt).toBe("depositAddress");
    }
    expect(await world.reads.fundsAt(at)).toMatchObject([{ currency: tst, held: "CURRENCY_NOT_HELD" }]);
    expect((await world.status(requestId)).nextAction).toBe("contact_operator");
    expect(await world.sweepsFrom(at)).toEqual([]);

    const scope = { chainId: chain.id, depositAddress: at, targetChainId: undefined, currency: undefined };
    await reindexAddress({ ...world.watching(), tokens: tokensOf(origin) }, scope);
    const [swept] = await world.untilSettled(at, 1);
    expect(swept).toBe(requestId);
    expect(await world.status(requestId)).toMatchObject({ status: "success", fundsAt: "recipient" });
    const { currency, expectedAmount } = terms.destination;
    expect(await destination.balance(terms.recipient, currency)).toBe(expectedAmount);
  },
);

test("an address is deleted with its expired quote, unless it has funds or a secret API key requested it", async () => {
  const { pool, services } = world;
  await pool.query(
    `insert into api_keys (id, secret_hash, label, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
     values ('a-page', '\\x01', 'a page', '{quote}', '{}', '{https://page.example}', '{}', 0, 0)`,
  );
  const [unused, published, dusted, keyed, paid] = [
    await world.quoteAddress(),
    await world.quoteAddress({}, "a-page"),
    await world.quoteAddress(),
    await world.quoteAddress({}, "a-key"),
    await world.quoteAddress(),
  ];
  await world.sendTo(dusted.at, 1n);
  await world.sendTo(paid.at, usd(55));
  await world.untilSettled(paid.at, 1);
  await pool.query(
    "update requests set state = 'expired', fill_deadline_ms = 5 where deposit_address = any($1)",
    [[unused.at, published.at, dusted.at, keyed.at, paid.at]],
  );
  expect(await services.uow.run((tx) => tx.requests.prune("requests", 10, 100))).toMatchObject({
    deleted: 2,
  });
  const kept = await Promise.all(
    [unused, published, dusted, keyed, paid].map(async ({ at }) => await world.reads.find(at)),
  );
  expect(kept.map((row) => row !== undefined)).toEqual([false, false, true, true, true]);
  expect(await services.reads.request(unused.requestId)).toBeUndefined();
});

test("an address lookup shows its purpose, its balances and the deposits made from it, for any of its requests", async () => {
  const { origin, destination } = world;
  const recovery = world.user.address;
  const { at, requestId, terms } = await world.quoteAddress({ recoveryAddress: recovery });
  await world.sendTo(at, usd(41));
  const [successor] = await world.untilSettled(at, 1);
  await world.sendTo(at, 1n);
  for (let n = 0; n < 3; n++) await world.round();
  const services = world.watching();
  const lookup = await lookUpAddress(services, { address: at }, undefined);
  expect(lookup).toMatchObject({
    depositAddress: at,
    address: at,
    type: "open",
    depositAddressType: "open",
    chainId: origin.chain.id,
    currency: "usdc",
    requestId,
    supersededByRequestId: successor,
    orderId: terms.orderId,
    depositor: terms.user,
    recoveryAddress: recovery,
    refundTo: null,
    chainIds: [origin.chain.id, destination.chain.id],
    funds: [{ amount: "1", heldReason: "AMOUNT_TOO_LOW" }],
    deposits: [{ requestId: successor, amount: "41000000", status: "final" }],
  });
  expect(await lookUpAddress(services, { requestId }, undefined)).toEqual(lookup);
  expect(await lookUpAddress(services, { requestId: successor ?? "0x" }, undefined)).toEqual(lookup);
  expect(await lookUpAddress(services, { address: world.anAddress() }, undefined)).toBeUndefined();
  const { rows } = await world.pool.query(
    "select deposit_address from request_history where request_id = $1",
    [successor],
  );
  expect(rows).toEqual([{ deposit_address: at }]);
  expect(depositAddressAnswer.safeParse(lookup).success).toBe(true);
});

test("an address's parameters are shown only to the key that requested it, until its first transaction publishes them", async () => {
  const { at, terms } = await world.quoteAddress({ recoveryAddress: world.user.address }, "key-of-the-app");
  const services = world.watching();
  const shownParameters = async (keyId: string | undefined): Promise<unknown[]> => {
    const found = await lookUpAddress(services, { address: at }, keyId);
    return [found?.orderId, found?.depositor, found?.recoveryAddress];
  };
  const parameters = [terms.orderId, terms.user, world.user.address];
  for (const stranger of [undefined, "another-key"])
    expect(await shownParameters(stranger)).toEqual([null, null, null]);
  expect(await shownParameters("key-of-the-app")).toEqual(parameters);
  await world.sendTo(at, usd(100));
  await world.untilSettled(at, 1);
  expect(await shownParameters(undefined)).toEqual(parameters);
});

test("a strict address is bound to its order by the contract, unless unfilled money is refunded to its sender", async () => {
  const named = await world.quoteAddress({ strict: true, refundTo: world.anAddress() });
  const toSender = await world.quoteAddress({ strict: true, refundTo: NATIVE_CURRENCY });
  for (const [{ at }, isBound] of [
    [named, true],
    [toSender, false],
  ] as const) {
    expect(await world.reads.find(at)).toMatchObject({ strict: true, key: { strict: isBound } });
    expect((await lookUpAddress(world.watching(), { address: at }, undefined))?.depositAddressType).toBe(
      "strict",
    );
  }
  // Only the operator can sweep an address that is not bound to its order, even for the whole amount under
  // that order.
  await world.sendTo(toSender.at, usd(100));
  await world.origin.mine();
  const { orderId, user } = toSender.terms;
  const key = { id: orderId, depositor: user, recovery: NATIVE_CURRENCY };
  for (const strict of [true, false])
    expect(
      await world.origin.connected.connection.reader.ask(
        world.origin.chain.contracts.depositAddressFactory as Address,
        encodeFunctionData({
          abi: depositAddressFactoryAbi,
          functionName: "sweepStrict",
          args: [{ ...key, strict }, world.usdc],
        }),
      ),
    ).toBeUndefined();
});

test("a strict address with refunds to the sender that its contract binds to the order is swept under that order", async () => {
  const { origin } = world;
  // An address as created before the binding was stored.
  const aBoundAddress = async (): Promise<Awaited<ReturnType<AddressWorld["quoteAddress"]>>> => {
    const agreed = await world.quoteAddress({ strict: true, refundTo: NATIVE_CURRENCY });
    const key = (await world.reads.find(agreed.at))?.key;
    if (key === undefined) throw new Error("the address was not issued");
    const bound = await origin.client.readContract({
      abi: depositAddressFactoryAbi,
      address: origin.chain.contracts.depositAddressFactory as Address,
      functionName: "addressOf",
      args: [{ ...key, strict: true }],
    });
    const at = bound.toLowerCase() as Address;
    await world.pool.query(
      "update deposit_addresses set address = $2, bound_to_order = true where address = $1",
      [agreed.at, at],
    );
    await world.pool.query(
      "update requests set deposit_address = $2, terms = replace(terms, $1, $2) where deposit_address = $1",
      [agreed.at, at],
    );
    return { ...agreed, at };
  };
  const exact = await aBoundAddress();
  const less = await aBoundAddress();
  await world.sendTo(exact.at, usd(100));
  await world.sendTo(less.at, usd(60));
  expect(await world.untilSettled(exact.at, 1)).toEqual([exact.requestId]);
  expect(await world.status(exact.requestId)).toMatchObject({ status: "success", fundsAt: "recipient" });
  expect(await world.untilSettled(less.at, 1)).toEqual([less.requestId]);
  expect(await world.status(less.requestId)).toMatchObject({ status: "refund", fundsAt: "refunded" });
  expect(less.terms.refundTo).toBe(world.user.address);
});

test("scans write nothing while no payment arrives", async () => {
  const { origin } = world;
  await world.quoteAddress();
  for (let n = 0; n < 6; n++) await world.round();
  const written = async (): Promise<unknown> =>
    (await world.pool.query("select max(observation) as n, count(*) as rows from deposit_address_funds"))
      .rows;
  const before = await written();
  for (let n = 0; n < 3; n++) {
    await origin.mine();
    await world.watch(origin);
  }
  expect(await written()).toEqual(before);
});

test("after the solver's key changed, funds at an open address are filled under an order of the new key, and funds at a strict address are not filled, and refunded only within the limit for unrepaid refunds", async () => {
  const { destination, origin, usdc, services, solver } = world;
  const former = { solver: world.anAddress() };
  const quoteForFormerSolver = async (changes: Parameters<typeof world.quote>[0]) => {
    const recipient = world.anAddress();
    const agreed = await world.quote({ useDepositAddress: true, recipient, ...changes }, undefined, former);
    return { ...agreed, at: agreed.answer.steps[0]?.depositAddress as Address };
  };
  const open = await quoteForFormerSolver({});
  await world.sendTo(open.at, usd(100));
  const [successor = "0x"] = await world.untilSettled(open.at, 1);
  expect(successor).not.toBe(open.requestId);
  expect((await world.request(successor)).terms.order.solver).toBe(solver.address.toLowerCase());
  expect((await world.status(successor)).status).toBe("success");
  expect(await destination.balance(open.terms.recipient, usdc)).toBeGreaterThan(usd(99));

  const limited = { ...services, enginePolicy: { ...services.enginePolicy, maxUnrepaidRefundsUsd: 0n } };
  const refundTo = world.anAddress();
  const strict = await quoteForFormerSolver({ strict: true, refundTo });
  await world.sendTo(strict.at, usd(100));
  for (let n = 0; n < 12; n++) {
    world.clock.forward(1_000);
    await world.round(limited);
  }
  expect(await world.depositsOf(strict.requestId)).toHaveLength(1);
  expect(await destination.balance(strict.terms.recipient, usdc)).toBe(0n);
  expect(await origin.balance(refundTo, usdc)).toBe(0n);
  expect(await world.status(strict.requestId)).toMatchObject({ fundsAt: "depository" });
});

test("an inactive address is still scanned periodically", async () => {
  const { at } = await world.quoteAddress({ refundTo: world.anAddress() });
  await world.pool.query("update deposit_addresses set active_at_ms = 0 where address = $1", [at]);
  await world.sendTo(at, usd(12));
  const [id] = await world.untilSettled(at, 1);
  expect((await world.status(id ?? "0x")).status).toBe("success");
});

test("while everything is paused, funds at an address are swept and their fill waits", async () => {
  const store = pauseStore(sqlOn(world.pool));
  const { at, terms } = await world.quoteAddress();
  await store.add({ scope: { kind: "all" }, pausedBy: "ann", reason: "drill", sinceMs: 1 });
  await world.sendTo(at, terms.origin.amount);
  for (let round = 0; round < 8; round++) {
    world.clock.forward(3_000);
    await world.round();
  }
  expect((await world.sweepsFrom(at)).map(({ state }) => state)).toEqual([
    expect.stringMatching(/^(sent|done|final)/),
  ]);
  expect(await world.destination.balance(terms.recipient, world.usdc)).toBe(0n);
  expect(await world.status(terms.requestId)).toMatchObject({ nextAction: "wait_for_fill" });
  await store.remove({ kind: "all" });
  expect(await world.untilSettled(at, 1)).toEqual([terms.requestId]);
  expect(await world.destination.balance(terms.recipient, world.usdc)).toBe(terms.destination.expectedAmount);
});
