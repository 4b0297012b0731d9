import { toHex } from "@causeway/domain";
import { decodeWith } from "../../address-codec.ts";
import type { AccountFact } from "../answers/transaction-facts.ts";
import { solanaCodec } from "../address-codec.ts";
import type { PlainInstruction } from "../payments/plain-instruction.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAMS,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from "../answers/programs.ts";
import { readSwap } from "./swap-instruction.ts";

/** Judges a swap that an aggregator proposes, before the user gets it to sign. Pure. */

/** A swap proposed by an aggregator. None of it is trusted. */
export interface ProposedSwap {
  readonly computeBudget: readonly PlainInstruction[];
  readonly setup: readonly PlainInstruction[];
  readonly swap: PlainInstruction;
  /** All other instructions that the aggregator requests. */
  readonly others: readonly PlainInstruction[];
  /** Addresses of lookup tables that shorten the transaction. base58. */
  readonly lookupTables: readonly string[];
}

/** A mint and the user's associated token account for it. base58. */
export interface UserToken {
  readonly mint: string;
  readonly tokenProgram: string;
  readonly account: string;
}

/** The terms that the user agreed to. */
export interface SwapTerms {
  readonly user: string;
  /** Programs that may execute the swap. */
  readonly programs: readonly string[];
  readonly input: UserToken;
  readonly output: UserToken;
  /** Maximum input, base units. */
  readonly maxInput: bigint;
  /** Minimum output, which is deposited, base units. */
  readonly minOutput: bigint;
}

/** `units`: the compute units that the aggregator expects. */
export type SwapJudgment = { readonly units: number } | { readonly refusal: string };

const MAX_COMPUTE_UNITS = 1_400_000;
const MAX_LOOKUP_TABLES = 8;

/**
 * Programs that could use the user's signature to move other funds. A program can only call programs among
 * its instruction's accounts, so a swap that names none of these cannot call them.
 */
const FORBIDDEN_PROGRAMS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  STAKE_PROGRAM,
  VOTE_PROGRAM,
  UPGRADEABLE_LOADER,
  LOOKUP_TABLE_PROGRAM,
]);

/** The accounts that a swap may write to, whose state {@link judgeSwap} needs. */
export function writtenAccounts({ swap }: Pick<ProposedSwap, "swap">): readonly string[] {
  return [...new Set(swap.keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey))];
}

/**
 * Accepts a swap that takes at most the agreed input from the user's account and brings at least the agreed
 * output to the user's account, and refuses everything that could do anything else with the user's signature.
 * @param accountStates the newest states of {@link writtenAccounts}
 */
export function judgeSwap(
  terms: SwapTerms,
  proposed: ProposedSwap,
  accountStates: ReadonlyMap<string, AccountFact | undefined>,
): SwapJudgment {
  const { others, setup, computeBudget, lookupTables } = proposed;
  const [unexpected] = others;
  if (unexpected !== undefined)
    return { refusal: `an instruction of ${unexpected.programId} that does not belong to a swap` };
  if (lookupTables.length > MAX_LOOKUP_TABLES)
    return { refusal: `${lookupTables.length} lookup tables, at most ${MAX_LOOKUP_TABLES} are allowed` };
  for (const instruction of setup) {
    const refusal = setupRefusal(terms, instruction);
    if (refusal !== undefined) return { refusal };
  }
  const units = unitsOf(computeBudget);
  if (units === undefined) return { refusal: "an unknown instruction about the compute budget" };
  const refusal = callRefusal(terms, proposed.swap) ?? writesRefusal(terms, proposed, accountStates);
  return refusal === undefined ? { units } : { refusal };
}

/** Setup may only create the token accounts that the swap needs; the service adds that instruction itself. */
function setupRefusal({ user, input, output }: SwapTerms, instruction: PlainInstruction): string | undefined {
  const { programId, keys, data } = instruction;
  const creates = programId === ASSOCIATED_TOKEN_PROGRAM && ["0x", "0x00", "0x01"].includes(data);
  if (!creates) return `a setup instruction of ${programId} other than the creation of a token account`;
  const [payer, account, wallet, mint] = keys.map(({ pubkey }) => pubkey);
  const isNeeded = [input, output].some((token) => token.account === account && token.mint === mint);
  return payer === user && wallet === user && isNeeded
    ? undefined
    : `a setup instruction creates ${account ?? "no account"}, which the swap does not need`;
}

/**
 * The compute unit limit; undefined if an instruction sets neither limit nor price. The price is ignored,
 * because wallets set their own.
 */
function unitsOf(instructions: readonly PlainInstruction[]): number | undefined {
  let units = MAX_COMPUTE_UNITS;
  for (const { programId, data } of instructions) {
    if (programId !== COMPUTE_BUDGET_PROGRAM) return undefined;
    const isLimit = /^0x02[0-9a-f]{8}$/.test(data);
    if (!isLimit && !/^0x03[0-9a-f]{16}$/.test(data)) return undefined;
    if (!isLimit) continue;
    units = Math.min(units, Buffer.from(data.slice(4), "hex").readUInt32LE(0));
  }
  return units;
}

function callRefusal(terms: SwapTerms, swap: PlainInstruction): string | undefined {
  const { user, programs, input, output, maxInput, minOutput } = terms;
  if (!programs.includes(swap.programId)) return `a swap by ${swap.programId}, which is not allowed to swap`;
  const call = readSwap(swap);
  if ("refusal" in call) return call.refusal;
  if (call.user !== user || call.source !== input.account) return "a swap of another account's tokens";
  if (call.destination !== output.account || call.destinationMint !== output.mint)
    return "a swap that pays another account or token";
  if (call.diverted !== undefined && call.diverted !== output.account)
    return "a swap that pays another account or token";
  if (call.feeAccount !== undefined) return "a swap that pays a fee to a third account";
  if (call.maxInput > maxInput)
    return `a swap of ${call.maxInput} base units, at most ${maxInput} are offered`;
  if (call.minOutput < minOutput)
    return `a swap whose minimum output is ${call.minOutput} base units, at least ${minOutput} is required`;
  return undefined;
}

function writesRefusal(
  { user, input, output }: SwapTerms,
  { swap }: ProposedSwap,
  accountStates: ReadonlyMap<string, AccountFact | undefined>,
): string | undefined {
  for (const { pubkey, isSigner, isWritable } of swap.keys) {
    if (isSigner && pubkey !== user) return `a swap that requires the signature of ${pubkey}`;
    if (FORBIDDEN_PROGRAMS.has(pubkey))
      return `a call of ${pubkey}, which could move other funds of the user`;
    if (!isWritable || pubkey === input.account || pubkey === output.account) continue;
    if (pubkey === user) return "a swap that writes to the user's account";
    if (isControlledBy(accountStates.get(pubkey), user))
      return `a swap that writes to ${pubkey}, another token account of the user`;
  }
  return undefined;
}

/** Whether `account` is a token account that the user owns, may spend from as delegate, or may close. */
function isControlledBy(account: AccountFact | undefined, user: string): boolean {
  if (account === undefined || !TOKEN_PROGRAMS.has(account.owner) || account.data.length < 165) return false;
  const { data } = account;
  return [32, 76, 133].some(
    (offset) => decodeWith(solanaCodec, toHex(data.subarray(offset, offset + 32))) === user,
  );
}
