import type { ChainReader } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { encodeFunctionData, hashMessage, parseAbi, recoverMessageAddress } from "viem";
import type { SignedMessage, Signatures } from "./signatures.port.ts";

const ERC1271 = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4 magicValue)",
]);
/** The selector, padded to a word. */
const IS_VALID: Hex = `0x1626ba7e${"00".repeat(28)}`;

/** Verifies signatures of keys locally, and those of contracts by a call to the chain that `reader` reads. */
export function accountSignatures(reader: Pick<ChainReader, "ask">): Signatures {
  return {
    async isSignedBy(address, message, signature) {
      if ((await signerOf(message, signature)) === address) return true;
      const data = encodeFunctionData({
        abi: ERC1271,
        functionName: "isValidSignature",
        args: [hashMessage(message), signature],
      });
      const answer = await reader.ask(address, data);
      return answer?.slice(0, IS_VALID.length).toLowerCase() === IS_VALID;
    },
  };
}

/** Undefined for bytes that are not a valid signature. */
async function signerOf(message: SignedMessage, signature: Hex): Promise<string | undefined> {
  try {
    return (await recoverMessageAddress({ message, signature })).toLowerCase();
  } catch {
    return undefined;
  }
}
