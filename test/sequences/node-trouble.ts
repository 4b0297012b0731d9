import { RpcFault, type ChainReader } from "@causeway/chains";
import type { MemoryChain } from "./memory-chain.ts";
import { memoryReader, memoryWriter } from "./memory-reader.ts";
import type { Trouble, TroubledNode } from "./troubles.ts";

const fault = (method: string): RpcFault =>
  new RpcFault({ kind: "network", method, reason: "the node is in trouble" });

/** Whether an error means that a node was in trouble. */
export function isNodeFault(error: unknown): boolean {
  return error instanceof RpcFault || (error instanceof Error && isNodeFault(error.cause));
}

export function troubledNode(memory: MemoryChain): TroubledNode {
  let trouble: Trouble | undefined;
  let hidLogs = false;
  let calls = 0;
  const honest = memoryReader(memory);
  const lagging = memoryReader(withoutNewest(memory, () => trouble?.extent ?? 0));
  const firstHidden = (): bigint | undefined =>
    trouble?.kind === "missingLogs" ? memory.tip.number - BigInt(trouble.extent) + 1n : undefined;
  const withoutHidden = <T extends { readonly blockNumber: bigint }>(facts: readonly T[]): T[] => {
    const limit = firstHidden();
    const visible = limit === undefined ? [...facts] : facts.filter(({ blockNumber }) => blockNumber < limit);
    hidLogs ||= visible.length < facts.length;
    return visible;
  };
  const forgetful: ChainReader = {
    ...honest,
    depositsIn: async (range) => withoutHidden(await honest.depositsIn(range)),
    topUpsIn: async (solver, blocks) => withoutHidden(await honest.topUpsIn(solver, blocks)),
    tokenTopUpsIn: async (solver, range) => withoutHidden(await honest.tokenTopUpsIn(solver, range)),
  };
  const reader = new Proxy(honest, {
    get: (_, key: keyof ChainReader): unknown => {
      const chosen =
        trouble?.kind === "behind" ? lagging : trouble?.kind === "missingLogs" ? forgetful : honest;
      const member: unknown = chosen[key];
      if (typeof member !== "function" || key === "depositsOf" || key === "topUpsOf") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        if (trouble?.kind === "errors" && ++calls % (trouble.extent + 2) === 0) throw fault(key);
        return (await Reflect.apply(member, chosen, args)) as unknown;
      };
    },
  });
  const honestWriter = memoryWriter(memory);
  return {
    reader,
    writer: {
      broadcast: async (raw) => {
        if (trouble?.kind === "lostBroadcasts") throw fault("eth_sendRawTransaction");
        const outcome = await honestWriter.broadcast(raw);
        if (trouble?.kind === "unheardBroadcasts") throw fault("eth_sendRawTransaction");
        return outcome;
      },
    },
    trouble: (next) => {
      trouble = next;
    },
    rescue: () => {
      trouble = undefined;
    },
    isTroubled: () => trouble !== undefined,
    hidLogs: () => hidLogs,
  };
}

/** The chain without its newest `count` blocks. Their transactions are not in the mempool either. */
function withoutNewest(memory: MemoryChain, count: () => number): MemoryChain {
  const lowest = 2;
  const length = (): number => Math.max(memory.blocks.length - count(), lowest);
  const tip = (): MemoryChain["tip"] => memory.blocks[length() - 1] ?? memory.tip;
  return {
    ...memory,
    get blocks() {
      return memory.blocks.slice(0, length());
    },
    get pool() {
      return memory.pool;
    },
    get baseFeePerGas() {
      return memory.baseFeePerGas;
    },
    get tip() {
      return tip();
    },
    balance: (currency, holder) => tip().after.get(`balance:${currency}:${holder}`) ?? 0n,
    mined: (hash) => {
      const mined = memory.mined(hash);
      return mined === undefined || mined.receipt.blockNumber > tip().number ? undefined : mined;
    },
    blockByHash: (hash) => {
      const block = memory.blockByHash(hash);
      return block === undefined || block.number > tip().number ? undefined : block;
    },
  };
}
