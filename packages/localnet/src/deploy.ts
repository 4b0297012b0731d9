import {
  permit2Address,
  permitTokenAbi,
  permitTokenBytecode,
  testUsdAbi,
  testUsdBytecode,
} from "@causeway/contracts";
import { planChain, plannedAddress } from "@causeway/contracts/deploy";
import { encodeDeployData, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import {
  dexCreations,
  localDexContracts,
  oddToken,
  pairRouterCreation,
  type DexContracts,
} from "./deploy-dex.ts";
import { nthDeployment, deployInOrder, plannedCreations, type Creation } from "./deploy-in-order.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";
import { permit2Creation } from "./permit2.ts";

/** A token of the local chains. */
export interface LocalToken {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly address: Address;
}

/** The contracts and tokens of every local chain, at the same addresses on each. */
export interface LocalDeployment extends DexContracts {
  readonly depository: Address;
  readonly router: Address;
  readonly approvalProxy: Address;
  readonly receiver: Address;
  readonly multicall3: Address;
  readonly permit2: Address;
  /** Its operator is the account `depositAddressOperator`. */
  readonly depositAddressFactory: Address;
  /** Test tokens that anyone can mint, except WETH. */
  readonly tokens: readonly LocalToken[];
}

/** The contracts of the service, as `operator deploy` plans them. */
const plan = planChain({
  owner: localAccount("owner").address,
  allocator: localAccount("allocator").address,
  solver: localAccount("solver").address,
  depositAddressOperator: localAccount("depositAddressOperator").address,
  multicall3: true,
});

/** The addresses, known before deployment. */
export const localDeployment: LocalDeployment = {
  depository: plannedAddress(plan, "Depository"),
  router: plannedAddress(plan, "Router"),
  approvalProxy: plannedAddress(plan, "ApprovalProxy"),
  receiver: plannedAddress(plan, "Receiver"),
  multicall3: plannedAddress(plan, "Multicall3"),
  permit2: permit2Address,
  depositAddressFactory: plannedAddress(plan, "DepositAddressFactory"),
  ...localDexContracts,
  tokens: [
    { symbol: "USDC", name: "USD Coin", decimals: 6, address: nthDeployment(5) },
    { symbol: "TST", name: "Test Token", decimals: 18, address: nthDeployment(6) },
    { symbol: "WETH", name: "Wrapped Ether", decimals: 18, address: localDexContracts.weth9 },
    oddToken,
  ],
};

/**
 * Deploys the contracts and tokens to a fresh local chain.
 *
 * @throws LocalTransactionFailed if the chain is not fresh or a constructor reverts
 */
export async function deployLocal(node: NodeAddress): Promise<LocalDeployment> {
  const planned = plannedCreations(plan);
  // Planned contracts can be created at any position; this order gives the others their known addresses.
  await deployInOrder(node, [
    ...planned.slice(0, 5),
    ...tokenCreations(),
    ...dexCreations(),
    ...planned.slice(5),
    pairRouterCreation(),
  ]);
  const from = privateKeyToAccount(localAccount("deployer").privateKey);
  await sendPipelined(createLocalClient(node), from, [permit2Creation], 4_000_000n);
  return localDeployment;
}

function tokenCreations(): Creation[] {
  const [usd, tst] = localDeployment.tokens;
  if (usd === undefined || tst === undefined) throw new RangeError("invariant violated: two tokens expected");
  return [
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
