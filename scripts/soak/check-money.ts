import type { Address } from "viem";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { observeChanges } from "./balances.ts";
import type { ScannedTransaction } from "./chain-scan.ts";
import type { SolverPayment } from "./fills.ts";
import { burned, differences, imbalances, Ledger, writeGas } from "./ledger.ts";
import type { RequestRun } from "./run-request.ts";
import { standingAccounts, type SoakChain, type World } from "./world.ts";

/**
 * Compares the change of every account of a chain with what the quotes and the gas require, to the
 * unit, and checks that every unit has a sender and a recipient.
 *
 * The expectation is built from the quotes (deposits and direct payments), from the solver's own transactions
 * (fills) and from receipts (gas), never from transfer events: an account that should not have changed is
 * found because it is compared too.
 */
export async function checkMoney(
  world: World,
  chain: SoakChain,
  facts: {
    readonly runs: readonly RequestRun[];
    readonly transactions: readonly ScannedTransaction[];
    readonly payments: readonly SolverPayment[];
    readonly lastBlock: bigint;
  },
): Promise<{ problems: string[]; accounts: number }> {
  const expected = expectedChanges(world, chain, facts);
  const accounts = partiesOf(world, chain, facts);
  const observed = await observeChanges(chain, accounts, facts.lastBlock);
  observed.add(
    chain.chain.id,
    NATIVE_CURRENCY,
    burned,
    expected.get(chain.chain.id, NATIVE_CURRENCY, burned),
  );
  const name = (currency: string): string =>
    [chain.chain.native, ...chain.chain.tokens].find(({ address }) => address.toLowerCase() === currency)
      ?.symbol ?? currency;
  const describeAccount = accountNamer(world, chain, facts.runs);
  const wrong = differences(observed, expected).map(
    ({ currency, account, amount, expected: should }) =>
      `${chain.chain.name}: ${describeAccount(account)} changed by ${amount} ${name(currency)}, expected ${should} (difference ${amount - should})`,
  );
  const unbalanced = imbalances(observed).map(
    ({ currency, sum }) =>
      `${chain.chain.name}: all changes of ${name(currency)} and the gas used sum to ${sum}, expected 0`,
  );
  return { problems: [...unbalanced, ...wrong], accounts: accounts.length };
}

function expectedChanges(
  world: World,
  { chain }: SoakChain,
  {
    runs,
    transactions,
    payments,
  }: {
    readonly runs: readonly RequestRun[];
    readonly transactions: readonly ScannedTransaction[];
    readonly payments: readonly SolverPayment[];
  },
): Ledger {
  const ledger = new Ledger();
  const mined = new Map(transactions.map((transaction) => [transaction.hash, transaction]));
  for (const { plan, user, recipient, quote, payment } of runs) {
    if (quote === undefined || payment === undefined || world.chains[plan.origin].chain !== chain) continue;
    if (mined.get(payment.hash)?.succeeded !== true) continue;
    const to = plan.kind === "send" ? recipient : chain.contracts.depository;
    ledger.move(chain.id, plan.pay.address, user.address, to, BigInt(quote.details.currencyIn.amount));
  }
  for (const { transaction, currency, recipient, amount } of payments)
    if (transaction.succeeded) ledger.move(chain.id, currency, transaction.from, recipient, amount);
  for (const transaction of transactions) {
    const { from, feeRecipient } = transaction;
    writeGas(ledger, chain.id, NATIVE_CURRENCY, { from, feeRecipient }, transaction);
  }
  return ledger;
}

/**
 * All accounts that may have changed: the expected ones, the fixed ones, and those that the chain's logs
 * name.
 */
function partiesOf(
  world: World,
  chain: SoakChain,
  {
    runs,
    transactions,
  }: { readonly runs: readonly RequestRun[]; readonly transactions: readonly ScannedTransaction[] },
): Address[] {
  const named = transactions.flatMap(({ from, to, feeRecipient, transferParties }) => [
    from,
    feeRecipient,
    ...(to === undefined ? [] : [to]),
    ...transferParties,
  ]);
  const parties = [
    ...standingAccounts(world, chain),
    ...world.users.map(({ address }) => address),
    ...runs.map(({ recipient }) => recipient),
    ...named,
  ];
  return [...new Set(parties.map((address) => address.toLowerCase() as Address))];
}

function accountNamer(
  world: World,
  { chain }: SoakChain,
  runs: readonly RequestRun[],
): (account: string) => string {
  const names = new Map<string, string>([
    [world.system.solver.address.toLowerCase(), "solver"],
    ...Object.entries(chain.contracts).map(([name, address]) => [address.toLowerCase(), name] as const),
    ...world.users.map(({ address }, index) => [address.toLowerCase(), `user ${index}`] as const),
    ...runs
      .filter(({ plan }) => plan.receiver === "fresh")
      .map(({ plan, recipient }) => [recipient.toLowerCase(), `recipient of request ${plan.index}`] as const),
  ]);
  return (account) => (names.has(account) ? `${names.get(account)} (${account})` : account);
}
