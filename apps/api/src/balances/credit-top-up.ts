import type { Address, LedgerAsset } from "@causeway/domain";
import { mergeEntries } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { creditEntries, debitEntries } from "./credit-entries.ts";

/** A transfer to the solver for a wallet. */
export interface TopUpMovement {
  readonly wallet: Address;
  readonly asset: LedgerAsset;
  /** Base units, positive. */
  readonly amount: bigint;
  readonly movementKey: string;
}

/** Credits a top-up: repays debts in that currency first, then increases the balance. */
export async function creditTopUp(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger">,
  { wallet, asset, amount, movementKey }: TopUpMovement,
): Promise<"posted" | "already"> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const entries = mergeEntries([
    { account: "custody", asset, amount: -amount },
    ...creditEntries(book, asset, amount),
  ]);
  return await tx.ledger.post(
    {
      key: movementKey,
      context: "balance-topup",
      reason: "a top-up is confirmed",
      wallet,
      requestId: undefined,
      entries,
    },
    atMs,
  );
}

/**
 * Reverses a credited top-up that was reorged out; any shortfall is owed and reported.
 */
export async function reverseTopUp(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "events" | "ledger">,
  { wallet, asset, amount, movementKey }: TopUpMovement,
): Promise<"posted" | "already"> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const debit = debitEntries(book, asset, amount);
  const posted = await tx.ledger.post(
    {
      key: movementKey,
      context: "balance-topup-reversed",
      reason: "a top-up was reorged out",
      wallet,
      requestId: undefined,
      entries: mergeEntries([{ account: "custody", asset, amount }, ...debit]),
    },
    atMs,
  );
  const owed = debit.find(({ account }) => account === "owed")?.amount ?? 0n;
  if (posted === "posted" && owed !== 0n)
    tx.events.alarm("app_balance_owed", { wallet, currency: asset.currency, owed: -owed });
  return posted;
}
