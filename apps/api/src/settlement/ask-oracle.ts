import type { Hex } from "@causeway/domain";
import { formatOrder } from "@causeway/families";
import { depositAttestationAnswer, fillAttestationAnswer, refundAttestationAnswer } from "@causeway/wire";
import type { AnswerForm, AttestationOracle } from "./oracles.port.ts";
import type { DuePayment, SignedExecution } from "./settlement.port.ts";
import type { Judge } from "./hub-facts.ts";
import { judgeDeposits } from "./judge-deposits.ts";
import type { AttestedDeposit, DepositClaim } from "./judge-deposits.ts";
import { judgePayment } from "./judge-payment.ts";
import type { PaymentAnswer } from "./judge-payment.ts";
import type { Claim } from "./payment-claim.ts";
import type { Verdict } from "./verify-execution.ts";

/** The result of asking one oracle. */
export type Finding<T> =
  | { readonly kind: "attested"; readonly value: T }
  /** The oracle has no answer yet, or is unreachable. */
  | { readonly kind: "later"; readonly reason: string; readonly afterMs: number | undefined }
  /** The oracle refuses. */
  | { readonly kind: "rejected"; readonly reason: string }
  /** The answer is false, or not properly signed. */
  | { readonly kind: "lie"; readonly reason: string };

/** An oracle may hold only part of the quorum's signatures, so it collects those of its peers. */
const WITH_PEERS = { requestPeerSignatures: true, requireThreshold: true } as const;

/** Executions that settle a payment, in the order in which the hub must run them. */
export interface AttestedExecutions {
  readonly deposit: SignedExecution;
  readonly payment: SignedExecution;
}

/**
 * Asks one oracle for the deposit and then for the payment. Accepts only what matches our own facts and
 * carries a quorum's signatures.
 */
export async function askOracle(
  endpoint: AttestationOracle,
  judge: Judge,
  payment: DuePayment,
  claim: Claim,
  orderSignature: Hex,
  signal: AbortSignal,
): Promise<Finding<AttestedExecutions>> {
  const oracle: AttestationOracle = {
    name: endpoint.name,
    ask: async (path, body, until) => await endpoint.ask(path, body, until, payment.request.terms.requestId),
  };
  const deposit = await askForDeposit(oracle, judge, claim.deposit, signal);
  if (deposit.kind !== "attested") return deposit;
  const body = paymentBody(judge, payment, claim, orderSignature, deposit.value);
  const judgeAnswer = (answer: PaymentAnswer) =>
    judgePayment(
      judge,
      {
        kind: payment.kind,
        order: claim.order,
        orderId: claim.deposit.orderId,
        orderSignature,
        depositTransactionId: claim.deposit.transactionId,
        deposit: deposit.value,
        paymentTransactionId: claim.paymentTransactionId,
      },
      answer,
    );
  const paymentFinding =
    payment.kind === "fill"
      ? await askAndJudge(
          oracle,
          "/attestations/solver-fills/v1",
          body,
          fillAttestationAnswer,
          signal,
          judgeAnswer,
        )
      : await askAndJudge(
          oracle,
          "/attestations/solver-refunds/v1",
          body,
          refundAttestationAnswer,
          signal,
          judgeAnswer,
        );
  if (paymentFinding.kind !== "attested") return paymentFinding;
  return { kind: "attested", value: { deposit: deposit.value.execution, payment: paymentFinding.value } };
}

/** Requests the transaction's deposits part by part until a part contains ours: nearly always the first. */
export async function askForDeposit(
  oracle: AttestationOracle,
  judge: Judge,
  claim: DepositClaim,
  signal: AbortSignal,
): Promise<Finding<AttestedDeposit>> {
  for (let part = 0, alike = 0; ; part++) {
    const [currentPart, identicalBefore] = [part, alike];
    const finding = await askAndJudge(
      oracle,
      "/attestations/depository-deposits/v1",
      {
        chainId: claim.chain,
        transactionId: claim.transactionId,
        ...(currentPart > 0 && { part: currentPart }),
      },
      depositAttestationAnswer,
      signal,
      (answer) => judgeDeposits(judge, claim, answer, currentPart, identicalBefore),
    );
    if (finding.kind !== "attested") return finding;
    const { ours } = finding.value;
    if (ours !== undefined) return { kind: "attested", value: ours };
    alike += finding.value.identicalCount;
  }
}

function paymentBody(
  judge: Judge,
  payment: DuePayment,
  claim: Claim,
  orderSignature: Hex,
  { onchainId }: AttestedDeposit,
): object {
  return {
    order: formatOrder(claim.order, judge.familyOf),
    orderSignature,
    inputs: [{ transactionId: claim.deposit.transactionId, onchainId, inputIndex: 0 }],
    ...(payment.kind === "fill"
      ? { fill: { transactionId: claim.paymentTransactionId } }
      : { refunds: [{ transactionId: claim.paymentTransactionId, inputIndex: 0, refundIndex: 0 }] }),
  };
}

/** Asks one oracle, with its peers, and judges its answer. */
export async function askAndJudge<Answer, T>(
  oracle: AttestationOracle,
  path: string,
  body: object,
  schema: AnswerForm<Answer>,
  signal: AbortSignal,
  judgeAnswer: (answer: Answer) => Verdict<T>,
): Promise<Finding<T>> {
  const response = await oracle.ask(path, { ...body, ...WITH_PEERS }, signal);
  if (response.kind === "unavailable") return { kind: "later", reason: response.reason, afterMs: undefined };
  if (response.kind === "refused") {
    const reason = `${response.code}: ${response.message}`;
    const isRejection = response.code === "rejected" || response.code === "invalid_request";
    return isRejection
      ? { kind: "rejected", reason }
      : { kind: "later", reason, afterMs: response.retryAfterMs };
  }
  const answer = schema.safeParse(response.json);
  if (!answer.success) return { kind: "lie", reason: "the response does not match the schema of the route" };
  const verdict = judgeOrRefuse(judgeAnswer, answer.data);
  return verdict.kind === "true" ? { kind: "attested", value: verdict.value } : verdict;
}

/** A value that cannot even be hashed (a malformed address, a number too large) makes the answer false. */
function judgeOrRefuse<Answer, T>(judgeAnswer: (answer: Answer) => Verdict<T>, answer: Answer): Verdict<T> {
  try {
    return judgeAnswer(answer);
  } catch (error) {
    return {
      kind: "lie",
      reason: error instanceof Error ? error.message.slice(0, 200) : "the response cannot be read",
    };
  }
}
