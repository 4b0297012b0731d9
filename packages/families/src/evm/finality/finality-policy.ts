import type { EvmFinality } from "@causeway/domain";

/** Minimum age of a final block, in seconds, if only a depth is configured. */
const DEFAULT_SECONDS = 60;

interface Written {
  readonly finalizationBlocks?: number | undefined;
  readonly finalizationTime?: number | undefined;
  readonly finalityReason?: string | undefined;
}

/**
 * The finality policy of an entry: the node's `finalized` tag, or a depth. The protocol does not guarantee a
 * depth, so it requires `finalityReason`, the operator's explanation why it is sufficient. Adds problems to
 * `problems`, prefixed with `place`.
 */
export function finalityPolicy(written: Written, place: string, problems: string[]): EvmFinality {
  const { finalizationBlocks, finalizationTime, finalityReason } = written;
  if (finalizationBlocks === undefined) {
    if (finalizationTime !== undefined)
      problems.push(`${place}.finalizationTime: requires finalizationBlocks`);
    return { kind: "tag" };
  }
  if (finalityReason === undefined)
    problems.push(
      `${place}.finalityReason: required with finalizationBlocks; state why that depth counts as final`,
    );
  return {
    kind: "depth",
    blocks: BigInt(finalizationBlocks),
    seconds: BigInt(finalizationTime ?? DEFAULT_SECONDS),
  };
}
