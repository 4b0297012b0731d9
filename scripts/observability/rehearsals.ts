import type { Series } from "./promql-evaluate.ts";

/** Length of a rehearsal, in scrapes: longer than the longest window and delay of a rule together. */
export const SCRAPES = 200;
/** The scrape at which an incident begins. */
const BEGINS = 60;

type Labels = Readonly<Record<string, string>>;
type Values = Series["values"];

const API = { job: "causeway-api", instance: "api:3000", service: "causeway-api" };
const WORKER = { job: "causeway-worker", instance: "worker:3001", service: "causeway-worker" };
const ORACLE = { job: "causeway-oracle", instance: "oracle:3000", service: "causeway-oracle" };

const valuesByScrape = (valueAt: (scrape: number) => number | undefined): Values =>
  Array.from({ length: SCRAPES }, (_, scrape) => valueAt(scrape));
const level = (before: number, after: number | undefined = before): Values =>
  valuesByScrape((scrape) => (scrape < BEGINS ? before : after));
/** An age that is `from` until the incident, then grows with the clock. */
const aging = (from: number, step = 15): Values =>
  valuesByScrape((scrape) => (scrape < BEGINS ? from : from + (scrape - BEGINS) * step));
/** A counter that increases by these amounts per scrape, before and during the incident. */
const rising = (before: number, after: number = before): Values =>
  valuesByScrape((scrape) => Math.min(scrape, BEGINS) * before + Math.max(0, scrape - BEGINS) * after);
/** A counter that increases by one, once. */
const once = (): Values => level(0, 1);

const series = (metric: string, labels: Labels, values: Values): Series => ({ metric, labels, values });
const rpc = (outcome: string, values: Values) =>
  series(
    "causeway_rpc_call_seconds_count",
    { ...WORKER, chain: "base", endpoint: "rpc.example", outcome },
    values,
  );
const event = (name: string, eventLevel: string, values: Values) =>
  series("causeway_events_total", { ...WORKER, event: name, level: eventLevel }, values);
const signatures = (outcome: string, values: Values) =>
  series("causeway_signer_seconds_count", { ...WORKER, account: "0x51", source: "aws-kms", outcome }, values);
const quotes = (outcome: string, code: string, values: Values) =>
  series("causeway_quotes_total", { ...API, outcome, code }, values);
const http = (status: string, values: Values) =>
  series("http_request_duration_seconds_count", { ...API, method: "POST", route: "/quote", status }, values);
const oracleRpc = (outcome: string, values: Values) =>
  series("oracle_rpc_call_seconds_count", { ...ORACLE, chain: "base", method: "eth_call", outcome }, values);
const peerCalls = (outcome: string, values: Values) =>
  series("oracle_peer_calls_total", { ...ORACLE, peer: "two", outcome }, values);

