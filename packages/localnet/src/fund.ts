import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { giveNative } from "./give-native.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";
import { isWrappedNative, mintCalls } from "./mint-calls.ts";

/** Funds of an account on a local chain. */
export interface Funding {
  readonly address: Address;
  /** The balance is set to exactly this amount; on an external node, to at least this amount. */
  readonly nativeWei?: bigint;
  /** Minted in addition to the current balance; in base units. */
  readonly tokens?: readonly { readonly token: Address; readonly amount: bigint }[];
}

/** Funds accounts with the native token and tokens of the local chains. */
export async function fundLocal(node: NodeAddress, fundings: readonly Funding[]): Promise<void> {
  const client = createLocalClient(node);
  const tokenMints = fundings.flatMap(({ address, tokens = [] }) =>
    tokens.map(({ token, amount }) => ({ token, address, amount })),
  );
  const mints = tokenMints.flatMap(({ token, address, amount }) => mintCalls(token, address, amount));
  const balances = fundings.flatMap(({ address, nativeWei: value }) =>
    value === undefined ? [] : [{ address, value }],
  );
  const toWrap = weiToWrap(fundings);
  if (toWrap > 0n) {
    const balance = await client.getBalance({ address: deployer.address });
    balances.push({ address: deployer.address, value: balance + toWrap });
  }
  await giveNative(client, balances);
  if (mints.length > 0)
    await sendPipelined(client, privateKeyToAccount(deployer.privateKey), mints, 150_000n);
}

const deployer = localAccount("deployer");

/** Total wei that these fundings take from an external node's key, without gas. */
export function requiredWei(fundings: readonly Funding[]): bigint {
  return fundings.reduce((sum, { nativeWei = 0n }) => sum + nativeWei, weiToWrap(fundings));
}

function weiToWrap(fundings: readonly Funding[]): bigint {
  return fundings
    .flatMap(({ tokens = [] }) => tokens)
    .reduce((sum, { token, amount }) => sum + (isWrappedNative(token) ? amount : 0n), 0n);
}
