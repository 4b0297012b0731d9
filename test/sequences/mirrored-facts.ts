import {
  ERC20_DEPOSIT_TOPIC,
  NATIVE_DEPOSIT_TOPIC,
  TRANSFER_TOPIC,
  type LogFact,
  type ReceiptFact,
} from "@causeway/chains";
import type { Address, Hex } from "@causeway/domain";
import type { Transaction, TransactionReceipt } from "viem";
import { NATIVE, lower, type DepositMade, type Movement } from "./memory-evm.ts";
import type { ChainTransaction } from "./sequence-chain.ts";

/**
 * A real node's transaction, as plain facts. Independent of the service's own readers, whose errors it must
 * not share.
 */

export function transactionOf(read: Transaction): ChainTransaction {
  const { to, maxFeePerGas, maxPriorityFeePerGas } = read;
  if (to === null || maxFeePerGas === undefined || maxPriorityFeePerGas === undefined)
    throw new Error(`invariant violated: ${read.hash} is not an EIP-1559 call`);
  return {
    hash: read.hash,
    from: lower(read.from),
    to: lower(to),
    input: read.input,
    value: read.value,
    nonce: read.nonce,
    gas: read.gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
  };
}

export function receiptOf(read: TransactionReceipt): ReceiptFact {
  return {
    txHash: read.transactionHash,
    status: read.status,
    blockNumber: read.blockNumber,
    blockHash: read.blockHash,
    gasUsed: read.gasUsed,
    effectiveGasPrice: read.effectiveGasPrice,
    logs: read.logs.map((log): LogFact => ({
      address: lower(log.address),
      topics: log.topics,
      data: log.data,
      logIndex: log.logIndex,
      blockNumber: read.blockNumber,
      blockHash: read.blockHash,
      txHash: read.transactionHash,
    })),
  };
}

const wordAt = (data: Hex, index: number): Hex => `0x${data.slice(2 + 64 * index, 66 + 64 * index)}`;
const addressAt = (data: Hex, index: number): Address => lower(`0x${wordAt(data, index).slice(26)}`);

export function tokenMovements(logs: readonly LogFact[]): Movement[] {
  return logs
    .filter(({ topics, data }) => topics[0] === TRANSFER_TOPIC && topics.length === 3 && data.length === 66)
    .map(({ address, topics, data }) => ({
      currency: address,
      from: addressAt(topics[1] ?? "0x", 0),
      to: addressAt(topics[2] ?? "0x", 0),
      amount: BigInt(data),
    }))
    .filter(({ amount }) => amount > 0n);
}

export function depositsMade(depository: Address, logs: readonly LogFact[]): DepositMade[] {
  return logs
    .filter(({ address }) => address === depository)
    .flatMap(({ topics: [topic], data }) => {
      const depositor = addressAt(data, 0);
      if (topic === NATIVE_DEPOSIT_TOPIC)
        return [{ id: wordAt(data, 2), depositor, currency: NATIVE, amount: BigInt(wordAt(data, 1)) }];
      if (topic === ERC20_DEPOSIT_TOPIC)
        return [
          {
            id: wordAt(data, 3),
            depositor,
            currency: addressAt(data, 1),
            amount: BigInt(wordAt(data, 2)),
          },
        ];
      return [];
    });
}

/** Native tokens that moved within a call that `callTracer` described. */
export function nativeMovements(frame: unknown): Movement[] {
  if (!isFrame(frame)) throw new Error("invariant violated: callTracer did not return a call");
  if (frame.error !== undefined) return [];
  const { type, from, to, value = "0x0", calls = [] } = frame;
  const amount = BigInt(value);
  const ownMovements =
    amount > 0n && to !== undefined && !["DELEGATECALL", "CALLCODE"].includes(type)
      ? [{ currency: NATIVE, from: lower(from), to: lower(to), amount }]
      : [];
  return [...ownMovements, ...calls.flatMap(nativeMovements)];
}

interface TracedFrame {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly unknown[];
}

function isFrame(value: unknown): value is TracedFrame {
  return typeof value === "object" && value !== null && "type" in value && "from" in value;
}
