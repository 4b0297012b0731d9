import { solanaCodec } from "./address-codec.ts";
import type { PaymentQuestion } from "../evidence.ts";
import { garbage } from "../rpc-fault.ts";
import type { DepositoryAccounts } from "./deposits/depository-accounts.ts";
import { EXECUTE_TRANSFER } from "./deposits/depository-instructions.ts";
import type {
  InstructionFact,
  TokenHolding,
  TokenState,
  TransactionFacts,
} from "./answers/transaction-facts.ts";
import { namesOrder } from "./answers/memos.ts";
import { namedTransfers, otherProgramIn } from "./payments/named-transfers.ts";
import { TOKEN_PROGRAMS } from "./answers/programs.ts";
import { toHex } from "@causeway/domain";

/** Judges the payments of a solver's successful transaction. Pure. */

export type PaymentJudgment = { readonly amounts: readonly bigint[] } | { readonly refusal: string };

const NATIVE = solanaCodec.nativeCurrency;

/**
 * What each recipient was paid. The transaction must be in time, name only this order in its memos, and do
 * nothing but pay.
 *
 * A payment counts if a transfer instruction of the transaction itself states it and balances show it. Funds
 * that were already the recipient's do not count: payouts by programs (a trade, a claim, a distribution), and
 * any payment in a transaction that the recipient signed.
 *
 * Balances before and after are compared, so that circular transfers do not count: lamports of the
 * recipient's account, or the total of a token over all of the recipient's token accounts. A token account
 * that changes its owner in the transaction is refused, because its former owner may still control it.
 *
 * @param pdas of every depository of the chain
 * @throws RpcFault if the node's answer contradicts itself
 * @throws RangeError if the question contains a recipient and currency twice
 */
export function judgePayments(
  pdas: readonly DepositoryAccounts[],
  facts: TransactionFacts,
  question: PaymentQuestion,
): PaymentJudgment {
  const pairs = question.receipts.map(({ recipient, currency }) => `${recipient} ${currency}`);
  if (new Set(pairs).size !== pairs.length) throw new RangeError("duplicate pair of recipient and currency");
  const { timestamp } = facts;
  if (timestamp > BigInt(question.deadline))
    return { refusal: `transaction was mined at ${timestamp}, after the deadline ${question.deadline}` };
  if (question.calls.length > 0)
    return { refusal: "order has calls, but calls cannot be verified on this chain" };
  if (!namesOrder(facts, question.orderId))
    return { refusal: "memos of the transaction must contain the order id and no other" };
  // Anyone may execute the recipient's own withdrawal and add an order id to the transaction.
  if (facts.instructions.some((instruction) => pdas.some((depository) => paysOut(depository, instruction))))
    return { refusal: "a transfer out of a depository is not a solver payment" };
  // The depositor may have added the order id, and may get something back in the same transaction.
  if (pdas.some((depository) => paysIn(depository, facts)))
    return { refusal: "transaction pays a depository, so it is a deposit" };
  const otherProgram = otherProgramIn(facts);
  if (otherProgram !== undefined)
    return {
      refusal: `transaction calls ${otherProgram}; a fill may contain only transfers, memos and new accounts`,
    };

  const amounts: bigint[] = [];
  for (const { recipient, currency } of question.receipts) {
    if (pdas.some(({ vault, depository }) => recipient === vault || recipient === depository))
      // Such a payment would also count as a deposit.
      return { refusal: "recipient of a payment must not be a depository" };
    if (facts.signers.includes(recipient))
      return { refusal: "recipient signed the transaction, so it is not a solver payment" };
    const net =
      currency === NATIVE ? lamportsGained(facts, recipient) : tokensGained(facts, recipient, currency);
    if (net === "changedHands") return { refusal: "owner of a token account changed in the transaction" };
    const namedAmount = namedTransfers(facts, recipient, currency);
    const keptAmount = net < namedAmount ? net : namedAmount;
    amounts.push(keptAmount > 0n ? keptAmount : 0n);
  }
  return { amounts };
}

function paysOut({ program }: DepositoryAccounts, { program: called, data }: InstructionFact): boolean {
  return called === program && data.length >= 8 && toHex(data.subarray(0, 8)) === EXECUTE_TRANSFER;
}

function paysIn({ program, vault }: DepositoryAccounts, facts: TransactionFacts): boolean {
  const { instructions, lamports, tokens } = facts;
  const vaultBalance = lamports.get(vault);
  return (
    instructions.some(({ program: called }) => called === program) ||
    (vaultBalance !== undefined && vaultBalance.after > vaultBalance.before) ||
    tokens.some(({ before, after }) => after?.owner === vault && after.amount > (before?.amount ?? 0n))
  );
}

function lamportsGained({ lamports }: TransactionFacts, recipient: string): bigint {
  if (!lamports.has(recipient)) return 0n;
  const balance = lamports.get(recipient);
  if (balance === undefined) throw garbage("getTransaction", "recipient's balance is too large to be exact");
  return balance.after - balance.before;
}

function tokensGained(facts: TransactionFacts, recipient: string, mint: string): bigint | "changedHands" {
  let net = 0n;
  for (const holding of facts.tokens) {
    const { before, after } = holding;
    const isRecipients = (state: TokenState | undefined): boolean =>
      state?.owner === recipient && state.mint === mint;
    if (!isRecipients(before) && !isRecipients(after)) continue;
    requireBalances(facts, holding);
    if (
      before !== undefined &&
      after !== undefined &&
      (before.owner !== after.owner || before.mint !== after.mint)
    )
      return "changedHands";
    net += (after?.amount ?? 0n) - (before?.amount ?? 0n);
  }
  return net;
}

/** First bytes of the token programs' instructions that create or close an account. */
const MAKE_ACCOUNT: ReadonlySet<number | undefined> = new Set([1, 16, 18]);
const CLOSE_ACCOUNT = 9;

/**
 * A missing balance is 0 only if the transaction itself created or closed the account. Otherwise the node
 * omitted it, and the earlier balance would look like a payment.
 */
function requireBalances({ instructions }: TransactionFacts, { account, before, after }: TokenHolding): void {
  const does = (matches: (opcode: number | undefined) => boolean): boolean =>
    instructions.some(
      ({ program, accounts, data }) =>
        TOKEN_PROGRAMS.has(program) && accounts[0] === account && matches(data[0]),
    );
  if (before === undefined && !does((opcode) => MAKE_ACCOUNT.has(opcode)))
    throw garbage("getTransaction", "token account balance before the transaction is missing");
  if (after === undefined && !does((opcode) => opcode === CLOSE_ACCOUNT))
    throw garbage("getTransaction", "token account balance after the transaction is missing");
}
