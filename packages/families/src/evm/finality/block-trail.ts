import type { Hex } from "@causeway/domain";
import type { BlockRange, BlockRef } from "../port.ts";

/** The next step after a new head: a header to fetch, or a change of the trail. */
export type TrailStep =
  /** The head is in the trail already or below it: a repetition, or a lagging node. */
  | { readonly kind: "unchanged" }
  /** Fetch the header with this hash and call again. */
  | { readonly kind: "needs"; readonly hash: Hex; readonly number: bigint }
  /** Drop every block from `orphanedFrom` on (undefined = none), then append. */
  | {
      readonly kind: "extends";
      readonly orphanedFrom: bigint | undefined;
      /** Ascending, ends with the head, each the parent of the next. */
      readonly append: readonly BlockRef[];
    }
  /**
   * No block of the trail is an ancestor of the head: the reorg is deeper than the trail. All of the trail is
   * orphaned, and blocks below it may be too.
   */
  | { readonly kind: "detached"; readonly orphanedFrom: bigint; readonly append: readonly BlockRef[] };

/**
 * Computes how a trail of blocks becomes one that ends with `head`. Pure: the caller fetches the requested
 * header and calls again.
 *
 * @param trail the stored trail: ascending, without gaps, each block the parent of the next; empty at the
 * first start
 * @param fetched headers by hash that were fetched for this head
 * @throws RangeError if the height of a fetched header contradicts its child (a lying node)
 */
export function extendTrail(
  trail: readonly BlockRef[],
  head: BlockRef,
  fetched: ReadonlyMap<Hex, BlockRef> = new Map(),
): TrailStep {
  const lowest = trail[0];
  const tip = trail.at(-1);
  if (lowest === undefined || tip === undefined)
    return { kind: "extends", orphanedFrom: undefined, append: [head] };
  const trailBlockAt = (number: bigint): BlockRef | undefined =>
    number < lowest.number ? undefined : trail[Number(number - lowest.number)];
  // A head below the trail does not contradict any block of it.
  if (head.number < lowest.number || trailBlockAt(head.number)?.hash === head.hash)
    return { kind: "unchanged" };

  const append: BlockRef[] = [head];
  for (let oldest = head; ;) {
    const parentNumber = oldest.number - 1n;
    if (trailBlockAt(parentNumber)?.hash === oldest.parentHash) {
      const orphanedFrom = oldest.number <= tip.number ? oldest.number : undefined;
      return { kind: "extends", orphanedFrom, append: append.toReversed() };
    }
    if (parentNumber < lowest.number) {
      return { kind: "detached", orphanedFrom: lowest.number, append: append.toReversed() };
    }
    const parent = fetched.get(oldest.parentHash);
    if (parent === undefined) return { kind: "needs", hash: oldest.parentHash, number: parentNumber };
    if (parent.number !== parentNumber) {
      throw new RangeError(
        `parent of block ${oldest.number} has number ${parent.number}, expected ${oldest.number - 1n}`,
      );
    }
    append.push(parent);
    oldest = parent;
  }
}

/** The range of these consecutive blocks. @throws RangeError if the list is empty */
export function rangeOf(blocks: readonly BlockRef[]): BlockRange {
  const [first] = blocks;
  const last = blocks.at(-1);
  if (first === undefined || last === undefined)
    throw new RangeError("invariant violated: empty list of blocks");
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  return { from: first.number, to: last.number, hashes };
}
