import {
  RpcFault,
  connectCalledChain,
  finalBlockReads,
  quantityOf,
  viemTransport,
  type ConnectOptions,
} from "@causeway/chains";
import { allocatorAbi, hubAbi, oracleAbi, oracleMultisigAbi } from "@causeway/contracts";
import { MAX_TRANSACTION_GAS } from "@causeway/domain";
import type { Address, AttestationHub, Hex, Hex32 } from "@causeway/domain";
import { BaseError, ContractFunctionRevertedError, createPublicClient, encodeFunctionData } from "viem";
import { calledChain } from "../chains/called-chain.adapter.ts";
import type { Clock } from "../db/clock.port.ts";
import type { HubChain, HubSigners } from "./hub.port.ts";
import type { SignedExecution } from "./settlement.port.ts";
import { executionGas } from "./execution-gas.adapter.ts";

/** Minimum priority fee and maximum fee per gas, in wei: gas on a hub is cheap. */
const FEES = { minPriorityFeeWei: 1_000_000n, maxFeePerGasWei: 2_000_000_000_000n };
/** The multisig's signers change rarely, and a stale list costs a refused execution, never money. */
const SIGNERS_CACHE_MS = 30_000;
/** First guess in the search for an old enough block. */
const NOMINAL_BLOCK_SECONDS = 1;

/**
 * The hub through its own RPC connections, so that a slow hub delays no chain.
 * @throws RpcFault from every method, of kind `wrongChain` when every endpoint serves another chain
 */
