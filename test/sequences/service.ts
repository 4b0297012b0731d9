import type { Hex32, Order } from "@causeway/domain";
import { defaultFeePolicy, inChargeOrder, orderIdOf } from "@causeway/domain";
import { accountsOn } from "../../apps/api/src/chains/accounts-on.ts";
import { createCodeCache } from "../../apps/api/src/chains/code-cache.adapter.ts";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import { createChainPulse, type OwnedChainPulse } from "../../apps/api/src/chains/pulse.adapter.ts";
import { balanceReads } from "../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { sponsorReads } from "../../apps/api/src/payments/sponsors.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { addressServices } from "../../apps/api/src/quotes/deposit-addresses.wiring.ts";
import type { ConnectedChain } from "../../apps/api/src/chains/chains.port.ts";
import type { LiquiditySource } from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import type { Clock } from "../../apps/api/src/db/clock.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { QuoteServices } from "../../apps/api/src/quotes/create-quote.ts";
import {
  createAddressWatch,
  type AddressWatch,
} from "../../apps/api/src/deposits/addresses/address-watch.ts";
import { storeQuotes } from "../../apps/api/src/deposits/addresses/store-quotes.ts";
import { measuredQuoteGas } from "../../apps/api/src/quotes/quote-gas.ts";
import type { AdjustablePrices } from "../fakes/adjustable-prices.ts";
import { noPools } from "../fakes/pair-liquidity.ts";
import type { RecordedEvents } from "../fakes/recorded-events.ts";
import { steppedHeads, type SteppedHeads } from "../fakes/stepped-heads.ts";
import { createPlanFaults } from "../../apps/api/src/payments/plan-faults.ts";
import { enginePolicy } from "../support/engine-policy.ts";
import { GAS_USED_DAILY_USD, UNREPAID_DAILY_USD } from "./bounds.ts";
import type { Configuration } from "./keys.ts";
import type { SequenceChain, SequenceNodes } from "./sequence-chain.ts";
import type pg from "pg";

/**
 * One start of the service with one configuration, as `createContext` builds it, with everything that the
 * service keeps in memory.
 */

/** What stays the same when the service restarts. */
export interface Surroundings {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly events: RecordedEvents;
  readonly prices: AdjustablePrices;
  readonly bytes32: () => Hex32;
  readonly reportFault: (where: string, error: unknown) => void;
  readonly nodes: readonly Pick<SequenceChain, "chain" | "connect">[];
  readonly signer: SequenceNodes["signer"];
  /** Undefined if nothing is swapped. */
  readonly liquidity: LiquiditySource | undefined;
}

export type WatchedChain = ConnectedChain & {
  readonly pulse: OwnedChainPulse;
  readonly connection: { readonly heads: SteppedHeads };
};

/** The parts that workers use, of a running service or of one that is about to crash. */
export interface WorkerSide {
  readonly services: WorkerServices;
  readonly connected: ReadonlyMap<number, ConnectedChain>;
  readonly addressWatches: ReadonlyMap<number, AddressWatch>;
}

export interface Service extends WorkerSide {
  readonly connected: ReadonlyMap<number, WatchedChain>;
  readonly quoting: QuoteServices;
  close(): void;
}

export function startService(surroundings: Surroundings, configuration: Configuration): Service {
  const { pool, clock, events, prices, bytes32, reportFault, signer } = surroundings;
  const sql = sqlOn(pool);
  const watchedChains = surroundings.nodes.map(({ chain, connect }): WatchedChain => {
    const heads = steppedHeads();
    const connection = {
      ...connect(() => heads.latest),
      heads,
      close: async () => undefined,
    };
    const pulse = createChainPulse({
      chain,
      connection,
      clock,
      monotonic: clock,
      solver: configuration.solver,
      gasPayers: [configuration.executor, configuration.operator],
      maxAgeMs: Number.MAX_SAFE_INTEGER,
      quietRefreshMs: 2 ** 30,
      onFault: (error) => reportFault("pulse", error),
    });
    return { chain, connection, pulse, users: accountsOn(chain, connection) };
  });
  const home = surroundings.nodes[0]?.chain;
  if (home === undefined) throw new Error("invariant violated: a service without a chain");
  const services: WorkerServices = {
    clock,
    prices,
    events,
    signer: signer(configuration.solver),
    formerSigners: configuration.formerSolvers.map(signer),
    executor: signer(configuration.executor),
    depositAddressOperator: signer(configuration.operator),
    ...noPools,
    ...(surroundings.liquidity !== undefined && { liquidity: surroundings.liquidity }),
    chains: createChainDirectory(watchedChains),
    uow: postgresUnitOfWork(pool, events),
    reads: postgresReads(sql),
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    quotePolicy: {
      ...defaultFeePolicy,
      gas: measuredQuoteGas,
      maxTtlSeconds: 7 * 24 * 3600,
      solverChainName: home.name,
    },
    planFaults: createPlanFaults(),
    enginePolicy: {
      ...enginePolicy,
      maxUnrepaidRefundsUsd: UNREPAID_DAILY_USD,
      maxUnpaidRevertedGasUsd: GAS_USED_DAILY_USD,
    },
    appBalance: {
      chainId: home.id,
      currencies: inChargeOrder(
        [home.native, ...home.tokens].filter(({ id }) => configuration.balanceCurrencies.includes(id)),
        "usdc",
      ),
      confirmations: 2,
      minTopUpUsd: 0n,
      claimLifetimeSeconds: 600,
    },
  };
  const quoting: QuoteServices = {
    ...services,
    solver: configuration.solver,
    random: { bytes32 },
    requests: storeQuotes(services, groupedQuoteInserts(sql)),
    recipientCodes: createCodeCache(services.chains),
    sponsors: sponsorReads(sql),
    reservations: { reserved: () => 0n },
    timings: { estimateSeconds: () => 1 },
    signOrder: async (order: Order) => ({ personal: orderIdOf(order), typed: orderIdOf(order) }),
  };
  const connected = new Map(watchedChains.map((watched) => [watched.chain.id, watched]));
  return {
    ...workerSide(services, connected, surroundings),
    connected,
    quoting,
    close: () => {
      for (const { pulse } of watchedChains) pulse.close();
    },
  };
}

/** The parts that workers use. The watches of deposit addresses know no address yet. */
export function workerSide(
  services: WorkerServices,
  connected: ReadonlyMap<number, ConnectedChain>,
  { bytes32 }: Pick<Surroundings, "bytes32">,
): WorkerSide {
  const addressWork = addressServices(services, {
    reservations: { reserved: () => 0n },
    recipientCodes: createCodeCache(services.chains),
    random: { bytes32 },
  });
  return {
    services,
    connected,
    addressWatches: new Map(
      [...connected].map(([chainId, connectedChain]) => [
        chainId,
        createAddressWatch(addressWork, connectedChain),
      ]),
    ),
  };
}
