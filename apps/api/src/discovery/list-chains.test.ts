import type { Address, Chain, Currency } from "@causeway/domain";
import { chainsAnswer } from "@causeway/wire";
import { mismatch } from "@causeway/service-kit";
import { expect, test } from "vitest";
import { noChains } from "../../../../test/fakes/no-chains.ts";
import {
  aConnectedNonEvmChain,
  bitcoin,
  hyperliquid,
  solana,
} from "../../../../test/fakes/non-evm-chains.ts";
import { createChainDirectory } from "../chains/directory.adapter.ts";
import type { ChainDirectory } from "../chains/chains.port.ts";
import { createChainList, listChains } from "./list-chains.ts";

const address = (digit: string): Address => `0x${digit.repeat(40)}`;
const solverAddress = address("9");

const eth: Currency = {
  chainId: 8453,
  address: address("0"),
  id: "eth",
  symbol: "ETH",
  name: "Ether",
  decimals: 18,
  class: "major",
  priceId: "ethereum",
  supportsBridging: true,
  supportsPermit: false,
  resetsApproval: false,
  logoUri: "https://example.org/eth.png",
  verified: true,
  maxFillAmount: undefined,
};
const usdc: Currency = {
  ...eth,
  address: address("1"),
  id: "usdc",
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6,
  supportsPermit: true,
};
const odd: Currency = {
  ...eth,
  address: address("2"),
  id: "odd",
  supportsBridging: false,
  verified: false,
  logoUri: undefined,
};

const base: Chain = {
  id: 8453,
  name: "base",
  displayName: "Base",
  vmType: "evm",
  rpcUrl: "https://node.example/SECRET",
  wsRpcUrl: "wss://node.example/SECRET",
  publicRpcUrl: "https://public.example",
  publicWsRpcUrl: undefined,
  explorerUrl: "https://explorer.example",
  explorerName: "Explorer",
  iconUrl: "https://example.org/base.png",
  baseChainId: 1,
  tags: ["l2"],
  depositEnabled: true,
  disabled: false,
  partialDisableLimit: 0n,
  surgeEnabled: false,
  native: eth,
  tokens: [usdc, odd],
  contracts: {
    depository: address("a"),
    router: address("b"),
    approvalProxy: address("c"),
    serviceReceiver: address("d"),
    multicall3: address("e"),
  },
  confirmationTiers: [],
  maxUnconfirmedUsd: undefined,
  finalityBlocks: 10,
  blockTimeSeconds: 2,
  fees: {
    flatUsd: 0n,
    depositBps: 3,
    withdrawalBps: 7,
    gasMarginBps: 0,
    minPriorityFeeWei: 0n,
    maxFeePerGasWei: 1n,
    gasCountsData: false,
  },
};

/** A directory of one chain whose blocks can be made late. */
function aDirectory(chain: Chain): { directory: ChainDirectory; setLagging: (lagging: boolean) => void } {
  let lagging = false;
  const pulse = { isLagging: () => lagging };
  const evmChains = [{ chain, pulse }] as unknown as ChainDirectory["evmChains"];
  const directory: ChainDirectory = { ...noChains, evmChains: evmChains, get: () => evmChains[0] };
  return { directory, setLagging: (value) => (lagging = value) };
}

const listed = (chain: Chain) => listChains({ chains: aDirectory(chain).directory, solverAddress });

test("all tokens are supported where swaps are possible, otherwise only configured ones", () => {
  const supported = (chain: Chain) => listed(chain).chains[0]?.tokenSupport;
  const pairs = { kind: "uniswap-v2", name: "pairs", factory: address("f"), feeBps: 30 } as const;
  const liquidity = { wrappedNative: address("e"), connectors: [], sources: [pairs] };
  expect(supported({ ...base, liquidity })).toBe("All");
  expect(supported({ ...base, liquidity: { ...liquidity, sources: [] } })).toBe("Limited");
});

