import type { Address, PermitMethod } from "@causeway/domain";
import type { TokenPermits } from "../../chains/permits.port.ts";

/** How a quote is paid by signature. */
export interface PermitWay {
  readonly method: PermitMethod;
  /** Of the token; of no use for Permit2. */
  readonly domain: TokenPermits["domain"];
  /** The user's next at the token; only EIP-2612 needs it. */
  readonly tokenNonce: bigint | undefined;
  /** For how long the signature is worth something. */
  readonly expirySeconds: number;
  /** Who submits it. */
  readonly relayer: Address;
}
