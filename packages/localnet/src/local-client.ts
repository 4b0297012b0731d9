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

/** Where a local node answers. */
export interface NodeAddress {
  readonly url: string;
  readonly chainId: number;
}

/** viem's description of a chain that only this machine has. */
export function describeChain(node: NodeAddress): Chain {
  return defineChain({
    id: node.chainId,
    name: `local ${node.chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.url] } },
  });
}

/** Reads, writes and steers a local node. */
export type LocalClient = Client<
  Transport,
  Chain,
  undefined,
  undefined,
  TestActions & PublicActions<Transport, Chain> & WalletActions<Chain>
>;

/** Calls made in one tick travel as one request. */
export function createLocalClient(node: NodeAddress): LocalClient {
  return createTestClient({
    mode: "anvil",
    chain: describeChain(node),
    transport: http(node.url, { batch: { batchSize: 500 }, timeout: 20_000 }),
    pollingInterval: 50,
  })
    .extend(publicActions)
    .extend(walletActions);
}

/** One transaction of a pipelined series. */
export interface PipelinedCall {
  readonly to?: Hex;
  readonly data: Hex;
  readonly value?: bigint;
  /** What the call is, for the error message. */
  readonly label: string;
}

/** A transaction that the local system needs did not do what it should. */
export class LocalTransactionFailed extends Error {
  override readonly name = "LocalTransactionFailed";
  readonly code = "LOCAL_TRANSACTION_FAILED";
}

/**
 * Signs all calls with consecutive nonces, hands them over in that order and mines them at once, whatever the block
 * time. One after the other: of many that arrive together the node's pool forgets one now and then.
 *
 * @throws LocalTransactionFailed when one of them reverts or is never included.
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
  for (const serializedTransaction of signed) await client.sendRawTransaction({ serializedTransaction });
  const receipts = await mineAll(client, signed);
  const failed = calls.find((_, index) => receipts[index]?.status !== "success");
  if (failed !== undefined)
    throw new LocalTransactionFailed(`${failed.label} on chain ${client.chain.id} reverted`);
  return receipts;
}

/**
 * From this round on what is missing is taken out of the pool and handed over again: a transaction that came while the
 * one before it was mined may wait in the pool for a predecessor that the pool no longer knows.
 */
const ROUNDS_BEFORE_RESENDING = 3;

/** Mines until every transaction has a receipt; a block holds only as much as its gas limit. */
async function mineAll(client: LocalClient, signed: readonly Hex[]): Promise<TransactionReceipt[]> {
  const hashes = signed.map((bytes) => keccak256(bytes));
  let refusal: unknown;
  for (let round = 0; round < hashes.length + 5; round++) {
    await client.mine({ blocks: 1 });
    const found = await Promise.all(
      hashes.map(async (hash) => await client.getTransactionReceipt({ hash }).catch(notYet)),
    );
    const receipts = found.filter((receipt) => receipt !== undefined);
    if (receipts.length === hashes.length) return receipts;
    if (round < ROUNDS_BEFORE_RESENDING) continue;
    for (const [at, serializedTransaction] of signed.entries()) {
      const hash = hashes[at];
      if (found[at] !== undefined || hash === undefined) continue;
      await client.dropTransaction({ hash });
      // Mined meanwhile: refused, and that is fine.
      await client.sendRawTransaction({ serializedTransaction }).catch((error: unknown) => (refusal = error));
    }
  }
  const pool = await client.getTxpoolStatus();
  throw new LocalTransactionFailed(
    `chain ${client.chain.id} does not include what was sent to it; its pool holds ${pool.pending} pending and ${pool.queued} queued`,
    { cause: refusal },
  );
}

/** Only the lack of a receipt is an answer; a node that does not answer is a fault of its own. */
function notYet(error: unknown): undefined {
  if (error instanceof TransactionReceiptNotFoundError) return undefined;
  throw error;
}
