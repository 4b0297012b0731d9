import { parseAddress } from "@causeway/domain";
import type { Hex, Hex32 } from "@causeway/domain";
import { privateKeyToAddress, sign } from "viem/accounts";
import type { Signature, Signer } from "./signer.ts";

/**
 * A signer whose private key is held in this process.
 * @throws when `privateKey` is not a valid secp256k1 key; the text never shows the key.
 */
export function rawKeySigner(privateKey: Hex): Signer {
  const address = parseAddress(addressOf(privateKey));
  if (address === undefined) throw new Error("the private key has no address");
  return {
    address,
    async signDigest(digest: Hex32): Promise<Signature> {
      const { r, s, yParity } = await sign({ hash: digest, privateKey });
      return { r: pad32(r), s: pad32(s), yParity: yParity === 1 ? 1 : 0 };
    },
  };
}

function addressOf(privateKey: Hex): Hex {
  try {
    return privateKeyToAddress(privateKey);
  } catch {
    // The library's message may quote the key.
    throw new Error("not a valid secp256k1 private key (expected 32 bytes of hex)");
  }
}

function pad32(value: Hex): Hex32 {
  return `0x${value.slice(2).padStart(64, "0")}`;
}
