import type { Address, Hex, Order, RequestId, RequestTerms } from "@causeway/domain";
import { orderIdOf } from "@causeway/domain";
import { MAX_LEAD_SECONDS, ONE_CENT, PAYMENT_GAS, SWEEP_GAS } from "./bounds.ts";
import { NATIVE, type DepositMade } from "./memory-evm.ts";
import type { MinedTransaction } from "./sequence-chain.ts";
import { OPERATORS, OUR_KEYS, SOLVERS } from "./keys.ts";
import type { SequenceWorld, WorldChain } from "./world.ts";

/**
 * The test's own books, which do not depend on the service's decisions. Payments and deposits are read from
 * the chains. What the hub owes follows from the oracles' rules, which are implemented here a second time.
 */

/** When and where a transaction was mined. */
interface Mined {
  readonly chain: WorldChain;
  readonly mined: MinedTransaction;
  /** The time of its block in Unix seconds. */
  readonly timestamp: number;
  readonly block: bigint;
}

export interface OnChainDeposit extends Mined {
  readonly deposit: DepositMade;
  readonly ordinal: number;
}

/** An amount of one currency that moved on a chain. */
export interface MovedMoney {
  readonly chain: WorldChain;
  readonly currency: Address;
  readonly amount: bigint;
}

/** A transaction of the solver whose input ends with the id of an order. */
export interface OnChainPayment extends Mined {
  readonly terms: RequestTerms;
}

export interface Settled {
  readonly deposit: OnChainDeposit;
  readonly payment: OnChainPayment;
  readonly kind: "fill" | "refund";
}

export interface Facts {
  readonly terms: ReadonlyMap<string, RequestTerms>;
  readonly deposits: readonly OnChainDeposit[];
  readonly payments: readonly OnChainPayment[];
  /** The transaction of the deposit for which each payment was made, by the payment's transaction. */
  readonly presented: ReadonlyMap<Hex, Hex>;
  /** Deposits that the hub credits to the solver, each with the payment that earned it. */
  readonly settled: readonly Settled[];
}

/** Whether a payment is a fill, which pays the recipient of its request. All other payments are refunds. */
export function isToRecipient({ chain, mined, terms: { destination, recipient } }: OnChainPayment): boolean {
  return (
    chain.chain.id === destination.chainId &&
    mined.movements.some(({ to, currency }) => to === recipient && currency === destination.currency)
  );
}

const knownTerms = new WeakMap<SequenceWorld, Map<RequestId, RequestTerms>>();
/** The facts that were last read of each world, and the moment at which they were read. */
const lastFacts = new WeakMap<SequenceWorld, { readonly moment: string; readonly facts: Facts }>();

/** The terms by order id. Terms never change, so each is read only once. */
async function readTerms(world: SequenceWorld): Promise<ReadonlyMap<string, RequestTerms>> {
  const known = knownTerms.get(world) ?? new Map<RequestId, RequestTerms>();
  knownTerms.set(world, known);
  const { rows } = await world.pool.query<{ request_id: RequestId }>("select request_id from requests");
  for (const { request_id } of rows) {
    if (known.has(request_id)) continue;
    const record = await world.services.reads.request(request_id);
    if (record === undefined) continue;
    const { terms } = record;
    if (terms.order.inputs.length > 0 && orderIdOf(terms.order) !== terms.orderId)
      throw new Error(`invariant violated: ${request_id} is stored under another order id`);
    known.set(request_id, terms);
  }
  const withOrder = [...known.values()].filter(({ order }) => order.inputs.length > 0);
  return new Map(withOrder.map((terms) => [terms.orderId, terms]));
}

/** All deposits and payments on both chains now, and what an oracle would attest about them. */
export async function readFacts(world: SequenceWorld): Promise<Facts> {
  const moment = [world.revision, ...world.chains.map(({ memory }) => memory.tip.hash)].join(" ");
  const last = lastFacts.get(world);
  if (last?.moment === moment) return last.facts;
  const terms = await readTerms(world);
  const deposits: OnChainDeposit[] = [];
  const payments: OnChainPayment[] = [];
  for (const chain of world.chains)
    for (const { transactions, timestamp, number } of chain.memory.blocks)
      for (const mined of transactions) {
        const where = { chain, mined, timestamp: Number(timestamp), block: number };
        const allDeposits = [...mined.deposits, ...transferDeposits(chain, mined)];
        allDeposits.forEach((deposit, ordinal) => deposits.push({ ...where, deposit, ordinal }));
        const { from, input } = mined.transaction;
        const paidTerms = terms.get(`0x${input.slice(-64)}`);
        if (
          SOLVERS.some((solver) => solver === from) &&
          paidTerms !== undefined &&
          mined.receipt.status === "success"
        )
          payments.push({ ...where, terms: paidTerms });
      }
  const presented = await readPresented(world);
  const facts = {
    terms,
    deposits,
    payments,
    presented,
    settled: settle(world, deposits, payments, presented),
  };
  lastFacts.set(world, { moment, facts });
  return facts;
}

