import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import type { CountSigning } from "../payments/limited-signing/signing-rules.port.ts";

/** Counts the transactions that a signer process signed and refused, by rule. */
export function signingCounts(registry: Registry): CountSigning {
  const counter = new Counter({
    name: "causeway_signer_transactions_total",
    help: "Transactions that a signer process signed or refused, with the rule that they broke",
    labelNames: ["result", "rule"],
    registers: [registry],
  });
  return (result, rule = "") => counter.inc({ result, rule });
}
