import { groupedPayments } from "../../../apps/api/src/payments/pay-together.ts";
import { approveCalldata, depositErc20Calldata, NATIVE_CURRENCY } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import { transition } from "../../../apps/api/src/requests/transition.ts";
import { deposit } from "../../support/deposits.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { aSponsor, type Sponsor } from "../../support/sponsors.ts";

let world: EngineWorld;
let rich: Sponsor;

const ONE_USD = 10n ** 18n;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
  rich = await aSponsor(world, 1_000_000);
});
afterAll(async () => await world.stop());
// Pending transactions of one test must not affect the next test.
afterEach(async () => {
  await world.origin.client.request({ method: "anvil_dropAllTransactions" as never, params: [] as never });
});

const agree = async (ask: Parameters<EngineWorld["quote"]>[0] = {}, by?: Sponsor): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask }, by?.key.id);

/** A refusal by a rule, as the caller sees it. */
const refused = (code: string, rule: string) => ({ code, facts: { data: { rule } } });

/** Checks that a refused fast fill left no hold, no fast fill and no job. */
async function expectUnchanged(agreed: QuotedRequest, name: string): Promise<void> {
  expect(await rich.holdOf(agreed)).toBeUndefined();
  expect(await world.services.reads.fastFill(agreed.requestId)).toBeUndefined();
  expect((await world.request(agreed.requestId)).state).toMatchObject({ name, front: "none" });
}

async function mineOrigin(): Promise<void> {
  await world.origin.mine();
  await world.watch(world.origin);
}

async function mineDestination(): Promise<void> {
  await world.destination.mine();
  await world.watch(world.destination);
}

test("refuses a fast fill of a request id that no quote has", async () => {
  const agreed = await agree();
  await expect(
    rich.fastFill({ ...agreed, requestId: `0x${"99".repeat(32)}` as const }),
  ).rejects.toMatchObject(refused("REQUEST_NOT_FOUND", "unknownRequest"));
});

test("refuses a fast fill by a key without a wallet, or whose wallet has no balance", async () => {
  const agreed = await agree();
  const walletless = await aSponsor(world, 0, { fundingAddress: undefined });
  await expect(walletless.fastFill(agreed)).rejects.toMatchObject(refused("FORBIDDEN", "noSponsoringWallet"));
  const poor = await aSponsor(world, 0);
  await expect(poor.fastFill(agreed)).rejects.toMatchObject(
    refused("INSUFFICIENT_APP_BALANCE", "appBalance"),
  );
  await expectUnchanged(agreed, "quoted");
});

test("refuses a fast fill if the balance does not cover the fill to the last unit in addition to existing holds", async () => {
  const [first, second] = [await agree(), await agree()];
  const sponsor = await aSponsor(world, 150);
  expect(await sponsor.fastFill(first)).toBe("queued");
  await expect(sponsor.fastFill(second)).rejects.toMatchObject(
    refused("INSUFFICIENT_APP_BALANCE", "appBalance"),
  );
  await expectUnchanged(second, "quoted");
  const { usd = 0n } = (await sponsor.holdOf(first)) ?? {};
  const missing = (2n * usd - 150n * ONE_USD + 10n ** 12n - 1n) / 10n ** 12n;
  await sponsor.topUp(missing - 1n);
  await expect(sponsor.fastFill(second)).rejects.toMatchObject(
    refused("INSUFFICIENT_APP_BALANCE", "appBalance"),
  );
  await sponsor.topUp(1n);
  expect(await sponsor.fastFill(second)).toBe("queued");
  expect(await sponsor.availableUsd()).toBeLessThan(10n ** 12n);
});

test("refuses a fill above the caller's or the key's cap, and accepts one equal to it", async () => {
  const agreed = await agree();
  const worth = agreed.terms.destination.expectedAmount * 10n ** 12n;
  await expect(rich.fastFill(agreed, { maxUsd: worth - 1n })).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "maxFillAmountUsd"),
  );
  const capped = await aSponsor(world, 1_000, {
    rules: { maxCallValueUsd: 0n, maxFastFillUsd: worth - 1n },
  });
  await expect(capped.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "maxFastFillUsd"));
  await expectUnchanged(agreed, "quoted");
  expect(await rich.fastFill(agreed, { maxUsd: worth })).toBe("queued");
});

