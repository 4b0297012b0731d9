import { toFunctionSelector, type AbiFunction } from "viem";
import type { Address, Hex } from "../ids/hex.ts";
import type { KnownContract, KnownError, KnownFunction } from "./known-contract.ts";
import { standardContracts } from "./standard-signatures.ts";

/** Names of functions and errors in a trace. */
export interface KnownAbis {
  contractAt(address: Address): string | undefined;
  /** The function with this selector at `address`, else at any contract. */
  functionOf(selector: Hex, address: Address | undefined): KnownFunction | undefined;
  /** All errors with this selector: two signatures may share it. */
  errorsOf(selector: Hex): readonly KnownError[];
}

/**
 * Combines the standard contracts with `further` contracts. A function that several named contracts have is
 * attributed to none of them.
 */
export function createKnownAbis(extraContracts: readonly KnownContract[] = []): KnownAbis {
  const names = new Map<Address, string>();
  const functions = new Map<Hex, Map<string | undefined, string>>();
  const errors = new Map<Hex, Map<string, KnownError>>();
  for (const { name, abi, addresses } of [...standardContracts(), ...extraContracts]) {
    for (const address of addresses ?? []) {
      if (name !== undefined && !names.has(address)) names.set(address, name);
    }
    for (const item of abi) {
      if (item.type === "function") {
        const { name: functionName } = item as AbiFunction;
        const selector = selectorOf(item as AbiFunction);
        functions.set(
          selector,
          (functions.get(selector) ?? new Map<string | undefined, string>()).set(name, functionName),
        );
      } else if (item.type === "error") {
        const error = item as KnownError;
        const selector = selectorOf(error);
        const types = `${error.name}(${error.inputs.map(({ type }) => type).join(",")})`;
        const sameSelector = errors.get(selector) ?? new Map<string, KnownError>();
        if (!sameSelector.has(types)) errors.set(selector, sameSelector.set(types, error));
      }
    }
  }
  return {
    contractAt: (address) => names.get(address),
    functionOf: (selector, address) => {
      const owners = functions.get(selector);
      if (owners === undefined) return undefined;
      const contract = address === undefined ? undefined : names.get(address);
      const ownName = owners.get(contract);
      if (contract !== undefined && ownName !== undefined) return { name: ownName, contract };
      const [first, ...otherOwners] = [...owners];
      if (first === undefined) return undefined;
      return { name: first[1], contract: otherOwners.length === 0 ? first[0] : undefined };
    },
    errorsOf: (selector) => [...(errors.get(selector)?.values() ?? [])],
  };
}

function selectorOf(item: AbiFunction | KnownError): Hex {
  return toFunctionSelector(
    item.type === "function" ? item : { ...item, type: "function", outputs: [], stateMutability: "pure" },
  );
}
