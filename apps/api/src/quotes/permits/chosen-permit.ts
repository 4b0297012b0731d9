import type { Address, PermitMethod } from "@causeway/domain";
import type { TokenPermits } from "../../chains/permits.port.ts";

/** How a quote is paid by signature. */
export interface ChosenPermit {
  readonly method: PermitMethod;
  /** The token's domain; unused for Permit2. */
  readonly domain: TokenPermits["domain"];
  /** The user's next nonce at the token; only EIP-2612 needs it. */
  readonly tokenNonce: bigint | undefined;
  /** How long the signature is valid. */
  readonly expirySeconds: number;
  /** The account that submits the signature. */
  readonly relayer: Address;
}
