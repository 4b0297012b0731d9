import { isWatchedOnly, ServiceError } from "@causeway/domain";
import type { RequestId, TxHash } from "@causeway/domain";
import { chainOf, indexTransaction } from "./index-transaction.ts";
import { unseenTransaction } from "./unseen-transaction.ts";
import { recordSend } from "./record-send.ts";
import { requestNotFound } from "../http/refusals.ts";

/**
 * Records the reported transaction of a same-chain step. For a `send` or a `swap` it is the whole
 * fulfillment; for any other request it is indexed like a deposit.
 * @throws ServiceError REQUEST_NOT_FOUND, UNSUPPORTED_CHAIN, INVALID_REQUEST, TRANSACTION_NOT_FOUND; RpcFault
 */
export async function recordSingleTransaction(
  services: Parameters<typeof indexTransaction>[0],
  report: { readonly chainId: number; readonly txHash: TxHash; readonly requestId: RequestId },
): Promise<{ message: string }> {
  const record = await services.reads.request(report.requestId);
  if (record === undefined) throw requestNotFound(report.requestId);
  if (!isWatchedOnly(record.terms.kind)) return indexTransaction(services, report);
  const connected = chainOf(services, report.chainId);
  if (connected.chain.id !== record.terms.origin.chainId)
    throw new ServiceError(
      "INVALID_REQUEST",
      `chainId must be ${record.terms.origin.chainId}, the chain of the request, got ${report.chainId}`,
      {
        field: "chainId",
        requestId: report.requestId,
      },
    );
  const state = await connected.connection.reader.transaction(report.txHash);
  if (state.kind === "absent") throw unseenTransaction(report.txHash);
  const uow = services.requestUow ?? services.uow;
  return recordSend({ ...services, uow }, connected, record.terms, state);
}
