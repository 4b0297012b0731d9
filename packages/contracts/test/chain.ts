import {
  BaseError,
  createTestClient,
  encodeDeployData,
  erc20Abi,
  getAddress,
  http,
  numberToHex,
  publicActions,
  walletActions,
  type Abi,
  type Address,
  type Hex,
  type LocalAccount,
  type TransactionReceipt,
} from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { startAnvil } from "./anvil.ts";

export const chainId = 51_234;

/** Enough for every test; a fixed limit avoids an estimate and does not change the gas used. */
const gasLimit = 6_000_000n;

export interface Tx {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

function account(index: number): LocalAccount {
  return mnemonicToAccount("test test test test test test test test test test test junk", {
    addressIndex: index,
  });
}

/** Funded accounts, each with one role. */
export const accounts = {
  deployer: account(0),
  owner: account(1),
  allocator: account(2),
  user: account(3),
  solver: account(4),
  stranger: account(5),
} as const;

/** An account that was never paid; a different one for each `index`. */
export function freshAddress(index: number): Address {
  return getAddress(numberToHex(BigInt(`0x${"ab".repeat(18)}0000`) + BigInt(index), { size: 20 }));
}

export type TestChain = Awaited<ReturnType<typeof startTestChain>>;

/** A separate chain, with helpers for tests. */
export async function startTestChain() {
  const anvil = await startAnvil(chainId);
  const client = createTestClient({ mode: "anvil", transport: http(anvil.url), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);

  /** The receipt, whether the transaction succeeded or not. */
  async function mine(from: LocalAccount, tx: Tx): Promise<TransactionReceipt> {
    return await client.sendTransactionSync({
      account: from,
      chain: null,
      gas: gasLimit,
      throwOnReceiptRevert: false,
      ...tx,
    });
  }

  /** The receipt. @throws Error if the transaction reverted */
  async function send(from: LocalAccount, tx: Tx): Promise<TransactionReceipt> {
    const receipt = await mine(from, tx);
    if (receipt.status !== "success") throw new Error(`reverted with ${await revertOf(from, tx)}`);
    return receipt;
  }

  /** The result of the call in the current state. */
  async function readCall(from: LocalAccount, tx: Tx): Promise<Hex> {
    const { data } = await client.call({ account: from.address, gas: gasLimit, ...tx });
    return data ?? "0x";
  }

  /** The revert data of a call that must not succeed. */
  async function revertOf(from: LocalAccount, tx: Tx): Promise<Hex> {
    try {
      await readCall(from, tx);
    } catch (error) {
      return revertData(error);
    }
    throw new Error("the call succeeded");
  }

  async function deploy(abi: Abi, bytecode: Hex, args: readonly unknown[] = []): Promise<Address> {
    const data = encodeDeployData({ abi, bytecode, args });
    const { contractAddress, status } = await client.sendTransactionSync({
      account: accounts.deployer,
      chain: null,
      gas: gasLimit,
      throwOnReceiptRevert: false,
      data,
    });
    if (status !== "success" || contractAddress == null) throw new Error("deployment reverted");
    return getAddress(contractAddress);
  }

  /** The revert data of a deployment that must not succeed. */
  async function deployRevertOf(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Hex> {
    try {
      await client.call({ data: encodeDeployData({ abi, bytecode, args }), gas: gasLimit });
    } catch (error) {
      return revertData(error);
    }
    throw new Error("the deployment succeeded");
  }

  async function tokenBalance(token: Address, holder: Address): Promise<bigint> {
    return await client.readContract({
      address: token,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [holder],
    });
  }

  async function nativeBalance(holder: Address): Promise<bigint> {
    return await client.getBalance({ address: holder });
  }

  return {
    client,
    stop: async (): Promise<void> => await anvil.stop(),
    mine,
    send,
    readCall,
    revertOf,
    deploy,
    deployRevertOf,
    tokenBalance,
    nativeBalance,
  };
}

function revertData(error: unknown): Hex {
  if (error instanceof BaseError) {
    const cause = error.walk((step) => typeof (step as { data?: unknown }).data === "string");
    if (cause !== null) return (cause as unknown as { data: Hex }).data;
    // A revert without data is returned as an error without data.
    if (error.walk((step) => (step as { code?: unknown }).code === 3) !== null) return "0x";
  }
  throw error;
}