/** The metrics of a loaded, healthy system, including every metric of a rule. */
export const healthy: readonly Series[] = [
  ...[API, WORKER, ORACLE].map(({ job, instance }) => series("up", { job, instance }, level(1))),
  ...["base", "bitcoin"].flatMap((chain) => [
    series("causeway_chain_leader", { ...WORKER, chain }, level(1)),
    series("causeway_scan_lag_seconds", { ...WORKER, chain }, level(2)),
    ...[API, WORKER].map((process) =>
      series("causeway_chain_head_age_seconds", { ...process, chain }, level(4)),
    ),
  ]),
  series("causeway_settlement_leader", WORKER, level(1)),
  rpc("ok", rising(100)),
  rpc("fault", rising(1)),
  series("causeway_price_age_seconds", { ...API, price_id: "eth" }, level(20)),
  // A Bitcoin payment waits for the next block.
  series("causeway_payments_oldest_seconds", { ...WORKER, chain: "bitcoin" }, level(3_600)),
  series("causeway_payments_oldest_seconds", { ...WORKER, chain: "base" }, level(12)),
  ...["due", "rejected", "attested"].flatMap((state) => [
    series("causeway_settlement_oldest_seconds", { ...WORKER, state }, level(state === "due" ? 1_200 : 0)),
    series("causeway_settlement_waiting", { ...WORKER, state }, level(state === "due" ? 30 : 0)),
  ]),
  series("causeway_mappings_oldest_seconds", { ...WORKER, state: "stored" }, level(20)),
  // Inventory changes with the load, but does not drop to a fifth.
  series(
    "causeway_solver_balance",
    { ...WORKER, chain: "base", currency: "usdc" },
    valuesByScrape((scrape) => 1_000 - (scrape % 50) * 10),
  ),
  series(
    "causeway_gas_balance",
    { ...WORKER, chain: "base", account: "executor" },
    valuesByScrape((scrape) => 1 - scrape / 1_000),
  ),
  series("causeway_requests_oldest_seconds", { ...WORKER, state: "filling" }, level(30)),
  series("causeway_app_balance_owed", { ...WORKER, currency: "USDC" }, level(0)),
  series("causeway_app_balance_oldest_claim_seconds", WORKER, level(60)),
  series(
    "causeway_deposit_addresses_unswept",
    { ...WORKER, chain: "base", currency: "USDC", held: "" },
    level(3),
  ),
  series(
    "causeway_deposit_addresses_unswept",
    { ...WORKER, chain: "base", currency: "USDC", held: "AMOUNT_TOO_LOW" },
    level(9),
  ),
  event("fill_mined", "info", rising(3)),
  event("fill_waits", "warn", level(0)),
  event("payment_unrecorded", "warn", level(0)),
  // One fault, after which the next attempt succeeded.
  event("chain_fault", "error", once()),
  series("causeway_outbox_oldest_seconds", WORKER, level(1)),
  series("causeway_queue_jobs", { ...WORKER, queue: "legs", state: "wait" }, level(5)),
  series("causeway_queue_jobs", { ...WORKER, queue: "legs", state: "failed" }, level(500)),
  series("causeway_redis_memory_bytes", { ...WORKER, kind: "used" }, level(40)),
  series("causeway_redis_memory_bytes", { ...WORKER, kind: "limit" }, level(256)),
  http("200", rising(100)),
  http("503", rising(1)),
  quotes("ok", "", rising(100)),
  quotes("fault", "", level(0)),
  quotes("refused", "INSUFFICIENT_LIQUIDITY", rising(1)),
  signatures("ok", rising(100)),
  signatures("fault", rising(1)),
  series("causeway_webhooks_lag_seconds", WORKER, level(2)),
  series("causeway_webhooks_failing", WORKER, level(0)),
  series("causeway_notices_oldest_seconds", WORKER, level(5)),
  series("causeway_prune_overdue_seconds", { ...WORKER, table: "requests" }, level(60)),
  series("causeway_database_oldest_snapshot_seconds", WORKER, level(3)),
  series("causeway_database_oldest_snapshot_transactions", WORKER, level(1_000)),
  series("causeway_database_default_partition_rows", { ...WORKER, table: "request_events" }, level(0)),
  series("oracle_signer_healthy", ORACLE, level(1)),
  series("oracle_quorum_shortfalls_total", { ...ORACLE, route: "solver-fills" }, level(0)),
  peerCalls("answered", rising(10)),
  peerCalls("timeout", rising(1)),
  oracleRpc("ok", rising(100)),
  oracleRpc("fault", rising(1)),
];

/** Every series of a process: all are missing once its target is gone. */
const missingSeries = (process: Labels): readonly Series[] =>
  healthy
    .filter(({ labels }) => labels["instance"] === process["instance"])
    .map((healthySeries) => ({
      ...healthySeries,
      values: healthySeries.values.map((value, scrape) => (scrape < BEGINS ? value : undefined)),
    }));

const up = ({ job, instance }: typeof API, after: number | undefined) =>
  series("up", { job, instance }, level(1, after));
const change = (metric: string, labels: Labels, values: Values) => [series(metric, labels, values)];

