import type { Address, RequestId } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  makeHoldPermanent,
  reinstateHold,
  releaseHold,
  returnPermanent,
} from "../../../apps/api/src/balances/move-hold.ts";
import { freeAmount } from "../../../apps/api/src/balances/offer-claim.ts";
import { payFees } from "../../../apps/api/src/balances/pay-fees.ts";
import { placeHold } from "../../../apps/api/src/balances/place-hold.ts";
import { releaseFees } from "../../../apps/api/src/balances/release-fees.ts";
import { reserveFees } from "../../../apps/api/src/balances/reserve-fees.ts";
import { unreliable } from "../../fakes/adjustable-prices.ts";
import { creditTopUp, reverseTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { appraise } from "../../../apps/api/src/balances/appraise.ts";
import {
  ONE,
  violatedInvariants,
  ether,
  startLedgerWorld,
  usdc,
  type LedgerWorld,
} from "../../support/ledger-world.ts";
import { someAddress, someHash } from "../../support/terms.ts";

let world: LedgerWorld;
beforeAll(async () => {
  world = await startLedgerWorld();
});
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

const reserve = async (
  wallet: Address,
  usd: bigint,
  requestId: RequestId = someHash(),
  transferredUsd: bigint = 0n,
) =>
  await world.inTransaction(
    async (tx) =>
      await reserveFees(world.services, tx, {
        wallet,
        usd,
        transferredUsd,
        requestId,
        movementKey: `reserve:${requestId}`,
      }),
  );

const hold = async (
  wallet: Address,
  usd: bigint,
  more: {
    requestId?: RequestId;
    keyId?: string;
    maxExposureUsd?: bigint;
    currency?: Address;
    amount?: bigint;
  } = {},
) =>
  await world.inTransaction(
    async (tx) =>
      await placeHold(world.services, tx, {
        wallet,
        keyId: "key",
        requestId: someHash(),
        usd,
        chainId: 10,
        currency: usdc.currency,
        amount: 1n,
        ...more,
      }),
  );

async function aWallet(usdcUnits: bigint, wei = 0n): Promise<Address> {
  const wallet = someAddress();
  if (usdcUnits > 0n) await world.credit(wallet, usdc, usdcUnits);
  if (wei > 0n) await world.credit(wallet, ether, wei);
  return wallet;
}

test("charges fees from the preferred currency first, then from the next, at the reserved rates", async () => {
  const wallet = await aWallet(3_000_000n, ONE);
  const requestId = someHash();
  const reserved = await reserve(wallet, 5n * ONE, requestId);
  if (reserved.kind !== "reserved") throw new Error(reserved.kind);
  expect(reserved.reservation.parts).toEqual([
    { asset: usdc, amount: 3_000_000n, usd: 3n * ONE },
    { asset: ether, amount: ONE / 1000n, usd: 2n * ONE },
  ]);
  world.prices.set("ethereum", "4000");
  const paid = await world.inTransaction(
    async (tx) =>
      await payFees(world.services, tx, reserved.reservation, { usd: 4n * ONE }, `pay:${requestId}`),
  );
  world.prices.set("ethereum", "2000");
  expect(paid).toEqual({ kind: "paid", uncoveredUsd: 0n });
  expect(await world.line(wallet, usdc)).toEqual({ balance: 0n, pending: 0n, owed: 0n });
  expect(await world.line(wallet, ether)).toEqual({
    balance: ONE - ONE / 2000n,
    pending: 0n,
    owed: 0n,
  });
});

test("reserves nothing if the balance is one dollar too low, and reports the available balance", async () => {
  const wallet = await aWallet(3_000_000n);
  expect(await reserve(wallet, 4n * ONE)).toMatchObject({ kind: "insufficient", availableUsd: 3n * ONE });
  expect(await world.line(wallet, usdc)).toMatchObject({ balance: 3_000_000n, pending: 0n, owed: 0n });
});

test("reserving, paying or releasing the same request twice has the effect of once", async () => {
  const wallet = await aWallet(10_000_000n);
  const requestId = someHash();
  const [first, second] = [await reserve(wallet, ONE, requestId), await reserve(wallet, ONE, requestId)];
  if (first.kind !== "reserved") throw new Error(first.kind);
  expect(second).toMatchObject({ kind: "reserved", reservation: { id: first.reservation.id } });
  const pay = async () =>
    await world.inTransaction(
      async (tx) => await payFees(world.services, tx, first.reservation, { usd: ONE }, `pay:${requestId}`),
    );
  expect((await Promise.all([pay(), pay(), pay()])).map(({ kind }) => kind).toSorted()).toEqual([
    "already",
    "already",
    "paid",
  ]);
  const release = await world.inTransaction(
    async (tx) => await releaseFees(world.services, tx, first.reservation, `release:${requestId}`),
  );
  expect(release).toBe("already");
  expect(await reserve(wallet, ONE, requestId)).toEqual({ kind: "closed" });
  expect(await world.line(wallet, usdc)).toEqual({ balance: 9_000_000n, pending: 0n, owed: 0n });
});

test("a cost above the reservation takes the whole reservation and reports the rest", async () => {
  const wallet = await aWallet(10_000_000n);
  const reserved = await reserve(wallet, 2n * ONE);
  if (reserved.kind !== "reserved") throw new Error(reserved.kind);
  const paid = await world.inTransaction(
    async (tx) => await payFees(world.services, tx, reserved.reservation, { usd: 5n * ONE }, someHash()),
  );
  expect(paid).toEqual({ kind: "paid", uncoveredUsd: 3n * ONE });
  expect(await world.line(wallet, usdc)).toEqual({ balance: 8_000_000n, pending: 0n, owed: 0n });
});

test("an exact charge is paid unchanged, but never above its reservation, and not at all without a reservation", async () => {
  const wallet = await aWallet(5_000_000n, ONE);
  const reserved = await reserve(wallet, 7n * ONE);
  if (reserved.kind !== "reserved") throw new Error(reserved.kind);
  const amounts = [
    { asset: usdc, amount: 9_000_000n },
    { asset: ether, amount: 400n },
    { asset: { ...usdc, currency: someAddress() }, amount: 1n },
  ];
  await world.inTransaction(
    async (tx) => await payFees(world.services, tx, reserved.reservation, { amounts }, someHash()),
  );
  expect(await world.line(wallet, usdc)).toEqual({ balance: 0n, pending: 0n, owed: 0n });
  expect(await world.line(wallet, ether)).toEqual({ balance: ONE - 400n, pending: 0n, owed: 0n });
});

test("fifty of two hundred concurrent reservations on a balance for fifty succeed, and nothing is overdrawn", async () => {
  const wallet = await aWallet(50_000_000n);
  const answers = await Promise.all(Array.from({ length: 200 }, async () => await reserve(wallet, ONE)));
  expect(answers.filter(({ kind }) => kind === "reserved")).toHaveLength(50);
  expect(await world.line(wallet, usdc)).toEqual({ balance: 0n, pending: 50_000_000n, owed: 0n });
  expect(await violatedInvariants(world.pool)).toEqual([]);
});

test("after two hundred concurrent holds and reservations, holds do not exceed the balance and fees ignore holds", async () => {
  const wallet = await aWallet(100_000_000n);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, at) =>
      at % 2 === 0 ? await hold(wallet, 3n * ONE) : await reserve(wallet, ONE / 2n),
    ),
  );
  const placed = answers.filter(({ kind }) => kind === "placed").length;
  expect(
    answers.filter(({ kind }) => kind === "reserved"),
    "fees are not blocked by holds",
  ).toHaveLength(100);
  expect(placed).toBeGreaterThanOrEqual(16);
  expect(placed).toBeLessThanOrEqual(33);
  const book = await world.book(wallet);
  expect(book.heldUsd).toBe(BigInt(placed) * 3n * ONE);
  expect(await world.available(wallet, "sponsorship")).toBe(50n * ONE);
});

