import {
  approvalProxyAbi,
  approvalProxyBytecode,
  depositAddressFactoryAbi,
  depositAddressFactoryBytecode,
  depositoryAbi,
  depositoryBytecode,
  multicall3Abi,
  multicall3Bytecode,
  permit2Address,
  permitTokenAbi,
  permitTokenBytecode,
  receiverAbi,
  receiverBytecode,
  routerAbi,
  routerBytecode,
  testUsdAbi,
  testUsdBytecode,
} from "@causeway/contracts";
import { encodeDeployData, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import {
  exchangeCreations,
  localExchanges,
  oddToken,
  pairRouterCreation,
  type ExchangeContracts,
} from "./deploy-exchanges.ts";
import { createdBy, deployInOrder, type Creation } from "./deploy-in-order.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";
import { permit2Creation } from "./permit2.ts";

/** A token of the local chains. */
export interface LocalToken {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly address: Address;
}

/** What stands on every local chain, at the same addresses on each. */
export interface LocalDeployment extends ExchangeContracts {
  readonly depository: Address;
  readonly router: Address;
  readonly approvalProxy: Address;
  readonly receiver: Address;
  readonly multicall3: Address;
  readonly permit2: Address;
  /** The account `depositAddressOperator` moves what was paid to its addresses. */
  readonly depositAddressFactory: Address;
  /** Made for these chains and anyone's to mint, but for WETH. */
  readonly tokens: readonly LocalToken[];
}

/** Known before anything is deployed. */
export const localDeployment: LocalDeployment = {
  depository: createdBy(0),
  router: createdBy(1),
  approvalProxy: createdBy(2),
  receiver: createdBy(3),
  multicall3: createdBy(4),
  permit2: permit2Address,
  depositAddressFactory: createdBy(14),
  ...localExchanges,
  tokens: [
    { symbol: "USDC", name: "USD Coin", decimals: 6, address: createdBy(5) },
    { symbol: "TST", name: "Test Token", decimals: 18, address: createdBy(6) },
    { symbol: "WETH", name: "Wrapped Ether", decimals: 18, address: localExchanges.weth9 },
    oddToken,
  ],
};

/**
 * Deploys the contracts and tokens to a fresh local chain.
 *
 * @throws LocalTransactionFailed when the chain is not fresh or a constructor reverts.
 */
export async function deployLocal(node: NodeAddress): Promise<LocalDeployment> {
  await deployInOrder(node, [
    ...creations(),
    ...exchangeCreations(),
    depositAddresses(),
    pairRouterCreation(),
  ]);
  const from = privateKeyToAccount(localAccount("deployer").privateKey);
  await sendPipelined(createLocalClient(node), from, [permit2Creation], 4_000_000n);
  return localDeployment;
}

function depositAddresses(): Creation {
  const args = [
    localDeployment.depository,
    localAccount("owner").address,
    localAccount("depositAddressOperator").address,
  ] as const;
  return {
    label: "DepositAddressFactory",
    data: encodeDeployData({ abi: depositAddressFactoryAbi, bytecode: depositAddressFactoryBytecode, args }),
  };
}

function creations(): Creation[] {
  const owner = localAccount("owner").address;
  const allocator = localAccount("allocator").address;
  const solver = localAccount("solver").address;
  const [usd, tst] = localDeployment.tokens;
  if (usd === undefined || tst === undefined) throw new RangeError("invariant violated: two tokens expected");
  return [
    {
      label: "Depository",
      data: encodeDeployData({ abi: depositoryAbi, bytecode: depositoryBytecode, args: [owner, allocator] }),
    },
    { label: "Router", data: encodeDeployData({ abi: routerAbi, bytecode: routerBytecode }) },
    {
      label: "ApprovalProxy",
      data: encodeDeployData({
        abi: approvalProxyAbi,
        bytecode: approvalProxyBytecode,
        args: [localDeployment.router],
      }),
    },
    {
      label: "Receiver",
      data: encodeDeployData({ abi: receiverAbi, bytecode: receiverBytecode, args: [solver] }),
    },
    { label: "Multicall3", data: encodeDeployData({ abi: multicall3Abi, bytecode: multicall3Bytecode }) },
    {
      label: "TestUsd",
      data: encodeDeployData({ abi: testUsdAbi, bytecode: testUsdBytecode, args: [usd.name, usd.symbol] }),
    },
    {
      label: "PermitToken",
      data: encodeDeployData({
        abi: permitTokenAbi,
        bytecode: permitTokenBytecode,
        args: [tst.name, tst.symbol],
      }),
    },
  ];
}
