import type { TransactionState } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { SendRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { hasArrived, isQuotedPayment } from "./quoted-payment.ts";
import { countReport, isCanonical } from "./follow-reports.ts";
import type { TransitionServices } from "../requests/index.ts";

type Needs = Pick<Services, "events" | "uow" | "reads"> & TransitionServices;

/** Pending transactions followed per sender and chain, so that one sender cannot block others' reports. */
const MAX_PENDING_OF_SENDER = 64;

/**
 * Records a transaction as the fulfillment of a `send` or a `swap`: only the exact quoted payment counts, and
 * each transaction for one request. The transaction is then followed like any deposit.
 * @throws ServiceError INVALID_REQUEST if the transaction is another payment, or is recorded for another
 * request; RATE_LIMITED
 */
export async function recordSend(
  services: Needs,
  connected: ConnectedChain,
  terms: RequestTerms,
  state: Exclude<TransactionState, { kind: "absent" }>,
): Promise<{ message: string }> {
  const { transaction } = state;
  const isPayment =
    isQuotedPayment(terms, connected.chain, transaction) &&
    (state.kind === "pending" ||
      state.receipt.status === "reverted" ||
      hasArrived(terms, connected.chain, state.receipt));
  if (!isPayment)
    throw new ServiceError("INVALID_REQUEST", "tx is not the payment that was quoted for this request", {
      field: "tx",
      requestId: terms.requestId,
    });
  if (state.kind === "mined" && state.receipt.status === "reverted")
    return { message: "Transaction reverted; the payment was not made" };
  const { hash: txHash, from: sender } = transaction;
  const send: SendRecord = {
    chainId: connected.chain.id,
    txHash,
    requestId: terms.requestId,
    sender,
    blockNumber: undefined,
    blockHash: undefined,
    reportedAtMs: services.clock.nowMs(),
  };
  const canonicalReceipt =
    state.kind === "mined" &&
    (await isCanonical(connected, await services.reads.trail(connected.chain.id), state.receipt))
      ? state.receipt
      : undefined;
  const outcome = await services.uow.run(async (tx) => {
    const assignment = await tx.sends.assignmentOf(send);
    if (assignment !== "free") return assignment;
    if (canonicalReceipt !== undefined) await countReport(services, tx, connected, send, canonicalReceipt);
    // A mined transaction is checked once; a pending one is followed, which costs node calls.
    else if (state.kind === "pending" && (await tx.sends.countTracked(send)) >= MAX_PENDING_OF_SENDER)
      return "tooMany";
    else await tx.sends.report(send);
    return assignment;
  });
  if (outcome === "tooMany")
    throw new ServiceError(
      "RATE_LIMITED",
      `tx: ${sender} already has ${MAX_PENDING_OF_SENDER} pending transactions reported; report this one again once it is mined`,
      { field: "tx", requestId: terms.requestId },
    );
  if (outcome === "assigned")
    throw new ServiceError(
      "INVALID_REQUEST",
      "tx is already recorded for another payment, or the request is already paid",
      { field: "tx", requestId: terms.requestId },
    );
  return { message: "Transaction recorded" };
}