test("fills every field of the schema from the configuration", () => {
  const answer = listed(base);
  expect(mismatch(chainsAnswer, answer)).toBeUndefined();
  expect(answer.chains[0]).toMatchObject({
    id: 8453,
    name: "base",
    httpRpcUrl: "https://public.example",
    wsRpcUrl: "",
    tokenSupport: "Limited",
    depositFee: 3,
    withdrawalFee: 7,
    blockProductionLagging: false,
    statusMessage: null,
    currency: { id: "eth", address: address("0"), supportsBridging: true },
    contracts: {
      multicall3: address("e"),
      serviceReceiver: address("d"),
      erc20Router: address("b"),
      approvalProxy: address("c"),
      v3: { erc20Router: address("b"), approvalProxy: address("c") },
    },
    vmType: "evm",
    baseChainId: 1,
    solverAddresses: [solverAddress],
    protocol: { v2: { chainId: "base", depository: address("a"), depositoryVault: null } },
  });
});

test("currencies that cannot be quoted or are not verified are listed but not offered", () => {
  const [chain] = listed(base).chains;
  expect(chain?.erc20Currencies).toMatchObject([
    { id: "usdc", supportsBridging: true, supportsPermit: true, depositFee: 3, withdrawalFee: 7 },
    { id: "odd", supportsBridging: false, metadata: { logoURI: "", verified: false } },
  ]);
  expect(chain?.solverCurrencies.map(({ id }) => id)).toEqual(["eth", "usdc"]);
  expect(chain?.featuredTokens.map(({ id }) => id)).toEqual(["eth", "usdc"]);
});

test("never shows the URL of the service's own node", () => {
  expect(JSON.stringify(listed(base))).not.toContain("SECRET");
});

test("marks a disabled chain", () => {
  expect(listed({ ...base, disabled: true }).chains[0]).toMatchObject({
    disabled: true,
    statusMessage: expect.stringMatching("No new quotes"),
  });
});

test("returns the same object until a chain starts or stops lagging", () => {
  const { directory, setLagging } = aDirectory(base);
  const list = createChainList({ chains: directory, solverAddress });
  const first = list();
  expect(list()).toBe(first);
  setLagging(true);
  const late = list();
  expect(late.chains[0]).toMatchObject({ blockProductionLagging: true });
  expect(late.chains[0]?.statusMessage).toMatch(/late/);
  expect(list()).toBe(late);
  setLagging(false);
  expect(list()).toEqual(first);
});

test("lists non-EVM chains in their own address format and without contracts", () => {
  const chains = createChainDirectory(
    [],
    [
      aConnectedNonEvmChain("svm", {
        chain: { explorerPaths: { transaction: "/tx/{TX_HASH}" } },
      }),
      aConnectedNonEvmChain("bvm", { isLagging: true }),
      aConnectedNonEvmChain("hypevm"),
    ],
  );
  const answer = listChains({ chains, solverAddress });
  expect(mismatch(chainsAnswer, answer)).toBeUndefined();
  const [svm, bvm, hypevm] = answer.chains;
  expect(svm).toMatchObject({
    vmType: "svm",
    currency: { address: solana.native, symbol: "SOL" },
    erc20Currencies: [{ address: solana.usdc, supportsPermit: false }],
    solverCurrencies: [{ address: solana.native }, { address: solana.usdc }],
    solverAddresses: [solana.solver],
    explorerPaths: { transaction: "/tx/{TX_HASH}" },
    tokenSupport: "Limited",
    contracts: {},
    protocol: { v2: { chainId: "solana", depository: solana.depository } },
  });
  expect(bvm).toMatchObject({
    id: 8253038,
    vmType: "bvm",
    currency: { address: bitcoin.native },
    solverAddresses: [bitcoin.solver],
    blockProductionLagging: true,
    protocol: { v2: { depository: bitcoin.depository } },
  });
  expect(hypevm).toMatchObject({
    id: 1337,
    vmType: "hypevm",
    currency: { address: hyperliquid.perps, symbol: "USDC", decimals: 8 },
    erc20Currencies: [{ address: hyperliquid.spot }],
    solverAddresses: [hyperliquid.solver],
    protocol: { v2: { depository: hyperliquid.depository } },
    exchange: { apiUrl: "https://api.exchange.example", isTestnet: false, signingProfile: "default" },
  });
});
