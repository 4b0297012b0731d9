import type { Hex } from "@causeway/domain";
import {
  encodeFunctionData,
  hashTypedData,
  parseAbi,
  parseCompactSignature,
  compactSignatureToSignature,
  recoverAddress,
  serializeSignature,
} from "viem";
import type { ChainDirectory } from "./chains.port.ts";
import type { PermitSignatures, TypedData } from "./permits.port.ts";

const ERC1271 = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4 magicValue)",
]);
/** The selector, padded to a word. */
const IS_VALID: Hex = `0x1626ba7e${"00".repeat(28)}`;
/** `0x` and 64 bytes in hex: r, and s with the parity in its highest bit (EIP-2098). */
const COMPACT_LENGTH = 130;

/** Verifies signatures of keys locally, and those of contracts by a call to the chain of the signature. */
export function createPermitSignatures(chains: Pick<ChainDirectory, "get">): PermitSignatures {
  return {
    async isPermitSignedBy(user, { method, typedData }, signature) {
      const hash = hashOf(typedData);
      if ((await signerOf(hash, signature)) === user) return true;
      if (method !== "permit2") return false;
      const connected = chains.get(typedData.domain.chainId);
      if (connected === undefined) return false;
      const data = encodeFunctionData({
        abi: ERC1271,
        functionName: "isValidSignature",
        args: [hash, signature],
      });
      const answer = await connected.connection.reader.ask(user, data);
      return answer?.slice(0, IS_VALID.length).toLowerCase() === IS_VALID;
    },
  };
}

function hashOf({ domain, types, primaryType, value }: TypedData): Hex {
  return hashTypedData({ domain, types, primaryType, message: value });
}

/** Undefined for bytes that are not a valid signature. */
async function signerOf(hash: Hex, signature: Hex): Promise<string | undefined> {
  try {
    const fullSignature =
      signature.length === COMPACT_LENGTH
        ? serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)))
        : signature;
    return (await recoverAddress({ hash, signature: fullSignature })).toLowerCase();
  } catch {
    return undefined;
  }
}
