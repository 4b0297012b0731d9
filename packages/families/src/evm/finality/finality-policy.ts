import type { EvmFinality } from "@causeway/domain";

/** Seconds that a block must be old when only a depth is configured. */
const DEFAULT_SECONDS = 60;

interface Written {
  readonly finalizationBlocks?: number | undefined;
  readonly finalizationTime?: number | undefined;
  readonly finalityReason?: string | undefined;
}

/**
 * The policy that an entry asks for: the node's `finalized` tag, or a depth. A depth is a promise that the
 * protocol does not make, so it needs `finalityReason`, the operator's own words for why it is enough. What
 * is wrong is added to `problems`, led by `place`.
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
