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

/** The books of everyone outside the service: no one takes out more than was paid in for them. */
export interface Books {
  /** To call after every action, while prices are those at which it paid. */
  note(facts: Facts): void;
  /** What the solver paid out with this payment, in USD with 18 decimals at the prices of its time. */
  paidUsd(payment: OnChainPayment): bigint;
  /** @param exposed orders that lost a confirmed deposit in a reorg: no payment for them is too much */
  overpaid(facts: Facts, exposed: ReadonlySet<string>): Promise<string[]>;
}

/** Requests that the same money may serve: all of one deposit address, otherwise only one request. */
interface Group {
  readonly deposits: readonly OnChainDeposit[];
  readonly payments: readonly OnChainPayment[];
}

export function openBooks(world: SequenceWorld): Books {
  const paid = new Map<Hex, bigint>();
  /** The maximum value of incoming money while it was there, because prices move before it is paid for. */
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

  /** The app's money: what it sent to the solver, and what it claimed. */
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
            // Beyond all ordinals of deposits of the same transaction.
            const isIn = isSolver(to) && isApp(from);
            const isOut = isSolver(from) && isApp(to);
            return isIn || isOut ? [{ hash, at: 1_000 + at, isIn, moved }] : [];
          }),
        ),
      ),
    );

  return {
    paidUsd,
    note({ payments, deposits }) {
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
      const found: string[] = [];
      const charged = await chargedToApps(world);
      let leftUsd = 0n;
      for (const [name, group] of groupsOf(facts)) {
        if (group.deposits.some(({ deposit }) => exposed.has(deposit.id))) continue;
        if (group.payments.some(({ terms }) => exposed.has(terms.orderId))) continue;
        found.push(...paidTwice(world, name, group), ...refundedTooMuch(name, group, facts, charged));
        const inUsd = group.deposits.reduce((sum, one) => sum + depositedUsd(one), 0n);
        const outUsd = group.payments.reduce((sum, one) => sum + paidUsd(one), 0n);
        const ids = new Set(group.payments.map(({ terms }) => terms.requestId));
        const chargedUsd = [...ids].reduce((sum, id) => sum + (charged.get(id) ?? 0n), 0n);
        const maxUsd = (inUsd * (10_000n + HONOR_BPS)) / 10_000n + chargedUsd + ONE_CENT;
        if (outUsd > maxUsd)
          found.push(
            `${inDollars(outUsd)} were paid for ${name}, but ${inDollars(inUsd)} were deposited for it and ${inDollars(chargedUsd)} charged to apps`,
          );
        if (inUsd > outUsd) leftUsd += inUsd - outUsd;
      }
      const apps = appMovements();
      const ofApps = (isIn: boolean): bigint =>
        apps
          .filter((one) => one.isIn === isIn)
          .reduce((sum, { hash, at }) => sum + receivedUsd(hash, at), 0n);
      // Beyond its top-ups an app has only what deposits brought beyond their fills: its fees, and the
      // surplus of fast fills.
      if (exposed.size === 0 && ofApps(false) > ofApps(true) + leftUsd + ONE_CENT)
        found.push(
          `apps took ${inDollars(ofApps(false))} out, but put ${inDollars(ofApps(true))} in and can have earned ${inDollars(leftUsd)}`,
        );
      return found;
    },
  };
}

const isSolver = (account: Address): boolean => SOLVERS.some((one) => one === account);

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
    const known = groups.get(name) ?? { deposits: [], payments: [] };
    groups.set(name, known);
    return known;
  };
  for (const deposit of deposits) {
    const agreed = terms.get(deposit.deposit.id);
    if (agreed !== undefined) groupOf(nameOf(agreed)).deposits.push(deposit);
  }
  for (const payment of payments) groupOf(nameOf(payment.terms)).payments.push(payment);
  return groups;
}

/**
 * One fill may precede its deposit; every further one needs its own money: a deposit, or as much at the
 * deposit address as its request asked for.
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
 * In base units: refunds are no more than what was deposited and did not earn a fill that its own user paid
 * for.
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
  // A deposit of a third party is refunded although there is a fill: the app of the fast fill pays for it.
  const filled = new Set(
    settled
      .filter(({ kind, payment }) => kind === "fill" && !charged.has(payment.terms.requestId))
      .map(({ deposit }) => deposit),
  );
  const returnable = sumsOf(
    deposits
      .filter((one) => !filled.has(one))
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

/** What apps cover and sponsor, in USD with 18 decimals, by request. */
async function chargedToApps(world: SequenceWorld): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await world.pool.query<{ request_id: string; usd: bigint }>(
    `select request_id, sum(usd) as usd from (
       select request_id, usd from holds
       union all select request_id, usd from fee_reservations where state <> 'released') charged group by 1`,
  );
  return new Map(rows.map(({ request_id, usd }) => [request_id, usd]));
}
