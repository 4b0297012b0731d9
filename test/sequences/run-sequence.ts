import type { Hex } from "@causeway/domain";
import { violatedInvariants } from "../support/ledger-world.ts";
import { openBooks, type Books } from "./books.ts";
import { inDollars } from "./in-dollars.ts";
import {
  exposedTo,
  gasByTransaction,
  isRepeated,
  isOnChain,
  isToRecipient,
  readFacts,
  solverWorth,
  valueOf,
  type Exposed,
  type Facts,
  type OnChainDeposit,
  type OnChainPayment,
  type Worth,
} from "./ledger.ts";
import type { Action, Outcome } from "./action.ts";
import { topUp } from "./app-actions.ts";
import { perform } from "./perform.ts";
import { HONOR_BPS, ONE_CENT, UNREPAID_DAILY_USD } from "./bounds.ts";
import { brokenRules, falseStatuses, missedDeposits, secondDeposits, misassignedSweeps } from "./check.ts";
import {
  APP_TOP_UPS,
  START_PRICES,
  startSequenceWorld,
  type SequenceHome,
  type SequenceWorld,
} from "./world.ts";

const DAY_SECONDS = 24 * 3600;

/** A sequence broke an invariant. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** How often each kind of action had an effect, over all sequences of a process. */
export const tally = new Map<string, number>();

/**
 * Runs one sequence until no funds move any longer.
 * @throws Violation
 */
export async function runSequence(home: SequenceHome, actions: readonly Action[]): Promise<void> {
  const world = await startSequenceWorld(home);
  try {
    await topUpApps(world);
    const run = new Run(world, await solverWorth(world));
    for (const action of actions) count(action.kind, await run.step(action));
    await world.heal();
    await settleDown(world);
    await run.check("after the last action");
    world.forward(9 * 24 * 3600 * 1000);
    await settleDown(world, 0);
    await run.check("after all deadlines");
  } finally {
    world.close();
  }
}

async function topUpApps(world: SequenceWorld): Promise<void> {
  for (const [app, amount] of APP_TOP_UPS.entries()) await topUp(world, app, "usdc", amount);
  await world.round(3);
}

function count(kind: string, outcome: Outcome): void {
  const key = `${kind} ${outcome}`;
  tally.set(key, (tally.get(key) ?? 0) + 1);
}

class Run {
  private readonly world: SequenceWorld;
  private readonly startWorth: Worth;
  private readonly prices: Record<string, number>;
  /** How much price changes alone have changed the service's worth, in USD with 18 decimals. */
  private priceGains = 0n;
  private pricesMoved = false;
  /** Confirmed funds in blocks that a reorg replaced. */
  private readonly exposed: Exposed[] = [];
  private readonly books: Books;
  /** The highest cost so far of the gas of each transaction, in USD with 18 decimals. */
  private readonly gas = new Map<Hex, bigint>();

  constructor(world: SequenceWorld, startWorth: Worth) {
    this.world = world;
    this.books = openBooks(world);
    this.startWorth = startWorth;
    this.prices = Object.fromEntries(Object.entries(START_PRICES).map(([id, usd]) => [id, Number(usd)]));
  }

  async step(action: Action): Promise<Outcome> {
    if (action.kind === "price") return await this.movePrice(action);
    if (action.kind === "reorg")
      this.exposed.push(...(await exposedTo(this.world, action.chain, action.depth)));
    const outcome = await perform(this.world, action);
    // A fill that swaps pays the current price of the pool, within the limit of a firm quote.
    if (action.kind === "trade" && outcome === "done") this.pricesMoved = true;
    await this.checkAlways(action);
    return outcome;
  }

  /** Checks what must be true at every moment, even while work is in progress. */
  private async checkAlways(action: Action): Promise<void> {
    const { world } = this;
    await this.recordValues();
    const exposed = this.exposedOrders();
    const problems = [
      ...(await violatedInvariants(world.pool)),
      ...(await this.books.overpaid(await readFacts(world), exposed)),
      // The service cannot know what a node hides until it reads the blocks again.
      ...(world.hidesLogs() ? [] : await secondDeposits(world, exposed)),
    ];
    if (problems.length > 0) throw new Violation(`after ${action.kind}:\n  ${problems.join("\n  ")}`);
  }

