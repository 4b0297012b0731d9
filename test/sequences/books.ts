import type { Address, Hex } from "@causeway/domain";
import { HONOR_BPS, ONE_CENT } from "./bounds.ts";
import { inDollars } from "./in-dollars.ts";
import { SOLVERS } from "./keys.ts";
import {
  isToRecipient,
  valueOf,
  type Facts,
  type OnChainDeposit,
  type OnChainPayment,
  type MovedMoney,
} from "./ledger.ts";
import type { SequenceWorld } from "./world.ts";

/** The books of all parties outside the service: no party takes out more than was paid in for it. */
export interface Books {
  /** Records new payments and deposits at current prices. Call it after every action. */
  record(facts: Facts): void;
  /** What the solver paid with this payment, in USD with 18 decimals, at the prices when it was recorded. */
  paidUsd(payment: OnChainPayment): bigint;
  /**
   * Payments that exceed what was paid in for them.
   * @param exposed orders that lost a confirmed deposit in a reorg; payments for them are not checked
   */
  overpaid(facts: Facts, exposed: ReadonlySet<string>): Promise<string[]>;
}

/** The deposits and payments of all requests of one deposit address, or of a single other request. */
interface Group {
  readonly deposits: readonly OnChainDeposit[];
  readonly payments: readonly OnChainPayment[];
}

export function openBooks(world: SequenceWorld): Books {
  const paid = new Map<Hex, bigint>();
  /**
   * The highest value so far of each deposit or top-up, because prices move before the solver pays for it.
   */
  const received = new Map<string, bigint>();

  const isApp = (account: Address): boolean =>
    world.apps.some(({ fundingAddress }) => fundingAddress === account);
  const usdOf = ({ chain, currency, amount }: MovedMoney): bigint =>
    valueOf(world, chain.chain.id, currency, amount);
  const paidUsd = ({ mined }: OnChainPayment): bigint => paid.get(mined.transaction.hash) ?? 0n;
  const receivedUsd = (hash: Hex, at: number): bigint => received.get(`${hash} ${at}`) ?? 0n;
  const depositedUsd = ({ mined, ordinal }: OnChainDeposit): bigint =>
    receivedUsd(mined.transaction.hash, ordinal);
  const remember = (hash: Hex, at: number, usd: bigint): void => {
    const key = `${hash} ${at}`;
    if (usd > (received.get(key) ?? 0n)) received.set(key, usd);
  };

  /** What apps sent to the solver (`isIn`), and what they claimed. */
  const appMovements = (): {
    readonly hash: Hex;
    readonly at: number;
    readonly isIn: boolean;
    readonly moved: MovedMoney;
  }[] =>
    world.chains.flatMap((chain) =>
      chain.memory.blocks.flatMap(({ transactions }) =>
        transactions.flatMap(({ transaction: { hash }, movements }) =>
          movements.flatMap(({ from, to, currency, amount }, at) => {
            const moved = { chain, currency, amount };
            // Place numbers from 1,000 on do not collide with ordinals of deposits in the same transaction.
            const isIn = isSolver(to) && isApp(from);
            const isOut = isSolver(from) && isApp(to);
            return isIn || isOut ? [{ hash, at: 1_000 + at, isIn, moved }] : [];
          }),
        ),
      ),
    );

  return {
    paidUsd,
    record({ payments, deposits }) {
      for (const { chain, mined } of payments)
        if (!paid.has(mined.transaction.hash))
          paid.set(
            mined.transaction.hash,
            mined.movements
              .filter(({ from }) => isSolver(from))
              .reduce((sum, moved) => sum + usdOf({ chain, ...moved }), 0n),
          );
      for (const { chain, mined, ordinal, deposit } of deposits)
        remember(mined.transaction.hash, ordinal, usdOf({ chain, ...deposit }));
      for (const { hash, at, isIn, moved } of appMovements())
        if (isIn || !received.has(`${hash} ${at}`)) remember(hash, at, usdOf(moved));
    },

    async overpaid(facts, exposed) {
      const problems: string[] = [];
      const charged = await chargedToApps(world);
      let unspentUsd = 0n;
      for (const [name, group] of groupsOf(facts)) {
        if (group.deposits.some(({ deposit }) => exposed.has(deposit.id))) continue;
        if (group.payments.some(({ terms }) => exposed.has(terms.orderId))) continue;
        problems.push(...paidTwice(world, name, group), ...refundedTooMuch(name, group, facts, charged));
        const inUsd = group.deposits.reduce((sum, deposit) => sum + depositedUsd(deposit), 0n);
        const outUsd = group.payments.reduce((sum, payment) => sum + paidUsd(payment), 0n);
        const ids = new Set(group.payments.map(({ terms }) => terms.requestId));
        const chargedUsd = [...ids].reduce((sum, id) => sum + (charged.get(id) ?? 0n), 0n);
        const maxUsd = (inUsd * (10_000n + HONOR_BPS)) / 10_000n + chargedUsd + ONE_CENT;
        if (outUsd > maxUsd)
          problems.push(
            `${inDollars(outUsd)} were paid for ${name}, but ${inDollars(inUsd)} were deposited for it and ${inDollars(chargedUsd)} charged to apps`,
          );
        if (inUsd > outUsd) unspentUsd += inUsd - outUsd;
      }
      const apps = appMovements();
      const appTotalUsd = (isIn: boolean): bigint =>
        apps
          .filter((movement) => movement.isIn === isIn)
          .reduce((sum, { hash, at }) => sum + receivedUsd(hash, at), 0n);
      // In addition to its top-ups, an app can only have earned what deposits brought beyond their fills: app
      // fees and the surplus of fast fills.
      if (exposed.size === 0 && appTotalUsd(false) > appTotalUsd(true) + unspentUsd + ONE_CENT)
        problems.push(
          `apps took ${inDollars(appTotalUsd(false))} out, but put ${inDollars(appTotalUsd(true))} in and can have earned ${inDollars(unspentUsd)}`,
        );
      return problems;
    },
  };
}

