import { connectNonEvm, type NonEvmOptions, type OpenConnection } from "@causeway/chains";
import { connectBitcoin } from "@causeway/chains/bitcoin";
import type { Hex, OrderId } from "@causeway/domain";
import { encodeAddress, nativeCurrency, RpcFault } from "@causeway/families";
import { startBitcoin } from "@causeway/simulators/bitcoin";
import { expect, test } from "vitest";
import { nonEvmConnectionContract, type NonEvmWorld } from "../../contracts/non-evm-connection.ts";
import {
  anAttestationChain,
  anOwner,
  aNonEvmChain,
  utxoOf,
  CONFIRMATIONS,
  spend,
  type Owner,
} from "../../support/bitcoin-world.ts";
import { startFaultyFronts } from "../../support/faulty-front.ts";

nonEvmConnectionContract("the adapter of Bitcoin", async () => await startBitcoinWorld(connectBitcoin));

// No server listens at the first endpoint. The other two are a quorum.
nonEvmConnectionContract(
  "three endpoints of Bitcoin, the first of which is down",
  async () => await startBitcoinWorld(async (options) => await connectAll(options, ["http://127.0.0.1:1"])),
);

test("a Bitcoin payment waits while one of two endpoints is down, and continues when it returns", async () => {
  const world = await startBitcoinWorld(connectAll);
  try {
    const { connection, currency, amount } = world;
    const payment = { recipient: await world.aRecipient(), currency, amount, orderId: undefined };
    const first = await connection.prepare(payment, [], []);
    const second = await connection.prepare(payment, [first], []);
    expect(await connection.send(second)).toBe("sent");
    world.setSecondDown(true);
    await world.settle();
    for (const attempt of [first, second])
      await expect(connection.outcome(attempt)).rejects.toBeInstanceOf(RpcFault);
    world.setSecondDown(false);
    expect((await connection.outcome(first)).kind).toBe("dead");
    expect((await connection.outcome(second)).kind).toBe("final");
  } finally {
    await world.close();
  }
});

test("an explorer that invents a high fee sets at most three times the estimate of the only node that has one", async () => {
  const world = await startBitcoinWorld(connectAll);
  try {
    const { connection, currency, amount } = world;
    const usual = await connection.paymentCost(currency, undefined);
    world.inventHighFee();
    // An estimate is used for ten seconds.
    world.forward(10_000);
    expect(await connection.paymentCost(currency, undefined)).toBeLessThanOrEqual(usual * 3n);
    const payment = { recipient: await world.aRecipient(), currency, amount, orderId: undefined };
    const attempt = await connection.prepare(payment, [], []);
    expect(attempt.fee).toBeLessThanOrEqual(usual * 3n);
    expect(await connection.send(attempt)).toBe("sent");
  } finally {
    await world.close();
  }
});

test("a Bitcoin deposit waits while one of two endpoints is down, and counts when it returns", async () => {
  const world = await startBitcoinWorld(connectAll);
  try {
    const { connection, amount } = world;
    // Both endpoints have shown how far they are.
    await connection.arrivals(undefined);
    const { txId } = await world.deposit(amount, undefined);
    await world.settle();
    world.setSecondDown(true);
    let { cursor, deposits } = await connection.arrivals(undefined);
    for (let last = ""; last !== cursor && deposits.length === 0;)
      [last, { cursor, deposits }] = [cursor, await connection.arrivals(cursor)];
    expect(deposits).toEqual([]);
    world.setSecondDown(false);
    await expect
      .poll(async () => (await connection.arrivals(cursor)).deposits, { timeout: 5_000 })
      .toMatchObject([{ txHash: txId, amount }]);
  } finally {
    await world.close();
  }
});

test("a Bitcoin payment can still be mined until a block spends one of its inputs", async () => {
  const world = await startBitcoinWorld(connectBitcoin);
  try {
    const { connection, currency, amount } = world;
    const payment = { recipient: await world.aRecipient(), currency, amount, orderId: undefined };
    const first = await connection.prepare(payment, [], []);
    const second = await connection.prepare(payment, [first], []);
    expect(await connection.isCurrent?.(first)).toBe(true);
    expect(await connection.send(second)).toBe("sent");
    expect(await connection.isCurrent?.(first)).toBe(true);
    await world.mine();
    expect(await connection.isCurrent?.(first)).toBe(false);
  } finally {
    await world.close();
  }
});