  /** Orders that lost a confirmed deposit in a reorg. */
  private exposedOrders(): ReadonlySet<string> {
    return new Set(this.exposed.filter((funds) => !isOnChain(funds)).map(({ orderId }) => orderId ?? ""));
  }

  /** Records values at the prices at which funds moved. */
  private async recordValues(): Promise<void> {
    this.books.record(await readFacts(this.world));
    for (const [hash, usd] of gasByTransaction(this.world))
      if (usd > (this.gas.get(hash) ?? 0n)) this.gas.set(hash, usd);
  }

  private async movePrice({ asset, percent }: Extract<Action, { kind: "price" }>): Promise<Outcome> {
    // Payments in progress are already priced, so the service cannot avoid this price risk.
    if (!(await isQuiet(this.world))) return "skipped";
    const id = asset === "eth" ? "ethereum" : "causeway-test-token";
    const before = await solverWorth(this.world);
    const price = Math.round((this.prices[id] ?? 1) * (100 + percent) * 100) / 10_000;
    this.prices[id] = price;
    this.world.prices.set(id, price.toFixed(4));
    this.priceGains += (await solverWorth(this.world)).total - before.total;
    this.pricesMoved = true;
    return "done";
  }

  async check(when: string): Promise<void> {
    const { world } = this;
    await this.recordValues();
    const facts = await readFacts(world);
    const lost = this.lostFunds(facts);
    const problems = [
      ...(await brokenRules(world)),
      ...(await missedDeposits(world)),
      ...(await misassignedSweeps(world)),
      ...(await falseStatuses(world, this.exposedOrders())),
      ...(await this.books.overpaid(facts, this.exposedOrders())),
      ...this.beyondDailyLimit(facts, lost),
      ...(await this.losses(facts, lost)),
    ];
    if (problems.length > 0) throw new Violation(`${when}:\n  ${problems.join("\n  ")}`);
  }

  /**
   * Exposed funds that reorgs removed permanently. If a deposit was made again and settled, in any
   * transaction, it covers the payment for the first one.
   */
  private lostFunds({ settled }: Facts): readonly Exposed[] {
    const usedDeposits = new Set<OnChainDeposit>();
    return this.exposed.filter((funds) => {
      if (isOnChain(funds)) return false;
      const repeated = settled.find(
        ({ deposit }) => !usedDeposits.has(deposit) && isRepeated(funds, deposit),
      );
      if (repeated !== undefined) usedDeposits.add(repeated.deposit);
      return repeated === undefined;
    });
  }

  /** Refunds that no oracle attests, except refunds of deposits that a reorg removed. */
  private unrepaidRefunds(
    { payments, presented, settled }: Facts,
    lost: readonly Exposed[],
  ): readonly OnChainPayment[] {
    const isOfLost = ({ mined: { transaction } }: OnChainPayment): boolean =>
      lost.some(({ mined }) => mined.transaction.hash === presented.get(transaction.hash));
    return payments.filter(
      (payment) =>
        !isOfLost(payment) &&
        payment.chain.chain.id === payment.terms.origin.chainId &&
        !isToRecipient(payment) &&
        settled.every((entry) => entry.payment !== payment),
    );
  }

  private beyondDailyLimit(facts: Facts, lost: readonly Exposed[]): string[] {
    const unrepaid = this.unrepaidRefunds(facts, lost);
    return unrepaid.flatMap((last) => {
      const day = unrepaid.filter(
        ({ timestamp }) => timestamp <= last.timestamp && timestamp > last.timestamp - DAY_SECONDS,
      );
      const usd = day.reduce((sum, payment) => sum + this.books.paidUsd(payment), 0n);
      return usd <= UNREPAID_DAILY_USD + ONE_CENT
        ? []
        : [`${inDollars(usd)} of refunds within a day are never repaid`];
    });
  }

