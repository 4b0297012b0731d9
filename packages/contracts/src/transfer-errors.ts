/**
 * What a failed token or native movement, or approval, reverts with; raised in assembly, so no contract's own
 * ABI lists them.
 */
export const transferErrorsAbi = [
  { type: "error", name: "TransferFromFailed", inputs: [] },
  { type: "error", name: "TransferFailed", inputs: [] },
  { type: "error", name: "ETHTransferFailed", inputs: [] },
  { type: "error", name: "ApproveFailed", inputs: [] },
] as const;
