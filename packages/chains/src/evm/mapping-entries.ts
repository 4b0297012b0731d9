import { genericMappingAbi } from "@causeway/contracts";
import type { Address, EvmFinality, Hex, Hex32 } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import { RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";
import { finalBlockReads } from "./final-block-reads.ts";

/** A permanent entry of a hub's mapping for an account and an id. */
export interface MappingEntry {
  /** `0x`: no entry exists. */
  readonly data: Hex;
  /** Unix seconds of the block in which it was set; 0: no entry exists. */
  readonly setAt: bigint;
  /** Unix seconds of the final block that was read. */
  readonly asOf: bigint;
}

export interface MappingEntries {
  /**
   * Reads at a final block, pinned by its hash, and only if that block is still canonical afterwards.
   *
   * @throws RpcFault
   */
  entry(user: Address, id: Hex32): Promise<MappingEntry>;
}

/** Where to start the search for an old enough block, if the policy counts in seconds. */
const NOMINAL_BLOCK_SECONDS = 1;
/** Above the length of any entry: two words, a length, and 52 bytes. */
const MAX_ANSWER_LENGTH = 2 + 2 * 32 * 16;
const METHOD = "eth_call";

/** @param transport must block calls to a node of another chain */
export function mappingEntries(
  transport: RpcTransport,
  { contract, finality }: { readonly contract: Address; readonly finality: EvmFinality },
): MappingEntries {
  const final = finalBlockReads(transport, { finality, blockTimeSeconds: NOMINAL_BLOCK_SECONDS });
  return {
    async entry(user, id) {
      const finalBlock = await final.block();
      if (finalBlock.kind !== "final")
        throw new RpcFault({
          kind: "inconsistent",
          method: METHOD,
          reason: "the hub has no final block yet",
        });
      const data = encodeFunctionData({ abi: genericMappingAbi, functionName: "getEntry", args: [user, id] });
      const block = { blockHash: finalBlock.value.hash, requireCanonical: true };
      const answer = await transport.request(METHOD, [{ to: contract, data }, block]);
      await final.confirm(finalBlock.value);
      const entry = { ...readEntry(answer), asOf: finalBlock.value.timestamp };
      // An entry must have been set at or before that block; otherwise this is not the state of that block.
      if (entry.setAt > entry.asOf || (entry.setAt === 0n) !== (entry.data === "0x")) throw garbage();
      return entry;
    },
  };
}

/**
 * @throws RpcFault for anything that the contract would not return; without the contract, a node returns
 * `0x`, which must not mean "no entry"
 */
function readEntry(answer: unknown): Pick<MappingEntry, "data" | "setAt"> {
  if (
    typeof answer !== "string" ||
    answer.length > MAX_ANSWER_LENGTH ||
    !/^0x([0-9a-f]{64}){3,}$/i.test(answer)
  )
    throw garbage();
  try {
    const [data, setAt] = decodeFunctionResult({
      abi: genericMappingAbi,
      functionName: "getEntry",
      data: answer.toLowerCase() as Hex,
    });
    return { data, setAt };
  } catch {
    throw garbage();
  }
}

function garbage(): RpcFault {
  return new RpcFault({ kind: "garbage", method: METHOD, reason: "hub mapping returned no entry" });
}
