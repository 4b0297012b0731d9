import { toHex, type Hex32 } from "@causeway/domain";
import { decodeWith } from "../address-codec.ts";
import type { DepositEvidence } from "../evidence.ts";
import { solanaCodec } from "./address-codec.ts";
import { garbage } from "../rpc-fault.ts";
import { DEPOSIT_EVENT, DEPOSIT_NATIVE, DEPOSIT_TOKEN } from "./deposits/depository-instructions.ts";
import type { DepositoryAccounts } from "./deposits/depository-accounts.ts";
import type { InstructionFact, TokenHolding, TransactionFacts } from "./answers/transaction-facts.ts";
import { eventsOf } from "./answers/program-events.ts";
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_PROGRAMS } from "./answers/programs.ts";

/** The deposits of one successful transaction. Pure. */

/** The content of a deposit instruction. */
interface RequestedDeposit {
  readonly index: number;
  readonly depositor: string;
  readonly mint: string | undefined;
  readonly amount: bigint;
  readonly id: Hex32;
  /** Whether the instruction uses this depository's own accounts. */
  readonly isOurs: boolean;
  /**
   * Whether the whole amount arrives: lamports and tokens of the original token program have no transfer fee.
   */
  readonly isExact: boolean;
}

/** The content of a deposit's event. */
interface LoggedDeposit {
  readonly depositor: string;
  readonly mint: string | undefined;
  /** Net of the mint's transfer fee. */
  readonly amount: bigint;
  readonly id: Hex32;
}

export type DepositReading =
  | { readonly kind: "read"; readonly deposits: readonly DepositEvidence[] }
  /** The node truncated the logs, so a transfer fee of the mint is unknown. */
  | { readonly kind: "logsCut" };

const NATIVE = solanaCodec.nativeCurrency;
const ZERO_ID: Hex32 = `0x${"0".repeat(64)}`;

/** Mints whose vault token account is needed to judge the transaction's deposits. */
export function neededTokenAccounts(
  pdas: DepositoryAccounts,
  facts: TransactionFacts,
): readonly { readonly mint: string; readonly tokenProgram: string }[] {
  const mints = new Map<string, { readonly mint: string; readonly tokenProgram: string }>();
  const addMint = (mint: string, tokenProgram: string): void => {
    if (TOKEN_PROGRAMS.has(tokenProgram)) mints.set(vaultKey(mint, tokenProgram), { mint, tokenProgram });
  };
  for (const { program, accounts, data } of facts.instructions)
    if (program === pdas.program && nameOf(data) === DEPOSIT_TOKEN && accounts.length >= 8)
      addMint(accounts[4] ?? "", accounts[7] ?? "");
  for (const { before, after } of facts.tokens)
    for (const state of [before, after]) if (state?.owner === pdas.vault) addMint(state.mint, state.program);
  return [...mints.values()];
}

export function vaultKey(mint: string, tokenProgram: string): string {
  return `${mint} ${tokenProgram}`;
}

/**
 * The deposits, in the order in which they happened.
 *
 * A call of the depository program, by the transaction itself or by another program, is a deposit of the
 * amount that the program's event reports. Each call has one event, and both must agree; otherwise the node
 * omitted something. If a node truncated the logs, a deposit without a possible transfer fee is read from
 * the call alone. Without any such call, a transaction may be a plain transfer to the vault: exactly one
 * instruction without inner instructions, apart from those that set the compute budget.
 *
 * @param vaultAccounts the vault's token accounts, by {@link vaultKey}, for all of {@link
 * neededTokenAccounts}
 * @throws RpcFault if the node's answer contradicts itself
 */
export function depositsIn(
  pdas: DepositoryAccounts,
  vaultAccounts: ReadonlyMap<string, string>,
  facts: TransactionFacts,
): DepositReading {
  const requested = facts.instructions.flatMap((instruction) =>
    requestedBy(pdas, vaultAccounts, instruction),
  );
  if (requested.length === 0) {
    const direct = directTransfer(pdas, vaultAccounts, facts);
    return { kind: "read", deposits: direct === undefined || direct.amount === 0n ? [] : [direct] };
  }
  const events = eventsOf(pdas.program, facts.logs);
  if (events === "cut") {
    const ours = requested.filter(({ isOurs }) => isOurs);
    return ours.every(({ isExact }) => isExact)
      ? { kind: "read", deposits: ours.flatMap((deposit) => depositOf(deposit, deposit.amount)) }
      : { kind: "logsCut" };
  }
  const logged = events.flatMap((event) => readEvent(event));
  if (logged.length !== requested.length)
    throw garbage("getTransaction", "number of deposits in the logs differs from the instructions");
  const deposits = requested.flatMap((deposit, place) => {
    const event = logged[place];
    const agrees =
      event?.depositor === deposit.depositor &&
      event.mint === deposit.mint &&
      event.id === deposit.id &&
      (deposit.isExact ? event.amount === deposit.amount : event.amount <= deposit.amount);
    if (!agrees) throw garbage("getTransaction", "deposits in the logs differ from the instructions");
    return deposit.isOurs ? depositOf(deposit, event.amount) : [];
  });
  return { kind: "read", deposits };
}

