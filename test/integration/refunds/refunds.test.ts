import { refundLeg } from "../../../apps/api/src/payments/legs/refund-leg.ts";
import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { NATIVE_CURRENCY, gasCostWei, refundAmount } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { parseEther } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChainDirectory } from "../../../apps/api/src/chains/directory.adapter.ts";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { releaseRefund } from "../../../apps/api/src/payments/release-refund.ts";
import { gasOf } from "../../../apps/api/src/markets/prices/quote-pricing.ts";
import { deposit, type Deviation } from "../../support/deposits.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { runOperatorRefund } from "../../support/operator-refund.ts";
import { someHash } from "../../support/terms.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => await world.stop());

/** A quote with a new refund address. */
const agree = async (ask: Parameters<EngineWorld["quote"]>[0] = {}): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

/** Makes the user's deposit, with a deviation, and reads its block. */
async function deposited(agreed: QuotedRequest, deviation: Deviation = {}, from = world.user) {
  const hash = await deposit(world.origin, from, agreed, deviation);
  await world.origin.mine();
  await world.watch(world.origin);
  const [found] = (await world.depositsOf(agreed.requestId)).filter(({ txHash }) => txHash === hash);
  if (found === undefined) throw new Error("the deposit was not recorded for the request");
  return found;
}

/** Mines blocks until the deposit has the confirmations that its value requires. */
async function confirmed(confirmAtBlock: bigint): Promise<void> {
  for (let head = 0n; head < confirmAtBlock;) {
    await world.origin.mine();
    head = (await world.watch(world.origin)).at(-1)?.number ?? 0n;
  }
}

/** The exact refund of an amount at the current prices and gas. */
function due(amount: bigint, currency: Address): bigint {
  const { chain, pulse } = world.origin.connected;
  const known = world.services.chains.currency(chain.id, currency);
  if (known === undefined) throw new Error("the currency is not configured");
  const { prices, quotePolicy } = world.services;
  const unit = (of: typeof known) => ({ decimals: of.decimals, priceUsd: prices.usd(of) as bigint });
  const wei = gasCostWei(
    gasOf(quotePolicy.gas.refund, known, false),
    pulse.gasPrices(),
    chain.fees.minPriorityFeeWei,
    0,
  );
  const refund = refundAmount(amount, wei, unit(chain.native), unit(known));
  if (refund.kind !== "refund") throw new Error("the amount is too small for a refund");
  expect(refund.gasFee).toBeGreaterThan(0n);
  return refund.amount;
}

const mismatches: readonly {
  readonly what: string;
  readonly deviation: () => Deviation;
  readonly reason: string;
}[] = [
  {
    what: "less than agreed",
    deviation: () => ({ amount: 99_999_999n }),
    reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  },
  {
    what: "more than agreed",
    deviation: () => ({ amount: 100_000_001n }),
    reason: "DEPOSITED_AMOUNT_MISMATCH",
  },
  {
    what: "another currency",
    deviation: () => ({ currency: NATIVE_CURRENCY, amount: parseEther("0.04") }),
    reason: "INCORRECT_DEPOSIT_CURRENCY",
  },
];

for (const { what, deviation, reason } of mismatches)
  test(`a deposit of ${what} is refunded to refundTo, minus the gas to the unit, and shows refund without failure`, async () => {
    const agreed = await agree();
    const { amount, currency, confirmAtBlock } = await deposited(agreed, deviation());
    expect(await world.status(agreed.requestId)).toMatchObject({
      status: "pending",
      nextAction: "wait_for_refund",
      fundsAt: "depository",
    });
    await confirmed(confirmAtBlock);
    const expected = due(amount, currency);
    await world.work();
    const end = await world.untilFinal(agreed.requestId);
    const [refund, ...more] = await world.paymentsOf(agreed, world.origin);
    expect(more).toEqual([]);
    expect(end).toMatchObject({
      status: "refund",
      failReason: reason,
      refundFailReason: "N/A",
      txHashes: [],
      refundTxHashes: [refund?.hash],
      fundsAt: "refunded",
      pollAfterMs: 0,
    });
    expect(end).not.toHaveProperty("details");
    expect(await world.origin.balance(agreed.terms.refundTo, currency)).toBe(expected);
    expect(await world.statusesOf(agreed.requestId)).toEqual(["waiting", "pending", "refund"]);
    expect(refund?.input.endsWith(agreed.terms.orderId.slice(2))).toBe(true);
    expect(await world.paymentsOf(agreed, world.destination)).toEqual([]);
  });

