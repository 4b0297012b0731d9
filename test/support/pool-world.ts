import { setTimeout as sleep } from "node:timers/promises";
import {
  createChainReader,
  createPoolReader,
  createRpcTransport,
  NodeRefusal,
  type Head,
} from "@causeway/chains";
import type { Address, Chain, Hex, UniswapV2Source, UniswapV3Source } from "@causeway/domain";
import { createLocalClient, sendPipelined, startAnvil, type LocalClient } from "@causeway/testkit";
import {
  deployLocal,
  localAccount,
  localExchanges,
  nodeEnvironment,
  openPools,
  readLocalChains,
  type LocalAccount,
} from "@causeway/localnet";
import { encodeFunctionData, maxUint256, multicall3Abi, parseAbi, parseEther, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import {
  createChainPools,
  type ChainPools,
} from "../../apps/api/src/markets/liquidity/chain-pools.adapter.ts";
import {
  createPoolLiquidity,
  type PooledChain,
} from "../../apps/api/src/markets/liquidity/pool-liquidity.adapter.ts";
import { pairsOfPaths, type TokenPair } from "../../apps/api/src/markets/liquidity/token-pair.adapter.ts";
import type { LiquiditySource } from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import { steppedHeads } from "../fakes/stepped-heads.ts";

/**
 * A real chain with the pools of the local system. A process caches the pools, and the test changes them.
 */
export interface PoolWorld {
  readonly chain: Chain;
  readonly client: LocalClient;
  readonly v3: UniswapV3Source;
  readonly v2: UniswapV2Source & { readonly router: Address };
  /** The address of each token, by its symbol. */
  readonly token: Readonly<Record<"USDC" | "TST" | "WETH" | "ODD", Address>>;
  /** Every pair of two of these tokens. */
  readonly pairs: readonly TokenPair[];
  readonly pools: ChainPools;
  readonly liquidity: LiquiditySource;
  readonly node: NodeBehavior;
  /** The cache of another process that has not read anything yet. */
  freshPools(): ChainPools;
  /** Notifies the process of the newest block. */
  announce(): Promise<Head>;
  /** Sends calls from an account, which are mined together. Returns the gas that each used. */
  send(from: LocalAccount, calls: readonly { readonly to: Address; readonly data: Hex }[]): Promise<bigint[]>;
  /** Adds liquidity from the provider. */
  addLiquidity(position: Position): Promise<void>;
  /**
   * Removes all liquidity of a position.
   * @param id number of the position, in the order in which positions were provided, starting at 1n
   */
  removeLiquidity(id: bigint): Promise<void>;
  /** The results of these calls at the newest block, read in one request. */
  callTogether(calls: readonly { readonly to: Address; readonly data: Hex }[]): Promise<(Hex | undefined)[]>;
  stop(): Promise<void>;
}

/** How the node of the process behaves. */
export interface NodeBehavior {
  /** The number of requests so far. */
  requestCount: number;
  /** Whether all calls fail. */
  isDown: boolean;
  /** The delay of each answer in ms. */
  slowMs: number;
  /** Whether it refuses block hashes in log filters. */
  refusesHashes: boolean;
  /** A lagging node: the hash of the block that it lacks, and its newest block. */
  behind: { readonly unknown: Hex; readonly newest: bigint } | undefined;
}

export interface Position {
  readonly pair: TokenPair;
  readonly fee: number;
  readonly from: number;
  readonly to: number;
  /** The maximum of each token that is added, in base units. */
  readonly amount0: bigint;
  readonly amount1: bigint;
}

const positionAbi = parseAbi([
  "struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
  "function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
  "function positions(uint256 id) view returns (uint96, address, address, address, uint24, int24, int24, uint128 liquidity, uint256, uint256, uint128, uint128)",
  "function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable returns (uint256, uint256)",
]);

function refusal(method: string, nodeText: string): NodeRefusal {
  return new NodeRefusal({ method, nodeCode: -32_000, nodeText, nodeData: undefined });
}

export async function startPoolWorld(): Promise<PoolWorld> {
  const node = await startAnvil({ chainId: 72_100_117 });
  await deployLocal(node);
  await openPools(node);
  const [localChain] = readLocalChains(nodeEnvironment({ portA: node.port, portB: 1 }));
  if (localChain?.liquidity === undefined) throw new TypeError("the first local chain has no pools");
  const chain = localChain;
  const { liquidity: chainLiquidity } = localChain;
  const [v3, v2] = chainLiquidity.sources;
  if (v3?.kind !== "uniswap-v3" || v2?.kind !== "uniswap-v2" || v2.router === undefined)
    throw new TypeError("expected a v3 source, and a v2 source with a router");
  const client = createLocalClient(node);
  const manager = localExchanges.positionManager;
  const provider = localAccount("deployer");
  const behavior: NodeBehavior = {
    requestCount: 0,
    isDown: false,
    slowMs: 0,
    refusesHashes: false,
    behind: undefined,
  };
  const rpc = createRpcTransport({ url: node.url });
  const transport: typeof rpc = {
    ...rpc,
    request: async (method, params, options) => {
      behavior.requestCount++;
      if (behavior.isDown) throw new Error("the node is unreachable");
      if (behavior.slowMs > 0) await sleep(behavior.slowMs);
      if (behavior.refusesHashes && method === "eth_getLogs")
        throw refusal(method, "filter by blockHash is not supported");
      if (behavior.behind === undefined) return await rpc.request(method, params, options);
      const { unknown, newest } = behavior.behind;
      if (JSON.stringify(params).includes(unknown)) throw refusal(method, "header not found");
      const forwardedParams = params.map((param) => (param === "latest" ? toHex(newest) : param));
      return await rpc.request(method, forwardedParams, options);
    },
  };
  const heads = steppedHeads();
  const reader = createChainReader(chain, transport, { knownHead: () => heads.latest });
  const fresh = (): ChainPools =>
    createChainPools({
      sources: chainLiquidity.sources,
      pools: createPoolReader(transport, chain.contracts.multicall3),
      reader,
      heads,
      clock: { nowMs: () => Date.now() },
      onFault: () => undefined,
    });
  const pools = fresh();
  const tokens = Object.fromEntries(chain.tokens.map(({ symbol, address }) => [symbol, address]));
  const token = tokens as PoolWorld["token"];
  const pooled: PooledChain = {
    chainId: chain.id,
    liquidity: chainLiquidity,
    pools,
    plainApprovals: new Set(chain.tokens.map(({ address }) => address)),
  };
  const send: PoolWorld["send"] = async (from, calls) => {
    const labeled = calls.map((call) => ({ ...call, label: "a call of the test" }));
    const receipts = await sendPipelined(client, privateKeyToAccount(from.privateKey), labeled, 3_000_000n);
    return receipts.map(({ gasUsed }) => gasUsed);
  };
  return {
    chain,
    client,
    v3,
    v2: { ...v2, router: v2.router },
    token,
    pairs: pairsOfPaths(token.ODD, token.USDC, [token.WETH, token.TST], 3),
    pools,
    liquidity: createPoolLiquidity([pooled]),
    node: behavior,
    freshPools: fresh,
    announce: async () => heads.announce(await createChainReader(chain, rpc).head(), Date.now()),
    send,
    addLiquidity: async ({ pair, fee, from, to, amount0, amount1 }) => {
      const params = {
        token0: pair.token0,
        token1: pair.token1,
        fee,
        tickLower: from,
        tickUpper: to,
        amount0Desired: amount0,
        amount1Desired: amount1,
        amount0Min: 0n,
        amount1Min: 0n,
        recipient: provider.address,
        deadline: maxUint256,
      };
      const data = encodeFunctionData({ abi: positionAbi, functionName: "mint", args: [params] });
      await send(provider, [{ to: manager, data }]);
    },
    removeLiquidity: async (tokenId) => {
      const position = await client.readContract({
        abi: positionAbi,
        address: manager,
        functionName: "positions",
        args: [tokenId],
      });
      const params = {
        tokenId,
        liquidity: position[7],
        amount0Min: 0n,
        amount1Min: 0n,
        deadline: maxUint256,
      };
      const data = encodeFunctionData({
        abi: positionAbi,
        functionName: "decreaseLiquidity",
        args: [params],
      });
      await send(provider, [{ to: manager, data }]);
    },
    callTogether: async (calls) => {
      const answers = await client.readContract({
        abi: multicall3Abi,
        address: chain.contracts.multicall3,
        functionName: "aggregate3",
        args: [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))],
      });
      return answers.map(({ success, returnData }) => (success ? returnData : undefined));
    },
    stop: async () => {
      pools.close();
      await rpc.close();
      await node.stop();
    },
  };
}

/** Gives an account native tokens for gas. */
export async function fundGas({ client }: PoolWorld, account: Address): Promise<void> {
  await client.setBalance({ address: account, value: parseEther("1000") });
}
