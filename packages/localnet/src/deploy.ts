import {
  approvalProxyAbi,
  approvalProxyBytecode,
  depositoryAbi,
  depositoryBytecode,
  multicall3Abi,
  multicall3Bytecode,
  receiverAbi,
  receiverBytecode,
  routerAbi,
  routerBytecode,
  testTokenAbi,
  testTokenBytecode,
  testUsdAbi,
  testUsdBytecode,
} from "@causeway/contracts";
import { encodeDeployData, getContractAddress, parseEther, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import {
  createLocalClient,
  LocalTransactionFailed,
  sendPipelined,
  type NodeAddress,
} from "./local-client.ts";

/** A token of the local chains. */
export interface LocalToken {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly address: Address;
}

/** What stands on every local chain, at the same addresses on each. */
export interface LocalDeployment {
  readonly depository: Address;
  readonly router: Address;
  readonly approvalProxy: Address;
  readonly receiver: Address;
  readonly multicall3: Address;
  readonly tokens: readonly LocalToken[];
}

const deployer = localAccount("deployer");

/** The address that the deployer's n-th transaction creates. The order below is therefore part of the configuration. */
function createdBy(nonce: number): Address {
  return getContractAddress({ from: deployer.address, nonce: BigInt(nonce) });
}

/** Known before anything is deployed. */
export const localDeployment: LocalDeployment = {
  depository: createdBy(0),
  router: createdBy(1),
  approvalProxy: createdBy(2),
  receiver: createdBy(3),
  multicall3: createdBy(4),
  tokens: [
    { symbol: "USDC", name: "USD Coin", decimals: 6, address: createdBy(5) },
    { symbol: "TST", name: "Test Token", decimals: 18, address: createdBy(6) },
  ],
};

/**
 * Deploys the contracts and tokens to a fresh local chain.
 *
 * @throws LocalTransactionFailed when the chain is not fresh or a constructor reverts.
 */
export async function deployLocal(node: NodeAddress): Promise<LocalDeployment> {
  const client = createLocalClient(node);
  const from = privateKeyToAccount(deployer.privateKey);
  const [nonce] = await Promise.all([
    client.getTransactionCount({ address: from.address }),
    client.setBalance({ address: from.address, value: parseEther("1000000") }),
  ]);
  if (nonce !== 0) {
    throw new LocalTransactionFailed(
      `chain ${node.chainId} is not fresh: its deployer has sent ${nonce} transactions`,
    );
  }
  const calls = creations().map(({ label, data }) => ({ label: `creation of ${label}`, data }));
  const receipts = await sendPipelined(client, from, calls, 6_000_000n);
  receipts.forEach((receipt, index) => {
    if (receipt.contractAddress?.toLowerCase() !== createdBy(index).toLowerCase()) {
      throw new LocalTransactionFailed(`${calls[index]?.label} landed at ${receipt.contractAddress}`);
    }
  });
  return localDeployment;
}

function creations(): { label: string; data: Hex }[] {
  const owner = localAccount("owner").address;
  const allocator = localAccount("allocator").address;
  const solver = localAccount("solver").address;
  const [usd, tst] = localDeployment.tokens;
  if (usd === undefined || tst === undefined) throw new RangeError("two tokens are described above");
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
      label: "TestToken",
      data: encodeDeployData({
        abi: testTokenAbi,
        bytecode: testTokenBytecode,
        args: [tst.name, tst.symbol],
      }),
    },
  ];
}
