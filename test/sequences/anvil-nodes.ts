import { rawKeySigner } from "@causeway/attest";
import { createRpcTransport, type RpcTransport } from "@causeway/chains";
import type { Address, Chain, Hex } from "@causeway/domain";
import { createLocalClient, freePort, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { deployLocal, nodeEnvironment, readLocalChains } from "@causeway/localnet";
import { privateKeyOf } from "./keys.ts";
import { BURNER, FICKLE, SINK } from "./memory-contracts.ts";
import { GAS_LIMIT, mirroredChain, type MirroredChain } from "./mirrored-chain.ts";
import type { SequenceChain, SequenceNodes } from "./sequence-chain.ts";

/** The contracts of `memory-contracts.ts` on a real node, in EVM code. */
const codes: readonly (readonly [Address, Hex])[] = [
  // Rejects native tokens in blocks with an odd number: if (callvalue && number & 1) revert.
  [FICKLE, "0x341560105743600116156010575f5ffd5b00"],
  // Runs a loop until it has used 2,000,000 gas (1e8480), then reverts if the block number is odd.
  [BURNER, "0x5a5b5a8103621e84801160015743600116601557005b5f5ffd"],
  // Stops.
  [SINK, "0x00"],
];

/** The number of blocks from which the service derives fees. */
const FEE_HISTORY_BLOCKS = 10;

interface Node {
  readonly chain: MirroredChain;
  readonly node: RunningAnvil;
  readonly transport: RpcTransport;
}

/** Two anvil nodes with the real contracts. Each sequence begins from the same snapshot. */
export async function anvilNodes(startMs: number): Promise<SequenceNodes> {
  const described = readLocalChains(nodeEnvironment({ portA: await freePort(), portB: await freePort() }));
  const nodes = await Promise.all(described.map(async (chain) => await startNode(chain, startMs)));
  const [first, second] = nodes.map(({ chain }) => chain);
  if (first === undefined || second === undefined)
    throw new Error("invariant violated: two local chains are configured");
  let isFunded = false;
  return {
    kind: "anvil",
    start: async (fund: (chain: SequenceChain) => Promise<void>) => {
      for (const chain of [first, second]) {
        if (isFunded) await chain.reset();
        else {
          await fund(chain);
          await chain.save();
        }
      }
      isFunded = true;
      return [first, second];
    },
    signer: (address) => rawKeySigner(privateKeyOf(address)),
    close: async () => {
      for (const { node, transport } of nodes) {
        await transport.close();
        await node.stop();
      }
    },
  };
}

async function startNode({ liquidity: _, ...described }: Chain, startMs: number): Promise<Node> {
  const node = await startAnvil({
    chainId: described.id,
    extraArgs: [
      "--no-mining",
      "--timestamp",
      String(Math.floor(startMs / 1000) - 1_000),
      "--gas-limit",
      String(GAS_LIMIT),
    ],
  });
  await deployLocal(node);
  const client = createLocalClient(node);
  // Otherwise fees of the deployment would be part of the fee history.
  await client.mine({ blocks: FEE_HISTORY_BLOCKS });
  // As in memory, a sequence begins after a block with an odd number, because some of the contracts below
  // depend on it.
  if ((await client.getBlockNumber()) % 2n === 0n) await client.mine({ blocks: 1 });
  for (const [address, bytecode] of codes) await client.setCode({ address, bytecode });
  const transport = createRpcTransport({ url: node.url });
  const chain = await mirroredChain({ ...described, rpcUrl: node.url }, client, transport);
  return { chain, node, transport };
}