for (const [part, deviation] of [
  ["one percent", { amount: 1_000_000n }],
  ["half a percent", { amount: 500_000n }],
  ["twice", { amount: 200_000_000n }],
] as const)
  test(`a deposit of ${part} of the quote is refunded with at least the part of the minimum that oracles attest`, async () => {
    const agreed = await agree();
    const { amount, currency, confirmAtBlock } = await deposited(agreed, deviation);
    await confirmed(confirmAtBlock);
    await world.work();
    await world.untilFinal(agreed.requestId);
    const paid = await world.origin.balance(agreed.terms.refundTo, currency);
    const promised = agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
    expect(promised).toBeGreaterThan(0n);
    expect(paid).toBeLessThanOrEqual(amount);
    expect(paid * agreed.terms.origin.amount).toBeGreaterThanOrEqual(promised * amount);
  });

test("refunds a deposit on behalf of another account to that account, and the user's request keeps waiting", async () => {
  const agreed = await agree();
  const beneficiary = world.anAddress();
  const { amount, currency } = await deposited(agreed, { depositor: beneficiary }, world.stranger);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  const expected = due(amount, currency);
  await world.work();
  await world.round();
  expect(await world.origin.balance(beneficiary, currency)).toBe(expected);
  expect(await world.origin.balance(agreed.terms.refundTo, currency)).toBe(0n);

  // The user's own deposit is handled as usual.
  await deposited(agreed);
  await world.work();
  const end = await world.untilFinal(agreed.requestId);
  expect(end.status).toBe("success");
  expect(await world.statusesOf(agreed.requestId)).toEqual(["waiting", "pending", "submitted", "success"]);
});

test("a stranger's dust deposit on behalf of the user does not affect the user's request", async () => {
  const agreed = await agree();
  for (const amount of [1n, 50_000_000n, 200_000_000n]) await deposited(agreed, { amount }, world.stranger);
  await world.work();
  await world.round();
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", failReason: "N/A" });
  await deposited(agreed);
  await world.work();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
});

test("if the user's own deposit names another depositor, that depositor is refunded and the request says why", async () => {
  const agreed = await agree();
  const other = world.anAddress();
  const { amount, currency } = await deposited(agreed, { depositor: other });
  const expected = due(amount, currency);
  await world.work();
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "DEPOSIT_ADDRESS_MISMATCH" });
  expect(await world.origin.balance(other, currency)).toBe(expected);
  expect(await world.origin.balance(agreed.terms.refundTo, currency)).toBe(0n);
});

test("a second deposit for a filled request is refunded, its hash is shown, and the request stays a success", async () => {
  const agreed = await agree();
  await deposited(agreed);
  await world.work();
  await world.untilFinal(agreed.requestId);
  const second = await deposited(agreed);
  expect(second).toMatchObject({ disposition: "refund", reason: "DOUBLE_SPEND" });
  const expected = due(second.amount, second.currency);
  await world.work();
  await world.round();
  await world.round();
  const [refund, ...more] = await world.paymentsOf(agreed, world.origin);
  expect(more).toEqual([]);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "success",
    final: true,
    failReason: "N/A",
    fundsAt: "recipient",
    refundTxHashes: [refund?.hash],
  });
  expect(await world.origin.balance(agreed.terms.refundTo, second.currency)).toBe(expected);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect((await world.services.reads.deposit(second.id))?.refundState).toBe("final");
});

test("when one block has two deposits of one order, one is filled and the other refunded", async () => {
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed);
  await deposited(agreed);
  await world.work();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  await world.round();
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
});

test("a deposit after the quote's lifetime is refunded", async () => {
  const agreed = await agree({ ttl: 60 });
  world.clock.forward(61_000);
  const late = await deposited(agreed);
  const expected = due(late.amount, late.currency);
  await world.work();
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "TTL_EXPIRED" });
  expect(await world.statusesOf(agreed.requestId)).toEqual(["waiting", "pending", "refund"]);
  expect(await world.origin.balance(agreed.terms.refundTo, late.currency)).toBe(expected);
});

