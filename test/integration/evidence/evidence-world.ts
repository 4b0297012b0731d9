import { callRequestTypes, depositoryAbi, depositoryDomain, testTokenAbi } from "@causeway/contracts";
import {
  encodeEvmCallRequest,
  encodeFillContract,
  type Address,
  type EvmCall,
  type EvmCallRequest,
  type EvmFinality,
  type Hex,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { encodeFunctionData, erc20Abi } from "viem";
import { solver, startEvmWorld, user, type EvmWorld } from "../../../packages/chains/test/chain.ts";

export { solver, user };

export const orderId: Hex = `0x${"1d".repeat(32)}`;
/** A block is final once this many blocks follow it. */
export const DEPTH = 3n;
const farFuture = 2n ** 33n;

/** A real chain with a depository, a fill contract and tokens, configured as for an oracle. */
export interface EvidenceWorld extends EvmWorld {
  readonly depository: Address;
  readonly router: Address;
  readonly extraData: Hex;
  /** The configuration of the chain for an oracle that uses these endpoints. Default: the node itself. */
  chainAt(
    urls?: readonly string[],
    fields?: Partial<ConfiguredChain>,
    finality?: EvmFinality,
  ): ConfiguredChain;
  mine(blocks: bigint): Promise<void>;
  /** Replaces the newest blocks with empty blocks, and adds one block. */
  reorg(depth: number): Promise<void>;
  /** Moves the chain's clock forward. */
  advanceTime(seconds: number): Promise<void>;
  newestTime(): Promise<bigint>;
  deposit(amount: bigint, id?: Hex): Promise<Hex>;
  /** A payload that the depository executes until `expiration`, in Unix seconds. */
  payloadOf(call: EvmCall, expiration?: bigint): { readonly payload: Hex; readonly request: EvmCallRequest };
  /** The transaction that executes a request. */
  execution(request: EvmCallRequest): Promise<{ readonly to: Address; readonly data: Hex }>;
  mint(token: Address, holder: Address, amount: bigint): Promise<void>;
}

let lastNonce = 0n;

export async function startEvidenceWorld(chainId: number): Promise<EvidenceWorld> {
  const world = await startEvmWorld(chainId);
  const { wallet, node } = world;
  const { depository, router, approvalProxy } = world.chain.contracts;
  const mine = async (blocks: bigint): Promise<void> =>
    void (await wallet.rpc("anvil_mine", [`0x${blocks.toString(16)}`]));
  return {
    ...world,
    depository,
    router,
    extraData: encodeFillContract(router),
    chainAt: (urls = [node.url], fields = {}, finality = { kind: "depth", blocks: DEPTH, seconds: 0n }) => ({
      name: "base",
      vmType: "ethereum-vm",
      rpcUrls: urls,
      rpcQuorum: 1,
      depository,
      additionalDepositories: [],
      hubChainId: chainId.toString(),
      evm: {
        chainId,
        finality,
        blockTimeSeconds: 1,
        fillContracts: [router, approvalProxy],
        isZksyncStack: false,
      },
      ...fields,
    }),
    mine,
    reorg: async (depth) => {
      await wallet.rpc("anvil_reorg", [depth, []]);
      await mine(1n);
    },
    advanceTime: async (seconds) => {
      await wallet.rpc("evm_increaseTime", [seconds]);
      await mine(1n);
    },
    newestTime: async () => {
      const block = (await wallet.rpc("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
      return BigInt(block.timestamp);
    },
    deposit: async (amount, id = orderId) =>
      await wallet.send({
        to: depository,
        value: amount,
        data: encodeFunctionData({
          abi: depositoryAbi,
          functionName: "depositNative",
          args: [user.address, id],
        }),
      }),
    payloadOf: (call, expiration = farFuture) => {
      lastNonce += 1n;
      const request: EvmCallRequest = { calls: [call], nonce: lastNonce, expiration };
      return { request, payload: encodeEvmCallRequest(request) };
    },
    execution: async (request) => {
      const message = { ...request, calls: [...request.calls] };
      const signature = await user.signTypedData({
        domain: depositoryDomain(chainId, depository),
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
    mint: async (token, holder, amount) => {
      const data = encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [holder, amount] });
      await wallet.send({ to: token, data });
    },
  };
}

export function nativeCall(to: Address, value: bigint): EvmCall {
  return { to, data: "0x", value, allowFailure: false };
}

export function tokenCall(token: Address, to: Address, amount: bigint): EvmCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  return { to: token, data, value: 0n, allowFailure: false };
}
