import { ALERT_SECONDS } from "../../apps/api/src/telemetry/alert-durations.ts";
import type { RuleGroup } from "./rule.ts";

/** Alerts on payments, settlement and balances. */
export const moneyRules: RuleGroup = {
  name: "causeway-money",
  rules: [
    {
      name: "CausewayLaneStuck",
      expression:
        `max by (chain) (causeway_payments_oldest_seconds{chain!~".*bitcoin.*"}) > ${ALERT_SECONDS.paymentOldest} or ` +
        `max by (chain) (causeway_payments_oldest_seconds{chain=~".*bitcoin.*"}) > ${ALERT_SECONDS.paymentOldestOnBitcoin}`,
      forSeconds: 60,
      severity: "critical",
      summary: "A signed payment on {{ $labels.chain }} has been in no block for {{ $value }} s.",
    },
    {
      name: "CausewayQuorumShort",
      expression: `max by (state) (causeway_settlement_oldest_seconds{state="due"}) > ${ALERT_SECONDS.settlementDue}`,
      forSeconds: 300,
      severity: "critical",
      summary: "A payment has had no quorum of oracles for {{ $value }} s: the solver is not repaid.",
    },
    {
      name: "CausewaySettlementRejected",
      expression: `max by (state) (causeway_settlement_waiting{state="rejected"}) > 0`,
      forSeconds: 60,
      severity: "warning",
      summary: "The oracles reject {{ $value }} payments: they are not repaid.",
    },
    {
      name: "CausewayHubSlow",
      expression: `max by (state) (causeway_settlement_oldest_seconds{state="attested"}) > ${ALERT_SECONDS.settlementAttested}`,
      forSeconds: 60,
      severity: "warning",
      summary: "An attested payment has not been final on the hub for {{ $value }} s.",
    },
    {
      name: "CausewayMappingsLate",
      expression: `max by (state) (causeway_mappings_oldest_seconds) > ${ALERT_SECONDS.mappingOldest}`,
      forSeconds: 60,
      severity: "critical",
      summary:
        "A nonce mapping has been missing on the hub for {{ $value }} s; after an hour it has no effect.",
    },
    {
      name: "CausewayInventoryLow",
      // Relative, because only the operator knows how much one day requires.
      expression: `max by (chain, currency) (causeway_solver_balance) < 0.2 * max by (chain, currency) (max_over_time(causeway_solver_balance[3d]))`,
      forSeconds: 300,
      severity: "warning",
      summary:
        "The solver has {{ $value }} {{ $labels.currency }} on {{ $labels.chain }}, less than a fifth of its highest balance of three days.",
    },
    {
      name: "CausewayGasLow",
      expression: `max by (chain, account) (causeway_gas_balance) < 0.2 * max by (chain, account) (max_over_time(causeway_gas_balance[3d]))`,
      forSeconds: 300,
      severity: "warning",
      summary:
        "{{ $labels.account }} has {{ $value }} native tokens on {{ $labels.chain }}, less than a fifth of its highest balance of three days.",
    },
    {
      name: "CausewayRequestStuck",
      expression: `max by (state) (causeway_requests_oldest_seconds) > ${ALERT_SECONDS.requestOldest}`,
      forSeconds: 60,
      severity: "warning",
      summary: "A paid request has been {{ $labels.state }} for {{ $value }} s.",
    },
    {
      name: "CausewayAppOwes",
      expression: `max by (currency) (causeway_app_balance_owed) > 0`,
      forSeconds: 60,
      severity: "warning",
      summary: "Apps owe {{ $value }} {{ $labels.currency }}.",
    },
    {
      name: "CausewayClaimLate",
      expression: `max(causeway_app_balance_oldest_claim_seconds) > ${ALERT_SECONDS.claimOldest}`,
      forSeconds: 60,
      severity: "warning",
      summary: "A signed claim of an app balance has not been paid for {{ $value }} s.",
    },
    {
      name: "CausewayFundsHeld",
      expression: `sum by (chain, currency, held) (causeway_deposit_addresses_unswept{held!~"|AMOUNT_TOO_LOW"}) > 0`,
      forSeconds: 300,
      severity: "warning",
      summary: "Funds at deposit addresses on {{ $labels.chain }} wait for you: {{ $labels.held }}.",
    },
  ],
};
