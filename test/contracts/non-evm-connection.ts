import { InsufficientInventory, RpcFault } from "@causeway/chains";
import type { DepositFact, PayingConnection, NonEvmAttempt } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";

/** An adapter of a non-EVM chain. Only the test advances the chain. */
export interface NonEvmWorld {
  readonly connection: PayingConnection;
  /** A configured currency. The solver has enough of it for every payment of these tests. */
  readonly currency: Hex;
  /** A payable amount above dust, in base units. The solver holds at least twenty times as much. */
  readonly amount: bigint;
  /** A new account that can receive payments. */
  aRecipient(): Promise<Hex>;
  /**
   * Makes a deposit, which is pending until the next block. Without `orderId`, the deposit carries no id.
   */
  deposit(amount: bigint, orderId: Hex | undefined): Promise<{ readonly txId: Hex; readonly sender: Hex }>;
  /** Mines broadcast transactions, without making them final. */
  mine(): Promise<void>;
  /** Makes all broadcast transactions final. */
  settle(): Promise<void>;
  /**
   * Advances time until bytes that were signed but never broadcast can no longer count. Undefined if such
   * bytes never expire; new bytes then conflict with them.
   */
  readonly lapse?: (() => Promise<void>) | undefined;
  /** Whether a payment from the solver to itself can cancel attempts. */
  readonly canCancel?: true;
  /** The base units that an account received from the solver. */
  received(recipient: Hex): Promise<bigint>;
  /** Makes the node unavailable, or available again. */
  setDown(isDown: boolean): void;
  close(): Promise<void>;
}

const MAX_READINGS = 12;

const anOrder = (): Hex => `0x${randomBytes(32).toString("hex")}`;

/**
 * What every adapter of a non-EVM chain guarantees.
 * @param start starts a chain that only the calling file uses. Set `carriesIds` to false if deposits cannot
 * carry an id: these tests then do not check attribution.
 */
