import type { Env } from "@causeway/config";
import { createLogger, createMetrics } from "@causeway/service-kit";
import { loggedEvents } from "../telemetry/logged-events.ts";
import { chainProfiles } from "../chains/directory.adapter.ts";
import { depositsNamed } from "../payments/operator-reads.postgres.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { postgresReads } from "./reads.postgres.ts";
import { postgresUnitOfWork } from "./unit-of-work.postgres.ts";
import { readOperatorConfig } from "../config/config.ts";
import { priceSource } from "../markets/prices/prices.wiring.ts";
import type { OpenRefunds } from "./commands/refund-command.ts";

/**
 * The dependencies of `operator refund`: the database, the chains' configuration and the price source.
 * Connects to no chain, because the worker pays the refund.
 * @throws ConfigError
 */
export function openRefunds(env: Env): ReturnType<OpenRefunds> {
  const config = readOperatorConfig(env);
  const clock = { nowMs: () => Date.now() };
  const pool = createPool(config.database.url.reveal(), {
    max: 2,
    statementTimeoutMs: 30_000,
    applicationName: "causeway operator",
  });
  const sql = sqlOn(pool);
  const log = createLogger({ name: "causeway-operator", level: "error" });
  const events = loggedEvents(log, createMetrics("causeway-operator").registry);
  const prices = priceSource(config, clock, () => undefined);
  return {
    services: {
      clock,
      uow: postgresUnitOfWork(pool, events),
      reads: postgresReads(sql),
      chains: chainProfiles([...config.chains, ...config.nonEvmChains.map(({ chain }) => chain)]),
    },
    find: async (name) => await depositsNamed(sql, name),
    async readPriceUsd({ priceId }) {
      const fetched = await prices.fetch([priceId], AbortSignal.timeout(config.prices.timeoutMs));
      return fetched.get(priceId)?.usd;
    },
    async close() {
      await pool.end();
    },
  };
}