/** Deposits by a plain `transfer` to the depository with an order id after its calldata. */
function transferDeposits(
  { chain }: WorldChain,
  { transaction: { from, to, input }, receipt, movements }: MinedTransaction,
): DepositMade[] {
  const length = 2 + 2 * (4 + 3 * 32);
  if (receipt.status !== "success" || !input.startsWith("0xa9059cbb") || input.length !== length) return [];
  const transfer = movements.find(
    (movement) => movement.to === chain.contracts.depository && movement.currency === to,
  );
  return transfer === undefined
    ? []
    : [{ id: `0x${input.slice(-64)}`, depositor: from, currency: to, amount: transfer.amount }];
}

/**
 * The transaction of the deposit that the service presents to the oracles with each payment, by the payment's
 * transaction. The service may choose any of several deposits.
 */
async function readPresented(world: SequenceWorld): Promise<ReadonlyMap<Hex, Hex>> {
  const { rows } = await world.pool.query<{ payment: Hex; deposit: Hex }>(
    `select a.tx_hash as payment, d.tx_hash as deposit
     from attempts a join slots s on s.id = a.slot_id
       left join requests r on s.leg_kind = 'fill' and r.request_id = s.leg_id
       join deposits d on d.id = case s.leg_kind when 'fill' then r.deposit_id when 'refund' then s.leg_id::bigint end`,
  );
  return new Map(rows.map(({ payment, deposit }) => [payment, deposit]));
}

/**
 * Pairs payments with deposits, one to one. A fill settles the deposit that it is presented with. A refund
 * settles the smallest deposit that it can be for.
 */
function settle(
  world: SequenceWorld,
  deposits: readonly OnChainDeposit[],
  payments: readonly OnChainPayment[],
  presented: ReadonlyMap<Hex, Hex>,
): readonly Settled[] {
  const settled: Settled[] = [];
  const bySize = deposits.toSorted((a, b) => (a.deposit.amount < b.deposit.amount ? -1 : 1));
  for (const kind of ["fill", "refund"] as const)
    for (const payment of payments) {
      if (settled.some((entry) => entry.payment === payment)) continue;
      const deposit = bySize.find(
        (candidate) =>
          settled.every((entry) => entry.deposit !== candidate) &&
          candidate.deposit.id === payment.terms.orderId &&
          (kind === "fill"
            ? presented.get(payment.mined.transaction.hash) === candidate.mined.transaction.hash &&
              isFillOf(world, payment, candidate)
            : isRefundOf(world, payment, candidate)),
      );
      if (deposit !== undefined) settled.push({ deposit, payment, kind });
    }
  return settled;
}

/** What an account received in a transaction, minus what it sent. Payouts of a depository do not count. */
function netReceived(
  chain: WorldChain,
  { movements }: MinedTransaction,
  account: Address,
  currency: Address,
): bigint {
  const { depository } = chain.chain.contracts;
  return movements
    .filter((moved) => moved.currency === currency && moved.from !== depository)
    .reduce(
      (sum, { from, to, amount }) => sum + (to === account ? amount : 0n) - (from === account ? amount : 0n),
      0n,
    );
}

function isOwnInput({ inputs }: Order, { chain, deposit }: OnChainDeposit): boolean {
  const [input] = inputs;
  return input?.payment.chainId === chain.chain.name && input.payment.currency === deposit.currency;
}

/**
 * Whether the solver that the payment's order names can sign for it. Oracles need that signature. A lost key
 * signed only for payments before its loss.
 */
function canSign({ lostSolvers }: SequenceWorld, solver: Hex, { timestamp }: OnChainPayment): boolean {
  const ourSolver = SOLVERS.find((key) => key === solver);
  return ourSolver !== undefined && timestamp <= (lostSolvers.get(ourSolver) ?? Number.MAX_SAFE_INTEGER);
}

function isFillOf(world: SequenceWorld, payment: OnChainPayment, deposit: OnChainDeposit): boolean {
  const { order } = payment.terms;
  const { output, inputs, solver } = order;
  const [input] = inputs;
  if (!canSign(world, solver, payment) || input === undefined || !isOwnInput(order, deposit)) return false;
  if (output.chainId !== payment.chain.chain.name || payment.timestamp > output.deadline) return false;
  if (deposit.deposit.amount < input.payment.amount) return false;
  if (payment.timestamp + MAX_LEAD_SECONDS < deposit.timestamp) return false;
  return output.payments.every(
    ({ recipient, currency, minimumAmount }) =>
      netReceived(payment.chain, payment.mined, recipient, currency) >= minimumAmount,
  );
}

