import { createLocalClient, type NodeAddress } from "@causeway/testkit";
import { localAccountAbstraction } from "@causeway/localnet";
import { parseAbiItem, type Hex } from "viem";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);
const POLL_INTERVAL_MS = 10;

/** Watches a chain for the operations of all senders. */
export interface InclusionWatch {
  /**
   * When the block that contains it was first seen (`performance.now`); undefined if there is none yet.
   *
   * @throws Error if the operation failed
   */
  seenAtMs(hash: Hex): number | undefined;
  stop(): Promise<void>;
}

export function watchInclusions(node: NodeAddress): InclusionWatch {
  const client = createLocalClient(node);
  const seen = new Map<Hex, { atMs: number; success: boolean }>();
  let isStopped = false;
  const loop = async (): Promise<void> => {
    let next = (await client.getBlockNumber({ cacheTime: 0 })) + 1n;
    while (!isStopped) {
      const head = await client.getBlockNumber({ cacheTime: 0 });
      if (head >= next) {
        const atMs = performance.now();
        const logs = await client.getLogs({
          address: localAccountAbstraction.entryPoint07,
          event: userOperationEvent,
          fromBlock: next,
          toBlock: head,
          strict: true,
        });
        for (const { args } of logs) seen.set(args.userOpHash, { atMs, success: args.success });
        next = head + 1n;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  };
  const running = loop();
  return {
    seenAtMs: (hash) => {
      const found = seen.get(hash);
      if (found?.success === false) throw new Error(`operation ${hash} was mined but failed`);
      return found?.atMs;
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}
