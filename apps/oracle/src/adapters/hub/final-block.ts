import { RpcFault } from "@causeway/chains";
import type { RpcTransport } from "@causeway/chains";
import type { EvmFinality, Hex } from "@causeway/domain";

/** A block that is final by the hub's policy. */
export interface FinalBlock {
  readonly number: bigint;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

const METHOD = "eth_getBlockByNumber";
/** Steps back are doubled: more of them than this reach further than any chain. */
const MOST_STEPS = 40;

/** Finds the newest block that is final enough, anew each time. */
export function createFinalBlock(transport: RpcTransport, policy: EvmFinality) {
  async function block(tag: string): Promise<FinalBlock> {
    const answer = await transport.request(METHOD, [tag, false]);
    const { number, hash, timestamp } = (answer ?? {}) as Record<string, unknown>;
    if (
      !isQuantity(number) ||
      !isQuantity(timestamp) ||
      typeof hash !== "string" ||
      !/^0x[0-9a-f]{64}$/i.test(hash)
    )
      throw new RpcFault({ kind: "garbage", method: METHOD, reason: `the node gave no ${tag} block` });
    return { number: BigInt(number), timestamp: BigInt(timestamp), hash: hash.toLowerCase() as Hex };
  }

  async function at(number: bigint): Promise<FinalBlock> {
    const found = await block(`0x${number.toString(16)}`);
    if (found.number !== number)
      throw new RpcFault({ kind: "garbage", method: METHOD, reason: "the answer is about another block" });
    return found;
  }

  async function deepEnough(blocks: bigint, seconds: bigint): Promise<FinalBlock> {
    const head = await block("latest");
    let number = head.number - blocks;
    for (let step = 1n, steps = 0; number >= 0n && steps < MOST_STEPS; number -= step, step *= 2n, steps++) {
      const candidate = number === head.number ? head : await at(number);
      if (head.timestamp - candidate.timestamp >= seconds) return candidate;
    }
    throw new RpcFault({ kind: "inconsistent", method: METHOD, reason: "the hub has no final block yet" });
  }

  return {
    async current(): Promise<FinalBlock> {
      return policy.kind === "tag"
        ? await block("finalized")
        : await deepEnough(policy.blocks, policy.seconds);
    },
    /** @throws RpcFault when the chain has another block there now: what was read at it may never have been. */
    async mustBeCanonical({ number, hash }: FinalBlock): Promise<void> {
      if ((await at(number)).hash === hash) return;
      throw new RpcFault({
        kind: "inconsistent",
        method: METHOD,
        reason: "the block was replaced while it was read",
      });
    },
  };
}

function isQuantity(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value);
}
