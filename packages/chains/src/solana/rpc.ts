import { getPublicKeyFromAddress, signatureBytes, verifySignature, type Address } from "@solana/kit";
import { garbage, type Evidence } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";
import {
  readAccounts,
  readSignatureList,
  readSignatureStatus,
  readTransaction,
  RETRY_AFTER_SECONDS,
  retryAfterSeconds,
  wholeNumber,
  type AccountFact,
  type SignatureEntry,
  type ReportedTransaction,
  type TransactionFacts,
} from "@causeway/families/solana";

const FINALIZED = { commitment: "finalized" } as const;

/** Accounts of one final state. */
export interface FinalState {
  readonly slot: bigint;
  readonly accounts: readonly (AccountFact | undefined)[];
}

/** Reads from one node, all at commitment finalized. All reject with RpcFault. */
export interface SolanaRpc {
  /** A transaction in a final block, successful or not. */
  transaction(signature: string): Promise<Evidence<TransactionFacts>>;
  /** All at one slot, which is at least `fromSlot`. At most 100. */
  accounts(addresses: readonly string[], fromSlot?: bigint): Promise<FinalState>;
  finalSlot(): Promise<bigint>;
  /** Transactions that name an account, newest first, and older than `before`; at most 1 000. */
  signaturesOf(
    account: string,
    page: { readonly before?: string; readonly limit: number; readonly minContextSlot?: number },
  ): Promise<readonly SignatureEntry[]>;
  close(): Promise<void>;
}

/** @param transport checks the cluster */
export function createSolanaRpc(transport: RpcTransport): SolanaRpc {
  const request = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    await transport.request(method, params);
  const finalSlot = async (): Promise<bigint> =>
    wholeNumber(await request("getSlot", [FINALIZED]), "getSlot", "response");

  const timeOf = async ({ slot, blockTime }: ReportedTransaction): Promise<bigint> => {
    if (blockTime !== undefined) return blockTime;
    return wholeNumber(await request("getBlockTime", [Number(slot)]), "getBlockTime", "response");
  };

  return {
    transaction: async (signature): Promise<Evidence<TransactionFacts>> => {
      const config = { ...FINALIZED, encoding: "base64", maxSupportedTransactionVersion: 0 };
      const [final, answer] = await Promise.all([
        finalSlot(),
        request("getTransaction", [signature, config]),
      ]);
      const transaction = readTransaction(answer, signature);
      if (transaction === undefined) return await explainMissing(signature, final);
      // The id is the payer's signature of the message, which proves the message.
      const payer = await getPublicKeyFromAddress(transaction.feePayer as Address);
      if (!(await verifySignature(payer, signatureBytes(transaction.signatureBytes), transaction.message)))
        throw garbage("getTransaction", "transaction is not signed by its fee payer");
      // A node that ignores the requested commitment returns more than is final.
      if (transaction.slot > final) return notFinal(transaction.slot, final);
      const { blockTime: _, message: __, signatureBytes: ___, ...facts } = transaction;
      return { kind: "final", value: { ...facts, timestamp: await timeOf(transaction) } };
    },
    accounts: async (addresses, fromSlot) => {
      const config = {
        ...FINALIZED,
        encoding: "base64",
        ...(fromSlot !== undefined && { minContextSlot: Number(fromSlot) }),
      };
      const state = readAccounts(await request("getMultipleAccounts", [addresses, config]), addresses.length);
      if (fromSlot !== undefined && state.slot < fromSlot)
        throw garbage("getMultipleAccounts", "state is older than requested");
      return state;
    },
    finalSlot,
    signaturesOf: async (account, page) =>
      readSignatureList(await request("getSignaturesForAddress", [account, { ...FINALIZED, ...page }])),
    close: async () => await transport.close(),
  };

  async function explainMissing(signature: string, final: bigint): Promise<Evidence<never>> {
    const config = { searchTransactionHistory: true };
    const status = readSignatureStatus(await request("getSignatureStatuses", [[signature], config]));
    return status === undefined ? { kind: "absent" } : notFinal(status.slot, final);
  }
}

function notFinal(slot: bigint, finalSlot: bigint): Evidence<never> {
  const seconds = slot > finalSlot ? retryAfterSeconds({ slot }, finalSlot) : 1;
  return {
    kind: "notFinal",
    reason: `slot ${slot} is not final; the latest final slot is ${finalSlot}`,
    retryAfterSeconds: Math.min(seconds, RETRY_AFTER_SECONDS),
  };
}
