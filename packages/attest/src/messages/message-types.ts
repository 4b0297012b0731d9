import { orderTypes } from "@causeway/domain";

const inputEntry = [
  { name: "transactionId", type: "bytes" },
  { name: "onchainId", type: "bytes32" },
  { name: "inputIndex", type: "uint32" },
] as const;

const settlementResult = [
  { name: "orderId", type: "bytes32" },
  { name: "status", type: "uint8" },
  { name: "totalWeightedInputPaymentBpsDiff", type: "int256" },
] as const;

const message = [
  { name: "data", type: "Data" },
  { name: "result", type: "Result" },
] as const;

/**
 * EIP-712 types of the attested messages, in field order. Plain data, so that other implementations of struct
 * hashing can use it.
 */
export const messageTypes = {
  depositoryDeposit: {
    DepositoryDeposit: message,
    Data: [
      { name: "chainId", type: "string" },
      { name: "transactionId", type: "bytes" },
    ],
    Result: [
      { name: "onchainId", type: "bytes32" },
      { name: "depository", type: "bytes" },
      { name: "depositId", type: "bytes32" },
      { name: "depositor", type: "bytes" },
      { name: "currency", type: "bytes" },
      { name: "amount", type: "uint256" },
    ],
  },
  depositoryWithdrawal: {
    DepositoryWithdrawal: message,
    Data: [
      { name: "chainId", type: "string" },
      { name: "withdrawal", type: "bytes" },
    ],
    Result: [
      { name: "withdrawalId", type: "bytes32" },
      { name: "depository", type: "bytes" },
      { name: "status", type: "uint8" },
    ],
  },
  solverFill: {
    SolverFill: message,
    Data: [
      { name: "order", type: "Order" },
      { name: "orderSignature", type: "bytes" },
      { name: "inputs", type: "InputEntry[]" },
      { name: "fill", type: "FillEntry" },
    ],
    InputEntry: inputEntry,
    FillEntry: [{ name: "transactionId", type: "bytes" }],
    Result: settlementResult,
    ...orderTypes,
  },
  solverRefund: {
    SolverRefund: message,
    Data: [
      { name: "order", type: "Order" },
      { name: "orderSignature", type: "bytes" },
      { name: "inputs", type: "InputEntry[]" },
      { name: "refunds", type: "RefundEntry[]" },
    ],
    InputEntry: inputEntry,
    RefundEntry: [
      { name: "transactionId", type: "bytes" },
      { name: "inputIndex", type: "uint32" },
      { name: "refundIndex", type: "uint32" },
    ],
    Result: settlementResult,
    ...orderTypes,
  },
} as const;
