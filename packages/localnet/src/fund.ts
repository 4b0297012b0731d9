import { testTokenAbi } from "@causeway/contracts";
import { encodeFunctionData, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "./local-client.ts";

/** What one account shall own on a local chain. */
export interface Funding {
  readonly address: Address;
  /** Set to exactly this. */
  readonly nativeWei?: bigint;
  /** Minted on top of what is there; amounts in the token's smallest unit. */
  readonly tokens?: readonly { readonly token: Address; readonly amount: bigint }[];
}

/** Gives native money and tokens of the local chains out of nothing, in one go. */
export async function fundLocal(node: NodeAddress, fundings: readonly Funding[]): Promise<void> {
  const client = createLocalClient(node);
  const mints = fundings.flatMap(({ address, tokens = [] }) =>
    tokens.map(({ token, amount }) => ({
      to: token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [address, amount] }),
      label: `mint of ${token} to ${address}`,
    })),
  );
  const balances = fundings.flatMap(({ address, nativeWei: value }) =>
    value === undefined ? [] : [{ address, value }],
  );
  await Promise.all(balances.map(async (balance) => await client.setBalance(balance)));
  if (mints.length > 0) {
    await sendPipelined(client, privateKeyToAccount(localAccount("deployer").privateKey), mints, 150_000n);
  }
}
