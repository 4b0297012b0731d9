/**
 * Errors of failed transfers and approvals. They are raised in assembly, so the contracts' own ABIs do not
 * list them.
 */
export const transferErrorsAbi = [
  { type: "error", name: "TransferFromFailed", inputs: [] },
  { type: "error", name: "TransferFailed", inputs: [] },
  { type: "error", name: "ETHTransferFailed", inputs: [] },
  { type: "error", name: "ApproveFailed", inputs: [] },
] as const;