function depositOf(
  { index, depositor, mint, id }: RequestedDeposit,
  amount: bigint,
): readonly DepositEvidence[] {
  if (amount === 0n) return [];
  const depositId = id === ZERO_ID ? undefined : id;
  return [{ index: index.toString(), depositor, currency: mint ?? NATIVE, amount, depositId }];
}

function requestedBy(
  pdas: DepositoryAccounts,
  vaultAccounts: ReadonlyMap<string, string>,
  { index, program, accounts, data }: InstructionFact,
): readonly RequestedDeposit[] {
  if (program !== pdas.program) return [];
  const name = nameOf(data);
  if (name !== DEPOSIT_NATIVE && name !== DEPOSIT_TOKEN) return [];
  const [depository, , depositor, vault, mint] = accounts;
  if (data.length < 48 || depositor === undefined) return [];
  const isToken = name === DEPOSIT_TOKEN;
  const receivingAccount = accounts[6];
  // The depository program refuses accounts that are not its own. Check them anyway: a different program may
  // be deployed at the configured address.
  const isOurs =
    depository === pdas.depository &&
    vault === pdas.vault &&
    (!isToken ||
      (receivingAccount !== undefined &&
        vaultAccounts.get(vaultKey(mint ?? "", accounts[7] ?? "")) === receivingAccount));
  const view = new DataView(data.buffer, data.byteOffset);
  return [
    {
      index,
      depositor,
      mint: isToken ? mint : undefined,
      amount: view.getBigUint64(8, true),
      id: toHex(data.subarray(16, 48)),
      isOurs,
      isExact: !isToken || accounts[7] === TOKEN_PROGRAM,
    },
  ];
}

function readEvent(event: Uint8Array): readonly LoggedDeposit[] {
  if (nameOf(event) !== DEPOSIT_EVENT) return [];
  const isToken = event[40] === 1;
  const numbers = isToken ? 73 : 41;
  if ((!isToken && event[40] !== 0) || event.length !== numbers + 40)
    throw garbage("getTransaction", "deposit event in the logs has an unknown format");
  const view = new DataView(event.buffer, event.byteOffset);
  return [
    {
      depositor: keyOf(event.subarray(8, 40)),
      mint: isToken ? keyOf(event.subarray(41, 73)) : undefined,
      amount: view.getBigUint64(numbers, true),
      id: toHex(event.subarray(numbers + 8)),
    },
  ];
}

/** Lamports or tokens sent to the vault by a transaction that does nothing else. It carries no id. */
function directTransfer(
  pdas: DepositoryAccounts,
  vaultAccounts: ReadonlyMap<string, string>,
  facts: TransactionFacts,
): DepositEvidence | undefined {
  const acting = facts.instructions.filter(({ program }) => program !== COMPUTE_BUDGET_PROGRAM);
  const [only] = acting;
  if (only === undefined || acting.length > 1) return undefined;
  const { program, accounts, data } = only;
  const view = new DataView(data.buffer, data.byteOffset);
  if (program === SYSTEM_PROGRAM) {
    const [from, to] = accounts;
    if (data.length !== 12 || view.getUint32(0, true) !== 2 || to !== pdas.vault) return undefined;
    if (from === undefined || from === pdas.vault) return undefined;
    const amount = view.getBigUint64(4, true);
    return { index: "0", depositor: from, currency: NATIVE, amount, depositId: undefined };
  }
  if (!TOKEN_PROGRAMS.has(program)) return undefined;
  const isChecked = data[0] === TRANSFER_CHECKED && data.length === 10;
  if (!isChecked && !(data[0] === TRANSFER && data.length === 9)) return undefined;
  const to = accounts[isChecked ? 2 : 1];
  const depositor = accounts[isChecked ? 3 : 2];
  const holding = facts.tokens.find(({ account }) => account === to);
  if (holding === undefined || depositor === undefined) {
    // A token account missing from the node's balances may belong to anyone.
    throw garbage("getTransaction", "balances of a token account are missing");
  }
  const arrived = increaseOf(holding);
  const { mint, owner, program: tokenProgram } = arrived.state;
  if (owner !== pdas.vault || vaultAccounts.get(vaultKey(mint, tokenProgram)) !== to) return undefined;
  const sent = view.getBigUint64(1, true);
  const amount = sent < arrived.amount ? sent : arrived.amount;
  return { index: "0", depositor, currency: mint, amount, depositId: undefined };
}

/** First byte of the token programs' instructions. */
const TRANSFER = 3;
const TRANSFER_CHECKED = 12;

function increaseOf({ before, after }: TokenHolding): {
  readonly state: NonNullable<TokenHolding["after"]>;
  readonly amount: bigint;
} {
  // A transfer alone neither creates nor closes an account.
  if (before === undefined || after === undefined)
    throw garbage("getTransaction", "balances of a token account are missing");
  if (before.mint !== after.mint || before.owner !== after.owner || before.program !== after.program)
    throw garbage(
      "getTransaction",
      "mint, owner or program of a token account differs before and after the transaction",
    );
  return { state: after, amount: after.amount > before.amount ? after.amount - before.amount : 0n };
}

function nameOf(data: Uint8Array): string {
  return data.length < 8 ? "" : toHex(data.subarray(0, 8));
}

function keyOf(bytes: Uint8Array): string {
  return decodeWith(solanaCodec, toHex(bytes));
}
