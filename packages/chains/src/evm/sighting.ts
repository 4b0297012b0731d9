import { readBlock, toQuantity, type BlockRef } from "@causeway/families/evm";
import { garbage, inconsistent, RpcFault } from "@causeway/families";
import type { RpcRequest, RpcTransport } from "../nodes/transport.ts";

const METHOD = "eth_getBlockByNumber";

/** A block of the node's chain, and the head of that same chain. */
export interface Sighting {
  /** Undefined if the node has no block of this number. */
  readonly block: BlockRef | undefined;
  readonly head: BlockRef;
}

/** Reads the block of this number. @throws RpcFault if the answers are missing or contradict each other */
export type Sight = (number: bigint) => Promise<Sighting>;

/** Maximum heights per head. */
const MAX_HEIGHTS = 80;

/** Reads in one request. */
type PendingReads = Map<bigint, PromiseWithResolvers<Sighting>>;

/**
 * Reads blocks by number, each together with the head of the same node.
 *
 * One address often has several nodes behind it, and one may lag on a branch that the others left. If one
 * node says that a block is canonical and another that its height is final, an orphan looks final. Blocks
 * and head are therefore read in one HTTP request, which one node answers, and a head is never reused.
 *
 * All reads of one event-loop tick share one head. If a node refuses that many calls at once, each smaller
 * request has its own head; if it refuses even two calls, every read is a fault.
 */
export function createSightings(
  transport: Pick<RpcTransport, "requestBatch">,
  headTag: "finalized" | "latest",
): Sight {
  let pendingReads: PendingReads | undefined;
  let maxHeights = MAX_HEIGHTS;

  const send = async (batch: PendingReads): Promise<void> => {
    const entries = [...batch];
    try {
      const calls = [callFor(headTag), ...entries.map(([number]) => callFor(toQuantity(number)))];
      const [first, ...answers] = await transport.requestBatch(calls);
      const head = headOf(first, headTag);
      maxHeights = Math.min(MAX_HEIGHTS, maxHeights + 1);
      entries.forEach(([number, pending], index) => {
        try {
          pending.resolve(sightingOf(blockOf(answers[index], number), head));
        } catch (error) {
          pending.reject(error);
        }
      });
    } catch (error) {
      if (entries.length > 1 && isTooMuch(error)) {
        const half = Math.ceil(entries.length / 2);
        maxHeights = Math.min(maxHeights, half);
        await Promise.all([send(new Map(entries.slice(0, half))), send(new Map(entries.slice(half)))]);
        return;
      }
      for (const [, pending] of entries) pending.reject(error);
    }
  };

  return async (number) => {
    if (pendingReads === undefined || pendingReads.size >= maxHeights) {
      const batch: PendingReads = new Map();
      pendingReads = batch;
      setImmediate(() => {
        if (pendingReads === batch) pendingReads = undefined;
        void send(batch);
      });
    }
    const existing = pendingReads.get(number);
    if (existing !== undefined) return await existing.promise;
    const pending = Promise.withResolvers<Sighting>();
    pendingReads.set(number, pending);
    return await pending.promise;
  };
}

/** The block with this tag. @throws RpcFault */
export async function readHead(
  transport: Pick<RpcTransport, "requestBatch">,
  headTag: "finalized" | "latest",
): Promise<BlockRef> {
  const [answer] = await transport.requestBatch([callFor(headTag)]);
  return headOf(answer, headTag);
}

function callFor(tag: string): RpcRequest {
  return { method: METHOD, params: [tag, false] };
}

function isTooMuch(error: unknown): boolean {
  return error instanceof RpcFault && (error.kind === "batchRefused" || error.kind === "tooLarge");
}

function headOf(answer: unknown, headTag: string): BlockRef {
  const head = readBlock(answer, METHOD);
  if (head === undefined) throw garbage(METHOD, `the node has no ${headTag} block`);
  return head;
}

function blockOf(answer: unknown, number: bigint): BlockRef | undefined {
  const block = readBlock(answer, METHOD);
  if (block !== undefined && block.number !== number)
    throw garbage(METHOD, "response concerns a different block");
  return block;
}

function sightingOf(block: BlockRef | undefined, head: BlockRef): Sighting {
  if (block?.number === head.number && block.hash !== head.hash)
    throw inconsistent(METHOD, "response contains two blocks of the same height");
  return { block, head };
}
