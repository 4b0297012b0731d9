import { topUpMarker } from "@causeway/chains";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { Address, Hex, TxHash } from "@causeway/domain";
import { encodeFunctionData, erc20Abi } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reserveFees } from "../../../apps/api/src/balances/reserve-fees.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import { loadTrail, scanChain } from "../../../apps/api/src/deposits/scan-chain.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { someHash } from "../../support/terms.ts";

// In these tests a top-up has its confirmations once it is in the second newest block.
let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ policy: { maxScanBlocks: 25 } });
});
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

async function line(wallet: Address, currency: Address) {
  const { lines } = await world.services.uow.run(async (tx) => await tx.ledger.lockWallet(wallet, 1));
  const found = lines.find(({ asset }) => asset.currency === currency);
  return { balance: found?.balance ?? 0n, owed: found?.owed ?? 0n };
}

const transferInput = (amount: bigint, tail: string): Hex =>
  `${encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [world.solver.address, amount] })}${tail}`;

const sendToken = async (amount: bigint, tail: string): Promise<TxHash> =>
  await world.origin.send(world.user, { to: world.usdc, data: transferInput(amount, tail) });

const sendNative = async (value: bigint, data: Hex): Promise<TxHash> =>
  await world.origin.send(world.user, { to: world.solver.address, value, data });

async function mineAndWatch(count = 1): Promise<void> {
  for (let index = 0; index < count; index++) {
    await world.origin.mine();
    await world.watch(world.origin);
  }
}

const rawOf = async (hash: TxHash): Promise<TxHash> =>
  (await world.origin.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  })) as TxHash;

const tailFor = (wallet: Address): string => topUpMarker(wallet).slice(2);

test("a marked transfer is credited once, as soon as it has its confirmations", async () => {
  const wallet = world.anAddress();
  await sendToken(7_000_000n, tailFor(wallet));
  await mineAndWatch();
  expect((await line(wallet, world.usdc)).balance).toBe(0n);
  await mineAndWatch();
  expect((await line(wallet, world.usdc)).balance).toBe(7_000_000n);
  await mineAndWatch(3);
  expect((await line(wallet, world.usdc)).balance).toBe(7_000_000n);
});

test("a transfer of native tokens with only the marker is credited to the wallet in the marker, or else to the sender", async () => {
  const before = await line(world.user.address, NATIVE_CURRENCY);
  await sendNative(10n ** 17n, topUpMarker(NATIVE_CURRENCY));
  await mineAndWatch(2);
  expect((await line(world.user.address, NATIVE_CURRENCY)).balance - before.balance).toBe(10n ** 17n);
});

test("ignores transfers that have no marker or reverted, and records transfers with a malformed marker for the operator", async () => {
  const wallet = world.anAddress();
  const before = world.events.of("top_up_seen").length;
  const alarms = world.events.of("top_up_unattributed").length;
  await sendToken(5n, "");
  await sendToken(10n ** 40n, tailFor(wallet));
  await sendNative(5n, "0x");
  await sendToken(6n, `${tailFor(wallet)}00`);
  await sendNative(7n, `${topUpMarker(wallet)}00`);
  await mineAndWatch(2);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 0n, owed: 0n });
  expect(world.events.of("top_up_seen")).toHaveLength(before);
  expect(
    world.events
      .of("top_up_unattributed")
      .slice(alarms)
      .map(({ facts }) => facts["amount"]),
  ).toEqual([6n, 7n]);
});

test("a marked transfer of a token that cannot be bridged is not credited", async () => {
  const wallet = world.anAddress();
  const before = world.events.of("top_up_seen").length;
  const [unbridgeable] = world.origin.chain.tokens.filter(({ supportsBridging }) => !supportsBridging);
  if (unbridgeable === undefined)
    throw new RangeError("the local chains have no token that only pools accept");
  const to = unbridgeable.address;
  const txHash = await world.origin.send(world.user, { to, data: transferInput(5n, tailFor(wallet)) });
  await mineAndWatch(2);
  expect(await world.origin.balance(world.solver.address, to)).toBeGreaterThanOrEqual(5n);
  await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash });
  expect(world.events.of("top_up_seen")).toHaveLength(before);
  expect(await line(wallet, to)).toEqual({ balance: 0n, owed: 0n });
});

test("dust is not credited and raises no alarm, and amounts above the minimum or without a price are credited", async () => {
  const { services, origin } = world;
  const wallet = world.anAddress();
  const alarms = (): number => world.events.all.filter(({ level }) => level === "alarm").length;
  const before = alarms();
  const withMinimum = { ...services, appBalance: { ...services.appBalance, minTopUpUsd: 10n ** 17n } };
  const unpriced = {
    ...withMinimum,
    prices: {
      usd: () => {
        throw new ServiceError("PRICE_FETCH_FAILED", "no price");
      },
    },
  };
  const report = async (amount: bigint, workerServices = withMinimum): Promise<void> => {
    const txHash = await sendToken(amount, tailFor(wallet));
    await origin.mine();
    await indexTransaction(workerServices, { chainId: origin.chain.id, txHash });
  };
  // Ten cents.
  await report(99_999n);
  await report(100_000n);
  await report(7n, unpriced);
  await mineAndWatch(3);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 100_007n, owed: 0n });
  expect(world.events.of("top_up_too_small").map(({ facts }) => facts)).toMatchObject([
    { wallet, amount: 99_999n },
  ]);
  expect(alarms()).toBe(before);
  const { rows } = await world.pool.query("select state from app_top_ups where wallet = $1 order by amount", [
    wallet,
  ]);
  expect(rows.map(({ state }) => state)).toEqual(["credited", "unattributed", "credited"]);
  expect(await strandedFunds(sqlOn(world.pool))).toContainEqual(
    expect.objectContaining({
      about: "top-up",
      wallet,
      amount: 99_999n,
      reason: "the top-up is worth less than the minimum",
    }),
  );
});

