import { rawKeySigner, signatureToHex, nonceMappingDigest, recoverSigner } from "@causeway/attest";
import { RpcFault, type PayingConnection } from "@causeway/chains";
import { HYPERLIQUID_WALLET_CHAIN, type Hex } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import type { TransferChain } from "../../../apps/api/src/chains/chains.port.ts";
import type { MappedNonce } from "../../../apps/api/src/chains/nonce-mappings.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { isMappedOnHub } from "../../../apps/api/src/payments/non-evm/solver-mapping.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { testRedis } from "../../support/database.ts";
import { startNonEvmWorld, type NonEvmRequest, type NonEvmWorld } from "../../support/non-evm-world.ts";

// A payment that cannot carry its order id is broadcast only after its mapping is where oracles look for it.

let world: NonEvmWorld;
afterEach(async () => await world.stop());

const key = rawKeySigner(`0x${"71".repeat(32)}`);

/** Services whose destination identifies payments by a nonce. `hub` returns the mappings on the hub. */
function withNonceHub(hub: (wallet: Hex, nonce: bigint) => MappedNonce | undefined): WorkerServices {
  const { chains } = world.services;
  const nonEvmChains = chains.nonEvmChains.map((connected): TransferChain => {
    if (connected.chain.id !== world.destination.chain.id) return connected;
    const connection: PayingConnection = {
      ...connected.connection,
      hasLateTransactionIds: true,
      signNonceMapping: async ({ madeAtMs }, id) => {
        const wallet = key.address;
        const nonce = BigInt(madeAtMs);
        const mapping = { wallet, depositor: wallet, id, nonce, signatureChainId: 1 };
        const digest = nonceMappingDigest({ ...mapping, walletChain: HYPERLIQUID_WALLET_CHAIN });
        return { nonce, signature: signatureToHex(await key.signDigest(digest)), signatureChainId: 1 };
      },
    };
    return { ...connected, connection };
  });
  const find = async (_chainId: number, wallet: Hex, nonce: bigint) => hub(wallet, nonce);
  return {
    ...world.services,
    chains: { ...chains, nonEvmChains, nonEvm: (id) => nonEvmChains.find(({ chain }) => chain.id === id) },
    nonceMappings: {
      find,
      read: async (...args) => ({ mapped: await find(...args), asOf: 2n ** 40n }),
    },
  };
}

interface MappingRow {
  readonly wallet: Hex;
  readonly nonce: bigint;
  readonly mapped_id: Hex;
  readonly depositor: Hex;
  readonly signature: Hex;
  readonly request_id: string;
}
async function mappingRows(): Promise<MappingRow[]> {
  return (await world.pool.query<MappingRow>("select * from nonce_mappings order by key")).rows;
}

async function aDepositedRequest(): Promise<NonEvmRequest> {
  const agreed = await world.storeRequest();
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  return agreed;
}
const sentPayments = () => world.destination.network.payments();