test("a deposit for a request that was closed because of its age is refunded too", async () => {
  const agreed = await agree({ ttl: 60 });
  world.clock.forward(61_000);
  await world.round();
  expect(await world.status(agreed.requestId), "a late deposit may still arrive").toMatchObject({
    status: "waiting",
  });
  world.clock.forward(world.services.enginePolicy.expiryGraceMs);
  await world.origin.client.increaseTime({ seconds: 61 + world.services.enginePolicy.expiryGraceMs / 1000 });
  await world.origin.mine();
  await world.round();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "TTL_EXPIRED",
    fundsAt: "user",
  });
  await deposited(agreed);
  await world.work();
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "TTL_EXPIRED",
  });
});

test("a timely deposit that could not be filled before the deadline is refunded", async () => {
  const agreed = await agree({ ttl: 60 });
  await deposited(agreed);
  world.clock.forward(61_000);
  await world.work();
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "TTL_EXPIRED",
  });
  expect(await world.paymentsOf(agreed, world.destination)).toEqual([]);
});

test("the referrer debug-force-refund makes any deposit a refund", async () => {
  const agreed = await agree({
    referrer: "debug-force-refund",
    originCurrency: NATIVE_CURRENCY,
    amount: "50000000000000000",
  });
  const { amount } = await deposited(agreed);
  const expected = due(amount, NATIVE_CURRENCY);
  await world.work();
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "MANUAL_ADMIN_REFUND",
  });
  expect(await world.origin.balance(agreed.terms.refundTo, NATIVE_CURRENCY)).toBe(expected);
});

test("a deposit below its refund's gas cost stays in the depository and the request says so", async () => {
  const agreed = await agree();
  await deposited(agreed, { amount: 1n });
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
    refundFailReason: "AMOUNT_TOO_LOW_TO_REFUND",
    fundsAt: "depository",
    nextAction: "contact_operator",
    final: true,
  });
  expect((await world.status(agreed.requestId)).details).toMatch(/^Transaction failed/);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});

test("a refund that its recipient refuses raises an alarm and is not retried", async () => {
  const agreed = await agree({
    originCurrency: NATIVE_CURRENCY,
    amount: "50000000000000000",
    referrer: "debug-force-refund",
  });
  await world.origin.client.setCode({ address: agreed.terms.refundTo, bytecode: "0x60006000fd" });
  await deposited(agreed);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
    fundsAt: "depository",
    nextAction: "contact_operator",
  });
  expect(world.events.of("refund_impossible").at(-1)?.facts).toMatchObject({ requestId: agreed.requestId });
  expect(
    await world.services.reads.overdueRefunds(
      { sinceBeforeMs: Number.MAX_SAFE_INTEGER, nowMs: Number.MAX_SAFE_INTEGER },
      100,
    ),
  ).toEqual([]);
});

test("lists the deposits of one transaction without a request as one row", async () => {
  const txHash = someHash();
  const blockHash = someHash();
  await world.services.uow.run(async (tx) => {
    const deposits = [0, 1, 2].map(() => ({
      txHash,
      ordinal: 0,
      blockNumber: 1n,
      blockHash,
      confirmAtBlock: 1n,
      depositor: world.stranger.address.toLowerCase() as Address,
      sender: world.stranger.address.toLowerCase() as Address,
      currency: world.usdc,
      amount: 1n,
      orderId: someHash(),
      requestId: undefined,
      seenAtMs: world.clock.nowMs(),
      valueUsd: 0n,
    }));
    await tx.deposits.record(world.origin.chain.id, deposits);
  });
  const listed = await strandedFunds(sqlOn(world.pool));
  const rows = listed.filter((row) => "tx_hash" in row && row.tx_hash === txHash);
  expect(rows).toMatchObject([{ amount: 3n, deposits: 3, order_id: null, disposition: "unattributed" }]);
});

