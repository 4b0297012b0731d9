import {
  FEE_HISTORY_BLOCKS,
  FEE_HISTORY_PERCENTILE,
  RpcFault,
  createChainWriter,
  createRpcTransport,
  gasPricesFrom,
  readFeeHistory,
  viemTransport,
} from "@causeway/chains";
import { allocatorAbi, hubAbi, oracleAbi, oracleMultisigAbi } from "@causeway/contracts";
import type { Address, AttestationHub, Hex, Hex32 } from "@causeway/domain";
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  encodeFunctionData,
  toHex as toQuantity,
} from "viem";
import type { Clock } from "../../ports/clock.ts";
import type { HubChain, HubSigners } from "../../ports/hub.ts";
import type { SignedExecution } from "../../ports/settlement.ts";

/** Priority fee floor and cap of what is offered for a unit of gas, wei: a hub is a chain of cheap gas. */
const FEES = { minPriorityFeeWei: 1_000_000n, maxFeePerGasWei: 2_000_000_000_000n };
/** The multisig's signers change rarely, and a stale list costs a refused execution, never money. */
const SIGNERS_KEPT_MS = 30_000;
/** Blocks looked at, at most, to find one that is old enough. */
const OLD_ENOUGH_STEPS = 64;
/** What carrying out takes at most, in units of gas; what is not used is not paid for. Too little would leave executions undone. */
const GAS = { transaction: 60_000n, execution: 110_000n, action: 110_000n, signature: 15_000n, byte: 40n };

/**
 * The hub behind its RPC endpoint, on connections of its own: a hub that hangs holds up no chain.
 * @throws RpcFault from every method, of kind `wrongChain` when the endpoint serves another chain.
 */
