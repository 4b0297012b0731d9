import type { DepositFact, RailArrivals } from "@causeway/chains";
import type { RailChain } from "@causeway/domain";
import type { Services } from "../../ports/services.ts";
import type { Tx } from "../../ports/unit-of-work.ts";
import { actOnDeposits, storeDeposits } from "../record-deposits.ts";
import type { MovedDeposit, RecordingServices } from "../record-deposits.ts";

/** Seconds after a transfer within which its sender may say what it is for. */
export const MAPPING_WINDOW_SECONDS = 3_600n;

/** A deposit with what its sender has said about it so far. */
export interface NamedFact {
  readonly fact: DepositFact;
  /** He may still say it until then, ms since epoch; undefined: it says itself what it is for, or he has. */
  readonly waitsUntilMs: number | undefined;
}

/** Asks what senders have said about transfers that cannot say it themselves. */
export async function nameFacts(
  { nonceMappings }: Pick<Services, "nonceMappings">,
  chain: RailChain,
  facts: readonly DepositFact[],
  upTo: RailArrivals["upTo"],
): Promise<readonly NamedFact[]> {
  return await Promise.all(
    facts.map(async (fact): Promise<NamedFact> => {
      if (fact.nonce === undefined) return { fact, waitsUntilMs: undefined };
      const mapped = await nonceMappings?.of(chain.id, fact.sender, fact.nonce);
      if (mapped !== undefined)
        return {
          fact: { ...fact, id: mapped.id, depositor: mapped.depositor },
          waitsUntilMs: undefined,
        };
      if (fact.id !== undefined) return { fact, waitsUntilMs: undefined };
      const until = (fact.timestamp ?? upTo.timestamp) + MAPPING_WINDOW_SECONDS;
      return { fact, waitsUntilMs: Number(until) * 1000 };
    }),
  );
}

/**
 * Writes down final deposits and lets each act on the request it names. May be called any number of times with the same facts, by the watcher and by a client's hint alike. The caller has
 * locked the chain's cursor: of one transfer two readers may know differently what it is for.
 */
export async function recordArrivals(
  services: RecordingServices,
  tx: Tx,
  chain: RailChain,
  named: readonly NamedFact[],
  { upTo, seenAtMs }: { readonly upTo: RailArrivals["upTo"]; readonly seenAtMs: number },
): Promise<void> {
  const fresh = await unknownOf(tx, chain, named);
  const highest = fresh.reduce(
    (most, { fact: { blockNumber } }) => (blockNumber > most ? blockNumber : most),
    upTo.number,
  );
  const reading = { chain, headNumber: highest, seenAtMs };
  const moved = await storeDeposits(
    tx,
    reading,
    fresh.map(({ fact }) => fact),
  );
  const waits = new Map(fresh.map(({ fact, waitsUntilMs }) => [fact, waitsUntilMs]));
  const placed: MovedDeposit[] = [];
  for (const one of moved) {
    const { fact, deposit } = one;
    const untilMs = waits.get(fact);
    if (fact.nonce !== undefined) await tx.rails.noteNonce(deposit.id, fact.nonce, untilMs);
    if (untilMs === undefined) placed.push(one);
    else
      services.events.happened("deposit_unmapped", {
        chain: chain.name,
        depositId: deposit.id,
        txHash: fact.txHash,
        sender: fact.sender,
        nonce: fact.nonce,
        untilMs,
      });
  }
  await actOnDeposits(services, tx, reading, placed);
}

/** What a transfer is for may have been learnt since it was written down: it is still the same one. */
async function unknownOf(
  tx: Tx,
  { id: chainId }: RailChain,
  named: readonly NamedFact[],
): Promise<NamedFact[]> {
  const fresh: NamedFact[] = [];
  for (const one of named) {
    const { txHash, sender, nonce, ordinal } = one.fact;
    const isKnown =
      nonce !== undefined && (await tx.rails.isKnown({ chainId, txHash, sender, nonce, ordinal }));
    if (!isKnown) fresh.push(one);
  }
  return fresh;
}
