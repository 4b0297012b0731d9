import { bytesOf } from "@causeway/domain";
import { inconsistent, RpcFault } from "@causeway/families";
import { getBase58Decoder } from "@solana/kit";
import type { NonEvmAttempt, NonEvmOutcome } from "../non-evm-connection.ts";
import type { SolanaReads } from "./reads.ts";
import type { SolanaRpc } from "./rpc.ts";
import { blockhashOf, readPayment } from "./sign-payment.ts";

/** Finds out what became of the solver's payments on a cluster. */

/** Signatures per page. */
const PAGE_SIZE = 1_000;
/** Maximum pages to search for one transaction: more than fit into the blocks that could contain it. */
const MAX_PAGES = 100;
/**
 * Blocks after the last one that could contain a transaction until nodes list everything in it, because they
 * update their lists a little late.
 */
const LISTING_BLOCKS = 32n;
/** Maximum ms by which the cluster's clock and ours differ. */
const MAX_CLOCK_DRIFT_MS = 10 * 60_000;

export interface OutcomeOptions {
  readonly rpc: Pick<SolanaRpc, "transaction" | "signaturesOf">;
  readonly reads: Pick<SolanaReads, "status" | "block" | "isBlockhashValid" | "finalHeight" | "firstSlot">;
  /** The solver's address, base58. */
  readonly payer: string;
}

export function createOutcomes({ rpc, reads, payer }: OutcomeOptions) {
  /**
   * Bytes expire with their blockhash: once finality is past the last block that could contain them, the
   * outcome no longer changes, and every transaction of the payer since then is searched for them.
   */
  return async function outcome({
    raw,
    txId,
    lost,
  }: Pick<NonEvmAttempt, "raw" | "txId" | "lost">): Promise<NonEvmOutcome> {
    const signature = getBase58Decoder().decode(bytesOf(txId));
    const shown = await shownOutcome(signature);
    if (shown !== undefined) return shown;
    // The last height is the claim of one node. If it is too low, blocks may still include the bytes, also
    // while this runs. Final blocks are checked last, because they do not know a new blockhash yet.
    for (const view of ["processed", "finalized"] as const)
      if (await reads.isBlockhashValid(blockhashOf(raw), view)) return { kind: "unseen" };
    const { lastHeight, slot } = readPayment(raw);
    const final = await reads.finalHeight();
    if (final.height <= lastHeight + LISTING_BLOCKS) return { kind: "unseen" };
    const firstSlot = await reads.firstSlot();
    // A node cannot prove the absence of transactions that it may have pruned.
    if (lost === undefined ? firstSlot > slot : await isPrunedSince(lost.notBeforeMs, firstSlot))
      throw new RpcFault({
        kind: "pruned",
        method: "getFirstAvailableBlock",
        reason: "the node no longer has the blocks that could contain the attempt",
      });
    if (await isListed(signature, lost === undefined ? slot : firstSlot, final.slot))
      return await finalOutcome(signature);
    // A block may have included the bytes after the first status request, and lists are updated late.
    const laterOutcome = await shownOutcome(signature);
    return laterOutcome ?? { kind: "dead", reason: `not mined up to block height ${lastHeight}` };
  };

  /** The first slot in the bytes is not signed, so a time is compared for lost ones. */
  async function isPrunedSince(atMs: number, firstSlot: bigint): Promise<boolean> {
    if (firstSlot === 0n) return false;
    const { timestamp } = await reads.block(firstSlot, "finalized");
    return Number(timestamp) * 1_000 + MAX_CLOCK_DRIFT_MS > atMs;
  }

  /** Undefined: the node knows no block with the transaction. */
  async function shownOutcome(signature: string): Promise<NonEvmOutcome | undefined> {
    const status = await reads.status(signature);
    if (status === undefined) return undefined;
    const { slot, isFinal, failed } = status;
    if (isFinal) return await finalOutcome(signature);
    if (failed) return { kind: "pending" };
    const block = await reads.block(slot, "confirmed").catch(() => undefined);
    return block === undefined ? { kind: "pending" } : { kind: "mined", block };
  }

  /** Outcome of a transaction in a final block. */
  async function finalOutcome(signature: string): Promise<NonEvmOutcome> {
    const evidence = await rpc.transaction(signature);
    if (evidence.kind !== "final")
      throw inconsistent(
        "getTransaction",
        "the node reports the transaction as finalized, but does not return it",
      );
    const { slot, failed } = evidence.value;
    if (failed) return { kind: "dead", reason: "failed in a final block" };
    return { kind: "final", block: await reads.block(slot, "finalized") };
  }

  async function isListed(signature: string, fromSlot: bigint, finalSlot: bigint): Promise<boolean> {
    let before: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const page = await rpc.signaturesOf(payer, {
        limit: PAGE_SIZE,
        minContextSlot: Number(finalSlot),
        ...(before !== undefined && { before }),
      });
      if (page.some((entry) => entry.signature === signature)) return true;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE || last.slot < fromSlot) return false;
      before = last.signature;
    }
    throw inconsistent("getSignaturesForAddress", "more transactions than the blocks can contain");
  }
}
