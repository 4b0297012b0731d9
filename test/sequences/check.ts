import type { RequestTerms } from "@causeway/domain";
import { requestStatus } from "../../apps/api/src/requests/request-status.ts";
import type { StatusView } from "../../apps/api/src/requests/status-view.port.ts";
import { violatedInvariants } from "../support/ledger-world.ts";
import { DUST_USD } from "./bounds.ts";
import {
  isToRecipient,
  readFacts,
  valueOf,
  type Facts,
  type OnChainDeposit,
  type OnChainPayment,
} from "./ledger.ts";
import { OUR_KEYS } from "./keys.ts";
import type { SequenceWorld } from "./world.ts";

/** What the chains show about one request. */
interface Truth {
  readonly terms: RequestTerms;
  readonly deposits: readonly OnChainDeposit[];
  readonly fills: readonly OnChainPayment[];
  readonly refunds: readonly OnChainPayment[];
}

function truthOf({ deposits, payments }: Facts, terms: RequestTerms): Truth {
  const requestPayments = payments.filter((payment) => payment.terms.requestId === terms.requestId);
  return {
    terms,
    deposits: deposits.filter(({ deposit }) => deposit.id === terms.orderId),
    fills: requestPayments.filter(isToRecipient),
    refunds: requestPayments.filter((payment) => !isToRecipient(payment)),
  };
}

/**
 * Statuses that the chains contradict. Call it when the service has read everything.
 * @param exposed orders that lost a confirmed deposit in a reorg; the service keeps their statuses and alarms
 * the operator
 */
export async function falseStatuses(world: SequenceWorld, exposed: ReadonlySet<string>): Promise<string[]> {
  const facts = await readFacts(world);
  const problems: string[] = [];
  const checked = [...facts.terms.values()].filter(
    ({ kind, orderId }) => kind !== "call" && !exposed.has(orderId),
  );
  // Concurrent status reads share one query.
  const statuses = await Promise.all(
    checked.map(async (terms) => ({ terms, status: await requestStatus(world.services, terms.requestId) })),
  );
  for (const { terms, status } of statuses) {
    if (status === undefined) {
      problems.push(`${terms.requestId} has no status`);
      continue;
    }
    // The status shown is that of the request that replaced this one, with which it is checked.
    if (status.supersededByRequestId !== undefined) continue;
    if (terms.kind !== "bridge") {
      problems.push(...falseSend(world, terms, status));
      continue;
    }
    const truth = truthOf(facts, terms);
    const unmentioned = unmentionedFunds(world, truth, status);
    for (const why of [...contradictions(world, truth, status), ...unmentioned])
      problems.push(
        `status of ${terms.requestId} (${status.status}, fundsAt ${status.fundsAt}, ${status.nextAction}): ${why}`,
      );
  }
  return problems;
}

/**
 * Requests whose status asks for a deposit although the service has read the block of their deposit. None may
 * exist after any action, even while work is in progress.
 */
export async function secondDeposits(world: SequenceWorld, exposed: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await world.pool.query<{ chain_id: number; block_number: number; block_hash: string }>(
    "select chain_id, block_number, block_hash from chain_cursors",
  );
  const readTo = new Map(
    rows
      // If the service has not read a reorg yet, its statuses may be older than the chain.
      .filter(({ chain_id, block_number, block_hash }) =>
        world
          .chainOf(chain_id)
          .memory.blocks.some(({ number, hash }) => number === BigInt(block_number) && hash === block_hash),
      )
      .map(({ chain_id, block_number }) => [chain_id, BigInt(block_number)]),
  );
  const { terms: termsByOrder, deposits, payments } = await readFacts(world);
  const paidTerms = deposits.flatMap((deposit) => {
    const terms = termsByOrder.get(deposit.deposit.id);
    const isRead = deposit.block <= (readTo.get(deposit.chain.chain.id) ?? -1n);
    if (terms?.kind !== "bridge" || !isRead || exposed.has(terms.orderId)) return [];
    const isPaid = payments.some((payment) => payment.terms.requestId === terms.requestId);
    return isOwnDeposit(world, terms, deposit) && !isPaid ? [terms] : [];
  });
  const statuses = await Promise.all(
    paidTerms.map(async ({ requestId }) => await requestStatus(world.services, requestId)),
  );
  return statuses.flatMap((status) =>
    status?.nextAction === "send_deposit" && status.supersededByRequestId === undefined
      ? [`${status.requestId} asks for a deposit, although its deposit is in the depository`]
      : [],
  );
}

/** Funds at the request's deposit address that its status does not mention. */
function unmentionedFunds(
  world: SequenceWorld,
  { terms, fills, refunds }: Truth,
  status: StatusView,
): string[] {
  const address = terms.depositAddress?.address;
  if (address === undefined || fills.length > 0 || refunds.length > 0) return [];
  const { memory } = world.chainOf(terms.origin.chainId);
  const balance = memory.balance(terms.origin.currency, address);
  const isDust = valueOf(world, terms.origin.chainId, terms.origin.currency, balance) < DUST_USD;
  if (isDust || status.fundsAt !== "user") return [];
  return [`${balance} units are at the deposit address, but fundsAt is user`];
}

