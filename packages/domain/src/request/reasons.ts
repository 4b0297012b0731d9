/** Why a request was not filled: `failReason` of the wire. */
export const failReasons = [
  "UNKNOWN",
  "SLIPPAGE",
  "AMOUNT_TOO_LOW_TO_REFUND",
  "DEPOSIT_ADDRESS_MISMATCH",
  "DEPOSIT_CHAIN_MISMATCH",
  "INCORRECT_DEPOSIT_CURRENCY",
  "DOUBLE_SPEND",
  "SOLVER_BALANCE_TOO_LOW",
  "SOLVER_CAPACITY_EXCEEDED",
  "SPONSOR_BALANCE_TOO_LOW",
  "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  "DEPOSITED_AMOUNT_MISMATCH",
  "DEPOSIT_UNATTESTABLE",
  "NEGATIVE_NEW_AMOUNT_AFTER_FEES",
  "EXECUTION_REVERTED",
  "TRANSACTION_REVERTED",
  "DESTINATION_TOKEN_TRANSFER_REJECTED",
  "QUOTED_GAS_LIMIT_EXCEEDED",
  "TTL_EXPIRED",
  "TRANSACTION_NOT_INCLUDED",
  "TRANSACTION_SUBMISSION_FAILED",
  "DEPOSIT_REORGED",
  "MANUAL_ADMIN_REFUND",
  "ORPHANED_DEPOSIT_REFUND",
  "NO_QUOTES",
] as const;
export type FailReason = (typeof failReasons)[number];

/** Why money was not sent back: `refundFailReason` of the wire. */
export const refundFailReasons = ["AMOUNT_TOO_LOW_TO_REFUND", "MANUAL_REFUND_REQUIRED"] as const;
export type RefundFailReason = (typeof refundFailReasons)[number];
