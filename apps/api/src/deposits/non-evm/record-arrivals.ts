import { RpcFault } from "@causeway/chains";
import type { DepositFact, NonEvmArrivals } from "@causeway/chains";
import type { Address, NonEvmChain } from "@causeway/domain";
import type { MappedNonce } from "../../chains/nonce-mappings.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { actOnDeposits } from "../record-deposits.ts";
import { storeDeposits } from "../store-deposits.ts";
import type { MovedDeposit } from "../deposit-reading.ts";
import type { RecordingServices } from "../apply-deposit.ts";

/** Seconds after a transfer within which its sender may map its nonce to an order. */
export const MAPPING_WINDOW_SECONDS = 3_600n;

/** A deposit after its sender's nonce mapping, if known, was applied: the mapping names the order. */
export interface MappedFact {
  readonly fact: DepositFact;
  /**
   * The end of the mapping window, in ms since the epoch; undefined if the deposit names its order or is
   * already mapped.
   */
  readonly waitsUntilMs: number | undefined;
}

/**
 * Looks up the nonce mappings of transfers that carry no order id. If a lookup fails, the mapping counts as
 * missing and is looked up again later.
 */
export async function applyNonceMappings(
  services: Pick<Services, "nonceMappings">,
  chain: NonEvmChain,
  facts: readonly DepositFact[],
  upTo: NonEvmArrivals["upTo"],
): Promise<readonly MappedFact[]> {
  return await Promise.all(
    facts.map(async (fact): Promise<MappedFact> => {
      const settled: MappedFact = { fact, waitsUntilMs: undefined };
      if (fact.nonce === undefined) return settled;
      const untilMs = Number((fact.timestamp ?? upTo.timestamp) + MAPPING_WINDOW_SECONDS) * 1000;
      const mapped = await findMapping(services, chain, fact.sender, fact.nonce);
      if (mapped !== undefined && isInTime(mapped, untilMs))
        return { ...settled, fact: { ...fact, id: mapped.id, depositor: mapped.depositor } };
      return fact.id === undefined ? { fact, waitsUntilMs: untilMs } : settled;
    }),
  );
}

/** Whether the mapping was made within its window. */
export function isInTime({ setAt }: MappedNonce, untilMs: number): boolean {
  return Number(setAt) * 1000 <= untilMs;
}

async function findMapping(
  { nonceMappings }: Pick<Services, "nonceMappings">,
  { id }: NonEvmChain,
  sender: Address,
  nonce: bigint,
): Promise<MappedNonce | undefined> {
  try {
    return await nonceMappings?.find(id, sender, nonce);
  } catch (error) {
    if (error instanceof RpcFault) return undefined;
    throw error;
  }
}

/**
 * Stores final deposits and applies each to the request that it names. Idempotent. The caller has locked the
 * chain's cursor: two readers may know different mappings for one transfer.
 */
export async function recordArrivals(
  services: RecordingServices,
  tx: Tx,
  chain: NonEvmChain,
  mappedFacts: readonly MappedFact[],
  { upTo, seenAtMs }: { readonly upTo: NonEvmArrivals["upTo"]; readonly seenAtMs: number },
): Promise<void> {
  const fresh = await dropKnown(tx, chain, mappedFacts);
  const highest = fresh.reduce(
    (max, { fact: { blockNumber } }) => (blockNumber > max ? blockNumber : max),
    upTo.number,
  );
  const reading = { chain, headNumber: highest, seenAtMs };
  const moved = await storeDeposits(
    tx,
    reading,
    fresh.map(({ fact }) => fact),
  );
  const waitsUntilByFact = new Map<MovedDeposit["fact"], number | undefined>(
    fresh.map(({ fact, waitsUntilMs }) => [fact, waitsUntilMs]),
  );
  const ready: MovedDeposit[] = [];
  for (const movedDeposit of moved) {
    const { fact, deposit } = movedDeposit;
    const untilMs = waitsUntilByFact.get(fact);
    if (fact.nonce !== undefined) await tx.nonEvm.noteNonce(deposit.id, fact.nonce, untilMs);
    if (untilMs === undefined) ready.push(movedDeposit);
    else
      tx.events.happened("deposit_unmapped", {
        chain: chain.name,
        depositId: deposit.id,
        txHash: fact.txHash,
        sender: fact.sender,
        nonce: fact.nonce,
        untilMs,
      });
  }
  await actOnDeposits(services, tx, reading, ready);
}

/** The transfers that are not stored yet. A nonce mapping made since then does not make a transfer new. */
async function dropKnown(
  tx: Tx,
  { id: chainId }: NonEvmChain,
  mappedFacts: readonly MappedFact[],
): Promise<MappedFact[]> {
  const fresh: MappedFact[] = [];
  for (const mappedFact of mappedFacts) {
    const { txHash, sender, nonce, ordinal } = mappedFact.fact;
    const isKnown =
      nonce !== undefined && (await tx.nonEvm.isKnown({ chainId, txHash, sender, nonce, ordinal }));
    if (!isKnown) fresh.push(mappedFact);
  }
  return fresh;
}
