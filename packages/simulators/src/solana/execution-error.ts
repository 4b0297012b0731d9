import type { FailedTransactionMetadata } from "litesvm";

/** Error names by the virtual machine's numbers. */
const TRANSACTION_ERRORS: readonly string[] = [
  "AccountInUse",
  "AccountLoadedTwice",
  "AccountNotFound",
  "ProgramAccountNotFound",
  "InsufficientFundsForFee",
  "InvalidAccountForFee",
  "AlreadyProcessed",
  "BlockhashNotFound",
  "CallChainTooDeep",
  "MissingSignatureForFee",
  "InvalidAccountIndex",
  "SignatureFailure",
  "InvalidProgramForExecution",
  "SanitizeFailure",
];

const INSTRUCTION_ERRORS: readonly string[] = [
  "GenericError",
  "InvalidArgument",
  "InvalidInstructionData",
  "InvalidAccountData",
  "AccountDataTooSmall",
  "InsufficientFunds",
  "IncorrectProgramId",
  "MissingRequiredSignature",
  "AccountAlreadyInitialized",
  "UninitializedAccount",
  "UnbalancedInstruction",
  "ModifiedProgramId",
  "ExternalAccountLamportSpend",
  "ExternalAccountDataModified",
  "ReadonlyLamportChange",
  "ReadonlyDataModified",
  "DuplicateAccountIndex",
  "ExecutableModified",
  "RentEpochModified",
  "NotEnoughAccountKeys",
];

/** Why a transaction failed, in JSON-RPC format, e.g. `{"InstructionError":[0,{"Custom":1}]}`. */
export function executionError(failed: FailedTransactionMetadata): unknown {
  const error = failed.err();
  if (typeof error === "number") return TRANSACTION_ERRORS[error] ?? `TransactionError${error}`;
  if ("accountIndex" in error) return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  if (!("err" in error)) return { DuplicateInstruction: error.index };
  const inner = error.err();
  if (typeof inner === "number")
    return { InstructionError: [error.index, INSTRUCTION_ERRORS[inner] ?? `InstructionError${inner}`] };
  if ("code" in inner) return { InstructionError: [error.index, { Custom: inner.code }] };
  return { InstructionError: [error.index, { BorshIoError: inner.msg }] };
}
