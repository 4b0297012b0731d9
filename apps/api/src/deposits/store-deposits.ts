import type { DepositFact } from "@causeway/chains";
import {
  depositUsdAtQuote,
  confirmAtBlock,
  depositoryOf,
  judgeDeposit,
  type OrderId,
} from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import { awaitTogether } from "../db/await-together.ts";
import type { DepositSighting, NewDeposit, Tx } from "../db/unit-of-work.port.ts";
import type { MovedDeposit, Reading, Records } from "./deposit-reading.ts";
import { confirmationsOf, exposureOn } from "./required-confirmations.ts";

/** The rows that {@link storeDeposits} reads first, for deposits that are new or in another block. */
export interface FoundDeposits {
  readonly fresh: readonly DepositFact[];
  readonly records: Records;
  readonly exposure: { usd: bigint };
}

/** Reads what storing deposits needs, in one round trip, and locks their requests. */
export async function findDeposits(
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<FoundDeposits> {
  const sighted = new Map(facts.map((fact) => [factKey(fact), fact]));
  if (sighted.size === 0) return { fresh: [], records: new Map(), exposure: { usd: 0n } };
  const [fresh, records, exposure] = await awaitTogether([
    tx.deposits.unrecorded(reading.chain.id, [...sighted.values()].map(sightingOf)),
    lockRequests(tx, [...sighted.values()]),
    exposureOn(tx, reading),
  ]);
  return { fresh: fresh.flatMap((sighting) => sighted.get(depositKey(sighting)) ?? []), records, exposure };
}

/**
 * The first half of recording, before `actOnDeposits`: stores the rows. Locks the requests and decides
 * nothing.
 * @returns new or moved deposits, in the order of the facts
 */
export async function storeDeposits(
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<MovedDeposit[]> {
  const { chain } = reading;
  const sighted = new Map(facts.map((fact) => [factKey(fact), fact]));
  if (sighted.size === 0) return [];
  // Most deposits are already stored; their requests stay unlocked.
  const unrecorded = await tx.deposits.unrecorded(chain.id, [...sighted.values()].map(sightingOf));
  const fresh = unrecorded.flatMap((sighting) => sighted.get(depositKey(sighting)) ?? []);
  return fresh.length === 0 ? [] : await storeFound(tx, reading, await findDeposits(tx, reading, fresh));
}

/** {@link storeDeposits} for deposits that were already looked up. */
export async function storeFound(
  tx: Tx,
  reading: Reading,
  { fresh, records, exposure }: FoundDeposits,
): Promise<MovedDeposit[]> {
  if (fresh.length === 0) return [];
  const changed = await tx.deposits.record(
    reading.chain.id,
    fresh.map((fact) =>
      newDeposit(reading, fact, fact.id === undefined ? undefined : records.get(fact.id), exposure),
    ),
  );
  const stored = new Map(changed.map((deposit) => [depositKey(deposit), deposit]));
  return fresh.flatMap((fact) => {
    const deposit = stored.get(factKey(fact));
    return deposit === undefined ? [] : [{ fact, deposit }];
  });
}

/** Identifies a deposit within its chain. */
export function depositKey(deposit: Omit<DepositSighting, "blockHash" | "isUnattestable">): string {
  const { txHash, currency, amount, depositor, sender, orderId = "", ordinal } = deposit;
  return [txHash, currency, amount, depositor, sender, orderId, ordinal].join(" ");
}

export function factKey(fact: DepositFact): string {
  return depositKey({ ...fact, orderId: fact.id });
}

export function sightingOf(fact: DepositFact): DepositSighting {
  const { txHash, ordinal, currency, amount, depositor, sender, id: orderId, blockHash } = fact;
  const { isUnattestable, isAttestabilityUnknown } = fact;
  return {
    txHash,
    ordinal,
    currency,
    amount,
    depositor,
    sender,
    orderId,
    blockHash,
    ...(isUnattestable === true && { isUnattestable }),
    ...(isAttestabilityUnknown === true && { isAttestabilityUnknown }),
  };
}

function newDeposit(
  { chain, seenAtMs }: Reading,
  fact: DepositFact,
  record: RequestRecord | undefined,
  exposure: { usd: bigint },
): NewDeposit {
  // A deposit that differs from the agreed one needs the most confirmations: it is refunded and may be worth
  // any amount.
  const knownUsd = record && depositUsdAtQuote(record.terms, { chainId: chain.id, ...fact });
  const valueUsd = knownUsd ?? 0n;
  const confirmations = confirmationsOf(chain, knownUsd, exposure.usd);
  // Only filled deposits count as exposure.
  if (record && judgeDeposit(record.terms, { chainId: chain.id, ...fact }).kind === "match")
    exposure.usd += valueUsd;
  return {
    ...sightingOf(fact),
    blockNumber: fact.blockNumber,
    confirmAtBlock: confirmAtBlock(fact.blockNumber, confirmations),
    depository: fact.depository ?? depositoryOf(chain),
    requestId: record?.terms.requestId,
    seenAtMs,
    valueUsd,
  };
}

export function lockRequests(
  tx: Tx,
  facts: readonly MovedDeposit["fact"][],
): Promise<Map<OrderId, RequestRecord>> {
  const orderIds = facts.flatMap((fact) => (fact.id === undefined ? [] : [fact.id as OrderId]));
  return tx.requests.lockByOrders([...new Set(orderIds)]);
}
