import { createChainReader, createChainWriter, createRpcTransport, signTransaction } from "@causeway/chains";
import type { ChainReader, ReceiptFact, RpcTransport, TracedCall, TraceOutcome } from "@causeway/chains";
import { failuresAbi, failuresBytecode } from "@causeway/contracts";
import type { Address, Hex, Hex32, SimulationFailure } from "@causeway/domain";
import { createLocalClient, startAnvil, type LocalClient, type RunningAnvil } from "@causeway/testkit";
import {
  deployAccountAbstraction,
  deployLocal,
  localAccountAbstraction,
  localDeployment,
} from "@causeway/localnet";
import { encodeDeployData } from "viem";
import { mnemonicToAccount, privateKeyToAccount, sign } from "viem/accounts";
import { aChain } from "../../fakes/quote-world.ts";

/** A real chain with the contracts through which sponsored calls go, and an account that sends them. */
export interface SimulationWorld {
  readonly node: RunningAnvil;
  readonly client: LocalClient;
  readonly reader: ChainReader;
  /** A contract that fails as requested. */
  readonly failures: Address;
  readonly usd: Address;
  /** The failure of a call. Throws unless the call fails. */
  failureOf(call: TracedCall): Promise<SimulationFailure>;
  /** The outcome of a call. Throws unless the call succeeds. */
  successOf(call: TracedCall): Promise<Extract<TraceOutcome, { kind: "ok" }>>;
  /** Sends the call with this gas limit, and waits for its block. */
  send(call: TracedCall, gas: bigint): Promise<ReceiptFact>;
  stop(): Promise<void>;
}

export const contracts = { ...localDeployment, ...localAccountAbstraction };
export const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

const { privateKey: keyBytes } = mnemonicToAccount(
  "test test test test test test test test test test test junk",
).getHdKey();
const executorKey: Hex = `0x${Buffer.from(keyBytes ?? []).toString("hex")}`;
export const executor = privateKeyToAccount(executorKey).address.toLowerCase() as Address;

/** Starts a separate node that mines each transaction immediately. */
export async function startSimulationWorld(chainId: number): Promise<SimulationWorld> {
  const node = await startAnvil({ chainId });
  await deployLocal(node);
  await deployAccountAbstraction(node);
  const client = createLocalClient(node);
  const { depository, router, approvalProxy, receiver, multicall3, tokens } = localDeployment;
  const configuredContracts = { depository, router, approvalProxy, serviceReceiver: receiver, multicall3 };
  const transport: RpcTransport = createRpcTransport({ url: node.url });
  const reader = createChainReader(aChain(chainId, { contracts: configuredContracts }), transport);

  const untilMined = async (hash: Hex): Promise<ReceiptFact> => {
    for (;;) {
      const receipt = await reader.receipt(hash);
      if (receipt !== undefined) return receipt;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const deploymentHash = await client.sendTransaction({
    account: privateKeyToAccount(executorKey),
    data: encodeDeployData({ abi: failuresAbi, bytecode: failuresBytecode }),
  });
  await untilMined(deploymentHash);
  const { contractAddress } = await client.getTransactionReceipt({ hash: deploymentHash });
  const usd = tokens[0]?.address;
  if (contractAddress === null || contractAddress === undefined || usd === undefined)
    throw new Error("the deployment created no contract");

  return {
    node,
    client,
    reader,
    failures: contractAddress.toLowerCase() as Address,
    usd: usd.toLowerCase() as Address,
    failureOf: async (call) => {
      const outcome = await reader.trace(executor, call, fees);
      if (outcome.kind !== "reverts") throw new Error(`not a failure: ${outcome.kind}`);
      return outcome.failure;
    },
    successOf: async (call) => {
      const outcome = await reader.trace(executor, call, fees);
      if (outcome.kind !== "ok") throw new Error(`no success: ${JSON.stringify(outcome)}`);
      return outcome;
    },
    send: async (call, gas) => {
      const nonce = await reader.nonce(executor, "latest");
      const signDigest = async (hash: Hex32) => {
        const { r, s, yParity } = await sign({ hash, privateKey: executorKey });
        return { r, s, yParity: yParity === 1 ? (1 as const) : (0 as const) };
      };
      const { raw, hash } = await signTransaction({ chainId, nonce, ...call, gas, ...fees }, signDigest);
      const outcome = await createChainWriter(transport).broadcast(raw);
      if (outcome.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
      return await untilMined(hash);
    },
    stop: async () => {
      await transport.close();
      await node.stop();
    },
  };
}

/** Signs an EIP-7702 authorization. */
export async function authorizeCode(
  owner: ReturnType<typeof privateKeyToAccount>,
  terms: { readonly chainId: number; readonly address: Address; readonly nonce: number },
) {
  const { r, s, yParity } = await owner.signAuthorization(terms);
  return { ...terms, r, s, yParity: yParity === 1 ? (1 as const) : (0 as const) };
}