test("refuses a fast fill that would raise a key's total exposure above its limit", async () => {
  const [first, second] = [await agree(), await agree()];
  const worth = first.terms.destination.expectedAmount * 10n ** 12n;
  const sponsor = await aSponsor(world, 1_000, {
    rules: { maxCallValueUsd: 0n, maxHoldsUsd: 2n * worth - 1n },
  });
  expect(await sponsor.fastFill(first)).toBe("queued");
  await expect(sponsor.fastFill(second)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "maxHoldsUsd"));
  await expectUnchanged(second, "quoted");
  await deposit(world.origin, world.user, first);
  await world.work();
  await world.untilFinal(first.requestId);
  expect(await sponsor.holdState(first)).toBe("released");
  expect(await sponsor.fastFill(second)).toBe("queued");
});

test("refuses an input of zero or above the quoted one", async () => {
  const agreed = await agree({}, rich);
  for (const inputAmount of [agreed.terms.origin.amount + 1n, 0n])
    await expect(rich.fastFill(agreed, { inputAmount })).rejects.toMatchObject(
      refused("FAST_FILL_REFUSED", "inputAboveQuote"),
    );
  await expectUnchanged(agreed, "quoted");
});

test("refuses an input that would not buy the quoted minimum, and any lower input for an exact output", async () => {
  const agreed = await agree({ slippageTolerance: "100" }, rich);
  await expect(
    rich.fastFill(agreed, { inputAmount: (agreed.terms.origin.amount * 98n) / 100n }),
  ).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "belowMinimum"));
  const exact = await agree({ tradeType: "EXACT_OUTPUT" }, rich);
  await expect(
    rich.fastFill(exact, { inputAmount: exact.terms.origin.amount - 10_000n }),
  ).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "belowMinimum"));
  await expectUnchanged(agreed, "quoted");
});

test("only the API key that quoted may reduce the input of a fast fill, because the recipient then gets less", async () => {
  const other = await aSponsor(world, 1_000);
  for (const agreed of [
    await agree({ slippageTolerance: "5000" }),
    await agree({ slippageTolerance: "5000" }, rich),
  ]) {
    await expect(
      other.fastFill(agreed, { inputAmount: agreed.terms.origin.amount - 1n }),
    ).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "inputOfOthersQuote"));
    await expectUnchanged(agreed, "quoted");
    // Any key may cover the full quoted input.
    expect(await other.fastFill(agreed, { inputAmount: agreed.terms.origin.amount })).toBe("queued");
  }
});

test("refuses to fast fill at a price below the quoted minimum", async () => {
  const agreed = await agree({
    originCurrency: NATIVE_CURRENCY,
    amount: (10n ** 16n).toString(),
    slippageTolerance: "50",
  });
  world.prices.set("ethereum", "2000");
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "belowMinimum"));
  world.prices.set("ethereum", "2500");
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("without a price, a fast fill fails with a retryable error", async () => {
  const agreed = await agree();
  world.prices.set("usd-coin", undefined);
  await expect(rich.fastFill(agreed)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  world.prices.set("usd-coin", "1");
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("refuses to fast fill same-chain transfers and requests marked for refund", async () => {
  const send = await agree({ destinationChainId: world.origin.chain.id });
  expect(send.terms.kind).toBe("send");
  await expect(rich.fastFill(send)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "notABridge"));
  const forced = await agree({ referrer: "debug-force-refund" });
  await expect(rich.fastFill(forced)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "markedForRefund"));
  await expectUnchanged(forced, "quoted");
});

test("a request past its deadline is refused before and after it is closed", async () => {
  const agreed = await agree({ ttl: 60 });
  world.clock.forward(61_000);
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "expired"));
  world.clock.forward(world.services.enginePolicy.expiryGraceMs);
  await world.origin.client.increaseTime({ seconds: 100_000 });
  await mineOrigin();
  await world.round();
  expect((await world.request(agreed.requestId)).state.name).toBe("expired");
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "expired"));
});

