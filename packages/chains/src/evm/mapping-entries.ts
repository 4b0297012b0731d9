import { genericMappingAbi } from "@causeway/contracts";
import type { Address, EvmFinality, Hex, Hex32 } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import { RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";
import { finalBlockReads } from "./final-block-reads.ts";

/** A permanent entry of a hub's mapping for an account and an id. */
export interface MappingEntry {
  /** `0x`: there is no entry. */
  readonly data: Hex;
  /** Unix seconds of the block in which it was set; 0: there is no entry. */
  readonly setAt: bigint;
  /** Unix seconds of the final block that was read. */
  readonly asOf: bigint;
}

export interface MappingEntries {
  /**
   * Read at a final block, pinned by its hash, and valid only while that block is still the final one at its
   * height.
   *
   * @throws RpcFault: nothing is known
   */
  entry(user: Address, id: Hex32): Promise<MappingEntry>;
}

/** Only the start of a search for an old enough block, where the policy counts in seconds. */
const NOMINAL_BLOCK_SECONDS = 1;
/** Longer than any entry: two words, a length, and 52 bytes. */
const LONGEST_ANSWER = 2 + 2 * 32 * 16;
const METHOD = "eth_call";

/** @param transport lets no call through to a node of another chain */
export function mappingEntries(
  transport: RpcTransport,
  { contract, finality }: { readonly contract: Address; readonly finality: EvmFinality },
): MappingEntries {
  const final = finalBlockReads(transport, { finality, blockTimeSeconds: NOMINAL_BLOCK_SECONDS });
  return {
    async entry(user, id) {
      const found = await final.block();
      if (found.kind !== "final")
        throw new RpcFault({
          kind: "inconsistent",
          method: METHOD,
          reason: "the hub has no final block yet",
        });
      const data = encodeFunctionData({ abi: genericMappingAbi, functionName: "getEntry", args: [user, id] });
      const block = { blockHash: found.value.hash, requireCanonical: true };
      const answer = await transport.request(METHOD, [{ to: contract, data }, block]);
      await final.confirm(found.value);
      const entry = { ...readEntry(answer), asOf: found.value.timestamp };
      // An entry was set in that block or before it: otherwise this is not the state of that block.
      if (entry.setAt > entry.asOf || (entry.setAt === 0n) !== (entry.data === "0x")) throw garbage();
      return entry;
    },
  };
}

/**
 * @throws RpcFault for anything that the contract does not answer; a node without the contract returns `0x`,
 * which must not be read as "no entry"
 */
function readEntry(answer: unknown): Pick<MappingEntry, "data" | "setAt"> {
  if (typeof answer !== "string" || answer.length > LONGEST_ANSWER || !/^0x([0-9a-f]{64}){3,}$/i.test(answer))
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
