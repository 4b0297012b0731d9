import { confirmationsFor } from "@causeway/domain";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { Reading } from "./deposit-reading.ts";

const BEYOND_ALL_TIERS = 2n ** 255n;

/**
 * Value filled against blocks that may still be orphaned, USD with 18 decimals. Read once; the caller adds to
 * it.
 */
export async function exposureOn(tx: Tx, { chain, headNumber }: Reading): Promise<{ usd: bigint }> {
  if (chain.maxUnconfirmedUsd === undefined) return { usd: 0n };
  const strictest = confirmationsFor(chain.confirmationTiers, BEYOND_ALL_TIERS);
  return { usd: await tx.deposits.valueAbove(chain.id, headNumber - BigInt(strictest)) };
}

/** Confirmations that a deposit needs. */
export function confirmationsOf(
  { maxUnconfirmedUsd, confirmationTiers }: Reading["chain"],
  knownUsd: bigint | undefined,
  exposureUsd: bigint,
): number {
  const isBeyondCap = maxUnconfirmedUsd !== undefined && exposureUsd + (knownUsd ?? 0n) > maxUnconfirmedUsd;
  return confirmationsFor(
    confirmationTiers,
    knownUsd !== undefined && !isBeyondCap ? knownUsd : BEYOND_ALL_TIERS,
  );
}