test("a hold reduces what fast fills and claims may use, but not what sponsorship may use", async () => {
  const wallet = await aWallet(10_000_000n);
  expect(await hold(wallet, 7n * ONE)).toEqual({ kind: "placed" });
  expect(await world.available(wallet, "fastFill")).toBe(3n * ONE);
  expect(await world.available(wallet, "claim")).toBe(3n * ONE);
  expect(await world.available(wallet, "sponsorship")).toBe(10n * ONE);
  expect(await hold(wallet, 4n * ONE)).toEqual({
    kind: "insufficient",
    availableUsd: 3n * ONE,
    requiredUsd: 4n * ONE,
  });
  expect((await reserve(wallet, 9n * ONE)).kind).toBe("reserved");
  expect(await world.available(wallet, "claim")).toBe(0n);
});

test("a volatile balance backs holds with half of its value, and claims must leave enough to back all holds", async () => {
  const wallet = await aWallet(0n, ONE);
  expect(await world.available(wallet, "claim")).toBe(2_000n * ONE);
  expect(await hold(wallet, 1_001n * ONE)).toMatchObject({
    kind: "insufficient",
    availableUsd: 1_000n * ONE,
  });
  expect(await hold(wallet, 900n * ONE)).toEqual({ kind: "placed" });
  expect(await world.available(wallet, "claim")).toBe(100n * ONE);
  world.prices.set("ethereum", "1500");
  expect(await world.available(wallet, "claim")).toBe(0n);
  world.prices.set("ethereum", "2000");
});

