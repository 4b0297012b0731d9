import { getBase58Decoder } from "@solana/kit";
import { bytesOf, type Hex, type TxHash } from "@causeway/domain";
import {
  encodeAddress,
  inconsistent,
  NodeRefusal,
  RpcFault,
  transactionIdBytes,
  type DepositEvidence,
  type Evidence,
} from "@causeway/families";
import type { BlockRef, DepositFact } from "@causeway/families/evm";
import type { NonEvmArrivals, NonEvmTransaction, ShownTransaction } from "../non-evm-connection.ts";
import {
  associatedTokenAddress,
  depositsIn,
  vaultAccountsIn,
  type DepositoryAccounts,
  type SignatureEntry,
  type TransactionFacts,
} from "@causeway/families/solana";
import type { SolanaReads } from "./reads.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import type { SolanaRpc } from "./rpc.ts";

/** Slots that are read again, because nodes list final transactions a little late. About a minute. */
const OVERLAP_SLOTS = 150n;
/** Slots before now at which a first reading starts. About ten minutes. */
const INITIAL_LOOKBACK_SLOTS = 1_500n;
/** Signatures per page, and maximum transactions per reading. */
const PAGE_SIZE = 1_000;
const MAX_TRANSACTIONS = 200;
/** Concurrent transaction requests. */
const MAX_CONCURRENT_READS = 8;
/**
 * Failed readings after which a transaction is skipped, so that an unreadable one does not block all others.
 */
const MAX_FAULTS = 20;
/** A node's error for a transaction of an unsupported version. */
const UNSUPPORTED_VERSION = -32015;

export interface ArrivalOptions {
  readonly rpc: SolanaRpc;
  readonly reads: Pick<SolanaReads, "block">;
  readonly pdas: DepositoryAccounts;
  /** Mints whose plain transfers to the vault are detected; those through the program always are. */
  readonly mints: () => Promise<readonly { readonly mint: string; readonly tokenProgram: string }[]>;
  /** Called with the fault of each skipped transaction. */
  readonly onFault: (error: unknown) => void;
}

export interface SolanaArrivalsReader {
  arrivals(cursor: string | undefined): Promise<NonEvmArrivals>;
  arrivalsOf(transactionId: TxHash, shown?: ShownTransaction): Promise<NonEvmTransaction>;
}

