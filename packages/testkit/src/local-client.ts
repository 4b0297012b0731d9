import { setTimeout as sleep } from "node:timers/promises";
import {
  createTestClient,
  defineChain,
  http,
  keccak256,
  publicActions,
  TransactionReceiptNotFoundError,
  walletActions,
  type Chain,
  type Client,
  type Hex,
  type PrivateKeyAccount,
  type PublicActions,
  type TestActions,
  type TransactionReceipt,
  type Transport,
  type WalletActions,
} from "viem";
import { ANSWER_WITHIN_MS, PATIENCE_MS } from "./patience.ts";

/** Address of a local node. */
export interface NodeAddress {
  readonly url: string;
  readonly chainId: number;
  /**
   * Key of a funded account on a node that the caller does not control. Absent: blocks are mined and balances
   * set as needed.
   */
  readonly fundingKey?: Hex | undefined;
}

/** viem's description of a local chain. */
export function describeChain(node: NodeAddress): Chain {
  return defineChain({
    id: node.chainId,
    name: `local ${node.chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.url] } },
  });
}

/** Reads, writes and controls a local node. */
export type LocalClient = Client<
  Transport,
  Chain,
  undefined,
  undefined,
  TestActions &
    PublicActions<Transport, Chain> &
    WalletActions<Chain> & { readonly fundingKey: NodeAddress["fundingKey"] }
>;

/** Calls made in one tick are sent as one batch, except to an external node, which may refuse batches. */
export function createLocalClient(node: NodeAddress): LocalClient {
  return createTestClient({
    mode: "anvil",
    chain: describeChain(node),
    transport: http(node.url, {
      batch: node.fundingKey === undefined ? { batchSize: 500 } : false,
      timeout: ANSWER_WITHIN_MS,
    }),
    pollingInterval: 50,
    // A read of the newest block right after mining one must return that one.
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend(() => ({ fundingKey: node.fundingKey }));
}

/** One transaction of a pipelined series. */
export interface PipelinedCall {
  readonly to?: Hex;
  readonly data: Hex;
  readonly value?: bigint;
  /** Name of the call in error messages. */
  readonly label: string;
}

/** A required transaction of the local system failed. */
export class LocalTransactionFailed extends Error {
  override readonly name = "LocalTransactionFailed";
  readonly code = "LOCAL_TRANSACTION_FAILED";
}

/**
 * Signs all calls with consecutive nonces, sends them in that order and mines them immediately, regardless of
 * the block time. They are sent one by one, because the node's pool sometimes drops one of many that arrive
 * together. On an external node, waits until the node includes them.
 *
 * @throws LocalTransactionFailed if one of them reverts or is never included
 */
export async function sendPipelined(
  client: LocalClient,
  from: PrivateKeyAccount,
  calls: readonly PipelinedCall[],
  gasPerCall: bigint,
): Promise<TransactionReceipt[]> {
  const firstNonce = await client.getTransactionCount({ address: from.address, blockTag: "pending" });
  const signed = await Promise.all(
    calls.map(async (call, index) =>
      from.signTransaction({
        type: "eip1559",
        chainId: client.chain.id,
        nonce: firstNonce + index,
        gas: gasPerCall,
        maxFeePerGas: 20_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        data: call.data,
        value: call.value ?? 0n,
        ...(call.to === undefined ? {} : { to: call.to }),
      }),
    ),
  );
  if (client.fundingKey !== undefined) {
    const labeled = calls.map(({ label }, index) => ({ label, bytes: signed[index] ?? "0x" }));
    return await sendAndWait(client, labeled);
  }
  for (const serializedTransaction of signed) await client.sendRawTransaction({ serializedTransaction });
  const receipts = await mineAll(client, signed);
  const failed = calls.find((_, index) => receipts[index]?.status !== "success");
  if (failed !== undefined)
    throw new LocalTransactionFailed(`${failed.label} reverted on chain ${client.chain.id}`);
  return receipts;
}

/** Number of transactions that geth's pool guarantees to keep per account. */
const MAX_PENDING = 16;

/**
 * Sends signed transactions to an external node, a few at a time, and waits for their receipts.
 *
 * @throws LocalTransactionFailed if one is refused, reverts or is not included in time
 */
export async function sendAndWait(
  client: LocalClient,
  transactions: readonly { readonly label: string; readonly bytes: Hex }[],
): Promise<TransactionReceipt[]> {
  const receipts: TransactionReceipt[] = [];
  for (let at = 0; at < transactions.length; at += MAX_PENDING) {
    const batch = transactions.slice(at, at + MAX_PENDING);
    for (const { label, bytes } of batch)
      await client.sendRawTransaction({ serializedTransaction: bytes }).catch((error: unknown) => {
        throw new LocalTransactionFailed(`${label}: the node of chain ${client.chain.id} refused it`, {
          cause: error,
        });
      });
    for (const { label, bytes } of batch) receipts.push(await receiptOf(client, label, keccak256(bytes)));
  }
  return receipts;
}

async function receiptOf(client: LocalClient, label: string, hash: Hex): Promise<TransactionReceipt> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs;) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(undefinedIfMissing);
    if (receipt?.status === "success") return receipt;
    if (receipt !== undefined)
      throw new LocalTransactionFailed(`${label} reverted on chain ${client.chain.id}`);
    await sleep(50);
  }
  throw new LocalTransactionFailed(
    `${label} was not mined on chain ${client.chain.id} within ${PATIENCE_MS / 1_000} s`,
  );
}

/**
 * From this round on, missing transactions are removed from the pool and sent again: one that arrived while
 * its predecessor was being mined may wait in the pool for that predecessor forever.
 */
const ROUNDS_BEFORE_RESENDING = 3;

/** Mines until every transaction has a receipt, since the gas limit may spread them over several blocks. */
async function mineAll(client: LocalClient, signed: readonly Hex[]): Promise<TransactionReceipt[]> {
  const hashes = signed.map((bytes) => keccak256(bytes));
  let refusal: unknown;
  for (let round = 0; round < hashes.length + 5; round++) {
    await client.mine({ blocks: 1 });
    const results = await Promise.all(
      hashes.map(async (hash) => await client.getTransactionReceipt({ hash }).catch(undefinedIfMissing)),
    );
    const receipts = results.filter((receipt) => receipt !== undefined);
    if (receipts.length === hashes.length) return receipts;
    if (round < ROUNDS_BEFORE_RESENDING) continue;
    for (const [at, serializedTransaction] of signed.entries()) {
      const hash = hashes[at];
      if (results[at] !== undefined || hash === undefined) continue;
      await client.dropTransaction({ hash });
      // Refused if it was mined in the meantime, which is fine.
      await client.sendRawTransaction({ serializedTransaction }).catch((error: unknown) => (refusal = error));
    }
  }
  const pool = await client.getTxpoolStatus();
  throw new LocalTransactionFailed(
    `chain ${client.chain.id} does not mine transactions; its pool has ${pool.pending} pending and ${pool.queued} queued`,
    { cause: refusal },
  );
}

/** Only a missing receipt means "not yet"; a node that does not respond is an error. */
function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof TransactionReceiptNotFoundError) return undefined;
  throw error;
}