const SCALE = 10n ** 18n;
/** How much the clocks of two chains may differ. */
const SKEW_SECONDS = 60;

function isRefundOf(world: SequenceWorld, payment: OnChainPayment, deposit: OnChainDeposit): boolean {
  const { order } = payment.terms;
  const [input] = order.inputs;
  const option = input?.refunds[0];
  if (!canSign(world, order.solver, payment)) return false;
  if (input === undefined || option === undefined || !isOwnInput(order, deposit)) return false;
  if (option.chainId !== payment.chain.chain.name || payment.chain !== deposit.chain) return false;
  if (payment.timestamp > option.deadline || payment.timestamp + SKEW_SECONDS < deposit.timestamp)
    return false;
  const requested = input.payment.amount * input.payment.weight;
  const difference = ((deposit.deposit.amount * input.payment.weight - requested) * SCALE) / requested;
  const minimum = option.minimumAmount + (option.minimumAmount * difference) / SCALE;
  const recipient = BigInt(option.recipient) === 0n ? deposit.deposit.depositor : option.recipient;
  const paid = netReceived(payment.chain, payment.mined, recipient, option.currency);
  // A refund above the deposit is treated as the refund of another deposit.
  return (
    paid > 0n &&
    paid >= minimum &&
    (option.currency !== deposit.deposit.currency || paid <= deposit.deposit.amount)
  );
}

/** The value of an amount at current prices, in USD with 18 decimals. */
export function valueOf(world: SequenceWorld, chainId: number, currency: Address, amount: bigint): bigint {
  const priced = world.currencyOf(chainId, currency);
  const price = world.services.prices.usd(priced);
  if (typeof price !== "bigint") throw new Error("invariant violated: a price is not in memory");
  return (amount * price) / 10n ** BigInt(priced.decimals);
}

export function worthOf(world: SequenceWorld, holders: readonly Address[]): bigint {
  let sum = 0n;
  for (const { memory, chain } of world.chains)
    for (const { address } of [chain.native, ...chain.tokens])
      for (const holder of holders) sum += valueOf(world, chain.id, address, memory.balance(address, holder));
  return sum;
}

/**
 * What the service owes the wallets of apps, minus what it may still charge them, in USD with 18 decimals.
 */
async function owedToApps(world: SequenceWorld): Promise<bigint> {
  const { rows } = await world.pool.query<{
    wallet: Address;
    currency: Address;
    chain_id: number;
    amount: bigint;
  }>(
    `select wallet, chain_id, currency, sum(amount) as amount from ledger_entries
     where wallet is not null and account in ('balance', 'pending', 'owed') group by 1, 2, 3`,
  );
  const { rows: holds } = await world.pool.query<{ wallet: Address; usd: bigint; request_id: RequestId }>(
    "select wallet, usd, request_id from holds where state = 'active'",
  );
  const { payments, settled } = await readFacts(world);
  const owed = new Map<Address, bigint>();
  for (const { wallet, chain_id, currency, amount } of rows)
    owed.set(wallet, (owed.get(wallet) ?? 0n) + valueOf(world, chain_id, currency, amount));
  for (const { wallet, usd, request_id } of holds) {
    const paid = payments.some(({ terms }) => terms.requestId === request_id);
    const isSettled = settled.some(
      ({ payment, kind }) => kind === "fill" && payment.terms.requestId === request_id,
    );
    if (paid && !isSettled) owed.set(wallet, (owed.get(wallet) ?? 0n) - usd);
  }
  return [...owed.values()].reduce((sum, usd) => sum + (usd > 0n ? usd : 0n), 0n);
}

export interface Worth {
  readonly held: bigint;
  /** Deposits that the hub credits to the solver. */
  readonly repaid: bigint;
  readonly owed: bigint;
  readonly total: bigint;
}

/** What the service's keys hold and what the hub owes it, minus what it owes to apps, in USD. */
export async function solverWorth(world: SequenceWorld): Promise<Worth> {
  const { settled } = await readFacts(world);
  const held = worthOf(world, OUR_KEYS);
  const repaid = settled.reduce(
    (sum, { deposit: { chain, deposit } }) =>
      sum + valueOf(world, chain.chain.id, deposit.currency, deposit.amount),
    0n,
  );
  const owed = await owedToApps(world);
  return { held, repaid, owed, total: held + repaid - owed };
}

