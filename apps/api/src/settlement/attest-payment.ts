import { signPersonalMessage } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import type { DuePayment, Postponement } from "./settlement.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";
import { orderSignerOf } from "../chains/index.ts";
import { askOracle } from "./ask-oracle.ts";
import type { AttestedExecutions, Finding } from "./ask-oracle.ts";
import { backoff } from "./backoff.ts";
import { familiesOf, judgeFor } from "./hub-facts.ts";
import { claimOf } from "./payment-claim.ts";

type Needs = Pick<
  SettlementServices,
  "clock" | "events" | "signer" | "formerSigners" | "uow" | "chains" | "hub" | "oracles" | "settlementPolicy"
>;

type Failure = Exclude<Finding<AttestedExecutions>, { kind: "attested" }>;

/**
 * Asks one oracle after another to attest one payment and its deposit, and stores the executions with the new
 * state. Safe to repeat or run concurrently: executions are unique by key, and a payment is attested once.
 * @throws errors of hub, signer or database: nothing was decided, the payment stays due
 */
export async function attestPayment(
  services: Needs,
  payment: DuePayment,
  signal: AbortSignal,
): Promise<void> {
  const isOwnSolver = (solver: Address): boolean => orderSignerOf(services, solver) !== undefined;
  const claimed = claimOf(payment, services.chains, isOwnSolver);
  if (claimed.kind === "never" && claimed.isPermanent) return giveUp(services, payment, claimed.reason);
  if (claimed.kind === "never")
    return postpone(services, payment, [{ kind: "rejected", reason: claimed.reason }]);
  const { claim } = claimed;
  const { signers: accepted, threshold } = await services.hub.signers();
  const judge = judgeFor(services.hub.hub, { accepted, threshold }, familiesOf(services.chains));
  const orderSigner = orderSignerOf(services, claim.order.solver);
  if (orderSigner === undefined) throw new Error("invariant violated: claim of an order without its key");
  const orderSignature = await signPersonalMessage(orderSigner, claim.deposit.orderId, claim.order);

  const findings: Failure[] = [];
  for (let index = 0; index < services.oracles.length && !signal.aborted; index++) {
    // Rotate the first oracle, so that an oracle that is down does not cost its timeout at every try.
    const oracle = services.oracles[(index + payment.tries) % services.oracles.length];
    if (oracle === undefined) break;
    const finding = await askOracle(oracle, judge, payment, claim, orderSignature, signal);
    if (finding.kind === "attested") return storeAttested(services, payment, finding.value, oracle.name);
    if (finding.kind === "lie")
      services.events.alarm("oracle_lied", {
        ...factsOf(payment),
        oracle: oracle.name,
        reason: finding.reason,
      });
    findings.push(finding);
  }
  if (!signal.aborted) await postpone(services, payment, findings);
}

async function storeAttested(
  services: Needs,
  payment: DuePayment,
  attested: AttestedExecutions,
  oracle: string,
): Promise<void> {
  const atMs = services.clock.nowMs();
  const keys = { deposit: attested.deposit.idempotencyKey, payment: attested.payment.idempotencyKey };
  const isNew = await services.uow.run(async (tx) => {
    if (!(await tx.settlement.markAttested(payment.slotId, keys, atMs))) return false;
    // The deposit comes first: the hub cannot move a credit that does not exist yet.
    await tx.settlement.addExecutions([attested.deposit, attested.payment], atMs);
    await tx.requests.note(payment.request.terms.requestId, atMs, "attested", {
      leg: payment.kind,
      txHash: payment.txHash,
      depositKey: keys.deposit,
      paymentKey: keys.payment,
    });
    return true;
  });
  if (isNew) services.events.happened("settlement_attested", { ...factsOf(payment), oracle });
}

async function giveUp(services: Needs, payment: DuePayment, reason: string): Promise<void> {
  await services.uow.run((tx) => tx.settlement.giveUp(payment.slotId, reason, services.clock.nowMs()));
  services.events.alarm("settlement_rejected", { ...factsOf(payment), reason, tries: payment.tries });
}

async function postpone(services: Needs, payment: DuePayment, findings: readonly Failure[]): Promise<void> {
  const nowMs = services.clock.nowMs();
  const why = postponementOf(services, payment, findings, nowMs);
  await services.uow.run((tx) => tx.settlement.postpone(payment.slotId, why, nowMs));
  const facts = { ...factsOf(payment), reason: why.reason, tries: payment.tries + 1 };
  if (why.rejected) services.events.alarm("settlement_rejected", facts);
  else services.events.happened("settlement_waits", { ...facts, waitMs: why.nextTryMs - nowMs });
}

/** Rejected only if all oracles refuse; while one may still sign, it is retried early. */
function postponementOf(
  { settlementPolicy: policy }: Needs,
  { tries }: DuePayment,
  findings: readonly Failure[],
  nowMs: number,
): Postponement {
  const later = findings.filter((finding) => finding.kind === "later");
  const reason = (later[0] ?? findings[0])?.reason ?? "no oracle was available";
  const rejected = findings.length > 0 && findings.every((finding) => finding.kind === "rejected");
  if (rejected) return { reason, rejected, nextTryMs: nowMs + policy.rejectedRetryMs };
  const hints = later.flatMap(({ afterMs }) => (afterMs === undefined ? [] : [afterMs]));
  const waitMs = hints.length > 0 ? Math.min(...hints, policy.maxRetryMs) : backoff(policy, tries);
  return { reason, rejected, nextTryMs: nowMs + Math.max(waitMs, policy.intervalMs) };
}

function factsOf(payment: DuePayment) {
  return { requestId: payment.request.terms.requestId, leg: payment.kind, txHash: payment.txHash };
}
