import { executionTypes, hubAbi, oracleAbi, oracleDomain } from "@causeway/contracts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createPublicClient,
  decodeFunctionData,
  encodePacked,
  http,
  keccak256,
  recoverTypedDataAddress,
  slice,
  type Address,
  type Hex,
} from "viem";
import type { HubEndpoint, OracleEndpoint } from "./endpoints.ts";

/** A position on the hub: one token of one holder. */
export interface HubPosition {
  readonly hub: HubEndpoint;
  readonly oracles: readonly Pick<OracleEndpoint, "address">[];
  /** Chain and address of the holder, in the hub's format. */
  readonly holder: { readonly chainName: string; readonly address: Address };
  /** Chain and currency that the token represents; the currency in its family's bytes. */
  readonly currency: { readonly chainName: string; readonly address: Hex };
}

/** An increase of the position, and the oracles that signed it. */
export interface Settlement {
  readonly before: bigint;
  readonly after: bigint;
  /** The last transaction on the hub that credited the holder. */
  readonly transactionHash: Hex;
  /** Oracles whose signatures that transaction contained. */
  readonly signers: readonly Address[];
}

/**
 * Reads the position from the hub's contract now, and later how much it has grown since. Uses only the chain,
 * not what the services report.
 */
export async function watchPosition(position: HubPosition): Promise<{
  /** Waits until the position has grown by at least `amount`. @throws Error if the deadline passes first */
  waitForGrowth(amount: bigint, deadline: AbortSignal): Promise<Settlement>;
}> {
  const { hub } = position;
  const client = createPublicClient({ transport: http(hub.rpcUrl), cacheTime: 0 });
  const holder = hubAccount(position.holder.chainName, position.holder.address);
  const tokenId = BigInt(packedHash(position.currency.chainName, position.currency.address));
  const balance = async (): Promise<bigint> =>
    await client.readContract({
      address: hub.contracts.hub,
      abi: hubAbi,
      functionName: "balanceOf",
      args: [holder, tokenId],
    });
  const [before, fromBlock] = await Promise.all([balance(), client.getBlockNumber()]);

  const signersOf = async (transactionHash: Hex): Promise<Address[]> => {
    const { input } = await client.getTransaction({ hash: transactionHash });
    const executions = await Promise.all(
      executionsIn(input).map(async ({ execution, signature }) => {
        const signers = await recoverSigners(hub, execution, signature);
        return {
          creditsHolder: execution.actions.some((action) => isCreditTo(action, holder, tokenId)),
          signers,
        };
      }),
    );
    const signed = executions.find(({ creditsHolder: moves }) => moves)?.signers ?? [];
    return position.oracles
      .map(({ address }) => address)
      .filter((address) => signed.some((signer) => signer === address));
  };

  return {
    waitForGrowth: async (amount, deadline) => {
      for (;;) {
        const after = await balance();
        if (after >= before + amount) {
          const logs = await client.getContractEvents({
            address: hub.contracts.hub,
            abi: hubAbi,
            eventName: "Transfer",
            args: { receiver: holder, id: tokenId },
            fromBlock,
          });
          const transactionHash = logs.at(-1)?.transactionHash;
          if (transactionHash === undefined) throw new Error("hub balance grew without a transfer");
          return { before, after, transactionHash, signers: await signersOf(transactionHash) };
        }
        if (deadline.aborted) throw new Error(`hub balance grew by ${after - before}, expected ${amount}`);
        await sleep(100);
      }
    },
  };
}

/** The hub's alias address for an account on some chain; no private key exists for it. */
function hubAccount(chainName: string, address: Address): Address {
  return slice(packedHash(chainName, address), 12);
}

function packedHash(chainName: string, address: Hex): Hex {
  return keccak256(encodePacked(["string", "bytes"], [chainName, address]));
}

interface SignedExecution {
  readonly execution: { readonly idempotencyKey: Hex; readonly actions: readonly Hex[] };
  /** Concatenated signatures of 65 bytes. */
  readonly signature: Hex;
}

function executionsIn(input: Hex): SignedExecution[] {
  const call = decodeFunctionData({ abi: oracleAbi, data: input });
  if (call.functionName === "execute") return [{ execution: call.args[0], signature: call.args[2] }];
  if (call.functionName !== "executeMultiple") return [];
  const [executions, , signatures] = call.args;
  return executions.map((execution, index) => ({ execution, signature: signatures[index] ?? "0x" }));
}

/** A mint has its receiver in the second word, a transfer in the third; token and amount come last. */
function isCreditTo(action: Hex, holder: Address, tokenId: bigint): boolean {
  const words = action.slice(2).match(/.{64}/g) ?? [];
  const receiver = words[Number(words[0] === word(2n)) + 1];
  return receiver === word(BigInt(holder)) && words.at(-2) === word(tokenId);
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

async function recoverSigners(
  hub: HubEndpoint,
  execution: SignedExecution["execution"],
  signature: Hex,
): Promise<Address[]> {
  const entries = signature.slice(2).match(/.{130}/g) ?? [];
  return await Promise.all(
    entries.map(
      async (entry) =>
        await recoverTypedDataAddress({
          domain: oracleDomain(hub.id, hub.contracts.oracle),
          types: executionTypes,
          primaryType: "Execution",
          message: execution,
          signature: `0x${entry}`,
        }),
    ),
  );
}
