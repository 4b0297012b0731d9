import { setTimeout as sleep } from "node:timers/promises";
import type { LocalClient } from "@causeway/testkit";
import {
  TransactionReceiptNotFoundError,
  type Hex,
  type PrivateKeyAccount,
  type TransactionReceipt,
} from "viem";

/** A transaction of a user whose signed bytes are kept, so that it can be rebroadcast. */
export interface KeptTransaction {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly from: Hex;
  readonly nonce: number;
  /** Undefined until it is mined, and after a reorg removed its block. */
  receipt: TransactionReceipt | undefined;
  /** When this process first saw it mined, in ms since the epoch. */
  firstMinedAtMs: number | undefined;
  sentAtBlock: bigint;
}

export interface UserCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The transactions that the users of a chain have sent, and their current state. */
export interface KeptTransactions {
  readonly all: readonly KeptTransaction[];
  /** Signs with the account's next nonce and sends. */
  send(account: PrivateKeyAccount, call: UserCall): Promise<KeptTransaction>;
  /** Resolves with the receipt once the transaction is mined. @throws if the signal aborts first */
  untilMined(transaction: KeptTransaction, signal: AbortSignal): Promise<TransactionReceipt>;
  /** The number of rebroadcast transactions. */
  readonly resent: number;
  close(): Promise<void>;
}

/** Deeper than any reorg of a run: a receipt with this many blocks above it is not read again. */
const SETTLED_DEPTH = 10n;
const POLL_INTERVAL_MS = 50;

/**
 * Follows the users' transactions on one chain, with one query for all of them per block.
 * @param resendLost whether transactions that a reorg dropped are rebroadcast, as the mempools of a real
 * network would do
 */
export function keepTransactions(client: LocalClient, resendLost: boolean): KeptTransactions {
  const all: KeptTransaction[] = [];
  const settled = new Set<KeptTransaction>();
  const nonces = new Map<string, number>();
  const closing = new AbortController();
  const waiters = new Map<KeptTransaction, (() => void)[]>();
  let resent = 0;
  let head = { number: 0n, hash: "" };

  const refresh = async (): Promise<void> => {
    const block = await client.getBlock();
    if (block.hash === head.hash) return;
    const watched = all.filter((transaction) => !settled.has(transaction));
    const receipts = await Promise.all(
      watched.map(async ({ hash }) => await client.getTransactionReceipt({ hash }).catch(missing)),
    );
    watched.forEach((transaction, index) => {
      const receipt = receipts[index];
      transaction.receipt = receipt;
      if (receipt === undefined) return;
      // Uses this answer: after a slow round, a reorg may have dropped what an older answer showed.
      if (receipt.blockNumber + SETTLED_DEPTH <= block.number) settled.add(transaction);
      transaction.firstMinedAtMs ??= Date.now();
      waiters.get(transaction)?.forEach((wake) => wake());
      waiters.delete(transaction);
    });
    if (resendLost) await resend(watched, block.number);
    head = { number: block.number, hash: block.hash };
  };

  const resend = async (watched: readonly KeptTransaction[], atBlock: bigint): Promise<void> => {
    const lost = watched
      .filter(({ receipt, sentAtBlock }) => receipt === undefined && sentAtBlock < atBlock)
      .toSorted((a, b) => a.nonce - b.nonce);
    // One after another: the node accepts a nonce that arrives before its predecessor, but drops it when it
    // mines.
    for (const transaction of lost) {
      const isAccepted = await client.sendRawTransaction({ serializedTransaction: transaction.raw }).then(
        () => true,
        () => false,
      );
      if (isAccepted) resent++;
      transaction.sentAtBlock = atBlock;
    }
  };

  const loop = (async () => {
    while (!closing.signal.aborted) {
      await refresh().catch(() => undefined);
      await sleep(POLL_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  })();

  return {
    all,
    get resent() {
      return resent;
    },
    send: async (account, call) => {
      const nonce = nonces.get(account.address) ?? 0;
      nonces.set(account.address, nonce + 1);
      const raw = await account.signTransaction({
        type: "eip1559",
        chainId: client.chain.id,
        nonce,
        ...call,
      });
      const hash = await client.sendRawTransaction({ serializedTransaction: raw });
      const sent: KeptTransaction = {
        hash,
        raw,
        from: account.address,
        nonce,
        receipt: undefined,
        firstMinedAtMs: undefined,
        sentAtBlock: head.number,
      };
      all.push(sent);
      return sent;
    },
    untilMined: async (transaction, signal) => {
      while (transaction.receipt === undefined) {
        signal.throwIfAborted();
        await new Promise<void>((resolve, reject) => {
          const list = waiters.get(transaction) ?? [];
          waiters.set(transaction, [...list, resolve]);
          signal.addEventListener("abort", () => reject(new Error(`${transaction.hash} is not mined`)), {
            once: true,
          });
        });
      }
      return transaction.receipt;
    },
    close: async () => {
      closing.abort();
      await loop;
    },
  };
}

/** viem throws when there is no receipt. @throws any other error, which ends the round */
function missing(error: unknown): undefined {
  if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
}
