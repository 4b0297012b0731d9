import type { Address } from "viem";

/** Creates contracts with CREATE2 from its calldata, a salt and the creation code; every development node has it at this address. */
export const deterministicDeployer: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
