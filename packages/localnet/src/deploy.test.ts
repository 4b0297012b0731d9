import { depositAddressFactoryAbi, testTokenAbi } from "@causeway/contracts";
import { createPublicClient, http, isHex, parseEther, size, webSocket } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localAccount } from "./accounts.ts";
import { PortInUse, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { deployLocal, localDeployment } from "./deploy.ts";
import { fundLocal } from "./fund.ts";
import { deployHostileTokens } from "./hostile-tokens.ts";
import { nodeEnvironment, readLocalChains } from "./local-chains.ts";

let node: RunningAnvil;
beforeAll(async () => {
  node = await startAnvil({ chainId: 72_100_117, blockTimeSeconds: 1 });
  await deployLocal(node);
});
afterAll(async () => await node.stop());

test("the configuration of every local chain has the addresses of the deployed contracts", () => {
  const chains = readLocalChains(nodeEnvironment({ portA: 1, portB: 2 }));
  expect(chains.map(({ id, name }) => ({ id, name }))).toEqual([
    { id: 72_100_117, name: "local-a" },
    { id: 72_100_228, name: "local-b" },
  ]);
  const { tokens, receiver, depository, router, approvalProxy, multicall3, ...otherContracts } =
    localDeployment;
  const { permit2, depositAddressFactory, ...dexContracts } = otherContracts;
  const contracts = {
    depository,
    router,
    approvalProxy,
    serviceReceiver: receiver,
    multicall3,
    permit2,
    depositAddressFactory,
  };
  const lower = (record: object): object =>
    Object.fromEntries(
      Object.entries(record).map(([name, address]) => [name, String(address).toLowerCase()]),
    );
  for (const chain of chains) {
    expect(lower(chain.contracts)).toEqual(lower(contracts));
    const [v3, v2] = chain.liquidity?.sources ?? [];
    if (v3?.kind !== "uniswap-v3" || v2?.kind !== "uniswap-v2")
      throw new TypeError("expected a v3 source and a v2 source");
    const { positionManager, ...configuredDexContracts } = dexContracts;
    expect({
      weth9: chain.liquidity?.wrappedNative,
      uniswapV3Factory: v3.factory,
      swapRouter: v3.router,
      quoterV2: v3.quoter,
      uniswapV2Factory: v2.factory,
      uniswapV2Router: v2.router,
    }).toEqual(lower(configuredDexContracts));
    expect(isHex(positionManager)).toBe(true);
    const configured = chain.tokens.map(({ symbol, name, decimals, address }) => ({
      symbol,
      name,
      decimals,
      address,
    }));
    expect(configured.map(lower)).toEqual(tokens.map(lower));
  }
});

test("contracts and tokens are deployed, and tokens have their configured names", async () => {
  const client = createPublicClient({ transport: http(node.url) });
  const { tokens, ...contracts } = localDeployment;
  for (const address of Object.values(contracts)) {
    const code = await client.getCode({ address });
    expect(isHex(code) && size(code) > 100).toBe(true);
  }
  for (const token of tokens) {
    const read = { abi: testTokenAbi, address: token.address } as const;
    expect(await client.readContract({ ...read, functionName: "symbol" })).toBe(token.symbol);
    expect(await client.readContract({ ...read, functionName: "name" })).toBe(token.name);
    expect(await client.readContract({ ...read, functionName: "decimals" })).toBe(token.decimals);
  }
});

test("the deposit address factory has the dedicated operator and the local owner", async () => {
  const client = createPublicClient({ transport: http(node.url) });
  const read = { abi: depositAddressFactoryAbi, address: localDeployment.depositAddressFactory } as const;
  expect(await client.readContract({ ...read, functionName: "operator" })).toBe(
    localAccount("depositAddressOperator").address,
  );
  expect(await client.readContract({ ...read, functionName: "owner" })).toBe(localAccount("owner").address);
});

test("refuses to deploy twice on one chain, because the addresses would differ", async () => {
  await expect(deployLocal(node)).rejects.toThrow("is not new");
});

test("funds accounts with exactly the given amounts", async () => {
  const { address } = localAccount("user", 9);
  const token = localDeployment.tokens[0]?.address ?? "0x";
  await fundLocal(node, [{ address, nativeWei: parseEther("3"), tokens: [{ token, amount: 5_000_000n }] }]);
  const client = createPublicClient({ transport: http(node.url) });
  expect(await client.getBalance({ address })).toBe(parseEther("3"));
  const balance = { abi: testTokenAbi, address: token, functionName: "balanceOf", args: [address] } as const;
  expect(await client.readContract(balance)).toBe(5_000_000n);
});

test("deploys hostile tokens at five distinct addresses", async () => {
  expect(new Set(Object.values(await deployHostileTokens(node))).size).toBe(5);
});

test("a node mines by itself, serves WebSocket on the same port and keeps the port in use", async () => {
  const transport = webSocket(node.wsUrl);
  const client = createPublicClient({ transport });
  expect(await client.getChainId()).toBe(72_100_117);
  const first = await client.getBlockNumber({ cacheTime: 0 });
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(first);
  (await client.transport.getRpcClient()).close();
  await expect(startAnvil({ chainId: 1, port: node.port })).rejects.toThrow(PortInUse);
});
