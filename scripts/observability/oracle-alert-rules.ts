import type { RuleGroup } from "./rule.ts";

/** Alerts on attestation oracles, for those who run one. */
export const oracleRules: readonly RuleGroup[] = [
  {
    name: "causeway-oracle",
    rules: [
      {
        name: "CausewayOracleMissing",
        expression: `absent(up{job="causeway-oracle"} == 1)`,
        forSeconds: 60,
        severity: "critical",
        summary: "No oracle runs: nothing is attested.",
      },
      {
        name: "CausewayOracleDown",
        expression: `up{job="causeway-oracle"} == 0`,
        forSeconds: 120,
        severity: "warning",
        summary: "The oracle at {{ $labels.instance }} does not answer Prometheus.",
      },
      {
        name: "CausewayOracleSignerFailing",
        expression: `min by (instance) (oracle_signer_healthy) == 0`,
        forSeconds: 60,
        severity: "critical",
        summary: "The signing key of the oracle at {{ $labels.instance }} makes no signatures.",
      },
      {
        name: "CausewayOracleQuorumShort",
        expression: `sum by (instance, route) (rate(oracle_quorum_shortfalls_total[10m])) > 0`,
        forSeconds: 300,
        severity: "warning",
        summary: "The oracle at {{ $labels.instance }} answers {{ $labels.route }} with too few signatures.",
      },
      {
        name: "CausewayOraclePeerFailing",
        expression: `sum by (instance, peer) (rate(oracle_peer_calls_total{outcome!~"answered|aborted|shadow"}[10m])) / sum by (instance, peer) (rate(oracle_peer_calls_total[10m])) > 0.5`,
        forSeconds: 600,
        severity: "warning",
        summary: "More than half of the calls to the peer {{ $labels.peer }} fail.",
      },
      {
        name: "CausewayOracleNodeFaults",
        expression: `sum by (instance, chain) (rate(oracle_rpc_call_seconds_count{outcome="fault"}[5m])) / sum by (instance, chain) (rate(oracle_rpc_call_seconds_count[5m])) > 0.05`,
        forSeconds: 600,
        severity: "warning",
        summary: "More than 5 % of the oracle's calls to {{ $labels.chain }} fail.",
      },
    ],
  },
];
