import { ServiceError } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";

/** No node has heard of a transaction so far. */
export function unseenTransaction(txHash: TxHash): ServiceError {
  return new ServiceError(
    "TRANSACTION_NOT_FOUND",
    `Transaction ${txHash} is not known to the chain yet; try again`,
    {
      field: "txHash",
    },
  );
}