/** By rule, how its incident differs from a healthy system: the rule must fire. */
export const incidents: Readonly<Record<string, readonly Series[]>> = {
  CausewayWorkerMissing: missingSeries(WORKER),
  CausewayApiMissing: missingSeries(API),
  CausewayProcessDown: [up(WORKER, 0)],
  CausewayChainNotLed: change("causeway_chain_leader", { ...WORKER, chain: "base" }, level(1, 0)),
  CausewaySettlementNotLed: change("causeway_settlement_leader", WORKER, level(1, 0)),
  CausewayNodeAway: change("causeway_chain_head_age_seconds", { ...WORKER, chain: "base" }, aging(4)),
  CausewayScanBehind: change("causeway_scan_lag_seconds", { ...WORKER, chain: "base" }, aging(2)),
  CausewayNodeFaults: [rpc("fault", rising(1, 20))],
  CausewayPriceOld: change("causeway_price_age_seconds", { ...API, price_id: "eth" }, aging(20)),
  CausewayLaneStuck: change("causeway_payments_oldest_seconds", { ...WORKER, chain: "base" }, aging(12)),
  CausewayQuorumShort: change(
    "causeway_settlement_oldest_seconds",
    { ...WORKER, state: "due" },
    aging(1_200),
  ),
  CausewaySettlementRejected: change(
    "causeway_settlement_waiting",
    { ...WORKER, state: "rejected" },
    level(0, 1),
  ),
  CausewayHubSlow: change("causeway_settlement_oldest_seconds", { ...WORKER, state: "attested" }, aging(0)),
  CausewayMappingsLate: change("causeway_mappings_oldest_seconds", { ...WORKER, state: "stored" }, aging(20)),
  CausewayInventoryLow: change(
    "causeway_solver_balance",
    { ...WORKER, chain: "base", currency: "usdc" },
    level(1_000, 150),
  ),
  CausewayGasLow: change(
    "causeway_gas_balance",
    { ...WORKER, chain: "base", account: "executor" },
    level(1, 0.1),
  ),
  CausewayRequestStuck: change(
    "causeway_requests_oldest_seconds",
    { ...WORKER, state: "filling" },
    aging(2_400),
  ),
  CausewayAppOwes: change("causeway_app_balance_owed", { ...WORKER, currency: "USDC" }, level(0, 12)),
  CausewayClaimLate: change("causeway_app_balance_oldest_claim_seconds", WORKER, aging(60)),
  CausewayFundsHeld: [
    series(
      "causeway_deposit_addresses_unswept",
      { ...WORKER, chain: "base", currency: "USDC", held: "NO_ROUTE" },
      level(0, 1),
    ),
  ],
  CausewayMoneyAtRisk: [event("payment_unrecorded", "warn", once())],
  CausewayAlarm: [event("fill_waits", "warn", once())],
  CausewayFaultsContinue: [event("chain_fault", "error", rising(0, 1))],
  CausewayOutboxGrowing: change("causeway_outbox_oldest_seconds", WORKER, aging(1)),
  CausewayQueueGrowing: change("causeway_queue_jobs", { ...WORKER, queue: "legs", state: "wait" }, aging(5)),
  CausewayRedisFull: change("causeway_redis_memory_bytes", { ...WORKER, kind: "used" }, level(40, 200)),
  CausewayHttpFaults: [http("503", rising(1, 20))],
  CausewayQuotesRefused: [quotes("refused", "INSUFFICIENT_LIQUIDITY", rising(1, 60))],
  CausewayQuotesFail: [quotes("fault", "", rising(0, 1))],
  CausewaySignerFailing: [signatures("fault", rising(1, 20))],
  CausewayWebhooksLate: change("causeway_webhooks_lag_seconds", WORKER, aging(2)),
  CausewayNoticesLate: change("causeway_notices_oldest_seconds", WORKER, aging(0)),
  CausewayPruneOverdue: change(
    "causeway_prune_overdue_seconds",
    { ...WORKER, table: "requests" },
    aging(2_400),
  ),
  CausewayVacuumBlocked: change("causeway_database_oldest_snapshot_seconds", WORKER, aging(3)),
  CausewayPartitionMissing: change(
    "causeway_database_default_partition_rows",
    { ...WORKER, table: "request_events" },
    level(0, 7),
  ),
  CausewayOracleMissing: missingSeries(ORACLE),
  CausewayOracleDown: [up(ORACLE, 0)],
  CausewayOracleSignerFailing: change("oracle_signer_healthy", ORACLE, level(1, 0)),
  CausewayOracleQuorumShort: change(
    "oracle_quorum_shortfalls_total",
    { ...ORACLE, route: "solver-fills" },
    rising(0, 1),
  ),
  CausewayOraclePeerFailing: [peerCalls("answered", rising(10, 1)), peerCalls("timeout", rising(1, 10))],
  CausewayOracleNodeFaults: [oracleRpc("fault", rising(1, 20))],
};

/** A healthy system in which one incident happens. */
export function seriesDuring(rule: string): readonly Series[] {
  const changed = incidents[rule] ?? [];
  const keyOf = ({ metric, labels }: Series): string =>
    `${metric}${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
  const keys = new Set(changed.map(keyOf));
  return [...healthy.filter((healthySeries) => !keys.has(keyOf(healthySeries))), ...changed];
}
