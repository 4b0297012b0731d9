import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { giveNative } from "./give-native.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";
import { isWrappedNative, mintCalls } from "./mint-calls.ts";

/** What an account gets on a local chain. */
export interface Funding {
  readonly address: Address;
  /** Set to exactly this; on a given node at least this. */
  readonly nativeWei?: bigint;
  /** Minted on top of what is there; amounts in the token's smallest unit. */
  readonly tokens?: readonly { readonly token: Address; readonly amount: bigint }[];
}

/** Gives native money and tokens of the local chains in one go. */
export async function fundLocal(node: NodeAddress, fundings: readonly Funding[]): Promise<void> {
  const client = createLocalClient(node);
  const gifts = fundings.flatMap(({ address, tokens = [] }) =>
    tokens.map(({ token, amount }) => ({ token, address, amount })),
  );
  const mints = gifts.flatMap(({ token, address, amount }) => mintCalls(token, address, amount));
  const balances = fundings.flatMap(({ address, nativeWei: value }) =>
    value === undefined ? [] : [{ address, value }],
  );
  const toWrap = weiToWrap(fundings);
  if (toWrap > 0n) {
    const has = await client.getBalance({ address: deployer.address });
    balances.push({ address: deployer.address, value: has + toWrap });
  }
  await giveNative(client, balances);
  if (mints.length > 0)
    await sendPipelined(client, privateKeyToAccount(deployer.privateKey), mints, 150_000n);
}

const deployer = localAccount("deployer");

/** All native money that these fundings take from a given node's key, without gas. */
export function requiredWei(fundings: readonly Funding[]): bigint {
  return fundings.reduce((sum, { nativeWei = 0n }) => sum + nativeWei, weiToWrap(fundings));
}

function weiToWrap(fundings: readonly Funding[]): bigint {
  return fundings
    .flatMap(({ tokens = [] }) => tokens)
    .reduce((sum, { token, amount }) => sum + (isWrappedNative(token) ? amount : 0n), 0n);
}