/** Received funds that a reorg may remove. */
export interface Exposed {
  readonly chain: WorldChain;
  readonly mined: MinedTransaction;
  readonly currency: Address;
  readonly amount: bigint;
  /** The value in USD when a reorg removed the funds. Later prices do not change the loss. */
  readonly usd: bigint;
  /** The order id that the deposit names. This and `depositor` are undefined for a top-up. */
  readonly orderId: Hex | undefined;
  readonly depositor: Address | undefined;
  /** Transactions that had deposited for the order before the reorg. */
  readonly known: ReadonlySet<Hex>;
}

/**
 * Deposits and top-ups that a reorg of `depth` blocks removes although they have the configured
 * confirmations. The service may have paid for them already. This is the documented risk of confirmation
 * tiers.
 */
export async function exposedTo(world: SequenceWorld, chainIndex: 0 | 1, depth: number): Promise<Exposed[]> {
  const worldChain = world.chains[chainIndex];
  const { memory, chain } = worldChain;
  const { deposits, terms } = await readFacts(world);
  const firstRemoved = memory.tip.number - BigInt(depth) + 1n;
  const confirmations = (block: bigint): bigint => memory.tip.number - block + 1n;
  const exposed: Exposed[] = [];
  const knownOf = (orderId: Hex): ReadonlySet<Hex> =>
    new Set(
      deposits.filter((deposit) => deposit.deposit.id === orderId).map(({ mined }) => mined.transaction.hash),
    );
  for (const { chain: where, block, deposit, mined } of deposits) {
    if (where !== worldChain || block < firstRemoved) continue;
    const { id: orderId, depositor, currency, amount } = deposit;
    const orderTerms = terms.get(orderId);
    const now = valueOf(world, chain.id, currency, amount);
    // The tier depends on the deposit's value at the prices of the quote, which may have moved since.
    const quoted = orderTerms === undefined ? now : (orderTerms.inputUsd * amount) / orderTerms.origin.amount;
    const usd = quoted < now ? quoted : now;
    const tier = chain.confirmationTiers.find(({ belowUsd }) => belowUsd === undefined || usd < belowUsd);
    if (tier !== undefined && confirmations(block) >= BigInt(tier.confirmations))
      exposed.push({
        chain: where,
        mined,
        currency,
        amount,
        usd: now,
        orderId,
        depositor,
        known: knownOf(orderId),
      });
  }
  const { chainId, confirmations: topUpConfirmations } = world.services.appBalance;
  const removed = chain.id === chainId ? memory.blocks.slice(Number(firstRemoved)) : [];
  for (const { number, transactions } of removed)
    for (const mined of confirmations(number) >= BigInt(topUpConfirmations) ? transactions : [])
      for (const { to, currency, amount } of mined.movements)
        if (SOLVERS.some((solver) => solver === to))
          exposed.push({
            chain: worldChain,
            mined,
            currency,
            amount,
            usd: valueOf(world, chain.id, currency, amount),
            orderId: undefined,
            depositor: undefined,
            known: new Set(),
          });
  return exposed;
}

/**
 * Whether the exposed funds are still on their chain. A transaction that is mined again may move another
 * amount, for example the whole balance of an address.
 */
export const isOnChain = ({ chain, mined, currency, amount }: Exposed): boolean => {
  const current = chain.memory.mined(mined.transaction.hash);
  return (
    current?.receipt.status === "success" &&
    current.movements.some((moved) => moved.currency === currency && moved.amount === amount)
  );
};

/**
 * Whether a deposit repeats the exposed one: the same amount for the same order in a later transaction.
 */
export const isRepeated = (exposed: Exposed, { chain, deposit, mined }: OnChainDeposit): boolean =>
  chain === exposed.chain &&
  deposit.id === exposed.orderId &&
  deposit.depositor === exposed.depositor &&
  deposit.currency === exposed.currency &&
  deposit.amount === exposed.amount &&
  !exposed.known.has(mined.transaction.hash);

/**
 * The gas cost of each transaction of the service's keys, in USD with 18 decimals. At most the gas that the
 * service may pay itself counts.
 */
export function gasByTransaction(world: SequenceWorld): ReadonlyMap<Hex, bigint> {
  const allowed = new Map<Hex, bigint>();
  for (const { memory, chain } of world.chains)
    for (const { transactions } of memory.blocks)
      for (const { transaction, receipt } of transactions) {
        if (!OUR_KEYS.includes(transaction.from)) continue;
        const limit = OPERATORS.some((operator) => operator === transaction.from) ? SWEEP_GAS : PAYMENT_GAS;
        const units = receipt.gasUsed < limit ? receipt.gasUsed : limit;
        const usd = valueOf(world, chain.id, NATIVE, units * receipt.effectiveGasPrice);
        allowed.set(transaction.hash, usd + ONE_CENT / 100n);
      }
  return allowed;
}
