import { address, type Address } from "@solana/kit";

/** Programs with the same address on every cluster. */
export const SYSTEM_PROGRAM: Address = address("11111111111111111111111111111111");
export const TOKEN_PROGRAM: Address = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
export const TOKEN_2022_PROGRAM: Address = address("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
export const ASSOCIATED_TOKEN_PROGRAM: Address = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
export const COMPUTE_BUDGET_PROGRAM: Address = address("ComputeBudget111111111111111111111111111111");
export const CLOCK_SYSVAR: Address = address("SysvarC1ock11111111111111111111111111111111");

/** The memo program and its first version, which old wallets still use. */
export const MEMO_PROGRAM: Address = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
export const MEMO_PROGRAM_V1: Address = address("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo");

/** The token programs. Accounts of both have the same layout in their first 165 bytes. */
export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set<string>([TOKEN_PROGRAM, TOKEN_2022_PROGRAM]);
