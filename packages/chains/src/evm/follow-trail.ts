import type { Hex } from "@causeway/domain";
import { extendTrail, type BlockRef, type ChainReader, type TrailStep } from "@causeway/families/evm";
import { inconsistent } from "@causeway/families";

/** The change of a stored trail; see {@link extendTrail}. */
export type TrailChange = Exclude<TrailStep, { kind: "needs" }>;

/**
 * Fetches what {@link extendTrail} requests until it returns the change of the trail.
 *
 * Missing blocks above the trail are fetched by number in one batch; only a fork is walked back hash by hash.
 * After downtime the trail grows by at most `maxBlocks`: call again until it ends with the head.
 *
 * @throws RpcFault if headers are inconsistent (the chain changed in the meantime, or the node lies); retry
 */
export async function followTrail(
  reader: Pick<ChainReader, "block" | "blockByHash">,
  trail: readonly BlockRef[],
  head: BlockRef,
  maxBlocks = 256,
): Promise<TrailChange> {
  const fetched = new Map<Hex, BlockRef>();
  let target = head;
  const tip = trail.at(-1);
  if (tip !== undefined && head.number > tip.number + 1n) {
    const limit = tip.number + BigInt(maxBlocks);
    const last = head.number > limit ? limit : head.number - 1n;
    const numbers = Array.from(
      { length: Number(last - tip.number) },
      (_, index) => tip.number + 1n + BigInt(index),
    );
    const blocks = await Promise.all(numbers.map(async (number) => await reader.block(number)));
    for (const block of blocks) if (block !== undefined) fetched.set(block.hash, block);
    if (head.number > limit) {
      const reached = blocks.at(-1);
      if (reached === undefined) throw inconsistent("eth_getBlockByNumber", `block ${last} is missing`);
      target = reached;
    }
  }
  for (;;) {
    const step = extendTrail(trail, target, fetched);
    if (step.kind !== "needs") return step;
    const block = await reader.blockByHash(step.hash);
    if (block?.number !== step.number) {
      throw inconsistent(
        "eth_getBlockByHash",
        `block ${step.number} does not have the hash that its child names as parent`,
      );
    }
    fetched.set(step.hash, block);
  }
}
