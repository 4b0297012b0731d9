import type { Address, Hex, RequestId, TxHash } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { encodeFunctionData, erc20Abi } from "viem";
import type { LocalAccount } from "@causeway/localnet";
import { createCodeCache } from "../../apps/api/src/chains/code-cache.adapter.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { addressServices } from "../../apps/api/src/quotes/deposit-addresses.wiring.ts";
import type {
  DepositAddressReads,
  SweepRecord,
} from "../../apps/api/src/deposits/addresses/deposit-addresses.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { AddressServices } from "../../apps/api/src/deposits/addresses/address-services.ts";
import { createAddressWatch } from "../../apps/api/src/deposits/addresses/address-watch.ts";
import { startEngineWorld, type Agreed, type EngineWorld, type WorldOptions } from "./engine-world.ts";
import type { TestChain } from "./test-chain.ts";

/** An engine world whose watchers also watch deposit addresses. */
export interface AddressWorld extends EngineWorld {
  readonly reads: DepositAddressReads;
  readonly tst: Address;
  /** The services with which a process watches addresses. */
  watching(by?: WorkerServices): AddressServices;
  /** Requests a quote that is paid to a deposit address. `at` is that address. */
  address(
    ask?: Parameters<EngineWorld["quote"]>[0],
    keyId?: string,
  ): Promise<Agreed & { readonly at: Address }>;
  /** Sends funds to an address. The transfer is pending until a block is mined. */
  sendTo(
    at: Address,
    amount: bigint,
    options?: { readonly currency?: Address; readonly chain?: TestChain; readonly from?: LocalAccount },
  ): Promise<TxHash>;
  /** Does what a worker does at a new head, except for watching addresses. */
  scan(chain: TestChain, by?: WorkerServices): Promise<void>;
  /** Watches addresses at a new head. */
  look(chain: TestChain, by?: WorkerServices): Promise<void>;
  /** The sweeps from an address, oldest first. */
  sweepsFrom(at: Address): Promise<readonly SweepRecord[]>;
  /**
   * The requests that were paid through an address, in the order of their creation. The first quoted request
   * comes first.
   */
  requestsOf(at: Address): Promise<readonly RequestId[]>;
  /**
   * Runs rounds until an address has this many sweeps and all their requests are final. Moves the clock
   * forward.
   * @throws after 30 rounds
   */
  untilSettled(at: Address, sweeps: number): Promise<readonly RequestId[]>;
}

/** Starts the chains and an engine that watches deposit addresses. */
export async function startAddressWorld(options: WorldOptions = {}): Promise<AddressWorld> {
  const world = await startEngineWorld(options);
  const { executor, depositAddressOperator } = world.services;
  for (const chain of [world.origin, world.destination]) {
    for (const key of [executor, depositAddressOperator])
      if (key !== undefined) await chain.client.setBalance({ address: key.address, value: 10n ** 21n });
    await chain.announce();
  }
  const reads = depositAddressReads(sqlOn(world.pool));
  const watch = world.watch.bind(world);
  const tst = (world.origin.chain.tokens.find(({ symbol }) => symbol === "TST") as { address: Address })
    .address;
  const watching = (by: WorkerServices = world.services): AddressServices =>
    addressServices(
      { ...by, depositAddresses: reads },
      {
        reservations: { reserved: () => 0n },
        recipientCodes: createCodeCache(by.chains),
        random: { bytes32: (): Hex => `0x${randomBytes(32).toString("hex")}` },
      },
    );
  const lookedAt = new Map<number, ReturnType<typeof createAddressWatch>>();
  const watchOf = (chain: TestChain, by: WorkerServices): ReturnType<typeof createAddressWatch> => {
    const connected = by.chains.get(chain.chain.id);
    if (connected === undefined) throw new Error("both chains are in the directory");
    // A process that crashed no longer knows which addresses it has checked.
    if (by !== world.services) return createAddressWatch(watching(by), connected);
    const known = lookedAt.get(chain.chain.id) ?? createAddressWatch(watching(by), connected);
    lookedAt.set(chain.chain.id, known);
    return known;
  };
  const addressWorld: AddressWorld = Object.assign(world, {
    reads,
    tst,
    watching,
    async address(ask: Parameters<EngineWorld["quote"]>[0] = {}, keyId?: string) {
      const agreed = await world.quote(
        { useDepositAddress: true, recipient: world.anAddress(), ...ask },
        keyId,
      );
      const [step] = agreed.answer.steps;
      if (step === undefined) throw new Error("the quote has no step");
      return { ...agreed, at: step.depositAddress as Address };
    },
    async sendTo(
      at: Address,
      amount: bigint,
      {
        currency = world.usdc,
        chain = world.origin,
        from = world.stranger,
      }: { readonly currency?: Address; readonly chain?: TestChain; readonly from?: LocalAccount } = {},
    ) {
      if (currency === NATIVE_CURRENCY) return await chain.send(from, { to: at, value: amount });
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [at, amount] });
      return await chain.send(from, { to: currency, data });
    },
    async scan(chain: TestChain, by: WorkerServices = world.services) {
      await watch(chain, by);
    },
    async look(chain: TestChain, by: WorkerServices = world.services) {
      const cursor = await by.reads.cursor(chain.chain.id);
      if (cursor !== undefined) await watchOf(chain, by).scan(cursor.number);
    },
    async watch(chain: TestChain, by: WorkerServices = world.services) {
      const trail = await watch(chain, by);
      await addressWorld.look(chain, by);
      return trail;
    },
    async sweepsFrom(at: Address) {
      return (await reads.sweepsFrom(at, 100)).toReversed();
    },
    async requestsOf(at: Address) {
      const { rows } = await world.pool.query<{ request_id: RequestId }>(
        "select request_id from requests where deposit_address = $1 order by created_at_ms, request_id",
        [at],
      );
      const first = (await reads.find(at))?.requestId;
      const ids = rows.map(({ request_id }) => request_id);
      return ids.toSorted((a, b) => Number(b === first) - Number(a === first));
    },
    async untilSettled(at: Address, sweeps: number) {
      for (let n = 0; n < 30; n++) {
        const swept = (await addressWorld.sweepsFrom(at)).filter(({ state }) => state !== "void");
        const ids = swept.map(({ requestId }) => requestId);
        const statuses = await Promise.all(ids.map(async (id) => await world.status(id)));
        if (swept.length >= sweeps && statuses.every(({ final }) => final)) return ids;
        world.clock.forward(1_000);
        await addressWorld.round();
      }
      const stuck = (await addressWorld.sweepsFrom(at)).map(
        ({ state, requestId }) => `${state} ${requestId}`,
      );
      throw new Error(
        `still ${JSON.stringify([stuck, (await reads.fundsAt(at)).map(({ held }) => held ?? "seen")])}`,
      );
    },
  });
  return addressWorld;
}