/** A payment on one chain that is reported as a success although no successful transaction has its id. */
function falseSend(world: SequenceWorld, { requestId, origin }: RequestTerms, status: StatusView): string[] {
  const { memory } = world.chainOf(origin.chainId);
  const paid = memory.blocks
    .flatMap(({ transactions }) => transactions)
    .filter(
      ({ transaction, receipt }) =>
        receipt.status === "success" && transaction.input.includes(requestId.slice(2)),
    );
  if (status.status === "success" && paid.length === 0) return [`${requestId} succeeded without a payment`];
  return [];
}

/** Funds of a deposit address that were deposited for a request of another address. */
export async function misassignedSweeps(world: SequenceWorld): Promise<string[]> {
  const { deposits, terms } = await readFacts(world);
  const addresses = new Set(
    [...terms.values()].flatMap(({ depositAddress }) => depositAddress?.address ?? []),
  );
  return deposits.flatMap(({ mined, deposit, chain }) =>
    mined.movements
      .filter(({ from, to }) => addresses.has(from) && to === chain.chain.contracts.depository)
      .filter(({ from }) => terms.get(deposit.id)?.depositAddress?.address !== from)
      .map(({ from, amount }) => `${amount} units of ${from} were deposited for ${deposit.id}`),
  );
}

/**
 * Whether a deposit is the request's own: the agreed one, or one made by the user or the service, except for
 * dust, which ends no fast filled request and is not worth a refund. Anyone can make other deposits in the
 * user's name; they are refunded to the user, and the request keeps waiting.
 */
function isOwnDeposit(
  world: SequenceWorld,
  { user, origin, forceRefund }: RequestTerms,
  { chain, deposit, mined }: OnChainDeposit,
): boolean {
  if (deposit.depositor !== user) return false;
  const { from } = mined.transaction;
  const { currency, amount } = deposit;
  if (!forceRefund && currency === origin.currency && amount === origin.amount) return true;
  return (from === user || OUR_KEYS.includes(from)) && !isDust(world, { chain, deposit });
}

const isDust = (
  world: SequenceWorld,
  { chain, deposit }: Pick<OnChainDeposit, "chain" | "deposit">,
): boolean => valueOf(world, chain.chain.id, deposit.currency, deposit.amount) < DUST_USD;

/** The request's own deposits that were not refunded. Deposits of one currency are refunded in any order. */
function unreturnedOwn(world: SequenceWorld, { terms, deposits, refunds }: Truth): readonly OnChainDeposit[] {
  const ownDeposits = deposits.filter((deposit) => isOwnDeposit(world, terms, deposit));
  const returnable = deposits.filter((deposit) => ownDeposits.includes(deposit) || !isDust(world, deposit));
  return ownDeposits.filter(({ deposit: { currency } }) => {
    const depositsInCurrency = returnable.filter((candidate) => candidate.deposit.currency === currency);
    const refundsInCurrency = refunds.filter(({ mined }) =>
      mined.movements.some((moved) => moved.currency === currency),
    );
    return depositsInCurrency.length > refundsInCurrency.length;
  });
}

function contradictions(world: SequenceWorld, truth: Truth, status: StatusView): string[] {
  const { deposits, fills, refunds } = truth;
  const problems: string[] = [];
  const unreturned = deposits.length - refunds.length;
  const findIf = (isWrong: boolean, problem: string): void => {
    if (isWrong) problems.push(problem);
  };
  findIf(fills.length > 1, `the recipient was paid ${fills.length} times`);
  findIf(refunds.length > deposits.length, `${refunds.length} refunds of ${deposits.length} deposits`);
  findIf((status.status === "success") !== (fills.length === 1), `there are ${fills.length} fills on chain`);
  findIf(status.fundsAt === "recipient" && fills.length === 0, "the recipient received nothing");
  findIf(
    fills.some(({ mined }) => !status.txHashes.includes(mined.transaction.hash)),
    "the fill's hash is missing",
  );
  findIf(status.status === "refund" && refunds.length === 0, "nothing was refunded");
  findIf(status.fundsAt === "refunded" && refunds.length === 0, "nothing was refunded");
  const unreturnedDeposits = unreturnedOwn(world, truth);
  findIf(
    status.fundsAt === "user" && unreturnedDeposits.length > 0 && fills.length === 0,
    "the user's deposit is in the depository",
  );
  findIf(
    status.nextAction === "send_deposit" && unreturnedDeposits.length > 0,
    "the status asks the user for a second deposit",
  );
  findIf(status.fundsAt === "depository" && unreturned <= 0, "the depository holds nothing of the request");
  findIf(
    status.final && status.pollAfterMs !== 0 && status.status !== "failure",
    "a final status has a pollAfterMs above 0",
  );
  return problems;
}

/** Differences between the depository's logs in canonical blocks and the table of deposits. */
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

/** Unexpected faults, rejected transitions, and violated invariants of the ledger. */
export async function brokenRules(world: SequenceWorld): Promise<string[]> {
  const faults = world.faults.map((fault) => `fault: ${describe(fault)}`);
  const rejected = world.events
    .of("transition_rejected")
    .map(({ facts }) => `rejected: ${JSON.stringify(facts)}`);
  return [...faults, ...rejected, ...(await violatedInvariants(world.pool))];
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` <- ${describe(error.cause)}`;
  return `${error.message}${cause}`;
}
