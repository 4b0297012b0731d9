import { inconsistent, type Evidence } from "@causeway/families";
import { finalityOf, headTagOf, lowerCandidate, type BlockRef, type EvmFacts } from "@causeway/families/evm";
import { singleFlight } from "./fact-cache.ts";
import { createSightings, readHead, type Sight } from "./sighting.ts";
import type { RpcTransport } from "../nodes/transport.ts";

export interface FinalBlockReads {
  /** The newest final block by the chain's policy, or one that is slightly older. @throws RpcFault */
  block(): Promise<Evidence<BlockRef>>;
  /**
   * Checks that `block` is still canonical and final after something was read at it.
   *
   * @throws RpcFault if it is not
   */
  confirm(block: BlockRef): Promise<void>;
}

export interface FinalBlockOptions {
  /** Milliseconds for which a final block is reused. Default: 0, a new block for each read. */
  readonly reuseMs?: number;
  /** Shared with other readers of the same endpoint. */
  readonly sight?: Sight;
}

/**
 * Maximum steps down from the head to find a final block; more than one only if blocks are faster than
 * nominal.
 */
const MAX_STEPS = 12;

/**
 * Blocks at which state can be read as final, at one endpoint: get a `block()`, read at its hash (EIP-1898),
 * then `confirm` it, and only then use what was read. `confirm` compares answers of one node in one HTTP
 * request, so that two nodes behind one address cannot make an orphan look final.
 */
export function finalBlockReads(
  transport: Pick<RpcTransport, "requestBatch">,
  facts: Pick<EvmFacts, "finality" | "blockTimeSeconds">,
  options: FinalBlockOptions = {},
): FinalBlockReads {
  const { finality: policy, blockTimeSeconds } = facts;
  const { reuseMs = 0 } = options;
  const headTag = headTagOf(policy);
  const sight = options.sight ?? createSightings(transport, headTag);
  const searching = singleFlight<Evidence<BlockRef>>();
  let cached: { readonly block: Evidence<BlockRef>; readonly untilMs: number } | undefined;

  const search = async (): Promise<Evidence<BlockRef>> => {
    let head = await readHead(transport, headTag);
    let block = head;
    for (let step = 0; step < MAX_STEPS; step++) {
      const finality = finalityOf(policy, block, head, blockTimeSeconds);
      if (finality.kind === "final") return { kind: "final", value: block };
      if (policy.kind === "tag")
        throw inconsistent(
          "eth_getBlockByNumber",
          "the node returned no finalized block for the tag finalized",
        );
      const number = lowerCandidate(policy, block, head, blockTimeSeconds);
      if (number === undefined) return finality;
      const sighting = await sight(number);
      if (sighting.block === undefined)
        throw inconsistent("eth_getBlockByNumber", "block below the head is missing");
      ({ head, block } = { head: sighting.head, block: sighting.block });
    }
    throw inconsistent("eth_getBlockByNumber", "no final block was found below the head");
  };

  return {
    block: async () => {
      if (cached !== undefined && performance.now() < cached.untilMs) return cached.block;
      return await searching("block", async () => {
        const block = await search();
        if (block.kind === "final") cached = { block, untilMs: performance.now() + reuseMs };
        return block;
      });
    },
    confirm: async (block) => {
      const sighting = await sight(block.number);
      const isFinal = finalityOf(policy, block, sighting.head, blockTimeSeconds).kind === "final";
      if (sighting.block?.hash === block.hash && isFinal) return;
      cached = undefined;
      throw inconsistent("eth_call", "block at which the state was read is no longer canonical and final");
    },
  };
}