test("stablecoins back a hold in a volatile currency with a margin for a rise of its price, which claims cannot take", async () => {
  const wallet = await aWallet(10_000_000n);
  const inEther = { currency: ether.currency, amount: (3n * ONE) / 1_000n };
  expect(await hold(wallet, 7n * ONE, inEther)).toEqual({
    kind: "insufficient",
    availableUsd: 10n * ONE,
    requiredUsd: (105n * ONE) / 10n,
  });
  expect(await hold(wallet, 6n * ONE, inEther)).toEqual({ kind: "placed" });
  for (const purpose of ["fastFill", "claim"] as const)
    expect(await world.available(wallet, purpose)).toBe(ONE);
  expect(await world.available(wallet, "sponsorship")).toBe(10n * ONE);

  // The hold is worth 6.30 dollars now.
  world.prices.set("ethereum", "2100");
  expect(await world.available(wallet, "claim")).toBe((55n * ONE) / 100n);
  world.prices.trust("ethereum", unreliable.disputed);
  await expect(hold(wallet, 1n)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect((await reserve(wallet, ONE)).kind, "fees may use held funds").toBe("reserved");
  await expect(reserve(wallet, ONE, someHash(), 1n)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  world.prices.trust("ethereum", undefined);
  world.prices.set("ethereum", "2000");
});

test.each(["disputed", "too old", "missing"] as const)(
  "a hold with a %s price counts three times its highest known value, and the rest of the balance stays usable",
  async (doubt) => {
    const wallet = await aWallet(1_000_000_000n);
    const inEther = { currency: ether.currency, amount: ONE / 40n };
    expect(await hold(wallet, 50n * ONE, inEther)).toEqual({ kind: "placed" });
    // Three times 60 dollars, plus half of that as a margin for a rise of its price.
    world.prices.set("ethereum", "2400");
    if (doubt === "missing") world.prices.set("ethereum", undefined);
    else world.prices.trust("ethereum", unreliable[doubt]);
    for (const purpose of ["fastFill", "claim"] as const)
      expect(await world.available(wallet, purpose)).toBe(730n * ONE);
    const [currency] = world.services.appBalance.currencies;
    if (currency === undefined) throw new Error("invariant violated: app balances without a currency");
    const free = async (wanted: bigint) =>
      freeAmount(world.services, await world.book(wallet), currency, wanted);
    expect(await free(730_000_000n)).toBe(730_000_000n);
    await expect(free(730_000_001n), "may suffice once the price is known").rejects.toMatchObject({
      code: "PRICE_FETCH_FAILED",
    });
    expect((await reserve(wallet, 30n * ONE, someHash(), 30n * ONE)).kind).toBe("reserved");
    expect(await hold(wallet, 700n * ONE)).toEqual({ kind: "placed" });
    await expect(hold(wallet, 1n)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
    await expect(reserve(wallet, ONE, someHash(), 1n)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
    world.prices.trust("ethereum", undefined);
    world.prices.set("ethereum", "2000");
    expect(await hold(wallet, ONE)).toEqual({ kind: "placed" });
  },
);

test("a balance in the hold's own currency backs the hold with its haircut, but needs no additional margin", async () => {
  const wallet = await aWallet(0n, ONE);
  const inEther = { currency: ether.currency, amount: ONE / 2n };
  expect(await hold(wallet, 1_000n * ONE, inEther)).toEqual({ kind: "placed" });
  expect(await hold(wallet, ONE, inEther)).toMatchObject({ kind: "insufficient", availableUsd: 0n });
  // The margin applies only to the part that the balance in the hold's currency does not cover.
  await world.credit(wallet, usdc, 3_001_000_000n);
  const more = { currency: ether.currency, amount: (3n * ONE) / 2n };
  expect(await hold(wallet, 3_000n * ONE, more)).toMatchObject({
    kind: "insufficient",
    requiredUsd: 4_000n * ONE,
  });
});

test("a sponsored charge never transfers held funds to others, whatever its fees", async () => {
  const wallet = await aWallet(10_000_000n);
  expect(await hold(wallet, 7n * ONE)).toEqual({ kind: "placed" });
  expect(await reserve(wallet, 9n * ONE, someHash(), 3n * ONE + 1n)).toEqual({
    kind: "insufficient",
    availableUsd: 3n * ONE,
    requiredUsd: 3n * ONE + 1n,
    missing: "unheld",
  });
  expect(await reserve(wallet, 11n * ONE, someHash(), 3n * ONE)).toMatchObject({
    requiredUsd: 11n * ONE,
    missing: "balance",
  });
  expect((await reserve(wallet, 9n * ONE, someHash(), 3n * ONE)).kind).toBe("reserved");
  expect((await reserve(wallet, ONE, someHash(), 1n)).kind).toBe("insufficient");
});

test("the active holds of a key never exceed the key's limit, whatever its wallet's balance", async () => {
  const wallet = await aWallet(100_000_000n);
  const limit = { keyId: someHash(), maxExposureUsd: 10n * ONE };
  expect(await hold(wallet, 6n * ONE, limit)).toEqual({ kind: "placed" });
  expect(await hold(wallet, 5n * ONE, limit)).toEqual({ kind: "overExposure", exposureUsd: 6n * ONE });
  expect(await hold(wallet, 4n * ONE, limit)).toEqual({ kind: "placed" });
});

test("a request has at most one hold: repeating it changes nothing, and a resolved hold is not placed again", async () => {
  const wallet = await aWallet(10_000_000n);
  const requestId = someHash();
  expect(await hold(wallet, 6n * ONE, { requestId })).toEqual({ kind: "placed" });
  expect(await hold(wallet, 6n * ONE, { requestId })).toEqual({ kind: "placed" });
  expect((await hold(await aWallet(9_000_000n), 6n * ONE, { requestId })).kind).toBe("taken");
  expect((await world.book(wallet)).heldUsd).toBe(6n * ONE);
  await world.inTransaction(async (tx) => await releaseHold(world.services, tx, requestId));
  expect(await hold(wallet, 6n * ONE, { requestId })).toMatchObject({
    kind: "taken",
    hold: { state: "released" },
  });
});

test("a permanent hold is charged to the balance, and the next credit repays what the balance did not cover", async () => {
  const wallet = await aWallet(10_000_000n);
  const requestId = someHash();
  await hold(wallet, 8n * ONE, { requestId });
  const spent = await reserve(wallet, 5n * ONE);
  expect(spent.kind).toBe("reserved");
  const act = async (move: typeof releaseHold) =>
    await world.inTransaction(async (tx) => await move(world.services, tx, requestId));
  expect(await act(makeHoldPermanent)).toBe("applied");
  expect(await act(makeHoldPermanent)).toBe("already");
  expect(await act(releaseHold)).toBe("rejected");
  expect(await world.line(wallet, usdc)).toEqual({ balance: 0n, pending: 5_000_000n, owed: 3_000_000n });
  expect(await world.available(wallet, "sponsorship")).toBe(0n);
  await world.credit(wallet, usdc, 4_000_000n);
  expect(await world.line(wallet, usdc)).toEqual({
    balance: 1_000_000n,
    pending: 5_000_000n,
    owed: 0n,
  });
  // The deposit arrives late: all eight dollars are returned to the wallets that paid them.
  expect(await act(returnPermanent)).toBe("applied");
  expect(await act(returnPermanent)).toBe("already");
  expect((await world.line(wallet, usdc)).balance).toBe(9_000_000n);
  // A reorg removes the deposit again.
  expect(await act(reinstateHold)).toBe("applied");
  expect((await world.book(wallet)).heldUsd).toBe(8n * ONE);
  expect(await act(makeHoldPermanent)).toBe("applied");
  expect((await world.line(wallet, usdc)).balance).toBe(1_000_000n);
});

test("a debt in one currency blocks charges in all other currencies", async () => {
  const wallet = await aWallet(0n, ONE / 100n);
  const topUp = { wallet, asset: usdc, amount: 15_000_000n, movementKey: someHash() };
  await world.inTransaction(async (tx) => await creditTopUp(world.services, tx, topUp));
  await reserve(wallet, 15n * ONE);
  await world.inTransaction(
    async (tx) => await reverseTopUp(world.services, tx, { ...topUp, movementKey: someHash() }),
  );
  expect((await world.line(wallet, usdc)).owed).toBe(15_000_000n);
  expect(await world.available(wallet, "sponsorship")).toBe(5n * ONE);
  expect(await reserve(wallet, 6n * ONE)).toMatchObject({ kind: "insufficient" });
});

test("counts a debt in a currency that was removed from the list", async () => {
  const wallet = await aWallet(5_000_000n);
  await world.credit(wallet, ether, ONE);
  const { services } = world;
  await world.inTransaction(
    async (tx) =>
      await reverseTopUp(services, tx, { wallet, asset: usdc, amount: 9_000_000n, movementKey: someHash() }),
  );
  const { currencies } = services.appBalance;
  const withoutUsdc = {
    ...services,
    appBalance: {
      ...services.appBalance,
      currencies: currencies.filter(({ address }) => address !== usdc.currency),
    },
  };
  const book = await world.book(wallet);
  expect(() => appraise(withoutUsdc, book)).toThrow(/owes 4000000 base units/);
  expect(appraise(services, book).standing.owedUsd).toBe(4n * ONE);
});

test("never reports an insufficient balance without a fresh price", async () => {
  const wallet = await aWallet(2_000_000n, ONE);
  world.prices.set("ethereum", undefined);
  await expect(reserve(wallet, 5n * ONE)).rejects.toThrow(ServiceError);
  await expect(hold(wallet, 5n * ONE)).rejects.toThrow(/fresh price/);
  expect((await reserve(wallet, ONE)).kind, "the rest covers it").toBe("reserved");
  world.prices.set("ethereum", "2000");
});

test.each(["disputed", "too old"] as const)(
  "a balance with a %s price backs no hold and pays no charge",
  async (doubt) => {
    const wallet = await aWallet(2_000_000n, ONE);
    const requestId = someHash();
    await hold(wallet, 5n * ONE, { requestId });
    world.prices.trust("ethereum", unreliable[doubt]);
    await expect(hold(wallet, ONE)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
    await expect(reserve(wallet, 5n * ONE)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
    const debit = async () =>
      await world.inTransaction(async (tx) => await makeHoldPermanent(world.services, tx, requestId));
    await expect(debit()).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
    expect((await world.line(wallet, ether)).balance).toBe(ONE);
    world.prices.trust("ethereum", undefined);
    expect(await debit()).toBe("applied");
  },
);

test("a movement that twenty transactions post concurrently is posted once", async () => {
  const wallet = someAddress();
  const topUp = { wallet, asset: usdc, amount: 7n, movementKey: someHash() };
  const posted = await Promise.all(
    Array.from(
      { length: 20 },
      async () => await world.inTransaction(async (tx) => await creditTopUp(world.services, tx, topUp)),
    ),
  );
  expect(posted.filter((outcome) => outcome === "posted")).toHaveLength(1);
  expect((await world.line(wallet, usdc)).balance).toBe(7n);
});

test("a transaction that fails changes nothing in the ledger", async () => {
  const wallet = await aWallet(5_000_000n);
  const requestId = someHash();
  await expect(
    world.inTransaction(async (tx) => {
      await reserveFees(world.services, tx, {
        wallet,
        usd: ONE,
        transferredUsd: 0n,
        requestId,
        movementKey: requestId,
      });
      throw new Error("the process dies before its commit");
    }),
  ).rejects.toThrow("before its commit");
  expect(await world.line(wallet, usdc)).toEqual({ balance: 5_000_000n, pending: 0n, owed: 0n });
  expect((await reserve(wallet, ONE, requestId)).kind).toBe("reserved");
});

test("the database refuses rows with unknown states", async () => {
  const wallet = await aWallet(5n);
  const rows = {
    holds: {
      request_id: "r",
      wallet,
      key_id: "k",
      usd: 1,
      chain_id: 1,
      currency: "c",
      amount: 1,
      placed_at_ms: 1,
    },
    claims: {
      claim_id: "c",
      wallet,
      chain_id: 1,
      currency: "c",
      recipient: "r",
      amount: 1,
      fee_amount: 0,
      expires_at: 1,
      created_at_ms: 1,
      updated_at_ms: 1,
    },
    fee_reservations: { request_id: "r", wallet, usd: 1, created_at_ms: 1 },
    app_top_ups: {
      chain_id: 1,
      tx_hash: "h",
      ordinal: 0,
      block_number: 1,
      block_hash: "b",
      canonical: true,
      confirm_at_block: 1,
      sender: "s",
      currency: "c",
      amount: 1,
      seen_at_ms: 1,
    },
  };
  for (const [table, row] of Object.entries(rows)) {
    const values = Object.values({ ...row, state: "stolen" });
    const columns = [...Object.keys(row), "state"].join(", ");
    const places = values.map((_, at) => `$${at + 1}`).join(", ");
    await expect(
      world.pool.query(`insert into ${table} (${columns}) values (${places})`, values),
    ).rejects.toThrow(`${table}_state_check`);
  }
});

test("the database refuses to overdraw a balance, and to unbalance, change or delete ledger entries", async () => {
  const wallet = await aWallet(5n);
  const post = async (entries: { account: "balance" | "custody"; amount: bigint }[]) =>
    await world.inTransaction(
      async (tx) =>
        await tx.ledger.post(
          {
            key: someHash(),
            context: "claim",
            reason: "test",
            wallet,
            requestId: undefined,
            entries: entries.map((entry) => ({ ...entry, asset: usdc })),
          },
          1,
        ),
    );
  const take = (amount: bigint) => [
    { account: "balance" as const, amount: -amount },
    { account: "custody" as const, amount },
  ];
  await expect(post(take(6n))).rejects.toThrow(/never_overdrawn/);
  await expect(post([{ account: "balance", amount: 1n }])).rejects.toThrow(/does not balance/);
  await expect(post([])).rejects.toThrow(/moves nothing/);
  expect(await post(take(5n))).toBe("posted");
  for (const table of ["ledger_movements", "ledger_entries", "ledger_accounts"]) {
    await expect(world.pool.query(`delete from ${table}`)).rejects.toThrow(/what was written stays/);
    await expect(world.pool.query(`truncate ${table} cascade`)).rejects.toThrow(/what was written stays/);
    await expect(world.pool.query(`update ${table} set wallet = wallet`)).rejects.toThrow(
      /what was written stays/,
    );
  }
  // An entry cannot be added to a movement of another transaction. An early check does not replace the check
  // at the commit.
  const add = `insert into ledger_entries (movement_id, account, wallet, chain_id, currency, amount)
    select max(id), 'balance', '${wallet}', 1, '0x', 1 from ledger_movements where wallet = '${wallet}'`;
  await expect(world.pool.query(add)).rejects.toThrow(/another transaction/);
  const client = await world.pool.connect();
  try {
    await client.query("begin");
    await client.query("set constraints all immediate");
    const movement = `insert into ledger_movements (movement_key, context, reason, wallet, created_at_ms)
      values ('early', 'claim', 'test', '${wallet}', 1)`;
    await expect(client.query(movement)).rejects.toThrow(/moves nothing/);
    await client.query("rollback");
    await client.query("begin");
    await client.query(movement);
    await client.query(add.replace("'balance'", "'pending'"));
    await expect(client.query("commit")).rejects.toThrow(/does not balance/);
  } finally {
    await client.query("rollback");
    client.release();
  }
});