test("refuses a fast fill while an ordinary fill is in progress, and reports it as done once the recipient is paid", async () => {
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed);
  await mineOrigin();
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("REQUEST_IN_PROGRESS", "underWay"));
  await world.work();
  expect((await world.request(agreed.requestId)).state.name).toBe("submitted");
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("REQUEST_IN_PROGRESS", "underWay"));
  await mineDestination();
  expect(await rich.fastFill(agreed)).toBe("filled");
  await expectUnchanged(agreed, "filled");
});

test("a repeated fast fill is reported as in progress until it is filled, then as done, and keeps one hold", async () => {
  const agreed = await agree();
  expect(await rich.fastFill(agreed)).toBe("queued");
  const { heldUsd } = await rich.book();
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("REQUEST_IN_PROGRESS", "underWay"));
  await world.work();
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("REQUEST_IN_PROGRESS", "underWay"));
  await mineDestination();
  expect(await rich.fastFill(agreed)).toBe("filled");
  expect((await rich.book()).heldUsd).toBe(heldUsd);
});

test("refuses to fast fill a request that is being refunded or was refunded", async () => {
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed, { amount: 50_000_000n });
  await mineOrigin();
  expect((await world.request(agreed.requestId)).state.name).toBe("refunding");
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "refunded"));
  await world.untilFinal(agreed.requestId);
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "refunded"));
});

test("fast fills an executed request only once its transaction has a nonce", async () => {
  const { services, origin } = world;
  const agreed = await agree();
  const { requestId } = agreed;
  await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record) await transition(services, tx, record, { kind: "executionAccepted" });
  });
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(
    refused("REQUEST_IN_PROGRESS", "executionNotSent"),
  );
  await expectUnchanged(agreed, "accepted");

  const sender = services.executor?.address;
  if (sender === undefined) throw new Error("no executor is configured");
  await services.uow.run(async (tx) => {
    await tx.lanes.reserve(
      [
        {
          chainId: origin.chain.id,
          sender,
          leg: { kind: "execution", id: requestId, requestId },
          call: { to: world.user.address, data: "0x", value: 0n },
          gasLimit: 100_000n,
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 0n,
          outflow: { currency: NATIVE_CURRENCY, amount: 0n },
          cancelAfterMs: services.clock.nowMs() + 600_000,
        },
      ],
      services.clock.nowMs(),
    );
  });
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("every refusal is logged with its rule, and every acceptance with its value", async () => {
  const agreed = await agree();
  await expect(rich.fastFill(agreed, { maxUsd: 1n })).rejects.toThrow();
  expect(world.events.of("fast_fill_refused").at(-1)?.facts).toMatchObject({
    requestId: agreed.requestId,
    keyId: rich.key.id,
    rule: "maxFillAmountUsd",
  });
  await rich.fastFill(agreed);
  expect(world.events.of("fast_fill_accepted").at(-1)?.facts).toMatchObject({
    requestId: agreed.requestId,
    keyId: rich.key.id,
    wallet: rich.wallet,
    amount: agreed.terms.destination.expectedAmount,
  });
  const { rows } = await world.pool.query<{ detail: string }>(
    "select detail from request_events where request_id = $1 and event = 'fastFillAccepted'",
    [agreed.requestId],
  );
  expect(JSON.parse(rows[0]?.detail ?? "{}")).toMatchObject({ triggeredByFastFill: true });
  // The services of a worker, which groups concurrent fills.
  await world.work({ ...world.services, payTogether: groupedPayments(world.services) });
  expect(world.events.of("fill_planned").at(-1)?.facts).toMatchObject({ fast: true });
  const { tookMs, requestId } = world.events.of("fast_fill_broadcast").at(-1)?.facts ?? {};
  expect({ requestId, isTime: typeof tookMs === "number" && tookMs >= 0 }).toEqual({
    requestId: agreed.requestId,
    isTime: true,
  });
});

