import { keccak, keccakText, toHex, writeHex } from "../hashing/struct-writer.ts";
import type { Hex32, OrderId } from "../ids/hex.ts";

/**
 * The EIP-712 domain under which a solver signs orders. It has no chain and no contract: an order itself
 * names its chains and its solver, and settlement uses the order's id.
 */
export const orderDomain = { name: "Causeway", version: "1" } as const;

/** hashStruct of the domain. */
const separator = (() => {
  const words = new Uint8Array(96);
  words.set(keccakText("EIP712Domain(string name,string version)"), 0);
  words.set(keccakText(orderDomain.name), 32);
  words.set(keccakText(orderDomain.version), 64);
  return keccak(words);
})();

/**
 * The EIP-712 digest that the solver signs for an order. The id is the order's struct hash, so nothing else
 * of the order is needed.
 */
export function orderDigest(orderId: OrderId): Hex32 {
  const bytes = new Uint8Array(66);
  bytes[0] = 0x19;
  bytes[1] = 0x01;
  bytes.set(separator, 2);
  writeHex(orderId, bytes, 34);
  return toHex(keccak(bytes));
}
