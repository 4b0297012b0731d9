import { allocatorAbi, depositoryAbi, genericMappingAbi, oracleAbi } from "@causeway/contracts";
import type { Hex } from "@causeway/domain";
import { toFunctionSelector, type AbiFunction } from "viem";

const selectorOf = (abi: readonly { readonly type: string; readonly name?: string }[], name: string): Hex =>
  toFunctionSelector(abi.find((item) => item.type === "function" && item.name === name) as AbiFunction);

/** These contracts run what oracles, or the allocator, have signed: the sender decides nothing. */
export const HUB_CALLS = [
  selectorOf(oracleAbi, "executeMultiple"),
  selectorOf(genericMappingAbi, "setEntries"),
];
export const PAYOUT_CALLS = [selectorOf(allocatorAbi, "record"), selectorOf(depositoryAbi, "execute")];
