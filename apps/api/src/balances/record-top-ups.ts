import type { TopUpFact } from "@causeway/chains";
import { amountToUsdDown, confirmAtBlock, ServiceError } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { awaitTogether } from "../db/await-together.ts";
import type { TopUpRecord } from "./top-ups.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { unitInMemory } from "./appraise.ts";
import { creditTopUp, reverseTopUp } from "./credit-top-up.ts";

type TopUpServices = Pick<Services, "clock" | "appBalance">;
type StoreServices = TopUpServices & Pick<Services, "prices" | "quotePolicy">;
type TopUpTx = Pick<Tx, "events" | "ledger" | "topUps">;

/**
 * Stores top-ups from canonical blocks of the home chain without crediting them. Top-ups that are already
 * stored in the same block stay unchanged.
 */
export async function storeTopUps(
  services: StoreServices,
  tx: TopUpTx,
  facts: readonly TopUpFact[],
  seenAtMs: number,
): Promise<void> {
  const { chainId, confirmations } = services.appBalance;
  for (const fact of facts) {
    const isTooSmall = isDust(services, fact);
    const stored = await tx.topUps.upsert({
      ...fact,
      chainId,
      state: fact.wallet === undefined || isTooSmall ? "unattributed" : "seen",
      confirmAtBlock: confirmAtBlock(fact.blockNumber, confirmations),
      seenAtMs,
    });
    if (stored === undefined) continue;
    // No alarm for dust, because anyone can send it.
    if (isTooSmall) tx.events.happened("top_up_too_small", factsOf(stored));
    else if (stored.state === "unattributed") tx.events.alarm("top_up_unattributed", factsOf(stored));
    else tx.events.happened("top_up_seen", factsOf(stored));
  }
}

/**
 * Whether the top-up is worth less than the minimum. False without a cached price: a missing price must not
 * prevent a credit.
 */
function isDust(services: StoreServices, { currency: address, amount }: TopUpFact): boolean {
  const { currencies, minTopUpUsd } = services.appBalance;
  const currency = currencies.find((candidate) => candidate.address === address);
  if (currency === undefined || minTopUpUsd === 0n) return false;
  const unit = unitInMemory(services, currency);
  return !(unit instanceof ServiceError) && amountToUsdDown(amount, unit) < minTopUpUsd;
}

/** The range of blocks that may have been replaced, and the canonical hashes in that range. */
type ReplacedBlocks = readonly [aboveBlock: bigint, upToBlock: bigint, canonicalHashes: readonly Hex[]];

/** The top-ups that {@link actOnTopUps} reverses or credits. Their rows are locked. */
export interface FoundTopUps {
  /** Reorged out. */
  readonly removed: readonly TopUpRecord[];
  /** Confirmed but not credited yet. */
  readonly due: readonly TopUpRecord[];
}

/**
 * Marks top-ups that were reorged out, and finds top-ups that are confirmed at this height. Call after {@link
 * storeTopUps}, which stores those that were mined again.
 */
export async function findTopUps(
  { appBalance: { chainId } }: Pick<TopUpServices, "appBalance">,
  tx: Pick<TopUpTx, "topUps">,
  headNumber: bigint,
  replaced: ReplacedBlocks,
): Promise<FoundTopUps> {
  // Sent together: the second statement ignores the top-ups that the first removed.
  const [removed, due] = await awaitTogether([
    tx.topUps.removeOrphaned(chainId, ...replaced),
    tx.topUps.lockDue(chainId, headNumber),
  ]);
  return { removed, due };
}

/**
 * Reverses credited top-ups that were reorged out, each by a movement of its own, and then credits those that
 * are confirmed.
 */
export async function actOnTopUps(
  services: TopUpServices,
  tx: TopUpTx,
  { removed, due }: FoundTopUps,
): Promise<void> {
  await reverse(services, tx, removed);
  await credit(services, tx, due);
}

async function reverse(services: TopUpServices, tx: TopUpTx, removed: readonly TopUpRecord[]): Promise<void> {
  const { chainId } = services.appBalance;
  for (const removedTopUp of removed) {
    tx.events.alarm("top_up_removed", { ...factsOf(removedTopUp), state: removedTopUp.state });
    if (removedTopUp.state !== "credited" || removedTopUp.wallet === undefined) continue;
    const { wallet, amount, currency } = removedTopUp;
    const movementKey = `top-up:${removedTopUp.id}:reverse:${removedTopUp.credits}`;
    await reverseTopUp(services, tx, { wallet, amount, asset: { chainId, currency }, movementKey });
    await tx.topUps.setState(removedTopUp.id, "seen", removedTopUp.credits);
    tx.events.alarm("top_up_reversed", factsOf(removedTopUp));
  }
}

/**
 * Credits every top-up that is confirmed at this height. A top-up that was reorged out and mined again is
 * credited again.
 */
export async function creditDueTopUps(
  services: TopUpServices,
  tx: TopUpTx,
  headNumber: bigint,
): Promise<void> {
  await credit(services, tx, await tx.topUps.lockDue(services.appBalance.chainId, headNumber));
}

async function credit(
  services: TopUpServices,
  tx: TopUpTx,
  confirmed: readonly TopUpRecord[],
): Promise<void> {
  const { chainId } = services.appBalance;
  for (const topUp of confirmed) {
    const { wallet, amount, currency } = topUp;
    if (wallet === undefined) continue;
    const credits = topUp.credits + 1;
    const movementKey = `top-up:${topUp.id}:credit:${credits}`;
    await creditTopUp(services, tx, { wallet, amount, asset: { chainId, currency }, movementKey });
    await tx.topUps.setState(topUp.id, "credited", credits);
    tx.events.happened("top_up_credited", factsOf(topUp));
  }
}

function factsOf({ id, txHash, sender, wallet, currency, amount }: TopUpRecord) {
  return { topUpId: id, txHash, sender, wallet, currency, amount };
}
