import type { Hex } from "viem";
import generated from "../generated/builds.json" with { type: "json" };

/** A contract that the service uses. */
export type ContractName = keyof (typeof generated)["contracts"];

/** Where a value is in bytecode, in bytes. */
export interface BytecodePlace {
  readonly start: number;
  readonly length: number;
}

/** The compiler's output for one contract. */
export interface Build {
  /** Path of its source, such as `contracts/Router.sol`. */
  readonly path: string;
  /** Has zeros where the constructor writes immutables. */
  readonly deployedBytecode: Hex;
  /** Places of each immutable, by its name. */
  readonly immutables: Readonly<Record<string, readonly BytecodePlace[]>>;
}

export function buildOf(contract: ContractName): Build {
  const { path, deployedBytecode, immutables } = generated.contracts[contract];
  return { path, deployedBytecode: deployedBytecode as Hex, immutables };
}

export function isContractName(text: string): text is ContractName {
  return Object.hasOwn(generated.contracts, text);
}

/** The version of solc as block explorers write it, such as `v0.8.37+commit.f401782d`. */
export const compilerVersion = `v${/^[^+]+\+commit\.[0-9a-f]+/.exec(generated.compiler)?.[0] ?? generated.compiler}`;

/**
 * The standard JSON input of solc for one contract, to verify its source on a block explorer. It contains
 * only the sources that the contract needs, and compiles to the bytecode of this build.
 */
export function standardJsonInput(contract: ContractName): object {
  const { sources }: { readonly sources: readonly string[] } = generated.contracts[contract];
  const contents: Readonly<Record<string, string>> = generated.sources;
  return {
    language: "Solidity",
    sources: Object.fromEntries(sources.map((path) => [path, { content: contents[path] }])),
    settings: {
      ...generated.settings,
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
    },
  };
}
