import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { sendPipelined, type LocalClient } from "@causeway/testkit";

/**
 * Gives accounts native money: sets their balances on a node of ours. On a given node its funding key
 * transfers what an account lacks.
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
  const lacking = await Promise.all(
    balances.map(async ({ address, value }) => ({
      address,
      value: value - (await client.getBalance({ address })),
    })),
  );
  const transfers = lacking
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
