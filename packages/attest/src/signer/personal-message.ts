import type { Hex, Hex32, Order } from "@causeway/domain";
import { hashTypedData } from "viem";
import { messageDigest } from "../messages/message-digest.ts";
import type { TypedData } from "./preimage.ts";
import { signatureToHex } from "./signer.ts";
import type { Signer } from "./signer.ts";

/**
 * Signs 32 bytes as a personal message (EIP-191 version 0x45 over the raw bytes): how a solver signs an order
 * id.
 * @param order the order whose id the bytes are: a signer with its own policy signs only order ids
 * @returns 65 bytes, v 27 or 28
 * @throws RangeError if `bytes` is not 32 bytes of hex, and errors of the signer
 */
export async function signPersonalMessage(signer: Signer, bytes: Hex32, order?: Order): Promise<Hex> {
  return signatureToHex(await signer.signDigest(messageDigest(bytes), { kind: "message", bytes, order }));
}

/**
 * Signs EIP-712 typed data.
 * @returns 65 bytes, v 27 or 28
 * @throws errors of the signer
 */
export async function signTypedData(signer: Signer, typedData: TypedData): Promise<Hex> {
  const digest = hashTypedData(typedData as Parameters<typeof hashTypedData>[0]);
  return signatureToHex(await signer.signDigest(digest, { kind: "typedData", typedData }));
}
