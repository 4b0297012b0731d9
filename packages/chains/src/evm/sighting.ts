import type { BlockRef } from "../family.ts";
import { readBlock, toQuantity } from "./answers.ts";
import { garbage, inconsistent } from "./rpc-fault.ts";
import type { RpcTransport } from "./transport.ts";

const METHOD = "eth_getBlockByNumber";

/** A block of the node's chain, and the head of that same chain. */
export interface Sighting {
  /** Undefined when the node has no block of this number. */
  readonly block: BlockRef | undefined;
  readonly head: BlockRef;
}

/** Most heights in one batch: the transport cuts at 100 calls, and a block must travel with its head. */
const LARGEST_BATCH = 80;

/** Looks that travel together. */
interface Look {
  readonly numbers: Map<bigint, PromiseWithResolvers<Sighting>>;
}

/**
 * Looks at blocks by number, each together with the head of the same node.
 *
 * One address often stands for several nodes, one of which may lag on a branch that the others left: its word that a block is canonical and another's word
 * that this height is final would together make an orphan final. Blocks and head are therefore asked in one HTTP request, which one node answers, and a
 * head is never kept for a later look. All looks of one event-loop tick share one head.
 *
 * @returns a function that throws RpcFault when the answers are none, or contradict each other
 */
export function createSightings(
  transport: RpcTransport,
  headTag: "finalized" | "latest",
): (number: bigint) => Promise<Sighting> {
  let gathering: Look | undefined;

  const send = (look: Look): void => {
    if (gathering === look) gathering = undefined;
    const head = readHead(transport, headTag);
    for (const [number, { resolve, reject }] of look.numbers) {
      const block = transport
        .request(METHOD, [toQuantity(number), false])
        .then((answer) => blockOf(answer, number));
      Promise.all([block, head])
        .then(([seen, newest]) => sightingOf(seen, newest))
        .then(resolve, reject);
    }
  };

  return async (number) => {
    if (gathering === undefined || gathering.numbers.size >= LARGEST_BATCH) {
      const look: Look = { numbers: new Map() };
      gathering = look;
      setImmediate(send, look);
    }
    const known = gathering.numbers.get(number);
    if (known !== undefined) return await known.promise;
    const asked = Promise.withResolvers<Sighting>();
    gathering.numbers.set(number, asked);
    return await asked.promise;
  };
}

/** The block that the node tags so. @throws RpcFault */
export async function readHead(transport: RpcTransport, headTag: "finalized" | "latest"): Promise<BlockRef> {
  const head = readBlock(await transport.request(METHOD, [headTag, false]), METHOD);
  if (head === undefined) throw garbage(METHOD, `the node has no ${headTag} block`);
  return head;
}

function blockOf(answer: unknown, number: bigint): BlockRef | undefined {
  const block = readBlock(answer, METHOD);
  if (block !== undefined && block.number !== number)
    throw garbage(METHOD, "the answer is about another block");
  return block;
}

function sightingOf(block: BlockRef | undefined, head: BlockRef): Sighting {
  if (block?.number === head.number && block.hash !== head.hash)
    throw inconsistent(METHOD, "two blocks of one height in one answer");
  return { block, head };
}
