import type { BlockRef } from "@causeway/families/evm";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";
import {
  readAccounts,
  readSignatureStatus,
  wholeNumber,
  type AccountFact,
  type SignatureStatus,
} from "@causeway/families/solana";
import {
  judgeSendRefusal,
  readBlockRef,
  readComputePrices,
  readHeight,
  readLifetime,
  readValidity,
  type Lifetime,
} from "./answers.ts";

/** A payer's reads from a node, in addition to those of oracles. All reject with RpcFault. */
export interface SolanaReads {
  lifetime(): Promise<Lifetime>;
  /**
   * Whether the next block in this view can contain a transaction with this blockhash, in base58. False also
   * if the view does not reach the blockhash's own block yet.
   */
  isBlockhashValid(blockhash: string, view: "processed" | "finalized"): Promise<boolean>;
  /** The newest finalized slot and height. */
  finalHeight(): Promise<{ readonly slot: bigint; readonly height: bigint }>;
  /** The first slot that the node still has. */
  firstSlot(): Promise<bigint>;
  block(
    slot: bigint,
    view: "confirmed" | "finalized",
  ): Promise<Pick<BlockRef, "number" | "hash" | "timestamp">>;
  /** Including transactions that have long been final. */
  status(signature: string): Promise<SignatureStatus | undefined>;
  accounts(
    addresses: readonly string[],
    view: "confirmed" | "finalized",
  ): Promise<readonly (AccountFact | undefined)[]>;
  /**
   * Rent-exempt minimum in lamports of an account with this many bytes; cached for the process's lifetime.
   */
  minBalance(bytes: number): Promise<bigint>;
  /**
   * Price per compute unit that sufficed in three of four recent blocks for transactions that write to these
   * accounts, in millionths of a lamport.
   */
  computePrice(accounts: readonly string[]): Promise<bigint>;
  send(transaction: Uint8Array): Promise<"sent" | { readonly refused: string }>;
}

/** Maximum accounts per request. */
const MAX_ACCOUNTS = 100;

export function createReads(transport: RpcTransport): SolanaReads {
  const minBalances = new Map<number, bigint>();
  return {
    lifetime: async () =>
      readLifetime(await transport.request("getLatestBlockhash", [{ commitment: "confirmed" }])),
    isBlockhashValid: async (blockhash, view) => {
      const method = "isBlockhashValid";
      return readValidity(await transport.request(method, [blockhash, { commitment: view }]), method);
    },
    finalHeight: async () =>
      readHeight(await transport.request("getEpochInfo", [{ commitment: "finalized" }])),
    firstSlot: async () => {
      const method = "getFirstAvailableBlock";
      return wholeNumber(await transport.request(method, []), method, "response");
    },
    block: async (slot, view) =>
      readBlockRef(
        await transport.request("getBlock", [
          Number(slot),
          {
            commitment: view,
            transactionDetails: "none",
            rewards: false,
            maxSupportedTransactionVersion: 0,
          },
        ]),
        slot,
      ),
    status: async (signature) =>
      readSignatureStatus(
        await transport.request("getSignatureStatuses", [[signature], { searchTransactionHistory: true }]),
      ),
    accounts: async (addresses, view) => {
      const facts: (AccountFact | undefined)[] = [];
      for (let start = 0; start < addresses.length; start += MAX_ACCOUNTS) {
        const batch = addresses.slice(start, start + MAX_ACCOUNTS);
        const answer = await transport.request("getMultipleAccounts", [
          batch,
          { commitment: view, encoding: "base64" },
        ]);
        facts.push(...readAccounts(answer, batch.length).accounts);
      }
      return facts;
    },
    minBalance: async (bytes) => {
      const cached = minBalances.get(bytes);
      if (cached !== undefined) return cached;
      const method = "getMinimumBalanceForRentExemption";
      const lamports = wholeNumber(await transport.request(method, [bytes]), method, "response");
      minBalances.set(bytes, lamports);
      return lamports;
    },
    computePrice: async (accounts) => {
      const prices = readComputePrices(await transport.request("getRecentPrioritizationFees", [accounts]));
      return prices[Math.floor((prices.length * 3) / 4)] ?? 0n;
    },
    send: async (transaction) => {
      const bytes = Buffer.from(transaction).toString("base64");
      const config = { encoding: "base64", preflightCommitment: "confirmed" };
      try {
        await transport.request("sendTransaction", [bytes, config]);
        return "sent";
      } catch (error) {
        if (!(error instanceof NodeRefusal)) throw error;
        return judgeSendRefusal(error);
      }
    },
  };
}
