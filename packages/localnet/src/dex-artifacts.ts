import { createRequire } from "node:module";
import type { Hex } from "viem";

// npm packages of the DEX authors with compiled contracts. They are licensed under the GPL (v3-core since 1
// April 2023): local chains read them at run time, and nothing of them is copied or distributed.
const artifacts = {
  weth9: "canonical-weth/build/contracts/WETH9.json",
  uniswapV2Factory: "@uniswap/v2-core/build/UniswapV2Factory.json",
  uniswapV2Pair: "@uniswap/v2-core/build/UniswapV2Pair.json",
  uniswapV2Router: "@uniswap/v2-periphery/build/UniswapV2Router02.json",
  uniswapV3Factory: "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
  swapRouter: "@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json",
  quoterV2: "@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
  positionManager:
    "@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json",
} as const;

const read = createRequire(import.meta.url);

/** Creation code of one DEX contract, without constructor arguments. */
export function dexCreationCode(contract: keyof typeof artifacts): Hex {
  const { bytecode } = read(artifacts[contract]) as { readonly bytecode: string };
  return `0x${bytecode.replace(/^0x/, "")}`;
}