/** Mines the approval of a deposit. The deposit itself is not sent yet. */
async function approved({ terms }: QuotedRequest, amount = terms.origin.amount): Promise<void> {
  const { depository } = world.origin.chain.contracts;
  await world.origin.send(world.user, {
    to: terms.origin.currency,
    data: approveCalldata(depository, amount),
  });
  await mineOrigin();
}

const sendDeposit = async (
  { terms }: QuotedRequest,
  change: { amount?: bigint; from?: typeof world.user; orderId?: TxHash; nonce?: number } = {},
): Promise<TxHash> =>
  await world.origin.send(change.from ?? world.user, {
    to: world.origin.chain.contracts.depository,
    data: depositErc20Calldata(
      terms.user,
      terms.origin.currency,
      change.amount ?? terms.origin.amount,
      change.orderId ?? terms.orderId,
    ),
    ...(change.nonce !== undefined && { nonce: change.nonce }),
  });

const report = async ({ requestId }: QuotedRequest, txHash: TxHash): Promise<unknown> =>
  await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash, requestId });

test("without a known origin transaction only a key whose rules allow it can fast fill", async () => {
  const strict = await aSponsor(world, 1_000, { rules: { maxCallValueUsd: 0n, allowUnsubmitted: false } });
  const agreed = await agree();
  await expect(strict.fastFill(agreed)).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originTransactionMissing"),
  );
  await expectUnchanged(agreed, "quoted");
  expect(await rich.fastFill(agreed)).toBe("queued");

  const reported = await agree();
  await approved(reported);
  const txHash = await sendDeposit(reported);
  await report(reported, txHash);
  expect(await strict.fastFill(reported)).toBe("queued");
  const seen = await agree({ amount: "20000000000" });
  await deposit(world.origin, world.user, seen);
  await mineOrigin();
  const rule = await strict.fastFill(seen).catch((error: unknown) => error);
  expect(rule, "its deposit is in a block: only the balance is too small").toMatchObject(
    refused("INSUFFICIENT_APP_BALANCE", "appBalance"),
  );
});

test.each(["reported", "named"] as const)(
  "accepts a fast fill whose agreed deposit is pending and was %s",
  async (how) => {
    const agreed = await agree();
    await approved(agreed);
    const txHash = await sendDeposit(agreed);
    if (how === "reported") {
      expect(await report(agreed, txHash)).toEqual({ message: "Transaction seen, waiting to be mined" });
      expect(await world.services.reads.originTransactions(agreed.requestId)).toEqual([txHash]);
    }
    expect(await rich.fastFill(agreed, how === "named" ? { txHash } : {})).toBe("queued");
  },
);