  private async losses(facts: Facts, lost: readonly Exposed[]): Promise<string[]> {
    const { world, startWorth: began, priceGains: moved } = this;
    const { settled } = facts;
    const now = await solverWorth(world);
    const gas = [...gasByTransaction(world).keys()].reduce(
      (sum, hash) => sum + (this.gas.get(hash) ?? 0n),
      0n,
    );
    // A firm quote is honored even if prices moved, within the limit of the fee policy.
    const honored = this.pricesMoved
      ? settled
          .filter(({ kind }) => kind === "fill")
          .reduce(
            (sum, { deposit: { chain, deposit } }) =>
              sum + (valueOf(world, chain.chain.id, deposit.currency, deposit.amount) * HONOR_BPS) / 10_000n,
            0n,
          )
      : 0n;
    const reorged = lost.reduce((sum, { usd }) => sum + usd, 0n);
    const overrun = overrunUsd(world);
    const unrepaid = this.unrepaidRefunds(facts, lost).reduce(
      (sum, payment) => sum + this.books.paidUsd(payment),
      0n,
    );
    const minTotal = began.total + moved - gas - honored - reorged - unrepaid - overrun - ONE_CENT;
    if (now.total >= minTotal) return [];
    return [
      ...facts.payments
        .filter((payment) => settled.every((entry) => entry.payment !== payment))
        .map(
          (payment) =>
            `never repaid: ${isToRecipient(payment) ? "fill" : "refund"} of ${payment.terms.requestId} on ${payment.chain.chain.name}, ` +
            inDollars(this.books.paidUsd(payment)),
        ),
      `the service lost ${inDollars(minTotal - now.total)} beyond its bounds: began with ${inDollars(began.total)}, prices moved ${inDollars(moved)}, ` +
        `gas ${inDollars(gas)}, firm quotes kept ${inDollars(honored)}, reorged ${inDollars(reorged)}, refunds never repaid ${inDollars(unrepaid)}, calls beyond their reservations ${inDollars(overrun)}; now holds ${inDollars(now.held)}, is repaid ${inDollars(now.repaid)}, owes apps ${inDollars(now.owed)}`,
    ];
  }
}

/**
 * The cost of executed calls above their reservations, in USD with 18 decimals. Gas may rise while a call
 * waits to be mined: the app pays its reservation, and the operator pays the rest and gets an alarm.
 */
function overrunUsd(world: SequenceWorld): bigint {
  return world.events
    .of("execution_overrun")
    .reduce((sum, { facts }) => sum + (facts["uncoveredUsd"] as bigint), 0n);
}

async function isQuiet(world: SequenceWorld): Promise<boolean> {
  if (world.chains.some(({ memory }) => memory.pool.length > 0)) return false;
  // While the service has not read a block, the books would count funds that arrived in it as the solver's.
  const cursors = await world.pool.query<{ block_hash: string }>("select block_hash from chain_cursors");
  const read = new Set(cursors.rows.map(({ block_hash: hash }) => hash));
  if (!world.chains.every(({ memory }) => read.has(memory.tip.hash))) return false;
  const { rows } = await world.pool.query<{ open: number }>(
    // Waiting refunds count too: until they are paid, the books take their deposits for those of fast fills.
    // So do uncredited top-ups, which the books count as the solver's and not yet as the app's.
    `select (select count(*) from slots where state = 'open')
       + (select count(*) from deposits where disposition = 'refund' and refund_state in ('none', 'sent') and canonical)
       + (select count(*) from app_top_ups where state = 'seen' and canonical) as open`,
  );
  return rows[0]?.open === 0;
}

/** Runs rounds until nothing is in progress. */
async function settleDown(world: SequenceWorld, minRounds = 1): Promise<void> {
  for (const { memory } of world.chains) await memory.setBaseFee(10n ** 9n);
  for (let round = 0; round < 20; round++) {
    await world.round(9);
    if (round >= minRounds && (await isQuiet(world)) && !(await isBusy(world))) return;
    world.forward(10_000);
  }
}

async function isBusy(world: SequenceWorld): Promise<boolean> {
  const { rows } = await world.pool.query<{ busy: number }>(
    `select (select count(*) from requests where state in ('deposited', 'fillable', 'filling', 'submitted', 'refunding'))
       + (select count(*) from deposits where disposition = 'refund' and refund_state in ('none', 'sent') and canonical)
       + (select count(*) from deposit_sweeps where state in ('planned', 'sent', 'mined'))
       + (select count(*) from claims where state = 'paying')
       + (select count(*) from slots where state in ('open', 'mined')) as busy`,
  );
  return (rows[0]?.busy ?? 0) > 0;
}
