import { base58 } from "@scure/base";
import type { TransactionMetadata } from "litesvm";
import type { StoredAccount } from "./account-history.ts";

/**
 * A transaction's message with resolved accounts: its own, then those of lookup tables, writable ones first.
 */
export interface ResolvedMessage {
  readonly version: "legacy" | 0;
  readonly header: {
    readonly numSignerAccounts: number;
    readonly numReadonlySignerAccounts: number;
    readonly numReadonlyNonSignerAccounts: number;
  };
  readonly staticAccounts: readonly string[];
  readonly loadedWritable: readonly string[];
  readonly loadedReadonly: readonly string[];
  readonly lookups: readonly {
    readonly accountKey: string;
    readonly writableIndexes: readonly number[];
    readonly readonlyIndexes: readonly number[];
  }[];
  readonly recentBlockhash: string;
  readonly instructions: readonly {
    readonly programIdIndex: number;
    readonly accounts: readonly number[];
    readonly data: string;
  }[];
}

/** What a node stores about a transaction in a block. */
export interface TransactionRecord {
  readonly signature: string;
  readonly slot: number;
  readonly raw: Uint8Array;
  readonly signatures: readonly string[];
  readonly message: ResolvedMessage;
  /** In JSON-RPC format; null: it succeeded. */
  readonly error: unknown;
  readonly meta: Readonly<Record<string, unknown>>;
}

export function accountKeysOf(message: ResolvedMessage): readonly string[] {
  return [...message.staticAccounts, ...message.loadedWritable, ...message.loadedReadonly];
}

const TOKEN_PROGRAMS = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
]);

/** One account before or after a transaction. */
export interface AccountSnapshot {
  readonly account: StoredAccount | undefined;
  /** Decimals of its mint, if it is a token account. */
  readonly decimals: number;
}

/** The `meta` of a transaction, from its accounts before and after. */
export function metaOf(
  message: ResolvedMessage,
  outcome: TransactionMetadata,
  error: unknown,
  before: readonly AccountSnapshot[],
  after: readonly AccountSnapshot[],
): Readonly<Record<string, unknown>> {
  const lamports = (snapshots: readonly AccountSnapshot[]) =>
    snapshots.map(({ account }) => account?.lamports ?? 0n);
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    // Nothing else destroys lamports.
    fee: sum(lamports(before)) - sum(lamports(after)),
    preBalances: lamports(before),
    postBalances: lamports(after),
    preTokenBalances: tokenBalances(before),
    postTokenBalances: tokenBalances(after),
    innerInstructions: outcome.innerInstructions().flatMap((list, index) =>
      list.length === 0
        ? []
        : [
            {
              index,
              instructions: list.map((inner) => {
                const instruction = inner.instruction();
                return {
                  programIdIndex: instruction.programIdIndex(),
                  accounts: [...instruction.accounts()],
                  data: base58.encode(instruction.data()),
                  stackHeight: inner.stackHeight(),
                };
              }),
            },
          ],
    ),
    logMessages: outcome.logs(),
    loadedAddresses: { writable: message.loadedWritable, readonly: message.loadedReadonly },
    computeUnitsConsumed: outcome.computeUnitsConsumed(),
    rewards: [],
  };
}

/** The mint of a token account; undefined for other accounts. */
export function mintOf(account: StoredAccount | undefined): string | undefined {
  return account !== undefined && isTokenAccount(account)
    ? base58.encode(account.data.subarray(0, 32))
    : undefined;
}

function isTokenAccount({ owner, data }: StoredAccount): boolean {
  if (!TOKEN_PROGRAMS.has(owner)) return false;
  // With extensions, a byte after the base layout distinguishes accounts from mints.
  return data.length === 165 || (data.length > 165 && data[165] === 2);
}

function tokenBalances(snapshots: readonly AccountSnapshot[]): readonly unknown[] {
  return snapshots.flatMap(({ account, decimals }, accountIndex) => {
    const mint = mintOf(account);
    if (account === undefined || mint === undefined) return [];
    return [
      {
        accountIndex,
        mint,
        owner: base58.encode(account.data.subarray(32, 64)),
        programId: account.owner,
        uiTokenAmount: tokenAmount(amountOf(account.data), decimals),
      },
    ];
  });
}

export function amountOf(tokenAccount: Uint8Array): bigint {
  return Buffer.from(tokenAccount).readBigUInt64LE(64);
}

export function tokenAmount(amount: bigint, decimals: number): Readonly<Record<string, unknown>> {
  const padded = amount.toString().padStart(decimals + 1, "0");
  const whole = padded.slice(0, padded.length - decimals);
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, "");
  const text = fraction === "" ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}
