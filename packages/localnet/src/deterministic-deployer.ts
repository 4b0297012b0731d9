import type { Address, Hex } from "viem";
import { giveNative } from "./give-native.ts";
import { sendAndWait, type LocalClient } from "@causeway/testkit";

/**
 * Creates contracts with CREATE2 from its calldata, a salt and the creation code; most development nodes
 * have it from the start.
 */
export const deterministicDeployer: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** `creation` costs at most this: its gas limit at the gas price that its signature fixes. */
const creator = { address: "0x3fAB184622Dc19b6109349B94811493BF2a45362", value: 10n ** 16n } as const;

/** Signed without a chain id and by no known key, so that it creates the same contract on every chain. */
const creation: Hex =
  "0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222";

/**
 * Creates it where a given node does not have it.
 *
 * @throws LocalTransactionFailed when the node refuses transactions without a chain id
 */
export async function ensureDeterministicDeployer(client: LocalClient): Promise<void> {
  const code = await client.getCode({ address: deterministicDeployer });
  if (code !== undefined && code !== "0x") return;
  await giveNative(client, [creator]);
  await sendAndWait(client, [{ label: "creation of the deterministic deployer", bytes: creation }]);
}