test("accepts a fast fill whose approval and deposit are pending", async () => {
  const agreed = await agree();
  const txHash = await deposit(world.origin, world.user, agreed);
  await report(agreed, txHash);
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("accepts a fast fill whose native deposit is pending", async () => {
  const agreed = await agree({ originCurrency: NATIVE_CURRENCY, amount: (10n ** 16n).toString() });
  const txHash = await deposit(world.origin, world.user, agreed);
  await report(agreed, txHash);
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("refuses a fast fill after a reported deposit of another amount, and names its transaction", async () => {
  const agreed = await agree();
  await approved(agreed);
  const txHash = await sendDeposit(agreed, { amount: agreed.terms.origin.amount - 1n });
  await report(agreed, txHash);
  await expect(rich.fastFill(agreed)).rejects.toMatchObject({
    ...refused("FAST_FILL_REFUSED", "originOtherCall"),
    message: `Origin transaction ${txHash} does not deposit the agreed amount of the agreed currency`,
    facts: { data: { txHash } },
  });
  await expectUnchanged(agreed, "quoted");
});

test("accepts a fast fill if one of several reported transactions can become the deposit", async () => {
  const agreed = await agree();
  await approved(agreed);
  const nonce = await world.origin.client.getTransactionCount({ address: world.user.address });
  const wrong = await sendDeposit(agreed, { amount: 1n, nonce });
  await report(agreed, wrong);
  await world.origin.client.request({ method: "anvil_dropTransaction" as never, params: [wrong] as never });
  const right = await sendDeposit(agreed, { nonce });
  await report(agreed, right);
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("a reported transaction of another sender is not stored, and causes a refusal only if the app names it", async () => {
  const agreed = await agree();
  const txHash = await sendDeposit(agreed, { from: world.stranger });
  await report(agreed, txHash);
  expect(await world.services.reads.originTransactions(agreed.requestId)).toEqual([]);
  await expect(rich.fastFill(agreed, { txHash })).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originOtherSender"),
  );
  expect(await rich.fastFill(agreed)).toBe("queued");
});

test("a transaction of the user for another order is not stored, and causes a refusal only if the app names it", async () => {
  const [agreed, other] = [await agree(), await agree()];
  await approved(agreed);
  const txHash = await sendDeposit(other);
  await report(agreed, txHash);
  expect(await world.services.reads.originTransactions(agreed.requestId)).toEqual([]);
  await expect(rich.fastFill(agreed, { txHash })).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originOtherCall"),
  );
});

test("refuses a fast fill whose transaction is unknown, if the app names it or it was reported and dropped", async () => {
  const agreed = await agree();
  await expect(rich.fastFill(agreed, { txHash: `0x${"77".repeat(32)}` })).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originTransactionUnknown"),
  );
  await approved(agreed);
  const txHash = await sendDeposit(agreed);
  await report(agreed, txHash);
  await world.origin.client.request({ method: "anvil_dropTransaction" as never, params: [txHash] as never });
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originTransactionUnknown"),
  );
});

test("refuses a fast fill whose deposit waits behind a nonce gap", async () => {
  const agreed = await agree();
  await approved(agreed);
  const nonce = await world.origin.client.getTransactionCount({ address: world.user.address });
  const txHash = await sendDeposit(agreed, { nonce: nonce + 5 });
  await report(agreed, txHash);
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "originNonceGap"));
});

test("refuses a fast fill whose deposit its sender cannot pay, or would revert", async () => {
  const agreed = await agree();
  await approved(agreed, 1n);
  const unapproved = await sendDeposit(agreed);
  await report(agreed, unapproved);
  await expect(rich.fastFill(agreed)).rejects.toMatchObject(refused("FAST_FILL_REFUSED", "originReverts"));

  const large = await agree({ amount: "900000000000000" }).catch(() => undefined);
  expect(large, "the quote refuses an amount that cannot be filled").toBeUndefined();
});

test("refuses a fast fill whose mined transaction reverted or deposited something else, and accepts one that made the deposit", async () => {
  const agreed = await agree();
  await approved(agreed, agreed.terms.origin.amount);
  const reverted = await sendDeposit(await agree(), { amount: agreed.terms.origin.amount * 2n });
  await world.origin.mine();
  await expect(rich.fastFill(agreed, { txHash: reverted })).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originReverts"),
  );
  const made = await sendDeposit(agreed);
  await world.origin.mine();
  const other = await agree();
  await expect(rich.fastFill(other, { txHash: made })).rejects.toMatchObject(
    refused("FAST_FILL_REFUSED", "originOtherCall"),
  );
  // The deposit is mined, but the watcher has not read it yet.
  expect(await rich.fastFill(agreed, { txHash: made })).toBe("queued");
});

test("while the route is paused, a fast fill is refused and places no hold", async () => {
  const agreed = await agree();
  const { origin, destination } = world;
  const scope = {
    kind: "route",
    originChainId: origin.chain.id,
    destinationChainId: destination.chain.id,
  } as const;
  const paused = [{ scope, pausedBy: "ann", reason: "drill", sinceMs: 1 }];
  const by = { ...world.services, pauses: () => paused };
  await expect(rich.fastFill(agreed, {}, by)).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    facts: { data: { pausedScope: `route:${origin.chain.id}-${destination.chain.id}` } },
  });
  await expectUnchanged(agreed, "quoted");
  expect(await rich.fastFill(agreed)).toBe("queued");
});