for (const [what, id] of [
  ["an unknown id", `0x${"ab".repeat(32)}`],
  ["no id", `0x${"00".repeat(32)}`],
] as const)
  test(`funds with ${what} are recorded and reported to the operator`, async () => {
    const agreed = await agree();
    const hash = await deposit(world.origin, world.user, agreed, { id });
    await world.origin.mine();
    await world.watch(world.origin);
    const { rows } = await world.pool.query("select * from deposits where tx_hash = $1", [hash]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      disposition: "unattributed",
      request_id: null,
      amount: 100_000_000n,
      depositor: world.user.address,
    });
    expect(world.events.of("deposit_unattributed").some(({ facts }) => facts["txHash"] === hash)).toBe(true);
    expect((await world.status(agreed.requestId)).status).toBe("waiting");
  });

test("a deposit far above the agreed value waits for the confirmations of its own value before it is refunded", async () => {
  const agreed = await agree();
  const big = await deposited(agreed, { amount: 50_000_000_000n });
  expect(big.confirmAtBlock - big.blockNumber, "the tier above 10,000 USD").toBe(3n);
  await world.work();
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
  for (let block = 0; block < 3; block++) {
    expect((await world.services.reads.deposit(big.id))?.refundState).toBe("none");
    await world.round();
  }
  expect((await world.untilFinal(agreed.requestId)).status).toBe("refund");
});

test("broadcasts an orphaned refund again and pays it once", async () => {
  const agreed = await agree({ referrer: "debug-force-refund" });
  const { currency } = await deposited(agreed);
  await world.work();
  await world.origin.mine();
  await world.watch(world.origin);
  const refunded = await world.status(agreed.requestId);
  expect(refunded.status).toBe("refund");
  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "pending", refundTxHashes: [] });
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", refundTxHashes: refunded.refundTxHashes });
  expect(await world.origin.balance(agreed.terms.refundTo, currency)).toBeLessThan(
    agreed.terms.origin.amount,
  );
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
});

/** The user's wallet sends its deposit again, with another nonce and therefore another hash. */
async function depositedUnderAnotherHash(agreed: QuotedRequest) {
  await world.origin.send(world.user, { to: world.anAddress(), value: 1n });
  return await deposited(agreed);
}

test("a refunded deposit that a reorg replaces under another hash is not refunded twice", async () => {
  const agreed = await agree({ referrer: "debug-force-refund" });
  const first = await deposited(agreed);
  await world.work();
  expect((await world.services.reads.deposit(first.id))?.refundState).toBe("sent");
  await world.origin.reorg(1);
  const second = await depositedUnderAnotherHash(agreed);
  expect(second.id).not.toBe(first.id);
  for (let round = 0; round < 4; round++) await world.round();
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
  expect(await world.services.reads.deposit(first.id)).toMatchObject({ canonical: false });
  expect((await world.services.reads.deposit(second.id))?.refundState).toBe("none");
  expect(await fundsListed(second.id)).toMatchObject([
    { refund_waits: expect.stringMatching(/may replace an orphaned one that was already refunded/) },
  ]);
  expect(world.events.of("deposit_exposed").at(-1)?.facts).toMatchObject({
    depositId: second.id,
    orphaned: first.id,
  });
  expect((await world.status(agreed.requestId)).status).toBe("refund");

  // The request has two deposits, and only one of them waits for the operator.
  const released = await runOperatorRefund(world, agreed.requestId, "--yes");
  expect(released).toMatchObject({
    code: 0,
    steps: [{ step: "refund", depositId: second.id }, { step: "released" }],
  });
  for (let round = 0; round < 4; round++) await world.round();
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(2);
  expect((await world.services.reads.deposit(second.id))?.refundState).toBe("final");
  expect(await fundsListed(second.id)).toEqual([]);
});

test("a request whose deposit could not be refunded waits again when a reorg drops that deposit", async () => {
  const limited = await limitedTo(0n);
  const { agreed, found } = await depositedNative("0.04");
  await world.work(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    fundsAt: "depository",
    final: true,
  });
  const head = (await world.services.reads.cursor(found.chainId))?.number ?? 0n;
  await world.origin.reorg(Number(head - found.blockNumber) + 1);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "waiting",
    fundsAt: "user",
    nextAction: "send_deposit",
    failReason: "N/A",
    refundFailReason: "N/A",
    inTxHashes: [],
    final: false,
  });
  // The deposit is mined again, and the daily limit suffices.
  await deposited(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
});