test("a lost attempt is not dead while an unlisted attempt at its payment was or can be mined", async () => {
  const world = await startBitcoinWorld(connectBitcoin);
  try {
    const { connection, currency, amount } = world;
    const aPayment = async () => ({
      recipient: await world.aRecipient(),
      currency,
      amount,
      orderId: `0x${"0d".repeat(32)}` as OrderId,
    });
    const [payment, otherPayment] = [await aPayment(), await aPayment()];
    const lost = { payment, notBeforeMs: 0 };
    const first = await connection.prepare(payment, [], []);
    const second = await connection.prepare(payment, [first], []);
    await connection.send(first);
    await world.settle();
    expect((await connection.outcome(second)).kind).toBe("dead");
    expect(await connection.outcome({ ...second, lost })).toMatchObject({ kind: "final", txId: first.txId });

    const third = await connection.prepare(payment, [], []);
    const rival = await connection.prepare(otherPayment, [third], []);
    await connection.send(rival);
    await world.settle();
    expect((await connection.outcome({ ...third, lost })).kind).toBe("dead");

    // This attempt spends more outputs than its rival, and an unlisted attempt may spend one of these.
    const small = await connection.prepare(payment, [], []);
    const largerPayment = { ...payment, amount: amount * 3n };
    const large = await connection.prepare(largerPayment, [small], []);
    await connection.send(await connection.prepare(otherPayment, [small], []));
    await world.settle();
    expect((await connection.outcome(large)).kind).toBe("dead");
    expect((await connection.outcome({ ...large, lost: { ...lost, payment: largerPayment } })).kind).toBe(
      "unseen",
    );
  } finally {
    await world.close();
  }
});

/** Connects to `firstUrls`, followed by the endpoints of the attestation. */
async function connectAll(
  { chain, attestation, ...options }: NonEvmOptions,
  firstUrls: readonly string[] = [],
): Promise<OpenConnection> {
  const rpcUrls = [...firstUrls, ...attestation.rpcUrls];
  return await connectNonEvm({
    ...options,
    chain: { ...chain, vmType: "bvm", rpcUrl: rpcUrls[0] ?? "", rpcUrls },
    attestation: { ...attestation, rpcUrls, rpcQuorum: 2 },
  });
}

interface BitcoinWorld extends NonEvmWorld {
  /** Makes the second of two endpoints unavailable, or available again. */
  setSecondDown(isDown: boolean): void;
  /** From now on, the explorer invents a high fee, and the second endpoint has no estimate. */
  inventHighFee(): void;
  /** Advances the clock of the connections. */
  forward(ms: number): void;
}

async function startBitcoinWorld(
  connect: (options: NonEvmOptions) => OpenConnection | Promise<OpenConnection>,
): Promise<BitcoinWorld> {
  const bitcoin = await startBitcoin();
  const { controls, esploraUrl } = bitcoin;
  const fronts = await startFaultyFronts([bitcoin.rpcUrl, esploraUrl]);
  const second = await startFaultyFronts([bitcoin.rpcUrl]);
  const [rpcUrl = "", explorerUrl = ""] = fronts.urls;
  const [depository, solver] = [anOwner(), anOwner()];
  for (let index = 0; index < 12; index++) await utxoOf(controls, solver, 100_000n);
  let aheadMs = 0;
  const { username, password } = new URL(bitcoin.rpcUrl);
  const withUser = (url: string) => Object.assign(new URL(url), { username, password }).href;
  const urls = { rpcUrls: [rpcUrl, ...second.urls].map(withUser), esploraUrl: explorerUrl };
  const open = await connect({
    chain: aNonEvmChain(depository),
    attestation: anAttestationChain(urls, depository),
    solver: solver.bytes,
    now: () => Date.now() + aheadMs,
    onFault: () => {},
  });
  const connection = await open.withKey(`0x${Buffer.from(solver.key).toString("hex")}`);
  const recipients = new Map<Hex, Owner>();
  return {
    connection,
    currency: encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm")),
    amount: 40_000n,
    canCancel: true,
    aRecipient: async () => {
      const owner = anOwner();
      recipients.set(owner.bytes, owner);
      return owner.bytes;
    },
    deposit: async (amount, orderId) => {
      const user = anOwner();
      const utxo = await utxoOf(controls, user, 100_000n);
      const text = orderId === undefined ? [] : [{ text: orderId }];
      const transaction = spend([utxo], [{ to: depository, amount }, ...text]);
      await controls.send(transaction.hex);
      return { txId: `0x${transaction.id}`, sender: user.bytes };
    },
    mine: async () => void (await controls.mine(1)),
    settle: async () => void (await controls.mine(CONFIRMATIONS)),
    received: async (recipient) => {
      const answer = await fetch(`${esploraUrl}/address/${recipients.get(recipient)?.address}/utxo`);
      return ((await answer.json()) as { value: number }[]).reduce(
        (sum, output) => sum + BigInt(output.value),
        0n,
      );
    },
    setDown: (isDown) => {
      for (const front of [fronts, second]) front.begin(() => (isDown ? { instead: "closed" } : undefined));
    },
    setSecondDown: (isDown) => second.begin(() => (isDown ? { instead: "closed" } : undefined)),
    inventHighFee: () => {
      const answers = (field: string, instead: unknown) => ({
        answer: (json: unknown) => (Object.hasOwn(Object(json), field) ? instead : json),
      });
      fronts.begin(() => answers("1008", { "1": 400, "2": 400 }));
      second.begin(() => answers("feerate", { errors: ["Insufficient data"], blocks: 2 }));
    },
    forward: (ms) => void (aheadMs += ms),
    close: async () => {
      await connection.close();
      await Promise.all([fronts.close(), second.close()]);
      await bitcoin.stop();
    },
  };
}
