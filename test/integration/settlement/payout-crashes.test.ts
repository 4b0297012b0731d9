import { allocatorAbi } from "@causeway/contracts";
import { getAbiItem, toFunctionSelector } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CalledChain } from "../../../apps/api/src/chains/chains.port.ts";
import {
  payCall,
  type AccountCall,
  type PayCallServices,
} from "../../../apps/api/src/settlement/withdrawals/pay-call.ts";
import { isCrash, crashingServices } from "../../fakes/crashing-services.ts";
import { someAddress } from "../../support/terms.ts";
import { settlementPolicy, startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

// A command that may be killed at any moment makes calls with the allocator's account.

let world: SettlementWorld;
let mining: Promise<void> = Promise.resolve();
let miner: NodeJS.Timeout;
let isMining = true;

beforeAll(async () => {
  world = await startSettlementWorld();
  miner = setInterval(() => {
    if (isMining) mining = mining.then(async () => await world.mineHub());
  }, 50);
});
afterAll(async () => {
  clearInterval(miner);
  await mining;
  await world.stop();
});

const allocatorRecord = getAbiItem({ abi: allocatorAbi, name: "record" });

const aCall = (callId: string): AccountCall => ({
  callId,
  what: "the call",
  to: someAddress(),
  // The policy lets the allocator sign no other call.
  data: toFunctionSelector(allocatorRecord),
  abi: [],
});

const policy = { ...settlementPolicy, intervalMs: 10 };

function payServices(): PayCallServices {
  return { ...world.services, settlementPolicy: policy };
}

function pay(call: AccountCall, services = payServices(), chain: CalledChain = world.services.hub.lane) {
  return payCall(services, chain, world.services.signer, call);
}

const usedNonces = async (): Promise<number> =>
  await world.hubClient.getTransactionCount({ address: world.engine.solver.address });

/** Crashes commands at one moment after another until one completes. */
async function crashesInOnePass(pass: number): Promise<string[]> {
  const crashes: string[] = [];
  for (let crashAt = 0; ; crashAt++) {
    const before = await usedNonces();
    const call = aCall(`record ${pass} ${crashAt}`);
    const crashing = crashingServices(world.engine.services, crashAt);
    const { lane } = world.services.hub;
    const [anyChain] = world.engine.services.chains.evmChains;
    if (anyChain === undefined) throw new Error("no chain is configured");
    const { connection } = crashing.crashingChain({
      ...anyChain,
      chain: { ...anyChain.chain, id: -1 },
      connection: { ...anyChain.connection, ...lane.connection },
    });
    const services = { ...payServices(), uow: crashing.uow, reads: crashing.reads };
    await payCall(services, { ...lane, connection }, crashing.signer, call).catch((error: unknown) => {
      if (!crashing.hasCrashed() || !isCrash(error)) throw error;
    });
    const moment = crashing.moments.at(-1) ?? "before anything";
    const txHash = await pay(call);
    const { to } = await world.hubClient.getTransaction({ hash: txHash });
    expect(to, moment).toBe(call.to);
    expect((await usedNonces()) - before, moment).toBe(1);
    if (!crashing.hasCrashed()) return crashes;
    crashes.push(moment);
  }
}

test("after a crash at any step, the next command continues the same transaction", async () => {
  const missing = new Set([
    "before lanes.reserve",
    "before commit",
    "after commit",
    "before sign",
    "before lanes.addAttempts",
    "before broadcast",
    "after broadcast",
    "before lanes.setBroadcasts",
    "before lanes.setMined",
  ]);
  // Blocks are mined at any time, so a pass can miss a step.
  for (let pass = 0; missing.size > 0 && pass < 6; pass++)
    for (const moment of await crashesInOnePass(pass)) missing.delete(moment);
  expect([...missing]).toEqual([]);
}, 300_000);

test("two concurrent commands make one transaction", async () => {
  const before = await usedNonces();
  const call = aCall("execute once");
  const [first, second] = await Promise.all([pay(call), pay(call)]);
  expect(first).toBe(second);
  expect((await usedNonces()) - before).toBe(1);
});

test("a call that is not mined is sent again with higher fees", async () => {
  isMining = false;
  await mining;
  const call = aCall("execute slowly");
  const payment = pay(call);
  const attempts = async () => {
    const { rows } = await world.engine.pool.query<{ fee: string }>(
      "select a.max_fee_per_gas::text as fee from attempts a join slots s on s.id = a.slot_id where s.leg_id = $1 order by a.n",
      [`${call.callId} by ${world.services.signer.address}`],
    );
    return rows.map(({ fee }) => BigInt(fee));
  };
  await expect.poll(attempts).toHaveLength(1);
  world.engine.clock.forward(60_001);
  await expect.poll(attempts).toHaveLength(2);
  isMining = true;
  const [first = 0n, second = 0n] = await attempts();
  expect(second).toBeGreaterThan((first * 112n) / 100n);
  expect((await world.hubClient.getTransactionReceipt({ hash: await payment })).status).toBe("success");
});