const isSolver = (account: Address): boolean => SOLVERS.some((solver) => solver === account);

function groupsOf({ terms, deposits, payments }: Facts): ReadonlyMap<string, Group> {
  const nameOf = ({
    depositAddress,
    orderId,
  }: {
    readonly depositAddress?: { readonly address: Address } | undefined;
    readonly orderId: string;
  }): string =>
    depositAddress === undefined ? `order ${orderId}` : `deposit address ${depositAddress.address}`;
  const groups = new Map<string, { deposits: OnChainDeposit[]; payments: OnChainPayment[] }>();
  const groupOf = (name: string): { deposits: OnChainDeposit[]; payments: OnChainPayment[] } => {
    const group = groups.get(name) ?? { deposits: [], payments: [] };
    groups.set(name, group);
    return group;
  };
  for (const deposit of deposits) {
    const orderTerms = terms.get(deposit.deposit.id);
    if (orderTerms !== undefined) groupOf(nameOf(orderTerms)).deposits.push(deposit);
  }
  for (const payment of payments) groupOf(nameOf(payment.terms)).payments.push(payment);
  return groups;
}

/**
 * Only one fill may precede its deposit. Every other fill needs a deposit, or the amount of its request at
 * the deposit address.
 */
function paidTwice(world: SequenceWorld, name: string, { deposits, payments }: Group): string[] {
  const fills = payments.filter(isToRecipient);
  const requests = new Set(fills.map(({ terms }) => terms.requestId));
  if (fills.length > requests.size) return [`a recipient was paid twice for one request of ${name}`];
  if (fills.length <= 1 || fills.length <= deposits.length) return [];
  const isCovered = fills.length === deposits.length + 1 && fills.some((fill) => isAtAddress(world, fill));
  return isCovered ? [] : [`${fills.length} fills for ${deposits.length} deposits of ${name}`];
}

function isAtAddress(world: SequenceWorld, { terms }: OnChainPayment): boolean {
  const { depositAddress, origin } = terms;
  if (depositAddress === undefined) return false;
  const { memory } = world.chainOf(origin.chainId);
  return memory.balance(origin.currency, depositAddress.address) >= origin.amount;
}

/**
 * Refunds, in base units, that exceed the deposits. A deposit that a fill used up does not count, unless an
 * app paid for that fill.
 */
function refundedTooMuch(
  name: string,
  { deposits, payments }: Group,
  { settled }: Facts,
  charged: ReadonlyMap<string, bigint>,
): string[] {
  const sumsOf = (moved: readonly MovedMoney[]): Map<string, bigint> => {
    const sums = new Map<string, bigint>();
    for (const { chain, currency, amount } of moved) {
      const key = `${currency} on ${chain.chain.name}`;
      sums.set(key, (sums.get(key) ?? 0n) + amount);
    }
    return sums;
  };
  // A third party's deposit may be refunded despite a fast fill, because the app pays for the fill.
  const filled = new Set(
    settled
      .filter(({ kind, payment }) => kind === "fill" && !charged.has(payment.terms.requestId))
      .map(({ deposit }) => deposit),
  );
  const returnable = sumsOf(
    deposits
      .filter((deposit) => !filled.has(deposit))
      .map(({ chain, deposit: { currency, amount } }) => ({ chain, currency, amount })),
  );
  const refunded = sumsOf(
    payments
      .filter((payment) => !isToRecipient(payment))
      .flatMap(({ chain, mined }) =>
        mined.movements.filter(({ from }) => isSolver(from)).map((moved) => ({ chain, ...moved })),
      ),
  );
  return [...refunded]
    .filter(([key, amount]) => amount > (returnable.get(key) ?? 0n))
    .map(
      ([key, amount]) =>
        `${amount} units of ${key} were refunded for ${name}, but only ${returnable.get(key) ?? 0n} were refundable`,
    );
}

/** What apps are charged or hold for each request, in USD with 18 decimals, by request id. */
async function chargedToApps(world: SequenceWorld): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await world.pool.query<{ request_id: string; usd: bigint }>(
    `select request_id, sum(usd) as usd from (
       select request_id, usd from holds
       union all select request_id, usd from fee_reservations where state <> 'released') charged group by 1`,
  );
  return new Map(rows.map(({ request_id, usd }) => [request_id, usd]));
}
