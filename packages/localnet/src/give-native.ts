import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { sendPipelined, type LocalClient } from "@causeway/testkit";

/**
 * Funds accounts with the native token: sets their balances on our own node. On an external node, its funding
 * key transfers the missing amounts.
 *
 * @throws LocalTransactionFailed
 */
export async function giveNative(
  client: LocalClient,
  balances: readonly { readonly address: Address; readonly value: bigint }[],
): Promise<void> {
  if (client.fundingKey === undefined) {
    await Promise.all(balances.map(async (balance) => await client.setBalance(balance)));
    return;
  }
  const missing = await Promise.all(
    balances.map(async ({ address, value }) => ({
      address,
      value: value - (await client.getBalance({ address })),
    })),
  );
  const transfers = missing
    .filter(({ value }) => value > 0n)
    .map(({ address, value }) => ({
      label: `transfer to ${address}`,
      to: address,
      value,
      data: "0x" as const,
    }));
  if (transfers.length > 0)
    await sendPipelined(client, privateKeyToAccount(client.fundingKey), transfers, 21_000n);
}
