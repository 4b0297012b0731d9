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
import type { NonEvmReads } from "./reads.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import type { SolanaRpc } from "./rpc.ts";

/** Slots that are read again, because nodes list final transactions a little late. About a minute. */
const AGAIN_SLOTS = 150n;
/** Slots before now at which a first reading starts. About ten minutes. */
const FIRST_SLOTS = 1_500n;
/** Signatures per page, and transactions per reading. */
const PAGE = 1_000;
const MAX_JUDGED = 200;
/** Concurrent transaction requests. */
const AT_ONCE = 8;
/**
 * Failed readings after which a transaction is skipped, so that an unreadable one does not block all others.
 */
const MAX_FAULTS = 20;
/** A node's error for a transaction of an unsupported version. */
const UNSUPPORTED_VERSION = -32015;

export interface ArrivalOptions {
  readonly rpc: SolanaRpc;
  readonly reads: Pick<NonEvmReads, "block">;
  readonly pdas: DepositoryAccounts;
  /** Mints whose plain transfers to the vault are detected; those through the program always are. */
  readonly mints: () => Promise<readonly { readonly mint: string; readonly tokenProgram: string }[]>;
  /** Called with the fault of each skipped transaction. */
  readonly onFault: (error: unknown) => void;
}

export interface NonEvmArrivalReader {
  arrivals(cursor: string | undefined): Promise<NonEvmArrivals>;
  arrivalsOf(transactionId: TxHash, shown?: ShownTransaction): Promise<NonEvmTransaction>;
}

/** Deposits in the cluster's finalized state, judged like oracles do. */
export function createArrivals(options: ArrivalOptions): NonEvmArrivalReader {
  const { rpc, reads, pdas, mints, onFault } = options;
  const faults = new Map<string, number>();
  /**
   * Judgments of readings from the same cursor, so that the next one continues from there: a rate-limited
   * endpoint may end every reading of a crowd, and a deposit may wait for other endpoints.
   */
  let keptCursor: string | undefined;
  const kept = new Map<string, readonly DepositFact[] | undefined>();

  /** Transactions that name one of the addresses in slots from `from` to `to`, newest first. */
  async function listed(account: string, from: bigint, to: bigint): Promise<readonly SignatureEntry[]> {
    const all: SignatureEntry[] = [];
    for (let before: string | undefined; ;) {
      const page = await rpc.signaturesOf(account, {
        limit: PAGE,
        ...(before !== undefined && { before }),
        minContextSlot: Number(to),
      });
      all.push(...page.filter(({ slot }) => slot >= from && slot <= to));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE || last.slot < from) return all;
      before = last.signature;
    }
  }

  /** Undefined: skipped. */
  async function judged(entry: SignatureEntry): Promise<readonly DepositFact[] | undefined> {
    const { signature } = entry;
    try {
      const found = await rpc.transaction(signature);
      if (found.kind !== "final") throw inconsistent("getTransaction", "listed transaction is missing");
      const deposits = await depositsOf(found.value);
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

  async function judgedOnce(entry: SignatureEntry): Promise<readonly DepositFact[] | undefined> {
    if (kept.has(entry.signature)) return kept.get(entry.signature);
    const deposits = await judged(entry);
    kept.set(entry.signature, deposits);
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

  async function arrivals(text: string | undefined): Promise<NonEvmArrivals> {
    const final = await rpc.finalSlot();
    const cursor =
      text === undefined
        ? { slot: final > FIRST_SLOTS ? final - FIRST_SLOTS : 0n, known: [] }
        : readCursor(text);
    if (final < cursor.slot) throw inconsistent("getSlot", "the node is behind a previously queried node");
    const from = cursor.slot > AGAIN_SLOTS ? cursor.slot - AGAIN_SLOTS : 0n;
    const known = new Set(cursor.known);
    const accounts = [
      pdas.vault,
      ...(await Promise.all(
        (await mints()).map(
          async ({ mint, tokenProgram }) => await associatedTokenAddress(pdas.vault, mint, tokenProgram),
        ),
      )),
    ];
    const lists = await Promise.all(accounts.map(async (account) => await listed(account, from, final)));
    const entries = [...new Map(lists.flat().map((entry) => [entry.signature, entry])).values()];
    // Nodes list the transactions of one slot in an undefined order; sorting by signature gives all readings
    // the same one.
    const fresh = entries
      .filter(({ signature, failed }) => !failed && !known.has(signature))
      .toSorted((a, b) =>
        a.slot === b.slot ? (a.signature < b.signature ? -1 : 1) : a.slot < b.slot ? -1 : 1,
      );
    // Never part of a slot, because the cursor is between slots.
    const last = fresh[MAX_JUDGED - 1];
    const now = last === undefined ? fresh : fresh.filter(({ slot }) => slot <= last.slot);
    const deposits: DepositFact[] = [];
    for (let at = 0; at < now.length; at += AT_ONCE) {
      const some = await Promise.all(now.slice(at, at + AT_ONCE).map(judgedOnce));
      deposits.push(...some.flatMap((found) => found ?? []));
    }
    const isAll = last === undefined || now.length === fresh.length;
    const reached = isAll ? final : maxOf(last.slot, cursor.slot);
    const read = [...cursor.known, ...now.map(({ signature }) => signature)];
    const slotOf = new Map(entries.map(({ signature, slot }) => [signature, slot]));
    const keptFrom = reached > AGAIN_SLOTS ? reached - AGAIN_SLOTS : 0n;
    const seen = read.filter((signature) => (slotOf.get(signature) ?? 0n) >= keptFrom);
    const upTo = await reads.block(reached, "finalized");
    return {
      deposits,
      cursor: writeCursor({ slot: reached, known: seen }),
      ...(text === undefined && { startedAt: writeCursor(cursor) }),
      upTo,
      // The next transaction was made right after it, or later.
      ...(!isAll && { unreadSince: upTo.timestamp }),
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
    arrivals: async (text) => {
      if (text !== keptCursor) kept.clear();
      keptCursor = text;
      return await arrivals(text);
    },

    arrivalsOf: async (transactionId, shown) => {
      const found = await rpc.transaction(signatureOf(transactionId));
      if (found.kind === "notFinal") return { kind: "notFinal" };
      if (found.kind !== "final") {
        // A node without the block knows nothing about its transactions.
        const isKnown = shown === undefined || (await hasBlock(shown.number));
        return { kind: isKnown ? "absent" : "notFinal" };
      }
      const deposits = await depositsOf(found.value);
      if (deposits.kind !== "final")
        throw new RpcFault({ kind: "garbage", method: "getTransaction", reason: deposits.reason });
      const upTo = await reads.block(found.value.slot, "finalized");
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

/** In the service's format: bytes in hex, and an ordinal for equal deposits. */
function toFacts(
  { signature, slot, feePayer }: TransactionFacts,
  { hash, timestamp }: Pick<BlockRef, "hash" | "timestamp">,
  deposits: readonly DepositEvidence[],
): readonly DepositFact[] {
  const key = (text: string): Hex => encodeAddress("solana-vm", text);
  const numbers = new Map<string, number>();
  return deposits.map(({ index, depositor, currency, amount, depositId }) => {
    const identity = [currency, amount, depositor, depositId].join(" ");
    const ordinal = numbers.get(identity) ?? 0;
    numbers.set(identity, ordinal + 1);
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
