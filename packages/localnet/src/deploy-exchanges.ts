import { testTokenAbi, testTokenBytecode } from "@causeway/contracts";
import { concat, encodeDeployData, pad, zeroAddress, type Address } from "viem";
import { localAccount } from "./accounts.ts";
import { nthDeployment, type Creation } from "./deploy-in-order.ts";
import { exchangeCode } from "./exchange-artifacts.ts";

/** The DEX contracts on every local chain, at the same addresses on each. */
export interface ExchangeContracts {
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

/** Number of transactions that the deployer sends before the exchanges' creations. */
const before = 7;

/** The addresses, known before deployment. */
export const localExchanges: ExchangeContracts = {
  weth9: nthDeployment(before),
  uniswapV3Factory: nthDeployment(before + 2),
  swapRouter: nthDeployment(before + 3),
  quoterV2: nthDeployment(before + 4),
  positionManager: nthDeployment(before + 5),
  uniswapV2Factory: nthDeployment(before + 6),
  // The last contract that the deployer creates.
  uniswapV2Router: nthDeployment(before + 8),
};

/** A token with a pool for one other token, and without a price. */
export const oddToken = {
  symbol: "ODD",
  name: "Odd Token",
  decimals: 18,
  address: nthDeployment(before + 1),
};

/** In the order that their addresses require. */
export function exchangeCreations(): Creation[] {
  const { weth9, uniswapV3Factory } = localExchanges;
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
  return creation("uniswapV2Router", [localExchanges.uniswapV2Factory, localExchanges.weth9]);
}

/** Every argument of their constructors is an address. */
function creation(contract: keyof ExchangeContracts, args: readonly Address[]): Creation {
  return { label: contract, data: concat([exchangeCode(contract), ...args.map((one) => pad(one))]) };
}
