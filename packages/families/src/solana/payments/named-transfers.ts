import { solanaCodec } from "../address-codec.ts";
import type { InstructionFact, TransactionFacts } from "../answers/transaction-facts.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  MEMO_PROGRAM_V1,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAMS,
} from "../answers/programs.ts";

/** The payments that a transaction's own instructions state. Pure. */

const PAYING_PROGRAMS: ReadonlySet<string> = new Set([
  ...TOKEN_PROGRAMS,
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  MEMO_PROGRAM_V1,
  SYSTEM_PROGRAM,
]);

const NATIVE = solanaCodec.nativeCurrency;

/**
 * A called program that no payment needs; undefined if there is none. Such a program could trade, claim or
 * withdraw for the recipient, so that the transfers only pay for that.
 */
export function otherProgramIn({ instructions }: TransactionFacts): string | undefined {
  return instructions.find(({ isTopLevel, program }) => isTopLevel && !PAYING_PROGRAMS.has(program))?.program;
}

/**
 * What the transaction's own transfers pay a recipient from other accounts, base units, before transfer fees
 * of the mint.
 */
export function namedTransfers(facts: TransactionFacts, recipient: string, currency: string): bigint {
  return facts.instructions
    .filter(({ isTopLevel }) => isTopLevel)
    .reduce((sum, instruction) => {
      const amount =
        currency === NATIVE
          ? lamportsTo(recipient, instruction)
          : tokensTo(facts, recipient, currency, instruction);
      return sum + amount;
    }, 0n);
}

function lamportsTo(recipient: string, { program, accounts, data }: InstructionFact): bigint {
  const [from, to] = accounts;
  if (program !== SYSTEM_PROGRAM || data.length !== 12 || to !== recipient || from === recipient) return 0n;
  const view = viewOf(data);
  return view.getUint32(0, true) === 2 ? view.getBigUint64(4, true) : 0n;
}

function tokensTo(
  { tokens }: TransactionFacts,
  recipient: string,
  mint: string,
  { program, accounts, data }: InstructionFact,
): bigint {
  const transfer = TOKEN_PROGRAMS.has(program) ? transferIn(data) : undefined;
  if (transfer === undefined) return 0n;
  const stateOf = (account: string | undefined) => {
    const tokenAccount = tokens.find((holding) => holding.account === account);
    return tokenAccount?.after ?? tokenAccount?.before;
  };
  const [from, to] = [stateOf(accounts[0]), stateOf(accounts[transfer.toAt])];
  return to?.owner === recipient && to.mint === mint && from?.owner !== recipient ? transfer.amount : 0n;
}

/** Amount and receiving account of Transfer, TransferChecked, and TransferCheckedWithFee of Token-2022. */
function transferIn(data: Uint8Array): { readonly amount: bigint; readonly toAt: 1 | 2 } | undefined {
  const [name, second] = data;
  if (name === 3 && data.length === 9) return { amount: viewOf(data).getBigUint64(1, true), toAt: 1 };
  if (name === 12 && data.length === 10) return { amount: viewOf(data).getBigUint64(1, true), toAt: 2 };
  if (name === 26 && second === 1 && data.length === 19)
    return { amount: viewOf(data).getBigUint64(2, true), toAt: 2 };
  return undefined;
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}
