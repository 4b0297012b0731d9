import { CRITICAL_ALARMS } from "../../apps/api/src/telemetry/alarm-events.ts";
import { ALERT_SECONDS } from "../../apps/api/src/telemetry/alert-durations.ts";
import { moneyRules } from "./money-alert-rules.ts";
import type { RuleGroup } from "./rule.ts";

const critical = CRITICAL_ALARMS.join("|");
const FAULT_SHARE = `sum by (chain, endpoint) (rate(causeway_rpc_call_seconds_count{outcome="fault"}[5m])) / sum by (chain, endpoint) (rate(causeway_rpc_call_seconds_count[5m])) > 0.05`;
const SIGNER_FAULT_SHARE = `sum by (account, source) (rate(causeway_signer_seconds_count{outcome="fault"}[5m])) / sum by (account, source) (rate(causeway_signer_seconds_count[5m])) > 0.05`;

/** Alerts on the API and the worker. */
export const serviceRules: readonly RuleGroup[] = [
  {
    name: "causeway-presence",
    rules: [
      {
        name: "CausewayWorkerMissing",
        // A target that was removed from service discovery has no `up` at all.
        expression: `absent(up{job="causeway-worker"} == 1)`,
        forSeconds: 60,
        severity: "critical",
        summary: "No worker runs: deposits are not seen and nothing is paid.",
      },
      {
        name: "CausewayApiMissing",
        expression: `absent(up{job="causeway-api"} == 1)`,
        forSeconds: 60,
        severity: "critical",
        summary: "No API runs: clients get no quotes and no status.",
      },
      {
        name: "CausewayProcessDown",
        expression: `up{job=~"causeway-(api|worker)"} == 0`,
        forSeconds: 120,
        severity: "warning",
        summary: "{{ $labels.job }} at {{ $labels.instance }} does not answer Prometheus.",
      },
      {
        name: "CausewayChainNotLed",
        expression: `sum by (chain) (causeway_chain_leader) == 0`,
        forSeconds: ALERT_SECONDS.notLed,
        severity: "critical",
        summary: "No worker leads {{ $labels.chain }}: its deposits are not seen.",
      },
      {
        name: "CausewaySettlementNotLed",
        expression: `sum(causeway_settlement_leader) == 0`,
        forSeconds: ALERT_SECONDS.notLed,
        severity: "critical",
        summary: "No worker leads settlement: the solver is not repaid.",
      },
    ],
  },
  {
    name: "causeway-chains",
    rules: [
      {
        name: "CausewayNodeAway",
        expression: `max by (chain) (causeway_chain_head_age_seconds) > ${ALERT_SECONDS.nodeUnreachable}`,
        forSeconds: 60,
        severity: "critical",
        summary: "The node of {{ $labels.chain }} has had no new block for {{ $value }} s.",
      },
      {
        name: "CausewayScanBehind",
        expression: `max by (chain) (causeway_scan_lag_seconds) > ${ALERT_SECONDS.scanBehind}`,
        forSeconds: 60,
        severity: "critical",
        summary: "Deposits on {{ $labels.chain }} are seen {{ $value }} s late.",
      },
      {
        name: "CausewayNodeFaults",
        expression: FAULT_SHARE,
        forSeconds: 600,
        severity: "warning",
        summary: "More than 5 % of the calls to {{ $labels.endpoint }} ({{ $labels.chain }}) fail.",
      },
      {
        name: "CausewayPriceOld",
        expression: `max by (price_id) (causeway_price_age_seconds) > 300`,
        forSeconds: 120,
        severity: "warning",
        summary: "The price of {{ $labels.price_id }} is {{ $value }} s old: quotes are refused.",
      },
    ],
  },
  moneyRules,
  {
    name: "causeway-events",
    rules: [
      {
        name: "CausewayMoneyAtRisk",
        expression: `sum by (event) (increase(causeway_events_total{level="warn", event=~"${critical}"}[10m])) > 0`,
        forSeconds: 0,
        severity: "critical",
        summary: "{{ $labels.event }}: money may be at risk.",
      },
      {
        name: "CausewayAlarm",
        expression: `sum by (event) (increase(causeway_events_total{level="warn", event!~"${critical}"}[10m])) > 0`,
        forSeconds: 0,
        severity: "warning",
        summary: "{{ $labels.event }} was raised.",
      },
      {
        name: "CausewayFaultsContinue",
        expression: `sum by (event) (increase(causeway_events_total{level="error"}[5m])) > 0`,
        forSeconds: 600,
        severity: "warning",
        summary: "{{ $labels.event }} continues: retries do not help.",
      },
    ],
  },
  {
    name: "causeway-service",
    rules: [
      {
        name: "CausewayOutboxGrowing",
        expression: `max(causeway_outbox_oldest_seconds) > ${ALERT_SECONDS.outboxOldest}`,
        forSeconds: 60,
        severity: "critical",
        summary: "A committed job has not reached Redis for {{ $value }} s.",
      },
      {
        name: "CausewayQueueGrowing",
        expression: `max by (queue) (causeway_queue_jobs{state="wait"}) > 100`,
        forSeconds: 300,
        severity: "warning",
        summary: "{{ $value }} jobs wait in the queue {{ $labels.queue }}.",
      },
      {
        name: "CausewayRedisFull",
        // 0 means no limit.
        expression: `max by (job) (causeway_redis_memory_bytes{kind="used"}) / max by (job) (causeway_redis_memory_bytes{kind="limit"} > 0) > 0.7`,
        forSeconds: 60,
        severity: "critical",
        summary: "Redis uses more than 70 % of its memory: when it is full, it takes no jobs.",
      },
      {
        name: "CausewayHttpFaults",
        expression: `sum by (service) (rate(http_request_duration_seconds_count{status=~"5.."}[5m])) / sum by (service) (rate(http_request_duration_seconds_count[5m])) > 0.05`,
        forSeconds: 300,
        severity: "critical",
        summary: "More than 5 % of the requests to {{ $labels.service }} return a 5xx status.",
      },
      {
        name: "CausewayQuotesRefused",
        expression: `sum by (service) (rate(causeway_quotes_total{code="INSUFFICIENT_LIQUIDITY"}[15m])) / sum by (service) (rate(causeway_quotes_total[15m])) > 0.2`,
        forSeconds: 900,
        severity: "warning",
        summary: "More than 20 % of the quotes are refused because the solver lacks liquidity.",
      },
      {
        name: "CausewayQuotesFail",
        expression: `sum by (service) (increase(causeway_quotes_total{outcome="fault"}[10m])) > 5`,
        forSeconds: 120,
        severity: "critical",
        summary: "Quotes fail because of an error of the service.",
      },
      {
        name: "CausewaySignerFailing",
        expression: SIGNER_FAULT_SHARE,
        forSeconds: 120,
        severity: "critical",
        summary: "More than 5 % of the signatures of {{ $labels.account }} fail: payments or quotes wait.",
      },
      {
        name: "CausewayWebhooksLate",
        // A failing receiver is its owner's problem, and is retried for over an hour.
        expression: `max(causeway_webhooks_lag_seconds) > 300 unless max(causeway_webhooks_failing) > 0`,
        forSeconds: 60,
        severity: "warning",
        summary: "A webhook delivery has waited for {{ $value }} s.",
      },
      {
        name: "CausewayNoticesLate",
        expression: `max by (job) (causeway_notices_oldest_seconds) > 600`,
        forSeconds: 60,
        severity: "warning",
        summary: "A channel of `NOTIFY_URLS` has not accepted a notice for {{ $value }} s.",
      },
      {
        name: "CausewayPruneOverdue",
        expression: `max by (table) (causeway_prune_overdue_seconds) > 3600`,
        forSeconds: 300,
        severity: "warning",
        summary: "Rows of {{ $labels.table }} should have been deleted {{ $value }} s ago.",
      },
      {
        name: "CausewayVacuumBlocked",
        expression: `max(causeway_database_oldest_snapshot_seconds) > 600 or max(causeway_database_oldest_snapshot_transactions) > 10000000`,
        forSeconds: 60,
        severity: "warning",
        summary: "A session or replication slot keeps Postgres from removing dead rows.",
      },
      {
        name: "CausewayPartitionMissing",
        expression: `max by (table) (causeway_database_default_partition_rows) > 0`,
        forSeconds: 300,
        severity: "warning",
        summary: "{{ $labels.table }} has no partition for {{ $value }} rows.",
      },
    ],
  },
];
