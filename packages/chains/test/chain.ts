import { createWalletClient, publicActions, http, type Abi, type Hex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import {
  depositoryAbi,
  depositoryBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  multicall3Abi,
  multicall3Bytecode,
  routerAbi,
  routerBytecode,
  testTokenAbi,
  testTokenBytecode,
} from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Chain, type Currency, type TxHash } from "@causeway/domain";
import type { ChainReader, ReceiptFact } from "@causeway/families/evm";
import { startAnvil, type Anvil } from "./anvil.ts";

const mnemonic = "test test test test test test test test test test test junk";
export const user = mnemonicToAccount(mnemonic, { addressIndex: 0 });
export const solver = mnemonicToAccount(mnemonic, { addressIndex: 1 });

export interface Wallet {
  /** Sends and waits until it is mined. Returns its hash. */
  send(transaction: { to: Address; data?: Hex; value?: bigint; from?: typeof user }): Promise<Hex>;
  deploy(abi: Abi, bytecode: Hex, args?: readonly unknown[]): Promise<Address>;
  rpc(method: string, params: readonly unknown[]): Promise<unknown>;
}

export interface EvmWorld {
  readonly node: Anvil;
  readonly chain: Chain;
  readonly wallet: Wallet;
  readonly token: Address;
  readonly feeToken: Address;
}

/**
 * A node with the contracts and two tokens; everything here uses viem's own transport, not
 * ours.
 */
export async function startEvmWorld(chainId: number): Promise<EvmWorld> {
  const node = await startAnvil(chainId);
  const wallet = walletOn(node, chainId);
  const depository = await wallet.deploy(depositoryAbi, depositoryBytecode, [user.address, user.address]);
  const multicall3 = await wallet.deploy(multicall3Abi, multicall3Bytecode);
  const router = await wallet.deploy(routerAbi, routerBytecode);
  const token = await wallet.deploy(testTokenAbi, testTokenBytecode, ["Token", "TKN"]);
  const feeToken = await wallet.deploy(feeOnTransferAbi, feeOnTransferBytecode);
  const chain = aChain(chainId, node.url, { depository, multicall3, router }, [token, feeToken]);
  return { node, chain, wallet, token, feeToken };
}

/** Waits for the receipt. @throws Error if there is none within five seconds */
export async function mined(reader: Pick<ChainReader, "receipt">, hash: TxHash): Promise<ReceiptFact> {
  for (let tries = 0; tries < 500; tries++) {
    const receipt = await reader.receipt(hash);
    if (receipt !== undefined) return receipt;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${hash} was not mined`);
}

/** A configured chain with defaults for everything that is irrelevant to a test. */
export function aChain(
  id: number,
  rpcUrl: string,
  contracts: { depository: Address; multicall3: Address; router: Address },
  tokens: readonly Address[],
): Chain {
  const currency = (address: Address, symbol: string): Currency => ({
    chainId: id,
    address,
    id: symbol.toLowerCase(),
    symbol,
    name: symbol,
    decimals: 18,
    class: "major",
    priceId: symbol,
    supportsBridging: true,
    supportsPermit: false,
    resetsApproval: false,
    logoUri: undefined,
    verified: true,
    maxFillAmount: undefined,
  });
  return {
    id,
    name: `chain-${id}`,
    displayName: `Chain ${id}`,
    vmType: "evm",
    rpcUrl,
    wsRpcUrl: undefined,
    publicRpcUrl: rpcUrl,
    publicWsRpcUrl: undefined,
    explorerUrl: "",
    explorerName: "",
    iconUrl: "",
    baseChainId: undefined,
    tags: [],
    depositEnabled: true,
    disabled: false,
    partialDisableLimit: 0n,
    surgeEnabled: false,
    native: currency(NATIVE_CURRENCY, "ETH"),
    tokens: tokens.map((address, index) => currency(address, `T${index}`)),
    contracts: { ...contracts, approvalProxy: contracts.router, serviceReceiver: contracts.router },
    confirmationTiers: [{ belowUsd: undefined, confirmations: 1 }],
    maxUnconfirmedUsd: undefined,
    finalityBlocks: 10,
    blockTimeSeconds: 0.2,
    fees: {
      flatUsd: 0n,
      depositBps: 0,
      withdrawalBps: 0,
      gasMarginBps: 0,
      minPriorityFeeWei: 1_000_000_000n,
      maxFeePerGasWei: 500_000_000_000n,
      gasCountsData: false,
    },
  };
}

function walletOn(node: Anvil, chainId: number): Wallet {
  const chain = {
    id: chainId,
    name: "test",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.url] } },
  };
  const client = createWalletClient({ chain, transport: http(node.url), pollingInterval: 20 }).extend(
    publicActions,
  );
  return {
    send: async ({ from, ...transaction }) => {
      const hash = await client.sendTransaction({ account: from ?? user, ...transaction });
      await client.waitForTransactionReceipt({ hash });
      return hash;
    },
    deploy: async (abi, bytecode, args = []) => {
      const hash = await client.deployContract({ account: user, abi, bytecode, args });
      const { contractAddress } = await client.waitForTransactionReceipt({ hash });
      if (typeof contractAddress !== "string") throw new Error("nothing was deployed");
      return contractAddress.toLowerCase() as Address;
    },
    rpc: async (method, params) =>
      await client.request({ method, params } as unknown as Parameters<typeof client.request>[0]),
  };
}
