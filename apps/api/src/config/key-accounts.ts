import { rawKeySigner } from "@causeway/attest";
import type { Address, Hex } from "@causeway/domain";
import { createECDH, createPrivateKey, createPublicKey } from "node:crypto";
import { ripemd160, sha256 } from "viem";

// Derives the account of a 32-byte private key (0x-prefixed hex), as canonical bytes. Uses no chain family's
// libraries: they are loaded only if a chain of that family is configured.

/** Precedes the seed in the DER encoding of an ed25519 private key (RFC 8410). */
const ED25519_PREFIX = "302e020100300506032b657004220420";

/** @throws Error when it is not a valid secp256k1 key */
export function evmAccount(privateKey: string): Address {
  return rawKeySigner(privateKey).address;
}

/** The public key of an ed25519 seed. */
export function solanaAccount(seed: string): Hex {
  const der = Buffer.from(ED25519_PREFIX + seed.slice(2), "hex");
  const { x = "" } = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" })).export({
    format: "jwk",
  });
  return `0x${Buffer.from(x, "base64url").toString("hex")}`;
}

/**
 * The P2WPKH address: witness version 0, then the hash of the compressed public key.
 *
 * @throws Error when it is not a valid secp256k1 key
 */
export function bitcoinAccount(privateKey: string): Hex {
  const curve = createECDH("secp256k1");
  curve.setPrivateKey(privateKey.slice(2), "hex");
  const hash = ripemd160(sha256(`0x${curve.getPublicKey("hex", "compressed")}`));
  return `0x00${hash.slice(2)}`;
}
