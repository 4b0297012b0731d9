import type { Address } from "@causeway/domain";
import { createRestClient } from "../nodes/rest-client.ts";
import type { ObserveCall } from "../nodes/rpc-call.ts";
import { RpcFault } from "@causeway/families";
import {
  readContract,
  readLoggedTransfers,
  readTransaction,
  type LighterTransaction,
  type LoggedTransfer,
} from "@causeway/families/lighter";

export interface LighterRpcOptions {
  /** URL of Lighter's API; may contain credentials. */
  readonly url: string;
  /** URL of the explorer's API; undefined: no history can be read. */
  readonly explorerUrl: string | undefined;
  /** Lighter's contract on Ethereum, which identifies the network; undefined: not checked. */
  readonly contract?: Address | undefined;
  readonly onCall?: ObserveCall;
  /** Timeout of each request, ms. Default: 10,000. */
  readonly deadlineMs?: number | undefined;
  /** Maximum cached settled transactions. Default: 2000. */
  readonly maxCachedTransactions?: number;
}

/** Validated but not judged answers of one Lighter endpoint. */
export interface LighterRpc {
  /** A transaction; undefined if unknown. @param hash 80 lowercase hex digits @throws RpcFault */
  transaction(hash: string): Promise<LighterTransaction | undefined>;
  readonly hasHistory: boolean;
  /**
   * A page of an account's transfers, newest first.
   *
   * @param page from 0
   * @throws RpcFault; RangeError without an explorer
   */
  transfersOf(account: string, page: number): Promise<HistoryPage>;
  close(): Promise<void>;
}

export interface HistoryPage {
  readonly entries: readonly LoggedTransfer[];
  /** Whether there are no older transfers. */
  readonly isLast: boolean;
}

/** Maximum lines per page of the explorer. */
const PAGE_LINES = 100;

/** Connects at the first request. */
export function createLighterRpc(options: LighterRpcOptions): LighterRpc {
  const { explorerUrl, maxCachedTransactions = 2_000 } = options;
  const common = {
    ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
    ...(options.onCall !== undefined && { onCall: options.onCall }),
  };
  const api = createRestClient({ ...common, url: options.url });
  const explorer = explorerUrl === undefined ? undefined : createRestClient({ ...common, url: explorerUrl });
  // Settled transactions never change; a Map keeps insertion order.
  const settledTransactions = new Map<string, LighterTransaction>();

  let networkCheck: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    if (options.contract === undefined) return;
    const answer = await api.get("info", "/info");
    if (readContract(answer.status, answer.text) === options.contract) return;
    const reason = "the endpoint serves a different Lighter network";
    throw new RpcFault({ kind: "wrongChain", method: "info", reason });
  };
  /** Checks the network once, and again after a failure. */
  const checkNetwork = async (): Promise<void> => {
    networkCheck ??= check();
    try {
      await networkCheck;
    } catch (error) {
      networkCheck = undefined;
      throw error;
    }
  };

  return {
    hasHistory: explorer !== undefined,
    transaction: async (hash) => {
      const cached = settledTransactions.get(hash);
      if (cached !== undefined) return cached;
      await checkNetwork();
      const answer = await api.get("tx", `/api/v1/tx?by=hash&value=${hash}`);
      const transaction = readTransaction(hash, answer.status, answer.text);
      if (transaction?.state === "final") {
        settledTransactions.set(hash, transaction);
        const [oldest] = settledTransactions.keys();
        if (settledTransactions.size > maxCachedTransactions && oldest !== undefined)
          settledTransactions.delete(oldest);
      }
      return transaction;
    },
    transfersOf: async (account, page) => {
      if (explorer === undefined) throw new RangeError("additionalData.explorerApiUrl is not configured");
      const kinds = "pub_data_type=L2Transfer&pub_data_type=L2TransferV2";
      const answer = await explorer.get(
        "accountLogs",
        `/accounts/${account}/logs?${kinds}&limit=${PAGE_LINES}&offset=${page * PAGE_LINES}`,
      );
      const entries = readLoggedTransfers(answer.status, answer.text);
      return { entries, isLast: entries.length < PAGE_LINES };
    },
    close: async () => {
      await Promise.all([api.close(), explorer?.close()]);
    },
  };
}