test("a deposit in a token without a price source waits an hour for a price, and is then reported to the operator", async () => {
  const tst = world.origin.chain.tokens.find(({ symbol }) => symbol === "TST")?.address;
  if (tst === undefined) throw new Error("the local chains have no TST");
  const agreed = await agree();
  world.prices.set("causeway-test-token", undefined);
  const { confirmAtBlock } = await deposited(agreed, { currency: tst, amount: parseEther("50") });
  await confirmed(confirmAtBlock);
  await world.work();
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  world.clock.forward(3600_000 + 1);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
    nextAction: "contact_operator",
  });
  world.prices.set("causeway-test-token", "0.5");
});

/** Services whose daily limit of unrepaid refunds has this much left, whatever earlier tests used. */
async function limitedTo(usd: bigint): Promise<WorkerServices> {
  await world.pool.query("update deposits set unrepaid_at_ms = 0 where unrepaid_at_ms is not null");
  const { enginePolicy } = world.services;
  return {
    ...world.services,
    enginePolicy: { ...enginePolicy, maxUnrepaidRefundsUsd: usd * 10n ** 18n },
  };
}

/**
 * A confirmed deposit of native tokens for an order in USDC. Settlement does not repay the refund of such a
 * deposit.
 */
async function depositedNative(ether: string) {
  const agreed = await agree();
  const found = await deposited(agreed, { currency: NATIVE_CURRENCY, amount: parseEther(ether) });
  await confirmed(found.confirmAtBlock);
  return { agreed, found };
}

const fundsListed = async (depositId: string) =>
  (await strandedFunds(sqlOn(world.pool))).filter((row) => "id" in row && String(row.id) === depositId);

test("delays and reports a refund that settlement never repays until the daily limit allows it", async () => {
  const limited = await limitedTo(150n);
  const first = await depositedNative("0.04");
  await world.work(limited);
  const second = await depositedNative("0.04");
  const alarms = world.events.of("refund_limit_reached").length;
  await world.work(limited);
  await world.work(limited);
  await world.round(limited);
  expect((await world.status(first.agreed.requestId)).status).toBe("refund");
  expect(await world.status(second.agreed.requestId)).toMatchObject({
    status: "pending",
    fundsAt: "depository",
    nextAction: "wait_for_refund",
    refundTxHashes: [],
  });
  expect(world.events.of("refund_limit_reached")).toHaveLength(alarms + 1);
  expect(await fundsListed(first.found.id)).toEqual([]);
  expect(await fundsListed(second.found.id)).toMatchObject([
    { refund_state: "none", refund_waits: expect.stringMatching(/not in the currency of the order/) },
  ]);

  world.clock.forward(24 * 3600_000);
  await world.work(limited);
  await world.round(limited);
  expect(await world.status(second.agreed.requestId)).toMatchObject({ status: "refund" });
  expect(await fundsListed(second.found.id)).toEqual([]);
});

test("a refund above the whole daily limit is left to the operator, and no inventory moves", async () => {
  const limited = await limitedTo(150n);
  const { agreed, found } = await depositedNative("1");
  await world.work(limited);
  await world.round(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
    fundsAt: "depository",
    nextAction: "contact_operator",
  });
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
  expect(await fundsListed(found.id)).toHaveLength(1);
});

const unrepaidOf = async (depositId: string): Promise<bigint | null> => {
  const { rows } = await world.pool.query("select unrepaid_usd from deposits where id = $1", [depositId]);
  return rows[0].unrepaid_usd as bigint | null;
};

