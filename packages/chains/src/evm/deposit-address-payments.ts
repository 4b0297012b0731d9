import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import {
  addressOfTopic,
  addressTopic,
  readBlock,
  readBlockTransactions,
  readReceipt,
  toQuantity,
  TRANSFER_TOPIC,
  splitWords,
} from "@causeway/families/evm";
import { fetchRangeLogs, type LogNode } from "./range-logs.ts";
import { inconsistent } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

interface Blocks {
  readonly from: bigint;
  readonly to: bigint;
}

/** A payment to an account. */
export interface PaymentIn {
  /** The sender of a token; for the native token, the account that signed the transaction. */
  readonly from: Address;
  readonly amount: bigint;
}

/** Maximum number of whole blocks read for native transfers, since blocks can be large. */
const MAX_NATIVE_BLOCKS = 16n;

/**
 * Payments of one currency to an account in the blocks from…to, oldest first: Transfers of the token, or
 * plain transactions with a value. Native tokens sent by a contract are not found: callers must compare the
 * sum with the balance.
 * @returns undefined for native tokens in more blocks than are read
 * @throws RpcFault
 */
export async function readPaymentsTo(
  transport: RpcTransport,
  { account, currency }: { readonly account: Address; readonly currency: Address },
  { from, to }: Blocks,
  logNode?: LogNode,
): Promise<PaymentIn[] | undefined> {
  if (currency !== NATIVE_CURRENCY)
    return await tokenPayments(transport, { account, token: currency }, { from, to }, logNode);
  if (to - from >= MAX_NATIVE_BLOCKS) return undefined;
  const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
  const payments = await Promise.all(numbers.map((number) => nativePayments(transport, account, number)));
  return payments.flat();
}

async function tokenPayments(
  transport: RpcTransport,
  { account, token }: { readonly account: Address; readonly token: Address },
  { from, to }: Blocks,
  logNode: LogNode | undefined,
): Promise<PaymentIn[]> {
  const topic = addressTopic(account);
  const filter = { address: token, topics: [TRANSFER_TOPIC, null, topic] };
  const { logs } = await fetchRangeLogs(
    transport,
    {
      filters: [filter],
      accepts: (log) =>
        log.address === token &&
        log.topics[0] === TRANSFER_TOPIC &&
        log.topics[2] === topic &&
        log.topics.length === 3,
    },
    { from, to, hashes: new Map([[to, await hashAt(transport, to)]]) },
    logNode,
  );
  return logs.flatMap((log) => {
    const sender = addressOfTopic(log.topics[1]);
    const amount = splitWords(log.data)?.[0];
    return sender === undefined || amount === undefined || amount === 0n ? [] : [{ from: sender, amount }];
  });
}

async function nativePayments(
  transport: RpcTransport,
  account: Address,
  number: bigint,
): Promise<PaymentIn[]> {
  const hash = await hashAt(transport, number);
  const answer = await transport.request("eth_getBlockByHash", [hash, true]);
  const transfers = readBlockTransactions(answer, hash, (to) => to === account).filter(
    ({ value }) => value > 0n,
  );
  const method = "eth_getTransactionReceipt";
  const mined = await Promise.all(
    transfers.map(async (transaction) => ({
      transaction,
      receipt: readReceipt(await transport.request(method, [transaction.hash]), transaction.hash),
    })),
  );
  return mined.flatMap(({ transaction, receipt }) => {
    if (receipt?.blockHash !== hash) throw inconsistent(method, "transaction was reorged out of its block");
    return receipt.status === "success" ? [{ from: transaction.from, amount: transaction.value }] : [];
  });
}

async function hashAt(transport: RpcTransport, number: bigint): Promise<Hex> {
  const method = "eth_getBlockByNumber";
  const block = readBlock(await transport.request(method, [toQuantity(number), false]), method);
  if (block?.number !== number) throw inconsistent(method, `block ${number} is missing`);
  return block.hash;
}