test("a payment waits for its mapping, which was committed with its bytes, and is broadcast once the hub has the mapping", async () => {
  world = await startNonEvmWorld();
  const agreed = await aDepositedRequest();
  const seen: MappingRow[][] = [];
  let [hubReads, outcomes] = [0, 0];
  const services = withNonceHub((wallet, nonce) => {
    expect(sentPayments()).toEqual([]);
    hubReads += 1;
    // The outcome is not read for bytes that cannot have been broadcast.
    expect(outcomes).toBe(hubReads > 3 ? 1 : 0);
    return hubReads < 3 || nonce === 0n
      ? undefined
      : { id: agreed.terms.orderId, depositor: wallet, setAt: 1n };
  });
  const originalSend = world.destination.connection.send.bind(world.destination.connection);
  const outcomeOf = world.destination.connection.outcome.bind(world.destination.connection);
  for (const { connection } of services.chains.nonEvmChains)
    Object.assign(connection, {
      outcome: async (attempt: Parameters<typeof originalSend>[0]) => {
        outcomes += 1;
        return await outcomeOf(attempt);
      },
      send: async (attempt: Parameters<typeof originalSend>[0]) => {
        seen.push(await mappingRows());
        return await originalSend(attempt);
      },
    });
  await world.work(services);
  // The job does not wait for the hub, because jobs of other chains would wait with it.
  expect(hubReads).toBe(1);
  for (let rounds = 0; rounds < 3 && sentPayments().length === 0 && seen.length === 0; rounds++) {
    world.clock.forward(6_000);
    await world.track(world.destination, services);
  }
  // Two reads without a mapping, then one before reading the outcome, and one before the broadcast.
  expect(hubReads).toBe(4);
  expect(seen[0]).toHaveLength(1);
  const [mapping] = seen[0] ?? [];
  const solver = world.destination.connection.solver;
  expect(mapping).toMatchObject({
    wallet: solver,
    depositor: solver,
    mapped_id: agreed.terms.orderId,
    request_id: agreed.requestId,
    state: "stored",
  });
  if (mapping === undefined) throw new Error("no nonce mapping was signed");
  const digest = nonceMappingDigest({
    walletChain: HYPERLIQUID_WALLET_CHAIN,
    wallet: key.address,
    depositor: key.address,
    id: mapping.mapped_id,
    nonce: mapping.nonce,
    signatureChainId: 1,
  });
  expect(recoverSigner(digest, mapping.signature)).toBe(key.address);
  // The chain does not know this id, so no one could find the payment by it.
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "submitted", txHashes: [] });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "success",
    txHashes: [expect.any(String)],
  });
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("a hub that is unreachable, or has no mapping yet, delays the payment, which is broadcast once the hub has the mapping", async () => {
  world = await startNonEvmWorld();
  const agreed = await aDepositedRequest();
  let state: "down" | "unmapped" | "mapped" = "down";
  const { url, prefix } = testRedis();
  const journal = await connectJournal(redisAt(url), prefix, () => "system/1/00000001");
  const hub = withNonceHub((wallet) => {
    if (state === "unmapped") return undefined;
    if (state === "down")
      throw new RpcFault({ kind: "network", method: "eth_call", reason: "no connection" });
    return { id: agreed.terms.orderId, depositor: wallet, setAt: 1n };
  });
  const services = { ...hub, journal };
  const { chain, connection } = world.destination;
  await world.work(services).catch(() => undefined);
  for (let round = 0; round < 5; round++) {
    world.clock.forward(60_000);
    await world.track(world.destination, services).catch(() => undefined);
    world.destination.network.mine();
    expect(sentPayments()).toEqual([]);
    // After a failover, a journal entry would be restored without its mapping, and would wait forever.
    expect(await journal.entries(chain.id, connection.solver)).toEqual([]);
    state = "unmapped";
  }
  expect(await mappingRows()).toHaveLength(1);
  state = "mapped";
  world.clock.forward(60_000);
  await world.track(world.destination, services);
  world.destination.network.mineUntilFinal();
  await world.track(world.destination, services);
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await mappingRows()).toHaveLength(1);
  expect(await journal.entries(chain.id, connection.solver)).toHaveLength(1);
  journal.close();
});

test("a payment may be broadcast when the hub has exactly its order and depositor", async () => {
  world = await startNonEvmWorld();
  const id: Hex = `0x${"0d".repeat(32)}`;
  const slot = {
    chainId: 1,
    call: { to: key.address, data: id, value: 0n },
    leg: { kind: "fill", id: "1", requestId: id },
  };
  const attempt = { raw: "0x", txId: id, fee: 0n, madeAtMs: 5 } as const;
  const connection = {
    solver: key.address,
    signNonceMapping: async () => ({ nonce: 5n, signature: "0x", signatureChainId: 1 }),
  } as unknown as PayingConnection;
  const isMapped = async (mapped: MappedNonce | undefined, usedConnection = connection, paymentSlot = slot) =>
    await isMappedOnHub(
      { nonceMappings: { find: async () => mapped, read: async () => ({ mapped, asOf: 1n }) } },
      { connection: usedConnection },
      paymentSlot as Parameters<typeof isMappedOnHub>[2],
      attempt,
    );
  const ours = { id, depositor: key.address, setAt: 1n };
  expect(await isMapped(ours)).toBe(true);
  expect(await isMapped(undefined)).toBe(false);
  expect(await isMapped({ ...ours, id: `0x${"0e".repeat(32)}` })).toBe(false);
  expect(await isMapped({ ...ours, depositor: id })).toBe(false);
  // A payment that carries its order id, or that has no order, needs no mapping.
  expect(await isMapped(undefined, { solver: key.address } as PayingConnection)).toBe(true);
  expect(await isMapped(undefined, connection, { ...slot, call: { ...slot.call, data: "0x" } })).toBe(true);
});