test("pays a refund above the daily limit once after the operator's release, and counts it against the limit", async () => {
  const limited = await limitedTo(150n);
  const { agreed, found } = await depositedNative("1");
  await world.work(limited);
  expect(await fundsListed(found.id)).toMatchObject([
    { refund_state: "impossible", refund_waits: expect.stringMatching(/exceeds UNREPAID_REFUNDS_DAILY_USD/) },
  ]);
  const failed = await world.status(agreed.requestId);

  const shown = await runOperatorRefund(world, found.txHash);
  expect(shown).toMatchObject({
    code: 3,
    steps: [
      {
        step: "refund",
        depositId: found.id,
        chain: world.origin.chain.name,
        txHash: found.txHash,
        requestId: agreed.requestId,
        deposited: "1 ETH",
        currency: NATIVE_CURRENCY,
        usd: "2500.000000",
        recipient: agreed.terms.refundTo,
        why: expect.stringMatching(
          /^MANUAL_REFUND_REQUIRED: .*not in the currency of the order.* exceeds UNREPAID/,
        ),
      },
    ],
    stderr: expect.stringContaining("--yes"),
  });
  await world.work(limited);
  expect(await world.status(agreed.requestId)).toEqual(failed);

  const released = await runOperatorRefund(world, agreed.requestId, "--yes");
  expect(released).toMatchObject({ code: 0, stderr: "" });
  expect(released.steps.map(({ step }) => step)).toEqual(["refund", "released"]);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    fundsAt: "depository",
    nextAction: "wait_for_refund",
    refundFailReason: "N/A",
    final: false,
  });
  expect(await fundsListed(found.id)).toEqual([]);
  const again = await runOperatorRefund(world, found.id, "--yes");
  expect(again).toMatchObject({ code: 0, steps: [{ step: "already", refundState: "none" }] });

  const expected = due(found.amount, NATIVE_CURRENCY);
  await world.work(limited);
  for (let round = 0; round < 4; round++) await world.round(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "refund",
    fundsAt: "refunded",
    final: true,
  });
  expect(await world.origin.balance(agreed.terms.refundTo, NATIVE_CURRENCY)).toBe(expected);
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
  const { rows } = await world.pool.query(
    "select detail::jsonb from request_events where request_id = $1 and event = 'refundReleased'",
    [agreed.requestId],
  );
  expect(rows).toMatchObject([
    { detail: { depositId: found.id, from: "failed", to: "refunding", recipient: agreed.terms.refundTo } },
  ]);
  expect(await unrepaidOf(found.id)).toBeGreaterThan(2_000n * 10n ** 18n);

  const late = await runOperatorRefund(world, found.id, "--yes");
  expect(late).toMatchObject({ code: 0, steps: [{ step: "already", refundState: "final" }] });
  await world.round(limited);
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
  // The released refund uses up the limit for other refunds.
  const next = await depositedNative("0.04");
  await world.work(limited);
  expect(await fundsListed(next.found.id)).toMatchObject([{ refund_state: "none" }]);
  // A refund that waits for the limit can be released too. Two concurrent releases count once.
  await Promise.all([
    releaseRefund(world.services, next.found.id, { isDryRun: false }),
    releaseRefund(world.services, next.found.id, { isDryRun: false }),
  ]);
  await world.work(limited);
  for (let round = 0; round < 4; round++) await world.round(limited);
  expect(await world.status(next.agreed.requestId)).toMatchObject({ status: "refund" });
  expect(await world.paymentsOf(next.agreed, world.origin)).toHaveLength(1);
});

test("a release no longer applies if a reorg drops the deposit before its refund is signed", async () => {
  const limited = await limitedTo(0n);
  const { agreed, found } = await depositedNative("0.04");
  await world.work(limited);
  await runOperatorRefund(world, found.id, "--yes");
  expect(await world.services.reads.deposit(found.id)).toHaveProperty("refundReleasedAtMs");
  const head = (await world.services.reads.cursor(found.chainId))?.number ?? 0n;
  await world.origin.reorg(Number(head - found.blockNumber) + 1);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.services.reads.deposit(found.id)).not.toHaveProperty("refundReleasedAtMs");
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", fundsAt: "user" });
  expect(await runOperatorRefund(world, found.id, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the deposit was reorged out"),
  });
});

