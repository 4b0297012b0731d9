import type { AbiParameter } from "viem";
import type { Address } from "../ids/hex.ts";

type AbiItems = readonly { readonly type: string }[];

export interface KnownError {
  readonly type: "error";
  readonly name: string;
  readonly inputs: readonly AbiParameter[];
}

/** A contract whose functions and errors shall be called by their names. */
export interface KnownContract {
  /** Undefined for interfaces that many contracts have: their functions are named without one. */
  readonly name: string | undefined;
  readonly abi: AbiItems;
  /** Where it is deployed, lower case, if that is known. */
  readonly addresses?: readonly Address[];
}

export interface KnownFunction {
  readonly name: string;
  /** The one known contract that has it. */
  readonly contract: string | undefined;
}
