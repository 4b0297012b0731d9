import { InsufficientInventory, RpcFault } from "@causeway/chains";
import type { DepositFact, PayingRail, RailAttempt } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";

/** A rail on a chain that the test moves. */
export interface RailWorld {
  readonly rail: PayingRail;
  /** A configured currency of which the solver has plenty for every payment here. */
  readonly currency: Hex;
  /**
   * Smallest units that are no trouble to pay (no dust), and of which the solver has at least twenty times as
   * much.
   */
  readonly amount: bigint;
  /** An account that was never paid, and can be. */
  aRecipient(): Promise<Hex>;
  /** Somebody deposits; it waits for a block. Without `orderId` the deposit carries none. */
  deposit(amount: bigint, orderId: Hex | undefined): Promise<{ readonly txId: Hex; readonly sender: Hex }>;
  /** What is sent is in a block, and no more. */
  mine(): Promise<void>;
  /** Everything that is sent is final. */
  settle(): Promise<void>;
  /**
   * Time passes until bytes that were made before and never sent can not count any more; undefined: they
   * never lapse, new ones conflict with them.
   */
  readonly lapse?: (() => Promise<void>) | undefined;
  /** A payment to the solver himself takes back the attempts that it is given. */
  readonly takesBack?: true;
  /** Smallest units that an account has got of the solver. */
  received(recipient: Hex): Promise<bigint>;
  /** From now on the node does not answer, or does again. */
  setDown(isDown: boolean): void;
  close(): Promise<void>;
}

const MAX_READINGS = 12;

const anOrder = (): Hex => `0x${randomBytes(32).toString("hex")}`;

/**
 * What every rail promises.
 *
 * @param start a chain of the calling file's own; how deposits are told apart where they cannot carry an id
 * is not asked here: set `carriesIds` to false then
 */
