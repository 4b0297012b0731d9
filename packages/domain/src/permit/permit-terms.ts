import type { Address, Hex32 } from "../ids/hex.ts";
import type { RouteWitness } from "./route-witness.ts";

/**
 * How a signature pays. `eip3009`: the token moves what was authorised, and the nonce binds what becomes of
 * it. `permit2`: so does Permit2, by a witness. `eip2612`: the token allows it to an address that can do
 * nothing with it but deposit it under the order.
 */
export const permitMethods = ["eip3009", "eip2612", "permit2"] as const;
export type PermitMethod = (typeof permitMethods)[number];

/**
 * What a user signs instead of sending a transaction. With the terms around it everything that is signed can
 * be put together again.
 */
export interface PermitTerms {
  readonly method: PermitMethod;
  readonly token: Address;
  /** What is taken, smallest units. */
  readonly amount: bigint;
  /**
   * Unix seconds; of EIP-3009 the first at which it is worth nothing any more, else the last at which it
   * counts.
   */
  readonly deadline: number;
  /** Of EIP-3009 it says what becomes of the money; of EIP-2612 it is the next of the user at the token. */
  readonly nonce: Hex32;
  /** Who may take it: the approval proxy or, with EIP-2612, the order's deposit address. */
  readonly spender: Address;
  /** Of the token's EIP-712 domain; absent for Permit2, whose own is known. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** What becomes of the money; absent for EIP-2612: it is deposited under the order. */
  readonly witness?: RouteWitness;
  /** Gas units of the transaction that submits it, as they were priced. */
  readonly gasUnits: bigint;
}