test("refuses a release if there is nothing to release, and gives the reason", async () => {
  const refusal = async (name: string) => {
    const { code, stderr, steps } = await runOperatorRefund(world, name, "--yes");
    expect({ code, steps }).toEqual({ code: 1, steps: [] });
    return stderr;
  };
  expect(await refusal("999999999")).toMatch(/^no deposit found with id/);
  expect(await refusal(someHash())).toMatch(/^no deposit found with id/);

  const filled = await agree();
  const accepted = await deposited(filled);
  await world.untilFinal(filled.requestId);
  expect(await refusal(accepted.id)).toMatch(/accepted for its request, which is filled/);

  const unconfirmed = await agree();
  const big = await deposited(unconfirmed, { amount: 50_000_000_000n });
  expect(await refusal(big.id)).toMatch(/not confirmed: it needs block \d+/);
  await confirmed(big.confirmAtBlock);
  expect(await refusal(big.id)).toMatch(/does not wait for a release/);
  await world.work();
  expect(await refusal(big.id)).toMatch(/in progress/);
  await world.untilFinal(unconfirmed.requestId);
  expect(await refusal(big.id)).toMatch(/already refunded/);

  const dust = await agree();
  const speck = await deposited(dust, { amount: 1n });
  await confirmed(speck.confirmAtBlock);
  await world.work();
  expect(await refusal(dust.requestId)).toMatch(/AMOUNT_TOO_LOW_TO_REFUND/);

  const limited = await limitedTo(0n);
  const { found } = await depositedNative("0.04");
  await world.work(limited);
  const { chains } = world.services;
  const without = { ...world.services, chains: { ...chains, currency: () => undefined } };
  expect((await runOperatorRefund({ ...world, services: without }, found.id, "--yes")).stderr).toMatch(
    /is not configured on .*: add it to the chain's tokens/,
  );
});

test("two concurrent workers together stay within one daily limit", async () => {
  const limited = await limitedTo(150n);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await depositedNative("0.04")).found.id);
  await Promise.all([...ids, ...ids].map(async (id) => await pay(limited, refundLeg, id)));
  const states = await Promise.all(
    ids.map(async (id) => (await world.services.reads.deposit(id))?.refundState),
  );
  expect(states.toSorted()).toEqual(["none", "none", "sent"]);
});

test("a refund to a depositor that the order does not name counts against the daily limit", async () => {
  const limited = await limitedTo(50n);
  const agreed = await agree();
  const other = world.anAddress();
  const { currency, confirmAtBlock } = await deposited(agreed, { depositor: other });
  await confirmed(confirmAtBlock);
  await world.work(limited);
  await world.round(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    refundFailReason: "MANUAL_REFUND_REQUIRED",
    fundsAt: "depository",
    nextAction: "contact_operator",
  });
  expect(await world.origin.balance(other, currency)).toBe(0n);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});

test("a refund after the order's time for refunds counts against the daily limit", async () => {
  const limited = await limitedTo(50n);
  const agreed = await agree({ ttl: 60 });
  const deadline = agreed.terms.order.inputs[0]?.refunds[0]?.deadline ?? 0;
  world.clock.forward(deadline * 1000 - world.clock.nowMs());
  await deposited(agreed);
  await world.work(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
  });
});

test("refunds an order of a solver key that is no longer configured, and counts the refund against the daily limit", async () => {
  const limited = await limitedTo(50n);
  const solver = world.anAddress();
  const agreed = await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress() }, undefined, {
    solver,
  });
  await deposited(agreed);
  await world.work(limited);
  await world.round(limited);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "NO_QUOTES",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
  });
  expect(await world.paymentsOf(agreed, world.destination)).toEqual([]);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});

test("counts a refund through a router that its order does not name against the daily limit", async () => {
  const { origin, destination } = world;
  const limited = await limitedTo(50n);
  const agreed = await agree({
    originCurrency: NATIVE_CURRENCY,
    amount: "50000000000000000",
    referrer: "debug-force-refund",
  });
  // The refund address is a contract that accepts native tokens, which only the router can pay.
  await origin.client.setCode({ address: agreed.terms.refundTo, bytecode: "0x00" });
  const found = await deposited(agreed);
  await confirmed(found.confirmAtBlock);
  const { connected, chain } = origin;
  const contracts = { ...chain.contracts, router: world.anAddress() };
  const rotated = { ...connected, chain: { ...chain, contracts } };
  await world.work({ ...limited, chains: createChainDirectory([rotated, destination.connected]) });
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
  });
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("blocks that are announced but not read do not confirm a deposit for its refund, because they may not contain it", async () => {
  const { origin } = world;
  const agreed = await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress() });
  await deposit(origin, world.user, agreed, { amount: agreed.terms.origin.amount * 2n });
  await origin.mine();
  await world.watch(origin);
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "refund" }]);
  await origin.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  await origin.mine(20);
  await origin.announce();
  await world.work();
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ refundState: "none" }]);
  await world.watch(origin);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", refundTxHashes: [] });
});
