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
import { startEngineWorld, type QuotedRequest, type EngineWorld, type WorldOptions } from "./engine-world.ts";
import type { TestChain } from "./test-chain.ts";

/** An engine world whose watchers also watch deposit addresses. */
export interface AddressWorld extends EngineWorld {
  readonly reads: DepositAddressReads;
  readonly tst: Address;
  /** The services with which a process watches addresses. */
  watching(processServices?: WorkerServices): AddressServices;
  /** Requests a quote that is paid to a deposit address. `at` is that address. */
  quoteAddress(
    overrides?: Parameters<EngineWorld["quote"]>[0],
    keyId?: string,
  ): Promise<QuotedRequest & { readonly at: Address }>;
  /** Sends funds to an address. The transfer is pending until a block is mined. */
  sendTo(
    address: Address,
    amount: bigint,
    options?: { readonly currency?: Address; readonly chain?: TestChain; readonly from?: LocalAccount },
  ): Promise<TxHash>;
  /** Does what a worker does at a new head, except for watching addresses. */
  scan(chain: TestChain, processServices?: WorkerServices): Promise<void>;
  /** Watches addresses at a new head. */
  scanAddresses(chain: TestChain, processServices?: WorkerServices): Promise<void>;
  /** The sweeps from an address, oldest first. */
  sweepsFrom(address: Address): Promise<readonly SweepRecord[]>;
  /**
   * The requests that were paid through an address: first the request whose quote created the address, then
   * the others by creation time.
   */
  requestsOf(address: Address): Promise<readonly RequestId[]>;
  /**
   * Runs rounds until an address has this many sweeps and all their requests are final. Moves the clock
   * forward.
   * @throws after 30 rounds
   */
  untilSettled(address: Address, sweeps: number): Promise<readonly RequestId[]>;
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
  const addressServicesOf = (processServices: WorkerServices = world.services): AddressServices =>
    addressServices(
      { ...processServices, depositAddresses: reads },
      {
        reservations: { reserved: () => 0n },
        recipientCodes: createCodeCache(processServices.chains),
        random: { bytes32: (): Hex => `0x${randomBytes(32).toString("hex")}` },
      },
    );
  const watchByChain = new Map<number, ReturnType<typeof createAddressWatch>>();
  const watchOf = (
    chain: TestChain,
    processServices: WorkerServices,
  ): ReturnType<typeof createAddressWatch> => {
    const connected = processServices.chains.get(chain.chain.id);
    if (connected === undefined) throw new Error("both chains are in the directory");
    // A process that crashed no longer knows which addresses it has checked.
    if (processServices !== world.services)
      return createAddressWatch(addressServicesOf(processServices), connected);
    const addressWatch =
      watchByChain.get(chain.chain.id) ?? createAddressWatch(addressServicesOf(processServices), connected);
    watchByChain.set(chain.chain.id, addressWatch);
    return addressWatch;
  };
  const addressWorld: AddressWorld = Object.assign(world, {
    reads,
    tst,
    watching: addressServicesOf,
    async quoteAddress(overrides: Parameters<EngineWorld["quote"]>[0] = {}, keyId?: string) {
      const quoted = await world.quote(
        { useDepositAddress: true, recipient: world.anAddress(), ...overrides },
        keyId,
      );
      const [step] = quoted.answer.steps;
      if (step === undefined) throw new Error("the quote has no step");
      return { ...quoted, at: step.depositAddress as Address };
    },
    async sendTo(
      address: Address,
      amount: bigint,
      {
        currency = world.usdc,
        chain = world.origin,
        from = world.stranger,
      }: { readonly currency?: Address; readonly chain?: TestChain; readonly from?: LocalAccount } = {},
    ) {
      if (currency === NATIVE_CURRENCY) return await chain.send(from, { to: address, value: amount });
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [address, amount] });
      return await chain.send(from, { to: currency, data });
    },
    async scan(chain: TestChain, processServices: WorkerServices = world.services) {
      await watch(chain, processServices);
    },
    async scanAddresses(chain: TestChain, processServices: WorkerServices = world.services) {
      const cursor = await processServices.reads.cursor(chain.chain.id);
      if (cursor !== undefined) await watchOf(chain, processServices).scan(cursor.number);
    },
    async watch(chain: TestChain, processServices: WorkerServices = world.services) {
      const trail = await watch(chain, processServices);
      await addressWorld.scanAddresses(chain, processServices);
      return trail;
    },
    async sweepsFrom(address: Address) {
      return (await reads.sweepsFrom(address, 100)).toReversed();
    },
    async requestsOf(address: Address) {
      const { rows } = await world.pool.query<{ request_id: RequestId }>(
        "select request_id from requests where deposit_address = $1 order by created_at_ms, request_id",
        [address],
      );
      const first = (await reads.find(address))?.requestId;
      const ids = rows.map(({ request_id }) => request_id);
      return ids.toSorted((a, b) => Number(b === first) - Number(a === first));
    },
    async untilSettled(address: Address, sweeps: number) {
      for (let n = 0; n < 30; n++) {
        const swept = (await addressWorld.sweepsFrom(address)).filter(({ state }) => state !== "void");
        const ids = swept.map(({ requestId }) => requestId);
        const statuses = await Promise.all(ids.map(async (id) => await world.status(id)));
        if (swept.length >= sweeps && statuses.every(({ final }) => final)) return ids;
        world.clock.forward(1_000);
        await addressWorld.round();
      }
      const stuck = (await addressWorld.sweepsFrom(address)).map(
        ({ state, requestId }) => `${state} ${requestId}`,
      );
      throw new Error(
        `still ${JSON.stringify([stuck, (await reads.fundsAt(address)).map(({ held }) => held ?? "seen")])}`,
      );
    },
  });
  return addressWorld;
}