export function chainRailContract(
  name: string,
  start: () => Promise<RailWorld>,
  { carriesIds = true }: { readonly carriesIds?: boolean } = {},
): void {
  let world: RailWorld;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(async () => await world?.close());

  /** A reading may cover a part of what there is: the next goes on. */
  const arrivals = async (from?: string) => {
    const deposits: DepositFact[] = [];
    let read = await world.rail.arrivals(from);
    deposits.push(...read.deposits);
    for (let more = 0, cursor = from; more < MAX_READINGS && read.cursor !== cursor; more++) {
      cursor = read.cursor;
      read = await world.rail.arrivals(cursor);
      deposits.push(...read.deposits);
    }
    return { ...read, deposits };
  };
  const pay = async (before: readonly RailAttempt[] = [], reserved: readonly Hex[] = [], to?: Hex) => {
    const recipient = to ?? (await world.aRecipient());
    const { currency, amount } = world;
    const payment = { recipient, currency, amount, orderId: anOrder() };
    return { recipient, payment, attempt: await world.rail.prepare(payment, before, reserved) };
  };
  const kindOf = async (attempt: RailAttempt) => (await world.rail.outcome(attempt)).kind;

  test(`${name}: a deposit is told of when it is final, once behind each cursor, and alike by its transaction`, async () => {
    const { cursor: begin } = await arrivals();
    const orderId = anOrder();
    const { txId, sender } = await world.deposit(world.amount, carriesIds ? orderId : undefined);
    expect((await world.rail.arrivalsOf(txId)).kind).not.toBe("final");
    expect((await arrivals(begin)).deposits).toEqual([]);
    await world.settle();
    const told = await arrivals(begin);
    expect(told.deposits).toHaveLength(1);
    expect(told.deposits[0]).toMatchObject({
      txHash: txId,
      ordinal: 0,
      sender,
      currency: world.currency,
      amount: world.amount,
      ...(carriesIds && { id: orderId }),
    });
    expect((await arrivals(begin)).deposits).toEqual(told.deposits);
    expect((await arrivals(told.cursor)).deposits).toEqual([]);
    expect(told.upTo.number).toBeGreaterThanOrEqual(told.deposits[0]?.blockNumber ?? 0n);
    const one = await world.rail.arrivalsOf(txId);
    expect(one).toMatchObject({ kind: "final", deposits: told.deposits });
  });

  test(`${name}: a transaction that nobody made is absent`, async () => {
    const [unmade] = [(await pay()).attempt.txId];
    expect(await world.rail.arrivalsOf(unmade)).toEqual({ kind: "absent" });
  });

  test(`${name}: a payment gives the recipient exactly the amount, however often it is sent`, async () => {
    const { recipient, attempt } = await pay();
    expect(await kindOf(attempt)).toBe("unseen");
    expect(await world.received(recipient)).toBe(0n);
    for (const _again of [1, 2]) expect(await world.rail.send(attempt)).toBe("sent");
    await world.mine();
    expect(["mined", "final"]).toContain(await kindOf(attempt));
    await world.rail.send(attempt);
    await world.settle();
    expect(await world.rail.outcome(attempt)).toMatchObject({
      kind: "final",
      block: { number: expect.any(BigInt) },
    });
    await world.rail.send(attempt);
    await world.settle();
    expect(await world.received(recipient)).toBe(world.amount);
  });

  test(`${name}: of two attempts at one payment one counts, in whatever order they come`, async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { recipient, payment, attempt: first } = await pay();
      await world.lapse?.();
      if (world.lapse !== undefined) expect(await kindOf(first)).toBe("dead");
      const second = await world.rail.prepare(payment, [first], []);
      expect(second.txId).not.toBe(first.txId);
      // Nodes need not take one that conflicts with what they have.
      for (const at of order) await world.rail.send(at === 0 ? first : second).catch(() => undefined);
      await world.settle();
      expect(await world.received(recipient)).toBe(world.amount);
      expect([await kindOf(first), await kindOf(second)].toSorted()).toEqual(["dead", "final"]);
    }
  });

  test(`${name}: what is taken back does not count beside that, or counts in its place`, async () => {
    if (world.takesBack === undefined) return;
    for (const isFirst of [true, false]) {
      const { recipient, attempt } = await pay();
      const { currency, amount, rail } = world;
      const toOurselves = { recipient: rail.solver, currency, amount, orderId: undefined };
      const back = await rail.prepare(toOurselves, [attempt], []);
      for (const one of isFirst ? [attempt, back] : [back, attempt])
        await rail.send(one).catch(() => undefined);
      await world.settle();
      const paid = await world.received(recipient);
      expect([await kindOf(attempt), await kindOf(back), paid]).toEqual(
        paid === 0n ? ["dead", "final", 0n] : ["final", "dead", amount],
      );
    }
  });

  test(`${name}: payments that are prepared beside each other are both made`, async () => {
    const one = await pay();
    const two = await pay([], [one.attempt.raw]);
    for (const { attempt } of [one, two]) expect(await world.rail.send(attempt)).toBe("sent");
    await world.settle();
    for (const { recipient } of [one, two]) expect(await world.received(recipient)).toBe(world.amount);
  });

  test(`${name}: what is paid is missing in the balance, and more than there is cannot be paid`, async () => {
    const held = async () => (await world.rail.balances([world.currency])).get(world.currency) ?? 0n;
    const before = await held();
    const { attempt } = await pay();
    await world.rail.send(attempt);
    await world.settle();
    expect(await held()).toBeLessThanOrEqual(before - world.amount);
    const recipient = await world.aRecipient();
    const payment = { recipient, currency: world.currency, amount: before * 2n, orderId: anOrder() };
    await expect(world.rail.prepare(payment, [], [])).rejects.toBeInstanceOf(InsufficientInventory);
  });

  test(`${name}: a payment costs something that can be told beforehand, and whom it goes to can be asked about`, async () => {
    const recipient = await world.aRecipient();
    const { currency, amount } = world;
    expect(await world.rail.paymentCost(currency, recipient)).toBeGreaterThanOrEqual(0n);
    expect(await world.rail.paymentCost(currency, undefined)).toBeGreaterThanOrEqual(0n);
    expect(await world.rail.refusalOf({ recipient, currency, amount })).toBeUndefined();
  });

  test(`${name}: a node that does not answer says nothing of anything`, async () => {
    const { attempt, payment } = await pay();
    world.setDown(true);
    try {
      const asked = [
        () => world.rail.arrivals(undefined),
        () => world.rail.arrivalsOf(attempt.txId),
        () => world.rail.outcome(attempt),
        () => world.rail.send(attempt),
        () => world.rail.balances([world.currency]),
        () => world.rail.prepare(payment, [], []),
      ];
      for (const ask of asked) await expect(ask()).rejects.toBeInstanceOf(RpcFault);
    } finally {
      world.setDown(false);
    }
    expect(await kindOf(attempt)).toBe("unseen");
  });
}
