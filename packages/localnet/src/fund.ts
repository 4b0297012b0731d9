import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { createLocalClient, sendPipelined, type LocalClient, type NodeAddress } from "./local-client.ts";
import { isWrappedNative, mintCalls } from "./mint-calls.ts";

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
  const gifts = fundings.flatMap(({ address, tokens = [] }) =>
    tokens.map(({ token, amount }) => ({ token, address, amount })),
  );
  const mints = gifts.flatMap(({ token, address, amount }) => mintCalls(token, address, amount));
  const balances = fundings.flatMap(({ address, nativeWei: value }) =>
    value === undefined ? [] : [{ address, value }],
  );
  const toWrap = gifts.reduce((sum, { token, amount }) => sum + (isWrappedNative(token) ? amount : 0n), 0n);
  await Promise.all([
    ...balances.map(async (balance) => await client.setBalance(balance)),
    addNative(client, deployer.address, toWrap),
  ]);
  if (mints.length > 0)
    await sendPipelined(client, privateKeyToAccount(deployer.privateKey), mints, 150_000n);
}

const deployer = localAccount("deployer");

async function addNative(client: LocalClient, address: Address, wei: bigint): Promise<void> {
  if (wei === 0n) return;
  await client.setBalance({ address, value: (await client.getBalance({ address })) + wei });
}
