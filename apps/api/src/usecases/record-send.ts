import type { TransactionState } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";
import { hasArrived, isQuotedPayment } from "./quoted-payment.ts";
import { trackSends } from "./track-sends.ts";
import type { TransitionServices } from "./transition.ts";

type Needs = Pick<Services, "uow" | "reads"> & TransitionServices;

/** How far a chain's clock may lie behind ours. A native payment carries no id: an old one of the same amount must not count for a new request. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Takes a transaction as the fulfilment of a `send` or a `swap`: only the very payment that was quoted counts, and each transaction for one request only. What happens to it on
 * chain is followed block by block like any deposit.
 * @throws ServiceError INVALID_REQUEST when it is another payment, or taken.
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
    return { message: "Transaction reverted, the payment was not made" };
  if (state.kind === "mined") {
    const block = await connected.connection.reader.block(state.receipt.blockNumber);
    const minedAtMs = Number(block?.timestamp ?? 0n) * 1000;
    if (minedAtMs + CLOCK_TOLERANCE_MS < terms.createdAtMs)
      throw new ServiceError("INVALID_REQUEST", "tx was mined before this request was quoted", {
        field: "tx",
        requestId: terms.requestId,
      });
  }
  const taken = await services.uow.run((tx) =>
    tx.sends.insert({
      chainId: connected.chain.id,
      txHash: transaction.hash,
      requestId: terms.requestId,
      blockNumber: undefined,
      blockHash: undefined,
      reportedAtMs: services.clock.nowMs(),
    }),
  );
  if (!taken)
    throw new ServiceError(
      "INVALID_REQUEST",
      "tx is recorded already for another payment, or this request has its payment",
      {
        field: "tx",
        requestId: terms.requestId,
      },
    );
  if (state.kind === "mined")
    await trackSends(services, connected, await services.reads.trail(connected.chain.id));
  return { message: "Transaction recorded" };
}