export function connectHub(hub: AttestationHub, clock: Clock, multisig: Address): HubChain {
  const transport = createRpcTransport({ url: hub.rpcUrl, connections: 2 });
  const client = createPublicClient({ transport: viemTransport(transport) });
  const writer = createChainWriter(transport);
  const oracle = { abi: oracleAbi, address: hub.oracleAddress } as const;
  let verified: Promise<void> | undefined;
  let known: { readonly signers: HubSigners; readonly atMs: number } | undefined;

  const verify = async (): Promise<void> => {
    verified ??= checkChain().catch((error: unknown) => {
      verified = undefined;
      throw error;
    });
    await verified;
  };
  const checkChain = async (): Promise<void> => {
    const id = await client.getChainId();
    if (id !== hub.chainId)
      throw new RpcFault({
        kind: "wrongChain",
        method: "eth_chainId",
        reason: `the node serves chain ${id}, the hub is ${hub.chainId}`,
      });
  };

  /** Newest block that is final by the hub's policy; undefined while there is none. */
  const finalBlock = async (): Promise<bigint | undefined> => {
    if (hub.finality.kind === "tag") {
      const block = await client.getBlock({ blockTag: "finalized" });
      return block.number;
    }
    const newest = await client.getBlock({ blockTag: "latest" });
    const { blocks, seconds } = hub.finality;
    const stride = blocks > 0n ? blocks : 1n;
    for (let at = newest.number - blocks, steps = 0; at >= 0n && steps < OLD_ENOUGH_STEPS; steps++) {
      if (seconds === 0n) return at;
      const block = await client.getBlock({ blockNumber: at });
      if (newest.timestamp - block.timestamp >= seconds) return at;
      at -= stride;
    }
    return undefined;
  };

  return {
    hub,
    async nonces(account) {
      await verify();
      const final = await finalBlock();
      const [latest, atFinal] = await Promise.all([
        client.getTransactionCount({ address: account, blockTag: "latest" }),
        final === undefined ? 0 : client.getTransactionCount({ address: account, blockNumber: final }),
      ]);
      return { latest, final: atFinal };
    },
    async executed(keys, at) {
      await verify();
      const block = at === "latest" ? undefined : await finalBlock();
      if (at === "final" && block === undefined) return new Set();
      const done = await Promise.all(
        keys.map((key) =>
          client.readContract({
            ...oracle,
            functionName: "isExecuted",
            args: [key],
            ...(block === undefined ? {} : { blockNumber: block }),
          }),
        ),
      );
      return new Set(keys.filter((_, n) => done[n] === true));
    },
    async refusal(execution, sender) {
      await verify();
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
      if (known !== undefined && clock.nowMs() - known.atMs < SIGNERS_KEPT_MS) return known.signers;
      await verify();
      const contract = { abi: oracleMultisigAbi, address: multisig } as const;
      const [addresses, threshold] = await Promise.all([
        client.readContract({ ...contract, functionName: "signers" }),
        client.readContract({ ...contract, functionName: "threshold" }),
      ]);
      const signers = {
        signers: new Set(addresses.map((address) => address.toLowerCase() as Address)),
        threshold: Number(threshold),
      };
      known = { signers, atMs: clock.nowMs() };
      return signers;
    },
    async gasPrices() {
      await verify();
      const [block, history] = await Promise.all([
        client.getBlock({ blockTag: "latest" }),
        transport.request("eth_feeHistory", [
          toQuantity(FEE_HISTORY_BLOCKS),
          "latest",
          [FEE_HISTORY_PERCENTILE],
        ]),
      ]);
      const head = {
        number: block.number,
        hash: block.hash,
        parentHash: block.parentHash,
        timestamp: block.timestamp,
        baseFeePerGas: block.baseFeePerGas ?? undefined,
      };
      return gasPricesFrom(head, readFeeHistory(history), FEES);
    },
    async broadcast(raw) {
      await verify();
      return await writer.broadcast(raw);
    },
    carry(executions, threshold) {
      const data = encodeFunctionData({
        abi: oracleAbi,
        functionName: "executeMultiple",
        args: [executions.map(structOf), multisig, executions.map(({ signature }) => signature)],
      });
      const actions = executions.reduce((count, execution) => count + execution.actions.length, 0);
      const gasLimit =
        GAS.transaction +
        BigInt(executions.length) * (GAS.execution + BigInt(threshold) * GAS.signature) +
        BigInt(actions) * GAS.action +
        BigInt((data.length - 2) / 2) * GAS.byte;
      return { to: hub.oracleAddress, data, gasLimit };
    },
    async balance(owner, tokenId, at) {
      await verify();
      const block = at === "latest" ? undefined : await finalBlock();
      if (at === "final" && block === undefined) return 0n;
      return await client.readContract({
        abi: hubAbi,
        address: hub.hubAddress,
        functionName: "balanceOf",
        args: [owner, tokenId],
        ...(block === undefined ? {} : { blockNumber: block }),
      });
    },
    async recordedWithdrawal(address, at) {
      if (hub.allocatorAddress === undefined) return undefined;
      await verify();
      const block = at === "latest" ? undefined : await finalBlock();
      if (at === "final" && block === undefined) return undefined;
      const id = await client.readContract({
        abi: allocatorAbi,
        address: hub.allocatorAddress,
        functionName: "withdrawalIdOf",
        args: [address],
        ...(block === undefined ? {} : { blockNumber: block }),
      });
      return BigInt(id) === 0n ? undefined : id;
    },
    close: () => transport.close(),
  };
}

function structOf({ idempotencyKey, actions }: SignedExecution): {
  readonly idempotencyKey: Hex32;
  readonly actions: readonly Hex[];
} {
  return { idempotencyKey, actions };
}

/** What the contract said. @throws the node's fault, which says nothing about the execution */
function refusalIn(error: unknown): string {
  if (!(error instanceof BaseError)) throw error;
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
  const { data, reason, signature } = reverted;
  if (data === undefined) return reason ?? signature ?? "it reverts";
  return `${data.errorName}(${(data.args ?? []).map(String).join(", ")})`;
}