test("a top-up that is reorged out before its credit is ignored, and is credited once when it is mined again", async () => {
  const wallet = world.anAddress();
  const raw = await rawOf(await sendToken(3_000_000n, tailFor(wallet)));
  await mineAndWatch();
  await world.origin.reorg(1);
  await world.watch(world.origin);
  await mineAndWatch(3);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 0n, owed: 0n });
  await world.origin.client.sendRawTransaction({ serializedTransaction: raw });
  await mineAndWatch(3);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 3_000_000n, owed: 0n });
});

test("reverses an orphaned top-up, into debt if it was spent, and credits it once when it is mined again", async () => {
  const wallet = world.anAddress();
  const raw = await rawOf(await sendToken(4_000_000n, tailFor(wallet)));
  await mineAndWatch(2);
  const { services } = world;
  const requestId = someHash();
  const spent = await services.uow.run(
    async (tx) =>
      await reserveFees(services, tx, {
        wallet,
        usd: 10n ** 18n,
        transferredUsd: 0n,
        requestId,
        movementKey: requestId,
      }),
  );
  expect(spent.kind).toBe("reserved");
  await world.origin.reorg(2);
  await world.watch(world.origin);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 0n, owed: 1_000_000n });
  expect(world.events.of("app_balance_owed").at(-1)).toMatchObject({ level: "alarm", facts: { wallet } });
  await world.origin.client.sendRawTransaction({ serializedTransaction: raw });
  await mineAndWatch(3);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 3_000_000n, owed: 0n });
  expect(await violatedInvariants(world.pool)).toEqual([]);
});

test("a credited top-up that a reorg moves to another block stays credited", async () => {
  const wallet = world.anAddress();
  const raw = await rawOf(await sendToken(2_000_000n, tailFor(wallet)));
  await mineAndWatch(2);
  const reversed = world.events.of("top_up_reversed").length;
  await world.origin.client.request({ method: "anvil_reorg" as never, params: [2, []] as never });
  await world.origin.client.sendRawTransaction({ serializedTransaction: raw });
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 2_000_000n, owed: 0n });
  expect(world.events.of("top_up_reversed")).toHaveLength(reversed);
  await mineAndWatch(3);
  expect(await line(wallet, world.usdc)).toEqual({ balance: 2_000_000n, owed: 0n });
});

test("the watcher credits each of many top-ups once after a downtime", async () => {
  const wallet = world.anAddress();
  for (let index = 0; index < 5; index++) {
    await sendToken(1_000_000n, tailFor(wallet));
    await sendToken(1_000_000n, tailFor(wallet));
    await sendNative(1n, topUpMarker(wallet));
    await world.origin.mine(13);
  }
  await world.watch(world.origin);
  expect((await line(wallet, world.usdc)).balance).toBe(10_000_000n);
  expect((await line(wallet, NATIVE_CURRENCY)).balance).toBe(5n);
});

test("a reported transaction is recorded before the watcher reads it, and credited by the watcher once", async () => {
  const wallet = world.anAddress();
  const report = { chainId: world.origin.chain.id, txHash: await sendToken(9_000_000n, tailFor(wallet)) };
  await world.origin.mine();
  const seen = world.events.of("top_up_seen").length;
  const reportTransaction = async () => await indexTransaction(world.services, report);
  await Promise.all([reportTransaction(), reportTransaction()]);
  expect(world.events.of("top_up_seen")).toHaveLength(seen + 1);
  expect((await line(wallet, world.usdc)).balance).toBe(0n);
  await mineAndWatch(2);
  await reportTransaction();
  expect((await line(wallet, world.usdc)).balance).toBe(9_000_000n);
});

test("if two processes read the same blocks, each top-up is recorded and credited once", async () => {
  const wallet = world.anAddress();
  await sendToken(1_000_000n, tailFor(wallet));
  await world.origin.mine(3);
  const head = await world.origin.announce();
  const { services } = world;
  const trail = await loadTrail(services, world.origin.connected);
  const results = await Promise.allSettled(
    [1, 2, 3].map(async () => await scanChain(services, world.origin.connected, trail, head)),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await line(wallet, world.usdc)).balance).toBe(1_000_000n);
});

test("a crash before the commit of a credit changes nothing, and the next scan credits once", async () => {
  const wallet = world.anAddress();
  await sendToken(1_000_000n, tailFor(wallet));
  await world.origin.mine(2);
  const head = await world.origin.announce();
  const { services } = world;
  const crashing: EngineWorld["services"] = {
    ...services,
    uow: {
      run: async (work) =>
        await services.uow.run(async (tx) => {
          await work(tx);
          throw new Error("died before the commit");
        }),
    },
  };
  const trail = await loadTrail(services, world.origin.connected);
  await expect(scanChain(crashing, world.origin.connected, trail, head)).rejects.toThrow("died");
  expect((await line(wallet, world.usdc)).balance).toBe(0n);
  await world.watch(world.origin);
  expect((await line(wallet, world.usdc)).balance).toBe(1_000_000n);
});
