import type { Address, Hex32 } from "../ids/hex.ts";
import type { RouteWitness } from "./route-witness.ts";

/**
 * How a signature pays. `eip3009`: the token transfers the authorized amount, and the nonce commits to the
 * route. `permit2`: Permit2 transfers the amount, and a witness commits to the route. `eip2612`: the token
 * approves an address that can only deposit the amount under the order.
 */
export const permitMethods = ["eip3009", "eip2612", "permit2"] as const;
export type PermitMethod = (typeof permitMethods)[number];

/**
 * What a user signs instead of sending a transaction. The signed data follows from this and the other terms.
 */
export interface PermitTerms {
  readonly method: PermitMethod;
  readonly token: Address;
  /** What is transferred, base units. */
  readonly amount: bigint;
  /**
   * Unix seconds; for EIP-3009 the first second at which the signature is invalid, else the last at which it
   * is valid.
   */
  readonly deadline: number;
  /** EIP-3009: a hash that commits to the route. EIP-2612: the user's next nonce at the token. */
  readonly nonce: Hex32;
  /** Who may transfer it: the approval proxy or, for EIP-2612, the order's deposit address. */
  readonly spender: Address;
  /** The token's EIP-712 domain. Absent for Permit2, whose domain is fixed. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** The route of the funds. Absent for EIP-2612: they are deposited under the order. */
  readonly witness?: RouteWitness;
  /** Gas units of the submitting transaction, as priced in the quote. */
  readonly gasUnits: bigint;
}
