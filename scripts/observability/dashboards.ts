/** One panel of a Grafana dashboard. */
export interface Panel {
  readonly title: string;
  /** A unit of Grafana: `s`, `bytes`, `short`, `percentunit` or `reqps`. */
  readonly unit: "s" | "bytes" | "short" | "percentunit" | "reqps";
  readonly lines: readonly { readonly expression: string; readonly legend: string }[];
}

export interface Dashboard {
  readonly file: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const panel = (title: string, unit: Panel["unit"], expression: string, legend: string): Panel => ({
  title,
  unit,
  lines: [{ expression, legend }],
});

/** Quantiles of a histogram by these labels. */
function quantiles(title: string, metric: string, by: readonly string[]): Panel {
  const name = by.map((label) => `{{${label}}}`).join(" ");
  return {
    title,
    unit: "s",
    lines: [0.5, 0.95].map((quantile) => ({
      expression: `histogram_quantile(${quantile}, sum by (${["le", ...by].join(", ")}) (rate(${metric}_bucket[5m])))`,
      legend: `${name} p${quantile * 100}`.trim(),
    })),
  };
}

export const dashboards: readonly Dashboard[] = [
  {
    file: "causeway-service",
    title: "Causeway: service",
    panels: [
      panel("Processes up", "short", `sum by (job) (up{job=~"causeway-.*"})`, "{{job}}"),
      panel(
        "Alarms in 10 minutes",
        "short",
        `sum by (event) (increase(causeway_events_total{level="warn"}[10m])) > 0`,
        "{{event}}",
      ),
      panel(
        "Faults in 10 minutes",
        "short",
        `sum by (event) (increase(causeway_events_total{level="error"}[10m])) > 0`,
        "{{event}}",
      ),
      panel(
        "Quotes",
        "reqps",
        `sum by (outcome, code) (rate(causeway_quotes_total[5m]))`,
        "{{outcome}} {{code}}",
      ),
      quantiles("Fill time, confirmations included", "causeway_fill_seconds", ["destination"]),
      quantiles("Fast fill: acceptance to broadcast", "causeway_fast_fill_broadcast_seconds", []),
      panel("Paid requests under way", "short", `max by (state) (causeway_requests_under_way)`, "{{state}}"),
      panel("Oldest request by state", "s", `max by (state) (causeway_requests_oldest_seconds)`, "{{state}}"),
      panel("Oldest job in the outbox", "s", `max(causeway_outbox_oldest_seconds)`, "outbox"),
      panel(
        "Jobs in Redis",
        "short",
        `max by (queue, state) (causeway_queue_jobs{state!="failed"})`,
        "{{queue}} {{state}}",
      ),
      panel(
        "HTTP requests",
        "reqps",
        `sum by (route, status) (rate(http_request_duration_seconds_count{service="causeway-api"}[5m]))`,
        "{{status}} {{route}}",
      ),
      quantiles("HTTP duration", "http_request_duration_seconds", ["route"]),
      quantiles("Signatures", "causeway_signer_seconds", ["source"]),
      panel("Webhook lag", "s", `max(causeway_webhooks_lag_seconds)`, "lag"),
      panel("Push connections", "short", `sum by (service) (causeway_push_sockets)`, "sockets"),
      panel("Redis memory", "bytes", `max by (kind) (causeway_redis_memory_bytes)`, "{{kind}}"),
      panel("Tables", "bytes", `max by (table) (causeway_database_table_bytes)`, "{{table}}"),
      panel(
        "Resident memory",
        "bytes",
        `max by (job, instance) (process_resident_memory_bytes)`,
        "{{job}} {{instance}}",
      ),
      panel(
        "Processor",
        "percentunit",
        `sum by (job, instance) (rate(process_cpu_seconds_total[5m]))`,
        "{{job}} {{instance}}",
      ),
    ],
  },
  {
    file: "causeway-money",
    title: "Causeway: chains and money",
    panels: [
      panel("Age of the newest block", "s", `max by (chain) (causeway_chain_head_age_seconds)`, "{{chain}}"),
      panel("Scan lag", "s", `max by (chain) (causeway_scan_lag_seconds)`, "{{chain}}"),
      panel("Workers that lead", "short", `sum by (chain) (causeway_chain_leader)`, "{{chain}}"),
      panel(
        "Failing node calls",
        "percentunit",
        `sum by (chain, endpoint) (rate(causeway_rpc_call_seconds_count{outcome="fault"}[5m])) / sum by (chain, endpoint) (rate(causeway_rpc_call_seconds_count[5m]))`,
        "{{chain}} {{endpoint}}",
      ),
      quantiles("Node calls", "causeway_rpc_call_seconds", ["chain"]),
      panel(
        "Solver balance",
        "short",
        `max by (chain, currency) (causeway_solver_balance)`,
        "{{chain}} {{currency}}",
      ),
      panel(
        "Gas accounts",
        "short",
        `max by (chain, account) (causeway_gas_balance)`,
        "{{chain}} {{account}}",
      ),
      panel(
        "Hub balance",
        "short",
        `max by (chain, currency) (causeway_hub_balance)`,
        "{{chain}} {{currency}}",
      ),
      panel(
        "Depository balance",
        "short",
        `max by (chain, currency) (causeway_depository_balance)`,
        "{{chain}} {{currency}}",
      ),
      panel("Payments that are not mined", "short", `max by (chain) (causeway_payments_open)`, "{{chain}}"),
      panel(
        "Oldest payment that is not mined",
        "s",
        `max by (chain) (causeway_payments_oldest_seconds)`,
        "{{chain}}",
      ),
      panel(
        "Payments that wait for settlement",
        "short",
        `max by (state) (causeway_settlement_waiting)`,
        "{{state}}",
      ),
      panel(
        "Oldest unsettled payment",
        "s",
        `max by (state) (causeway_settlement_oldest_seconds)`,
        "{{state}}",
      ),
      panel("Fast fills outstanding", "short", `max(causeway_app_balance_exposure_usd)`, "USD"),
      panel("Owed by apps", "short", `max by (currency) (causeway_app_balance_owed)`, "{{currency}}"),
      panel("Price age", "s", `max by (price_id) (causeway_price_age_seconds)`, "{{price_id}}"),
    ],
  },
  {
    file: "causeway-oracle",
    title: "Causeway: oracle",
    panels: [
      panel(
        "Attestations",
        "reqps",
        `sum by (route, outcome) (rate(oracle_attestations_total[5m]))`,
        "{{route}} {{outcome}}",
      ),
      panel(
        "Too few signatures",
        "reqps",
        `sum by (route) (rate(oracle_quorum_shortfalls_total[5m]))`,
        "{{route}}",
      ),
      panel(
        "Own results",
        "reqps",
        `sum by (route, local) (rate(oracle_local_verdicts_total[5m]))`,
        "{{route}} {{local}}",
      ),
      panel("Signer", "short", `min by (instance) (oracle_signer_healthy)`, "{{instance}}"),
      quantiles("Signing", "oracle_signature_seconds", ["outcome"]),
      panel(
        "Calls to peers",
        "reqps",
        `sum by (peer, outcome) (rate(oracle_peer_calls_total[5m]))`,
        "{{peer}} {{outcome}}",
      ),
      quantiles("Calls to peers", "oracle_peer_call_seconds", ["peer"]),
      panel(
        "Calls to nodes",
        "reqps",
        `sum by (chain, outcome) (rate(oracle_rpc_call_seconds_count[5m]))`,
        "{{chain}} {{outcome}}",
      ),
      quantiles("Calls to nodes", "oracle_rpc_call_seconds", ["chain"]),
    ],
  },
];
