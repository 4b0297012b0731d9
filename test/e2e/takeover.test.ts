import { createLocalClient, startSystem, type System } from "@causeway/localnet";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEther, zeroAddress, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { breakLeader, LEADER_FAULTS, TAKEOVER_BOUND_MS, workerCables } from "../../scripts/soak/takeovers.ts";
import { createClient, createWallet, type Chain, type Client, type Quote } from "./client.ts";

// `npm run soak -- --takeovers 20` does the same many times in a row.

const cables = workerCables();
let system: System;
let api: Client;
let chains: readonly Chain[];

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: 32_000,
    durable: false,
    oracles: 0,
    users: 4,
    workers: 2,
    mixedMining: true,
    workerEnv: cables.workerEnv,
  });
  api = createClient(system.endpoints.api.url);
  chains = await api.chains();
});
afterAll(async () => {
  await system.stop();
  await cables.close();
});

interface Bridge {
  readonly quote: Quote;
  readonly recipient: Address;
}

async function aBridge(user: number): Promise<Bridge> {
  const [origin, destination] = chains;
  const recipient = privateKeyToAddress(generatePrivateKey());
  const quote = await api.quote({
    user: system.users[user]?.address,
    recipient,
    originChainId: origin?.id,
    destinationChainId: destination?.id,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount: parseEther("0.01").toString(),
    tradeType: "EXACT_INPUT",
  });
  return { quote, recipient };
}

/** What arrived at the recipient, and in how many transactions. */
async function arrived(recipient: Address): Promise<{ amount: bigint; payments: number }> {
  const [, node] = system.nodes;
  if (node === undefined) throw new Error("the system has two chains");
  const client = createLocalClient(node);
  const newest = await client.getBlockNumber({ cacheTime: 0 });
  const blocks = await Promise.all(
    Array.from(
      { length: Number(newest) + 1 },
      async (_, at) => await client.getBlock({ blockNumber: BigInt(at), includeTransactions: true }),
    ),
  );
  const payments = blocks
    .flatMap(({ transactions }) => transactions)
    .filter(({ to }) => to?.toLowerCase() === recipient.toLowerCase()).length;
  return { amount: await client.getBalance({ address: recipient }), payments };
}

test.for(LEADER_FAULTS)(
  "when the leading worker meets %s, another one leads within 10 seconds, and everybody is paid once",
  { timeout: 120_000 },
  async (fault) => {
    const [, destination] = system.chains;
    if (destination === undefined) throw new Error("the system has two chains");
    const bridges = await Promise.all([0, 1, 2, 3].map(aBridge));
    const carryOut = async (user: number): Promise<unknown> =>
      await createWallet(system.users[user]?.privateKey ?? "0x", chains).carryOut(
        (bridges[user] as Bridge).quote,
      );
    // Two deposits are being filled when the leader is broken, two come while nobody leads.
    await Promise.all([carryOut(0), carryOut(1)]);
    const breaking = breakLeader(system.workers, cables, { chain: destination.name, fault });
    await sleep(200);
    await Promise.all([carryOut(2), carryOut(3)]);
    const takeover = await breaking;
    expect(takeover.tookMs).toBeLessThan(TAKEOVER_BOUND_MS);
    // A frozen worker goes on with whatever it was doing.
    await takeover.heal();
    for (const { quote, recipient } of bridges) {
      expect((await api.follow(quote.requestId, 60_000)).at(-1)?.status).toBe("success");
      expect(await arrived(recipient)).toEqual({
        amount: BigInt(quote.details.currencyOut.amount),
        payments: 1,
      });
    }
  },
);
