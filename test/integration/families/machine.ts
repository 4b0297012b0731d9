import {
  callRequestTypes,
  depositoryAbi,
  depositoryBytecode,
  depositoryDomain,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  multicall3Bytecode,
  returnsFalseBytecode,
  routerBytecode,
  testTokenAbi,
  testTokenBytecode,
} from "@causeway/contracts";
import type { Address, EvmCallRequest, Hex, VmType } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { encodeDeployData, encodeFunctionData, erc20Abi } from "viem";
import { mnemonicToAccount } from "viem/accounts";

// A chain with an EVM behind any API. The conformance cases are the same for every family with such a chain.

const mnemonic = "test test test test test test test test test test test junk";
/** Signs withdrawals and deploys contracts. */
export const allocator = mnemonicToAccount(mnemonic, { addressIndex: 0 });

export type Rpc = (method: string, params?: readonly unknown[]) => Promise<unknown>;
/** The accounts of the tests: the user, the solver, and a recipient that also takes part in attacks. */
export type Who = "user" | "solver" | "alice";

export interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
}

/** What a family provides. Addresses are those of the EVM: 20 bytes, lower case. */
export interface MachineBase {
  readonly family: VmType;
  /** URLs of the honest node. */
  readonly urls: readonly string[];
  /** The RPC of the EVM, regardless of the family's API. */
  readonly rpc: Rpc;
  readonly chainId: number;
  /** A block is final once this many blocks follow it. */
  readonly depth: number;
  /** The native tokens that each account gets initially. */
  readonly nativeFunds: bigint;
  readonly accounts: Readonly<Record<Who, Address>>;
  format(address: Address): string;
  /**
   * Sends a call. Returns the transaction's id once the transaction is mined, even if it failed.
   * @throws if the node refuses the transaction
   */
  send(who: Who, call: Call): Promise<string>;
  /** The receipt according to the RPC of the EVM. */
  receipt(id: string): Promise<{
    readonly status: Hex;
    readonly logs: readonly {
      readonly logIndex: Hex;
      readonly address: Hex;
      readonly topics: readonly Hex[];
    }[];
  }>;
  chainAt(
    urls: readonly string[],
    contracts: Pick<MachineContracts, "depository" | "router">,
  ): ConfiguredChain;
  otherFormats(id: string): readonly string[];
  close(): Promise<void>;
}

export interface MachineContracts {
  readonly depository: Address;
  readonly router: Address;
  readonly multicall3: Address;
  readonly token: Address;
  readonly feeToken: Address;
  /** A token that returns `false` for every call. */
  readonly falseToken: Address;
}

export interface Machine extends MachineBase, MachineContracts {
  deploy(creation: Hex): Promise<Address>;
  mint(token: Address, holder: Address, amount: bigint): Promise<void>;
  /** Creates native tokens for an account. */
  fund(account: Address, amount: bigint): Promise<void>;
  mine(blocks?: number): Promise<void>;
  finalize(): Promise<void>;
  /** Moves the chain's clock forward, and adds a block. */
  pass(seconds: number): Promise<void>;
  /** Unix seconds of the newest block. */
  now(): Promise<bigint>;
  /** Replaces the newest blocks with empty blocks, and adds one block. */
  reorg(depth: number): Promise<void>;
  /** The call that executes a request, with the allocator's signature. */
  execution(request: EvmCallRequest): Promise<Call>;
}

export function rpcAt(url: string): Rpc {
  return async (method, params = []) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}

const TOKENS = 10n ** 18n;
const MAX_GAS = "0x4c4b40";

/**
 * Deploys the contracts. Gives each account native tokens and tokens, and the depository an allowance for
 * them.
 */
export async function withContracts(base: MachineBase): Promise<Machine> {
  const { rpc, accounts } = base;
  const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;
  const waitUntilMined = async (hash: unknown): Promise<{ contractAddress: Hex | null; status: Hex }> => {
    for (let tries = 0; tries < 500; tries++) {
      const receipt = await rpc("eth_getTransactionReceipt", [hash]);
      if (receipt !== null) return receipt as { contractAddress: Hex | null; status: Hex };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`${String(hash)} was not mined`);
  };
  const sendAsAllocator = async (transaction: object): Promise<{ contractAddress: Hex | null }> => {
    const hash = await rpc("eth_sendTransaction", [
      { from: allocator.address, gas: MAX_GAS, ...transaction },
    ]);
    const receipt = await waitUntilMined(hash);
    if (receipt.status !== "0x1") throw new Error("a set-up transaction failed");
    return receipt;
  };
  const deploy = async (data: Hex): Promise<Address> => {
    const { contractAddress } = await sendAsAllocator({ data });
    if (contractAddress === null) throw new Error("nothing was deployed");
    return contractAddress.toLowerCase() as Address;
  };
  const mine = async (blocks = 1): Promise<void> => void (await rpc("anvil_mine", [quantity(blocks)]));
  const mint = async (token: Address, holder: Address, amount: bigint): Promise<void> => {
    const data = encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [holder, amount] });
    await sendAsAllocator({ to: token, data });
  };
  const fund = async (account: Address, amount: bigint): Promise<void> =>
    void (await rpc("anvil_setBalance", [account, quantity(amount)]));

  const depository = await deploy(
    encodeDeployData({
      abi: depositoryAbi,
      bytecode: depositoryBytecode,
      args: [allocator.address, allocator.address],
    }),
  );
  const contracts: MachineContracts = {
    depository,
    router: await deploy(routerBytecode),
    multicall3: await deploy(multicall3Bytecode),
    token: await deploy(
      encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ["Token", "TKN"] }),
    ),
    feeToken: await deploy(encodeDeployData({ abi: feeOnTransferAbi, bytecode: feeOnTransferBytecode })),
    falseToken: await deploy(returnsFalseBytecode),
  };
  for (const account of Object.values(accounts)) await fund(account, base.nativeFunds);
  await mine();
  const approve = (spender: Address): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 2n ** 256n - 1n] });
  for (const token of [contracts.token, contracts.feeToken]) {
    await mint(token, accounts.user, TOKENS);
    await base.send("user", { to: token, data: approve(depository) });
    await base.send("alice", { to: token, data: approve(contracts.multicall3) });
  }
  return {
    ...base,
    ...contracts,
    deploy,
    mint,
    fund,
    mine,
    finalize: async () => await mine(base.depth),
    pass: async (seconds) => {
      await rpc("evm_increaseTime", [seconds]);
      await mine();
    },
    now: async () => {
      const { timestamp } = (await rpc("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
      return BigInt(timestamp);
    },
    reorg: async (depth) => {
      await rpc("anvil_reorg", [depth, []]);
      await mine();
    },
    execution: async (request) => {
      const message = { ...request, calls: [...request.calls] };
      const signature = await allocator.signTypedData({
        domain: depositoryDomain(base.chainId, depository),
        types: callRequestTypes,
        primaryType: "CallRequest",
        message,
      });
      const data = encodeFunctionData({
        abi: depositoryAbi,
        functionName: "execute",
        args: [message, signature],
      });
      return { to: depository, data };
    },
  };
}
