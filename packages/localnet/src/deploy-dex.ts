import { testTokenAbi, testTokenBytecode } from "@causeway/contracts";
import { concat, encodeDeployData, pad, zeroAddress, type Address } from "viem";
import { localAccount } from "./accounts.ts";
import { nthDeployment, type Creation } from "./deploy-in-order.ts";
import { dexCreationCode } from "./dex-artifacts.ts";

/** The DEX contracts on every local chain, at the same addresses on each. */
export interface DexContracts {
  readonly weth9: Address;
  readonly uniswapV3Factory: Address;
  /** The version whose swaps take a deadline. */
  readonly swapRouter: Address;
  readonly quoterV2: Address;
  /** Adds liquidity to v3 pools. */
  readonly positionManager: Address;
  readonly uniswapV2Factory: Address;
  /** `UniswapV2Router02`. */
  readonly uniswapV2Router: Address;
}

/** The deployer's nonce for the first of these creations. */
const firstNonce = 7;

/** The addresses, known before deployment. */
export const localDexContracts: DexContracts = {
  weth9: nthDeployment(firstNonce),
  uniswapV3Factory: nthDeployment(firstNonce + 2),
  swapRouter: nthDeployment(firstNonce + 3),
  quoterV2: nthDeployment(firstNonce + 4),
  positionManager: nthDeployment(firstNonce + 5),
  uniswapV2Factory: nthDeployment(firstNonce + 6),
  // The last contract that the deployer creates.
  uniswapV2Router: nthDeployment(firstNonce + 8),
};

/** A token with a pool for one other token, and without a price. */
export const oddToken = {
  symbol: "ODD",
  name: "Odd Token",
  decimals: 18,
  address: nthDeployment(firstNonce + 1),
};

/** The creations, in the order that the planned addresses require. */
export function dexCreations(): Creation[] {
  const { weth9, uniswapV3Factory } = localDexContracts;
  const periphery = [uniswapV3Factory, weth9];
  return [
    creation("weth9", []),
    {
      label: "Odd Token",
      data: encodeDeployData({
        abi: testTokenAbi,
        bytecode: testTokenBytecode,
        args: [oddToken.name, oddToken.symbol],
      }),
    },
    creation("uniswapV3Factory", []),
    creation("swapRouter", periphery),
    creation("quoterV2", periphery),
    // The third argument, the descriptor of position NFTs, is not needed here.
    creation("positionManager", [...periphery, zeroAddress]),
    creation("uniswapV2Factory", [localAccount("owner").address]),
  ];
}

/** The last contract that the deployer creates. */
export function pairRouterCreation(): Creation {
  return creation("uniswapV2Router", [localDexContracts.uniswapV2Factory, localDexContracts.weth9]);
}

/** All constructor arguments of these contracts are addresses. */
function creation(contract: keyof DexContracts, args: readonly Address[]): Creation {
  return { label: contract, data: concat([dexCreationCode(contract), ...args.map((arg) => pad(arg))]) };
}
