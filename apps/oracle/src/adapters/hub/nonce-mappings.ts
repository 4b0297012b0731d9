import { hubAlias, nonceMappingId, readNonceMappingData } from "@causeway/attest";
import { finalBlockReads, RpcFault } from "@causeway/chains";
import type { NonceMappings, RpcTransport } from "@causeway/chains";
import { genericMappingAbi } from "@causeway/contracts";
import type { Address, AttestationHub, Hex } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";

/** Only leads the search for a block that is old enough, where the policy wants seconds. */
const NOMINAL_BLOCK_SECONDS = 1;
/** Longer than any entry of a nonce: two words, a length, and 52 bytes. */
const LONGEST_ANSWER = 2 + 2 * 32 * 16;
const METHOD = "eth_call";

/**
 * Reads the hub's mapping at a final block, pinned by its hash, and believes what it read only while that block is still the final one at its height.
 * @param transport lets no call through to a node of another chain.
 */
export function createNonceMappings(
  hub: Pick<AttestationHub, "finality">,
  contract: Address,
  transport: RpcTransport,
): NonceMappings {
  const final = finalBlockReads(transport, {
    finality: hub.finality,
    blockTimeSeconds: NOMINAL_BLOCK_SECONDS,
  });
  return {
    async of(chainName, wallet, nonce) {
      const user = hubAlias({ name: chainName, vmType: "hyperliquid-vm" }, wallet);
      const data = encodeFunctionData({
        abi: genericMappingAbi,
        functionName: "getEntry",
        args: [user, nonceMappingId(nonce)],
      });
      const found = await final.block();
      if (found.kind !== "final")
        throw new RpcFault({
          kind: "inconsistent",
          method: METHOD,
          reason: "the hub has no final block yet",
        });
      const block = { blockHash: found.value.hash, requireCanonical: true };
      const answer = await transport.request(METHOD, [{ to: contract, data }, block]);
      await final.confirm(found.value);
      const { timestamp: asOf } = found.value;
      const { said, setAt } = readEntry(answer);
      const content = readNonceMappingData(said);
      // What is set can not have been set later than the block that knows it: else it is not this block's state.
      if (setAt > asOf || (setAt === 0n) !== (said === "0x")) throw garbage();
      return { entry: content && { ...content, setAt }, asOf };
    },
  };
}

/** @throws RpcFault for anything that the contract does not answer; a node without the contract says `0x`, which is no answer, not "no entry" */
function readEntry(answer: unknown): { readonly said: Hex; readonly setAt: bigint } {
  if (typeof answer !== "string" || answer.length > LONGEST_ANSWER || !/^0x([0-9a-f]{64}){3,}$/i.test(answer))
    throw garbage();
  try {
    const [said, setAt] = decodeFunctionResult({
      abi: genericMappingAbi,
      functionName: "getEntry",
      data: answer.toLowerCase() as Hex,
    });
    return { said, setAt };
  } catch (cause) {
    throw garbage(cause);
  }
}

function garbage(cause?: unknown): RpcFault {
  const fault = new RpcFault({ kind: "garbage", method: METHOD, reason: "the mapping gave no entry" });
  if (cause !== undefined) fault.cause = cause;
  return fault;
}