/** Deposits in the cluster's finalized state, judged like oracles do. */
export function createArrivals(options: ArrivalOptions): SolanaArrivalsReader {
  const { rpc, reads, pdas, mints, onFault } = options;
  const faults = new Map<string, number>();
  /**
   * Judgments of readings from the same cursor, so that the next one continues from there: a rate-limited
   * endpoint may end every reading of a crowd, and a deposit may wait for other endpoints.
   */
  let cachedCursor: string | undefined;
  const cachedJudgments = new Map<string, readonly DepositFact[] | undefined>();

  /** Transactions that name one of the addresses in slots from `from` to `to`, newest first. */
  async function listSignatures(
    account: string,
    from: bigint,
    to: bigint,
  ): Promise<readonly SignatureEntry[]> {
    const signatures: SignatureEntry[] = [];
    for (let before: string | undefined; ;) {
      const page = await rpc.signaturesOf(account, {
        limit: PAGE_SIZE,
        ...(before !== undefined && { before }),
        minContextSlot: Number(to),
      });
      signatures.push(...page.filter(({ slot }) => slot >= from && slot <= to));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE || last.slot < from) return signatures;
      before = last.signature;
    }
  }

  /** The deposits of a transaction; undefined if it is skipped. */
  async function judge(entry: SignatureEntry): Promise<readonly DepositFact[] | undefined> {
    const { signature } = entry;
    try {
      const evidence = await rpc.transaction(signature);
      if (evidence.kind !== "final") throw inconsistent("getTransaction", "listed transaction is missing");
      const deposits = await depositsOf(evidence.value);
      faults.delete(signature);
      if (deposits.kind === "final") return deposits.value;
      onFault(new Error(`${signature}: ${deposits.reason}`));
      return undefined;
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      const count = (faults.get(signature) ?? 0) + 1;
      faults.set(signature, count);
      const isUnreadable = error instanceof NodeRefusal && error.nodeCode === UNSUPPORTED_VERSION;
      if (!isUnreadable && (count < MAX_FAULTS || error.kind !== "garbage")) throw error;
      onFault(error);
      return undefined;
    }
  }

  async function judgeCached(entry: SignatureEntry): Promise<readonly DepositFact[] | undefined> {
    if (cachedJudgments.has(entry.signature)) return cachedJudgments.get(entry.signature);
    const deposits = await judge(entry);
    cachedJudgments.set(entry.signature, deposits);
    return deposits;
  }

  async function depositsOf(
    facts: TransactionFacts,
  ): Promise<Exclude<Evidence<readonly DepositFact[]>, { kind: "absent" | "notFinal" }>> {
    if (facts.failed) return { kind: "final", value: [] };
    const reading = depositsIn(pdas, await vaultAccountsIn(pdas, facts), facts);
    if (reading.kind === "logsCut")
      return { kind: "refuted", reason: "the endpoint truncates logs", ofEndpoint: true };
    if (reading.deposits.length === 0) return { kind: "final", value: [] };
    const block = await reads.block(facts.slot, "finalized");
    return { kind: "final", value: toFacts(facts, block, reading.deposits) };
  }

  async function arrivals(storedCursor: string | undefined): Promise<NonEvmArrivals> {
    const final = await rpc.finalSlot();
    const cursor =
      storedCursor === undefined
        ? { slot: final > INITIAL_LOOKBACK_SLOTS ? final - INITIAL_LOOKBACK_SLOTS : 0n, signatures: [] }
        : readCursor(storedCursor);
    if (final < cursor.slot) throw inconsistent("getSlot", "the node is behind a previously queried node");
    const from = cursor.slot > OVERLAP_SLOTS ? cursor.slot - OVERLAP_SLOTS : 0n;
    const alreadyRead = new Set(cursor.signatures);
    const accounts = [
      pdas.vault,
      ...(await Promise.all(
        (await mints()).map(
          async ({ mint, tokenProgram }) => await associatedTokenAddress(pdas.vault, mint, tokenProgram),
        ),
      )),
    ];
    const lists = await Promise.all(
      accounts.map(async (account) => await listSignatures(account, from, final)),
    );
    const entries = [...new Map(lists.flat().map((entry) => [entry.signature, entry])).values()];
    // Nodes list the transactions of one slot in an undefined order; sorting by signature gives all readings
    // the same one.
    const fresh = entries
      .filter(({ signature, failed }) => !failed && !alreadyRead.has(signature))
      .toSorted((a, b) =>
        a.slot === b.slot ? (a.signature < b.signature ? -1 : 1) : a.slot < b.slot ? -1 : 1,
      );
    // Never part of a slot, because the cursor is between slots.
    const last = fresh[MAX_TRANSACTIONS - 1];
    const batch = last === undefined ? fresh : fresh.filter(({ slot }) => slot <= last.slot);
    const deposits: DepositFact[] = [];
    for (let start = 0; start < batch.length; start += MAX_CONCURRENT_READS) {
      const judgments = await Promise.all(batch.slice(start, start + MAX_CONCURRENT_READS).map(judgeCached));
      deposits.push(...judgments.flatMap((facts) => facts ?? []));
    }
    const isComplete = last === undefined || batch.length === fresh.length;
    const reached = isComplete ? final : maxOf(last.slot, cursor.slot);
    const readSignatures = [...cursor.signatures, ...batch.map(({ signature }) => signature)];
    const slotsBySignature = new Map(entries.map(({ signature, slot }) => [signature, slot]));
    const overlapStart = reached > OVERLAP_SLOTS ? reached - OVERLAP_SLOTS : 0n;
    const remembered = readSignatures.filter(
      (signature) => (slotsBySignature.get(signature) ?? 0n) >= overlapStart,
    );
    const upTo = await reads.block(reached, "finalized");
    return {
      deposits,
      cursor: writeCursor({ slot: reached, signatures: remembered }),
      ...(storedCursor === undefined && { startedAt: writeCursor(cursor) }),
      upTo,
      // The next transaction was made right after it, or later.
      ...(!isComplete && { unreadSince: upTo.timestamp }),
    };
  }

  async function hasBlock(slot: bigint): Promise<boolean> {
    try {
      await reads.block(slot, "finalized");
      return true;
    } catch (error) {
      if (error instanceof NodeRefusal && !error.isPause) return false;
      throw error;
    }
  }

  return {
    arrivals: async (storedCursor) => {
      if (storedCursor !== cachedCursor) cachedJudgments.clear();
      cachedCursor = storedCursor;
      return await arrivals(storedCursor);
    },

    arrivalsOf: async (transactionId, shown) => {
      const evidence = await rpc.transaction(signatureOf(transactionId));
      if (evidence.kind === "notFinal") return { kind: "notFinal" };
      if (evidence.kind !== "final") {
        // A node without the block knows nothing about its transactions.
        const isKnown = shown === undefined || (await hasBlock(shown.number));
        return { kind: isKnown ? "absent" : "notFinal" };
      }
      const deposits = await depositsOf(evidence.value);
      if (deposits.kind !== "final")
        throw new RpcFault({ kind: "garbage", method: "getTransaction", reason: deposits.reason });
      const upTo = await reads.block(evidence.value.slot, "finalized");
      return { kind: "final", deposits: deposits.value, upTo };
    },
  };
}

function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function signatureOf(transactionId: TxHash): string {
  return getBase58Decoder().decode(bytesOf(transactionId));
}

/** Converts deposits to the service's format: bytes in hex, and an ordinal for equal deposits. */
function toFacts(
  { signature, slot, feePayer }: TransactionFacts,
  { hash, timestamp }: Pick<BlockRef, "hash" | "timestamp">,
  deposits: readonly DepositEvidence[],
): readonly DepositFact[] {
  const key = (text: string): Hex => encodeAddress("solana-vm", text);
  const ordinals = new Map<string, number>();
  return deposits.map(({ index, depositor, currency, amount, depositId }) => {
    const identity = [currency, amount, depositor, depositId].join(" ");
    const ordinal = ordinals.get(identity) ?? 0;
    ordinals.set(identity, ordinal + 1);
    return {
      txHash: transactionIdBytes("solana-vm", signature),
      ordinal,
      logIndex: Number(index),
      blockNumber: slot,
      blockHash: hash,
      timestamp,
      depositor: key(depositor),
      sender: key(feePayer),
      currency: key(currency),
      amount,
      id: depositId,
    };
  });
}
