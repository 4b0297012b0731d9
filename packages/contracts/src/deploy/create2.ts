import { concat, getCreate2Address, pad, type Address, type Hex } from "viem";

/**
 * Creates contracts with CREATE2 from its calldata: a salt and the creation code. It has this address on
 * every chain, because the transaction that creates it is signed for no chain in particular.
 */
export const deterministicDeployer: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** Sends `deterministicDeployerCreation`. It needs this much wei: the gas limit at the signed gas price. */
export const deterministicDeployerCreator: { readonly address: Address; readonly wei: bigint } = {
  address: "0x3fAB184622Dc19b6109349B94811493BF2a45362",
  wei: 10n ** 16n,
};

/** Signed without a chain id; the key is unknown. */
export const deterministicDeployerCreation: Hex =
  "0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222";

/** The code of the deterministic deployer; it must not be used if its address has other code. */
export const deterministicDeployerCode: Hex =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

/** The salt of every planned contract: addresses differ by code and constructor arguments alone. */
const SALT: Hex = pad("0x");

/** The address of the contract that the deterministic deployer creates from `creationCode`. */
export function create2Address(creationCode: Hex, from: Address = deterministicDeployer): Address {
  return getCreate2Address({ from, salt: SALT, bytecode: creationCode });
}

/** The calldata for the deterministic deployer. */
export function create2Calldata(creationCode: Hex): Hex {
  return concat([SALT, creationCode]);
}
