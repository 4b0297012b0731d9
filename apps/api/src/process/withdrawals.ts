import { createLifecycle, createLogger, createMetrics } from "@causeway/service-kit";
import { openSigner } from "../chains/signers.wiring.ts";
import { connectPayouts } from "../settlement/withdrawals/evm-payouts.adapter.ts";
import { withNodeErrors } from "../settlement/withdrawals/node-unavailable.adapter.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { settlementReads } from "../settlement/settlement-reads.postgres.ts";
import { watchServer } from "../db/server-watch.postgres.ts";
import { postgresReads } from "./reads.postgres.ts";
import { postgresUnitOfWork } from "./unit-of-work.postgres.ts";
import { withdrawalStore } from "../settlement/withdrawals/withdrawal-store.postgres.ts";
import { loggedEvents } from "../telemetry/logged-events.ts";
import { settlementServices } from "../settlement/settlement.wiring.ts";
import type { OpenWithdrawals } from "./commands/withdraw-command.ts";

const ONLY_THE_WORKER = {
  kind: "waits",
  why: "the hub's chain is enabled, so only the worker sends transactions to the hub: it must run",
} as const;

/**
 * The dependencies of `operator withdraw`: the database, the hub, the oracles, and the allocator's account on
 * the hub and the chain. Starts no watchers and no queues.
 */
export const openWithdrawals: OpenWithdrawals = async ({
  config,
  settlement,
  chain,
  allocatorKey,
  payloadLifetimeSeconds,
}) => {
  const pool = createPool(config.database.url.reveal(), {
    max: 4,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: "causeway operator",
  });
  const sql = sqlOn(pool);
  const servers = watchServer();
  const evmChains = config.chains.map((configuredChain) => ({ chain: configuredChain }));
  const log = createLogger({ name: "causeway-operator", level: "error" });
  const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);
  const [solver, allocator] = await Promise.all([
    openSigner({ config, log, lifecycle }, config.solverKey),
    openSigner({ config, log, lifecycle }, allocatorKey),
  ]);
  const events = loggedEvents(log, createMetrics("causeway-operator").registry);
  const rawServices = settlementServices(
    {
      clock: { nowMs: () => Date.now() },
      events,
      signer: solver,
      formerSigners: [],
      uow: postgresUnitOfWork(pool, events, servers),
      reads: postgresReads(sql, servers),
      chains: {
        evmChains,
        nonEvmChains: config.nonEvmChains,
        profile: (chainId) =>
          [...evmChains, ...config.nonEvmChains].find((entry) => entry.chain.id === chainId)?.chain,
      },
    },
    settlementReads(sql),
    settlement,
  );
  const isHubEnabled = evmChains.some(({ chain: { id } }) => id === settlement.hub.chainId);
  const settling = {
    ...rawServices,
    hub: withNodeErrors(rawServices.hub),
    // This command watches no chain, so it must not use a lane that the worker pays through.
    sendAsPayment: isHubEnabled ? async () => ONLY_THE_WORKER : undefined,
  };
  const payouts = connectPayouts(settling, settling.hub, chain, allocator);
  return {
    services: {
      ...settling,
      withdrawals: withdrawalStore(sql),
      payouts,
      solverChainName: config.solver.chainName,
      payloadLifetimeSeconds,
    },
    async close() {
      await Promise.all([payouts.close(), settling.hub.close(), lifecycle.close(), pool.end()]);
    },
  };
};
