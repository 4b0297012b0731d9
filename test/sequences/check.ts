import type { RequestTerms } from "@causeway/domain";
import { formatUsd } from "@causeway/domain";
import { requestStatus } from "../../apps/api/src/usecases/request-status.ts";
import type { StatusView } from "../../apps/api/src/ports/status-view.ts";
import { brokenLaws } from "../support/ledger-world.ts";
import { readFacts, type Facts, type OnChainDeposit, type OnChainPayment } from "./ledger.ts";
import type { SequenceWorld } from "./world.ts";

/** What the chains say of one request. */
interface Truth {
  readonly terms: RequestTerms;
  readonly deposits: readonly OnChainDeposit[];
  readonly fills: readonly OnChainPayment[];
  readonly refunds: readonly OnChainPayment[];
}

function truthOf({ deposits, payments }: Facts, terms: RequestTerms): Truth {
  const own = payments.filter((payment) => payment.terms.requestId === terms.requestId);
  const isFill = ({ chain, mined }: OnChainPayment): boolean =>
    chain.chain.id === terms.destination.chainId &&
    mined.movements.some(
      ({ to, currency }) => to === terms.recipient && currency === terms.destination.currency,
    );
  return {
    terms,
    deposits: deposits.filter(({ deposit }) => deposit.id === terms.orderId),
    fills: own.filter(isFill),
    refunds: own.filter((payment) => !isFill(payment)),
  };
}

/**
 * Statements about statuses that the chains contradict; empty when all are true. Call when nothing waits to be read.
 * @param exposed orders that lost a confirmed deposit by a reorg: what was said of it stands, and the operator is alarmed
 */
export async function falseStatuses(world: SequenceWorld, exposed: ReadonlySet<string>): Promise<string[]> {
  const facts = await readFacts(world);
  const found: string[] = [];
  for (const terms of facts.terms.values()) {
    if (terms.kind !== "bridge" || exposed.has(terms.orderId)) continue;
    const status = await requestStatus(world.services, terms.requestId);
    if (status === undefined) {
      found.push(`${terms.requestId} has no status`);
      continue;
    }
    for (const why of contradictions(truthOf(facts, terms), status))
      found.push(
        `status of ${terms.requestId} (${status.status}, fundsAt ${status.fundsAt}, ${status.nextAction}): ${why}`,
      );
  }
  return found;
}

function contradictions({ terms, deposits, fills, refunds }: Truth, status: StatusView): string[] {
  const found: string[] = [];
  const unreturned = deposits.length - refunds.length;
  const says = (wrong: boolean, why: string): void => {
    if (wrong) found.push(why);
  };
  says(fills.length > 1, `the recipient was paid ${fills.length} times`);
  says(refunds.length > deposits.length, `${refunds.length} refunds of ${deposits.length} deposits`);
  says((status.status === "success") !== (fills.length === 1), `there are ${fills.length} fills on chain`);
  says(status.fundsAt === "recipient" && fills.length === 0, "the recipient has nothing");
  says(
    fills.some(({ mined }) => !status.txHashes.includes(mined.transaction.hash)),
    "the fill's hash is missing",
  );
  says(status.status === "refund" && refunds.length === 0, "nothing was sent back");
  says(status.fundsAt === "refunded" && refunds.length === 0, "nothing was sent back");
  const own = deposits.filter(({ deposit }) => deposit.depositor === terms.user);
  says(
    status.fundsAt === "user" && own.length > 0 && unreturned > 0 && fills.length === 0,
    "the user's deposit lies in the depository",
  );
  says(
    status.nextAction === "send_deposit" && own.length > 0 && unreturned > 0,
    "the user would deposit a second time",
  );
  says(status.fundsAt === "depository" && unreturned <= 0, "the depository holds nothing of the request");
  says(
    status.final && status.pollAfterMs !== 0 && status.status !== "failure",
    "a final status asks to be polled",
  );
  return found;
}

/** Depository logs of canonical blocks and the table of deposits must be equal. */
export async function missedDeposits(world: SequenceWorld): Promise<string[]> {
  const { deposits } = await readFacts(world);
  const { rows } = await world.pool.query<{ key: string }>(
    "select chain_id || ' ' || tx_hash || ' ' || currency || ' ' || amount as key from deposits where canonical",
  );
  const stored = rows.map(({ key }) => key).toSorted();
  const onChain = deposits
    .filter(({ deposit }) => deposit.amount > 0n)
    .map(
      ({ chain, mined, deposit }) =>
        `${chain.chain.id} ${mined.transaction.hash} ${deposit.currency} ${deposit.amount}`,
    )
    .toSorted();
  return [
    ...onChain
      .filter((key) => !stored.includes(key))
      .map((key) => `deposit on chain and not in the table: ${key}`),
    ...stored
      .filter((key) => !onChain.includes(key))
      .map((key) => `deposit in the table and not on chain: ${key}`),
  ];
}

/** Faults that no rule of the service expects, and laws of the ledger that do not hold. */
export async function brokenRules(world: SequenceWorld): Promise<string[]> {
  const faults = world.faults.map((fault) => `fault: ${describe(fault)}`);
  const rejected = world.events
    .of("transition_rejected")
    .map(({ facts }) => `rejected: ${JSON.stringify(facts)}`);
  return [...faults, ...rejected, ...(await brokenLaws(world.pool))];
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` <- ${describe(error.cause)}`;
  return `${error.message}${cause}`;
}

export const inDollars = (usd: bigint): string =>
  `${usd < 0n ? "-" : ""}${formatUsd(usd < 0n ? -usd : usd)} USD`;
