import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import type { Hex } from "viem";

/** A Hardhat node in this process. */
export interface HardhatNode {
  readonly url: string;
  /** The key of an account that can fund the local system's contracts and accounts. */
  readonly fundingKey: Hex;
  /** Sets the block interval. 0 stops mining. */
  setBlockTime(milliseconds: number): Promise<void>;
  stop(): Promise<void>;
}

const fundingKey: Hex = `0x${"5a".repeat(32)}`;
const MILLION_NATIVE = (10n ** 24n).toString();

/** Starts Hardhat's node with the rules of Osaka: its EVM, RPC server and error texts differ from anvil's. */
export async function startHardhatNode(chainId: number, blockTimeMs: number): Promise<HardhatNode> {
  const environment = await createHardhatRuntimeEnvironment({
    networks: {
      node: {
        type: "edr-simulated",
        chainType: "l1",
        hardfork: "osaka",
        accounts: [{ privateKey: fundingKey, balance: MILLION_NATIVE }],
        chainId,
        mining: { auto: false, interval: blockTimeMs },
        blockGasLimit: 30_000_000,
        allowBlocksWithSameTimestamp: true,
      },
    },
  });
  const node = await environment.network.createServer("node", "127.0.0.1", 0);
  const { port } = await node.listen();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    fundingKey,
    setBlockTime: async (milliseconds) => {
      const call = { jsonrpc: "2.0", id: 1, method: "evm_setIntervalMining", params: [milliseconds] };
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(call) });
      if (!answer.ok) throw new Error(`evm_setIntervalMining: HTTP status ${answer.status}`);
    },
    stop: async () => await node.close(),
  };
}
