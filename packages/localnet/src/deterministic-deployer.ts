import {
  deterministicDeployer,
  deterministicDeployerCreation,
  deterministicDeployerCreator,
} from "@causeway/contracts/deploy";
import { giveNative } from "./give-native.ts";
import { sendAndWait, type LocalClient } from "@causeway/testkit";

/**
 * Creates the deterministic deployer on an external node without it; most development nodes include it.
 *
 * @throws LocalTransactionFailed if the node refuses transactions without a chain id
 */
export async function ensureDeterministicDeployer(client: LocalClient): Promise<void> {
  const code = await client.getCode({ address: deterministicDeployer });
  if (code !== undefined && code !== "0x") return;
  const { address, wei } = deterministicDeployerCreator;
  await giveNative(client, [{ address, value: wei }]);
  await sendAndWait(client, [
    { label: "creation of the deterministic deployer", bytes: deterministicDeployerCreation },
  ]);
}
