import type { Registry } from "prom-client";
import type { ApiConfig } from "../config/config.ts";
import type { WorkedAgo, LedTask } from "../db/leadership.port.ts";
import { outboxDepth } from "../db/outbox-depth.postgres.ts";
import type { OutboxRelay } from "../db/outbox-relay.adapter.ts";
import type { Sql } from "../db/pool.postgres.ts";
import type { Services } from "../db/services.port.ts";
import { createScanProgress, scanLags } from "../deposits/index.ts";
import { openPayments } from "../payments/open-payments.postgres.ts";
import { waitingDeliveries } from "../push/webhook-report.postgres.ts";
import { RETENTION_MS } from "../reconcile/index.ts";
import { defaultPartitionRows } from "../requests/event-partitions.postgres.ts";
import { requestsUnderWay } from "../requests/requests-under-way.postgres.ts";
import { depositoryBalances, hubBalances } from "../settlement/index.ts";
import { settlementReads } from "../settlement/settlement-reads.postgres.ts";
import type { Settling } from "../settlement/settlement.wiring.ts";
import { balanceGauges } from "./balance-gauges.ts";
import { databaseBytes, oldestRows, oldestSnapshot, tableBytes } from "./database-figures.postgres.ts";
import { databaseGauges } from "./database-gauges.ts";
import { depositAddressGauges } from "./deposit-address-gauges.ts";
import { heldGauge } from "./held-gauge.ts";
import { leadershipGauges } from "./leadership-gauges.ts";
import { mappingGauges } from "./mapping-gauges.ts";
import { pruneGauge } from "./prune-gauge.ts";
import { queueGauges } from "./queue-gauges.ts";
import { requestGauges } from "./request-gauges.ts";
import { scanGauges } from "./scan-gauges.ts";
import { settlementGauges } from "./settlement-gauges.ts";
import { solverGauges, type GasPayer } from "./solver-gauges.ts";
import { webhookGauges } from "./webhook-gauges.ts";

interface GaugeNeeds extends Pick<
  Services,
  "appBalance" | "balances" | "chains" | "clock" | "executor" | "reads" | "signer"
> {
  readonly config: Pick<ApiConfig, "solver">;
  readonly depositAddresses: NonNullable<Services["depositAddresses"]>;
  readonly depositAddressOperator: Services["depositAddressOperator"];
  readonly registry: Registry;
  readonly sql: Sql;
}

/** The worker's metrics: database, queues, payments, settlement and webhooks. */
export function workerGauges(
  needs: GaugeNeeds,
  {
    relay,
    ledTasks,
    workedAgoMs,
    settling,
  }: {
    readonly relay: OutboxRelay;
    readonly ledTasks: readonly LedTask[];
    readonly workedAgoMs: WorkedAgo;
    readonly settling: Settling | undefined;
  },
): void {
  const { registry, sql, chains, clock, reads } = needs;
  leadershipGauges(registry, ledTasks, workedAgoMs);
  databaseGauges(
    registry,
    {
      oldestSnapshot: () => oldestSnapshot(sql),
      bytes: () => databaseBytes(sql),
      tableBytes: () => tableBytes(sql),
      oldestRows: () => oldestRows(sql),
      defaultPartitionRows: () => defaultPartitionRows(sql),
    },
    clock,
  );
  settlementGauges(registry, settlementReads(sql), clock);
  if (settling?.publishing !== undefined)
    mappingGauges(registry, settling.publishing.nonceMappingStore, clock);
  const scanned = createScanProgress(reads, clock);
  scanGauges(registry, async () => await scanLags(chains, scanned));
  solverGauges(registry, chains, () => openPayments(sql), clock, gasPayersOf(needs));
  balanceGauges(registry, needs.balances, needs.appBalance.currencies, clock);
  if (needs.depositAddressOperator !== undefined)
    depositAddressGauges(registry, needs.depositAddresses, chains, clock);
  webhookGauges(registry, () => waitingDeliveries(sql), clock);
  requestGauges(registry, () => requestsUnderWay(sql), clock);
  queueGauges(registry, { outbox: () => outboxDepth(sql), queues: () => relay.depths() }, clock);
  pruneGauge(registry, reads, clock, RETENTION_MS);
}

function gasPayersOf({ executor, depositAddressOperator }: GaugeNeeds): readonly GasPayer[] {
  return [
    ...(executor === undefined ? [] : [{ name: "executor", address: executor.address } as const]),
    ...(depositAddressOperator === undefined
      ? []
      : [{ name: "depositAddressOperator", address: depositAddressOperator.address } as const]),
  ];
}

/** Measures what depositories hold, on each call. */
export function depositoryGauge({ registry, chains }: GaugeNeeds): () => Promise<void> {
  const show = heldGauge(registry, {
    name: "causeway_depository_balance",
    help: "Balance of an EVM chain's depository, in whole units; read once a minute",
  });
  return async () => show(await depositoryBalances(chains));
}

/** Measures the solver's balances on the hub, on each call. */
export function hubGauge(
  { registry, chains, signer, config }: GaugeNeeds,
  settling: Settling | undefined,
): () => Promise<void> {
  if (settling === undefined) return async () => undefined;
  const show = heldGauge(registry, {
    name: "causeway_hub_balance",
    help: "Hub balance of the solver by chain and currency of the deposits, in whole units; read once a minute",
  });
  const solver = { address: signer.address, chainName: config.solver.chainName };
  return async () => {
    // Settlement reports a hub that does not respond.
    await hubBalances(chains, settling.hub, solver).then(show, () => undefined);
  };
}