export function connectHub(
  hub: AttestationHub,
  clock: Clock,
  multisig: Address,
  options: Pick<ConnectOptions, "observe" | "onDisagreement"> = {},
): HubChain {
  const endpoints = connectCalledChain({ ...hub, id: hub.chainId, fees: FEES }, options);
  const { transport } = endpoints;
  const client = createPublicClient({ transport: viemTransport(transport) });
  const oracle = { abi: oracleAbi, address: hub.oracleAddress } as const;
  let cachedSigners: { readonly signers: HubSigners; readonly atMs: number } | undefined;

  const final = finalBlockReads(transport, {
    finality: hub.finality,
    blockTimeSeconds: NOMINAL_BLOCK_SECONDS,
  });
  /**
   * Reads at a block that the node reports as final, pinned by hash, and fails if that block is no longer
   * canonical: final reads decide what is signed next. Undefined while no block is final.
   */
  const atFinal = async <T>(read: (pin: BlockPin) => Promise<T>): Promise<T | undefined> => {
    const finalBlock = await final.block();
    if (finalBlock.kind !== "final") return undefined;
    const value = await read({ blockHash: finalBlock.value.hash, requireCanonical: true });
    await final.confirm(finalBlock.value);
    return value;
  };
  const callAt = async (to: Address, data: Hex, blockTag: BlockPin | "latest"): Promise<Hex> => {
    const answer = await transport.request("eth_call", [{ to, data }, blockTag]);
    // Everything read at a final block is a single 32-byte word.
    if (typeof answer === "string" && /^0x[0-9a-f]{64}$/i.test(answer)) return answer.toLowerCase() as Hex;
    throw new RpcFault({
      kind: "garbage",
      method: "eth_call",
      reason: "the contract did not return 32 bytes",
    });
  };
  const wordAt = async (to: Address, data: Hex, blockTag: "latest" | "final"): Promise<Hex | undefined> =>
    blockTag === "latest"
      ? await callAt(to, data, blockTag)
      : await atFinal(async (pin) => await callAt(to, data, pin));
  const executedAt = async (keys: readonly Hex32[], blockTag: BlockPin | "latest"): Promise<Set<Hex32>> => {
    const words = await Promise.all(
      keys.map(async (key) => await callAt(oracle.address, isExecuted(key), blockTag)),
    );
    return new Set(keys.filter((_, index) => BigInt(words[index] ?? 0) === 1n));
  };
  const nonceAt = async (account: Address, pin: BlockPin): Promise<number> => {
    const method = "eth_getTransactionCount";
    return Number(quantityOf(await transport.request(method, [account, pin]), method));
  };
  return {
    hub,
    lane: calledChain({ id: hub.chainId, name: hub.name }, endpoints, final),
    async executed(keys, blockTag) {
      if (keys.length === 0) return new Set();
      if (blockTag === "latest") return await executedAt(keys, blockTag);
      return (await atFinal(async (pin) => await executedAt(keys, pin))) ?? new Set();
    },
    async final(keys, accounts) {
      return await atFinal(async (pin) => {
        const [executed, nonces] = await Promise.all([
          executedAt(keys, pin),
          Promise.all(accounts.map(async (account) => [account, await nonceAt(account, pin)] as const)),
        ]);
        return { executed, nonces: new Map(nonces) };
      });
    },
    async refusal(execution, sender) {
      try {
        await client.simulateContract({
          ...oracle,
          functionName: "execute",
          args: [structOf(execution), multisig, execution.signature],
          account: sender,
        });
        return undefined;
      } catch (error) {
        return refusalIn(error);
      }
    },
    async signers() {
      if (cachedSigners !== undefined && clock.nowMs() - cachedSigners.atMs < SIGNERS_CACHE_MS)
        return cachedSigners.signers;
      const contract = { abi: oracleMultisigAbi, address: multisig } as const;
      const [addresses, threshold] = await Promise.all([
        client.readContract({ ...contract, functionName: "signers" }),
        client.readContract({ ...contract, functionName: "threshold" }),
      ]);
      const signers = {
        signers: new Set(addresses.map((address) => address.toLowerCase() as Address)),
        threshold: Number(threshold),
      };
      cachedSigners = { signers, atMs: clock.nowMs() };
      return signers;
    },
    async transactionGasLimit() {
      const { gasLimit } = await client.getBlock({ blockTag: "latest" });
      return gasLimit < MAX_TRANSACTION_GAS ? gasLimit : MAX_TRANSACTION_GAS;
    },
    async executionGas(executions, sender, threshold, maxGas) {
      const facts = { oracle: oracle.address, multisig, sender, threshold, maxGas };
      return await Promise.all(executions.map((execution) => executionGas(transport, facts, execution)));
    },
    batchCall(executions) {
      const data = encodeFunctionData({
        abi: oracleAbi,
        functionName: "executeMultiple",
        args: [executions.map(structOf), multisig, executions.map(({ signature }) => signature)],
      });
      return { to: hub.oracleAddress, data };
    },
    async balance(owner, tokenId, blockTag) {
      const data = encodeFunctionData({ abi: hubAbi, functionName: "balanceOf", args: [owner, tokenId] });
      return BigInt((await wordAt(hub.hubAddress, data, blockTag)) ?? 0);
    },
    async recordedWithdrawal(address, blockTag) {
      if (hub.allocatorAddress === undefined) return undefined;
      const data = encodeFunctionData({ abi: allocatorAbi, functionName: "withdrawalIdOf", args: [address] });
      const id = await wordAt(hub.allocatorAddress, data, blockTag);
      return id === undefined || BigInt(id) === 0n ? undefined : id;
    },
    close: () => endpoints.close(),
  };
}

/** EIP-1898: exactly this block; the call fails if it is no longer canonical. */
interface BlockPin {
  readonly blockHash: Hex;
  readonly requireCanonical: true;
}

function isExecuted(key: Hex32): Hex {
  return encodeFunctionData({ abi: oracleAbi, functionName: "isExecuted", args: [key] });
}

function structOf({ idempotencyKey, actions }: SignedExecution): {
  readonly idempotencyKey: Hex32;
  readonly actions: readonly Hex[];
} {
  return { idempotencyKey, actions };
}

/**
 * The contract's revert reason. @throws any other error of the node, which proves nothing about the execution
 */
function refusalIn(error: unknown): string {
  if (!(error instanceof BaseError)) throw error;
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
  const { data, reason, signature } = reverted;
  if (data === undefined) return reason ?? signature ?? "the call reverts";
  return `${data.errorName}(${(data.args ?? []).map(String).join(", ")})`;
}
