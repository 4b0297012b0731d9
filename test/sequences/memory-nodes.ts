import type { Chain } from "@causeway/domain";
import { nodeEnvironment, readLocalChains } from "@causeway/localnet";
import { OPERATORS } from "./keys.ts";
import { memoryChain } from "./memory-chain.ts";
import { OPERATOR_CELL } from "./memory-contracts.ts";
import { memoryLiquidity } from "./memory-dex.ts";
import { troubledNode } from "./node-trouble.ts";
import { forgetSignatures, memorySigner } from "./memory-signer.ts";
import type { SequenceChain, SequenceNodes } from "./sequence-chain.ts";

/** Chains in memory, on which thousands of sequences take minutes. */
export function memoryNodes(): SequenceNodes {
  const start = async (
    chain: Chain | undefined,
    fund: (chain: SequenceChain) => Promise<void>,
  ): Promise<SequenceChain> => {
    if (chain === undefined) throw new Error("invariant violated: two local chains are configured");
    const memory = memoryChain(chain);
    memory.setCell(OPERATOR_CELL, BigInt(OPERATORS[0]));
    const node = troubledNode(memory);
    // `Object.assign` keeps the getters of `memory`, unlike a spread.
    const connected = Object.assign(memory, { node, connect: () => node });
    await fund(connected);
    return connected;
  };
  return {
    kind: "memory",
    start: async (fund) => {
      forgetSignatures();
      return [await start(memoryChains[0], fund), await start(memoryChains[1], fund)];
    },
    signer: memorySigner,
    liquidity: memoryLiquidity,
    close: async () => undefined,
  };
}

const memoryChains = readLocalChains(nodeEnvironment({ portA: 1, portB: 2 })).map((chain): Chain => ({
  ...chain,
  rpcUrl: "http://127.0.0.1:1",
}));
