import { ServiceError } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";

/** The error for a transaction that no node knows yet. */
export function unseenTransaction(txHash: TxHash): ServiceError {
  return new ServiceError(
    "TRANSACTION_NOT_FOUND",
    `Transaction ${txHash} is not known to the chain yet; try again`,
    {
      field: "txHash",
    },
  );
}
