import type { AbiParameter } from "viem";
import type { Address } from "../ids/hex.ts";

type AbiItems = readonly { readonly type: string }[];

export interface KnownError {
  readonly type: "error";
  readonly name: string;
  readonly inputs: readonly AbiParameter[];
}

/** A contract whose functions and errors are shown by name. */
export interface KnownContract {
  /** Undefined for interfaces of many contracts: their functions are shown without a contract name. */
  readonly name: string | undefined;
  readonly abi: AbiItems;
  /** Where it is deployed, lower case, if known. */
  readonly addresses?: readonly Address[];
}

export interface KnownFunction {
  readonly name: string;
  /** The only known contract that has the function. Undefined if several do. */
  readonly contract: string | undefined;
}
