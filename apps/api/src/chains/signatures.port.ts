import type { Address, Hex } from "@causeway/domain";

/** A text, or bytes that are signed as they are. */
export type SignedMessage = string | { readonly raw: Hex };

/** Verifies that an account signed a message. */
export interface Signatures {
  /**
   * By its key (EIP-191), or by the contract at its address on the home chain (EIP-1271).
   * @throws RpcFault when the chain did not answer
   */
  isSignedBy(address: Address, message: SignedMessage, signature: Hex): Promise<boolean>;
}