export function nonEvmConnectionContract(
  name: string,
  start: () => Promise<NonEvmWorld>,
  { carriesIds = true }: { readonly carriesIds?: boolean } = {},
): void {
  let world: NonEvmWorld;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(async () => await world?.close());

  /** One read may cover only a part of the chain, and the next one continues. */
  const arrivals = async (from?: string) => {
    const deposits: DepositFact[] = [];
    let read = await world.connection.arrivals(from);
    deposits.push(...read.deposits);
    for (let more = 0, cursor = from; more < MAX_READINGS && read.cursor !== cursor; more++) {
      cursor = read.cursor;
      read = await world.connection.arrivals(cursor);
      deposits.push(...read.deposits);
    }
    return { ...read, deposits };
  };
  const pay = async (
    earlierAttempts: readonly NonEvmAttempt[] = [],
    reserved: readonly Hex[] = [],
    to?: Hex,
  ) => {
    const recipient = to ?? (await world.aRecipient());
    const { currency, amount } = world;
    const payment = { recipient, currency, amount, orderId: anOrder() };
    return {
      recipient,
      payment,
      attempt: await world.connection.prepare(payment, earlierAttempts, reserved),
    };
  };
  const kindOf = async (attempt: NonEvmAttempt) => (await world.connection.outcome(attempt)).kind;

  test(`${name}: a deposit is reported once final, once after each cursor, and identically by its transaction`, async () => {
    const { cursor: begin } = await arrivals();
    const orderId = anOrder();
    const { txId, sender } = await world.deposit(world.amount, carriesIds ? orderId : undefined);
    expect((await world.connection.arrivalsOf(txId)).kind).not.toBe("final");
    expect((await arrivals(begin)).deposits).toEqual([]);
    await world.settle();
    const reported = await arrivals(begin);
    expect(reported.deposits).toHaveLength(1);
    expect(reported.deposits[0]).toMatchObject({
      txHash: txId,
      ordinal: 0,
      sender,
      currency: world.currency,
      amount: world.amount,
      ...(carriesIds && { id: orderId }),
    });
    expect((await arrivals(begin)).deposits).toEqual(reported.deposits);
    expect((await arrivals(reported.cursor)).deposits).toEqual([]);
    expect(reported.upTo.number).toBeGreaterThanOrEqual(reported.deposits[0]?.blockNumber ?? 0n);
    const byTransaction = await world.connection.arrivalsOf(txId);
    expect(byTransaction).toMatchObject({ kind: "final", deposits: reported.deposits });
  });

  test(`${name}: reports a transaction that does not exist as absent`, async () => {
    const [missingTxId] = [(await pay()).attempt.txId];
    expect(await world.connection.arrivalsOf(missingTxId)).toEqual({ kind: "absent" });
  });

  test(`${name}: a payment gives the recipient exactly the amount, however often it is broadcast`, async () => {
    const { recipient, attempt } = await pay();
    expect(await kindOf(attempt)).toBe("unseen");
    expect(await world.received(recipient)).toBe(0n);
    for (const _again of [1, 2]) expect(await world.connection.send(attempt)).toBe("sent");
    await world.mine();
    expect(["mined", "final"]).toContain(await kindOf(attempt));
    await world.connection.send(attempt);
    await world.settle();
    expect(await world.connection.outcome(attempt)).toMatchObject({
      kind: "final",
      block: { number: expect.any(BigInt) },
    });
    await world.connection.send(attempt);
    await world.settle();
    expect(await world.received(recipient)).toBe(world.amount);
  });

  test(`${name}: only one of two attempts at one payment counts, whichever arrives first`, async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { recipient, payment, attempt: first } = await pay();
      await world.lapse?.();
      if (world.lapse !== undefined) expect(await kindOf(first)).toBe("dead");
      const second = await world.connection.prepare(payment, [first], []);
      expect(second.txId).not.toBe(first.txId);
      // Nodes may reject the second transaction, because it conflicts with the first.
      for (const at of order) await world.connection.send(at === 0 ? first : second).catch(() => undefined);
      await world.settle();
      expect(await world.received(recipient)).toBe(world.amount);
      expect([await kindOf(first), await kindOf(second)].toSorted()).toEqual(["dead", "final"]);
    }
  });

  test(`${name}: either a payment or its cancellation takes effect, never both`, async () => {
    if (world.canCancel === undefined) return;
    for (const isFirst of [true, false]) {
      const { recipient, attempt } = await pay();
      const { currency, amount, connection } = world;
      const toOurselves = { recipient: connection.solver, currency, amount, orderId: undefined };
      const cancellation = await connection.prepare(toOurselves, [attempt], []);
      for (const broadcast of isFirst ? [attempt, cancellation] : [cancellation, attempt])
        await connection.send(broadcast).catch(() => undefined);
      await world.settle();
      const paid = await world.received(recipient);
      expect([await kindOf(attempt), await kindOf(cancellation), paid]).toEqual(
        paid === 0n ? ["dead", "final", 0n] : ["final", "dead", amount],
      );
    }
  });

  test(`${name}: two payments that are prepared at the same time are both made`, async () => {
    const first = await pay();
    const second = await pay([], [first.attempt.raw]);
    for (const { attempt } of [first, second]) expect(await world.connection.send(attempt)).toBe("sent");
    await world.settle();
    for (const { recipient } of [first, second]) expect(await world.received(recipient)).toBe(world.amount);
  });

  test(`${name}: a payment reduces the balance, and more than the balance cannot be paid`, async () => {
    const balance = async () => (await world.connection.balances([world.currency])).get(world.currency) ?? 0n;
    const before = await balance();
    const { attempt } = await pay();
    await world.connection.send(attempt);
    await world.settle();
    expect(await balance()).toBeLessThanOrEqual(before - world.amount);
    const recipient = await world.aRecipient();
    const payment = { recipient, currency: world.currency, amount: before * 2n, orderId: anOrder() };
    await expect(world.connection.prepare(payment, [], [])).rejects.toBeInstanceOf(InsufficientInventory);
  });

  test(`${name}: the cost of a payment can be estimated, and a recipient can be checked`, async () => {
    const recipient = await world.aRecipient();
    const { currency, amount } = world;
    expect(await world.connection.paymentCost(currency, recipient)).toBeGreaterThanOrEqual(0n);
    expect(await world.connection.paymentCost(currency, undefined)).toBeGreaterThanOrEqual(0n);
    expect(await world.connection.refusalOf({ recipient, currency, amount })).toBeUndefined();
  });

  test(`${name}: every call fails while the node does not answer`, async () => {
    const { attempt, payment } = await pay();
    world.setDown(true);
    try {
      const reads = [
        () => world.connection.arrivals(undefined),
        () => world.connection.arrivalsOf(attempt.txId),
        () => world.connection.outcome(attempt),
        () => world.connection.send(attempt),
        () => world.connection.balances([world.currency]),
        () => world.connection.prepare(payment, [], []),
      ];
      for (const readFails of reads) await expect(readFails()).rejects.toBeInstanceOf(RpcFault);
    } finally {
      world.setDown(false);
    }
    expect(await kindOf(attempt)).toBe("unseen");
  });
}
