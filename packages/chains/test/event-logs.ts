import { encodeAbiParameters } from "viem";
import type { Address, Hex } from "@causeway/domain";
import {
  addressTopic,
  ERC20_DEPOSIT_TOPIC,
  NATIVE_DEPOSIT_TOPIC,
  SOLVER_CALL_EXECUTED_TOPIC,
  SOLVER_NATIVE_TRANSFER_TOPIC,
  TRANSFER_TOPIC,
  type LogFact,
  type ReceiptFact,
  type TransactionFact,
} from "@causeway/families/evm";

/** Handwritten facts, for pure judges. */

export const depository: Address = `0x${"d0".repeat(20)}`;
export const usdc: Address = `0x${"c1".repeat(20)}`;
export const dai: Address = `0x${"c2".repeat(20)}`;
export const alice: Address = `0x${"a1".repeat(20)}`;
export const bob: Address = `0x${"b0".repeat(20)}`;
export const solver: Address = `0x${"50".repeat(20)}`;
export const orderId: Hex = `0x${"1d".repeat(32)}`;
export const txHash: Hex = `0x${"77".repeat(32)}`;
export const blockHash: Hex = `0x${"bb".repeat(32)}`;

/** The content of an event, before it has a position in a block. */
export type EmittedLog = Pick<LogFact, "address" | "topics" | "data">;

export function transfer(token: Address, from: Address, to: Address, amount: bigint): EmittedLog {
  const data = encodeAbiParameters([{ type: "uint256" }], [amount]);
  return { address: token, topics: [TRANSFER_TOPIC, addressTopic(from), addressTopic(to)], data };
}

export function nativeDeposit(from: Address, amount: bigint, id: Hex, emitter = depository): EmittedLog {
  const types = [{ type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  return {
    address: emitter,
    topics: [NATIVE_DEPOSIT_TOPIC],
    data: encodeAbiParameters(types, [from, amount, id]),
  };
}

export function erc20Deposit(
  from: Address,
  token: Address,
  amount: bigint,
  id: Hex,
  emitter = depository,
): EmittedLog {
  const types = [{ type: "address" }, { type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  const data = encodeAbiParameters(types, [from, token, amount, id]);
  return { address: emitter, topics: [ERC20_DEPOSIT_TOPIC], data };
}

export function solverNativeTransfer(emitter: Address, to: Address, amount: bigint): EmittedLog {
  const data = encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [to, amount]);
  return { address: emitter, topics: [SOLVER_NATIVE_TRANSFER_TOPIC], data };
}

export function solverCallExecuted(emitter: Address, to: Address, data: Hex, value: bigint): EmittedLog {
  const types = [{ type: "address" }, { type: "bytes" }, { type: "uint256" }] as const;
  return {
    address: emitter,
    topics: [SOLVER_CALL_EXECUTED_TOPIC],
    data: encodeAbiParameters(types, [to, data, value]),
  };
}

/** Logs of one transaction in block 100, the first with index 40. */
export function logsOf(...emitted: readonly EmittedLog[]): LogFact[] {
  return emitted.map((emittedLog, index) => ({
    ...emittedLog,
    logIndex: 40 + index,
    blockNumber: 100n,
    blockHash,
    txHash,
  }));
}

export function receiptOf(...emitted: readonly EmittedLog[]): ReceiptFact {
  return {
    txHash,
    status: "success",
    blockNumber: 100n,
    blockHash,
    gasUsed: 21_000n,
    effectiveGasPrice: 1n,
    logs: logsOf(...emitted),
  };
}

export function aTransaction(fields: Partial<TransactionFact> = {}): TransactionFact {
  return { hash: txHash, from: solver, to: usdc, input: "0x", value: 0n, nonce: 0, ...fields };
}
