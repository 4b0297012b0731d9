import { address, type Address } from "@solana/kit";

/** Programs with the same address on every cluster. */
export const SYSTEM_PROGRAM: Address = address("11111111111111111111111111111111");
export const TOKEN_PROGRAM: Address = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
export const TOKEN_2022_PROGRAM: Address = address("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
export const ASSOCIATED_TOKEN_PROGRAM: Address = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
export const COMPUTE_BUDGET_PROGRAM: Address = address("ComputeBudget111111111111111111111111111111");
export const LOOKUP_TABLE_PROGRAM: Address = address("AddressLookupTab1e1111111111111111111111111");
export const STAKE_PROGRAM: Address = address("Stake11111111111111111111111111111111111111");
export const VOTE_PROGRAM: Address = address("Vote111111111111111111111111111111111111111");
export const UPGRADEABLE_LOADER: Address = address("BPFLoaderUpgradeab1e11111111111111111111111");
export const CLOCK_SYSVAR: Address = address("SysvarC1ock11111111111111111111111111111111");

/** The memo program and its first version, which old wallets still use. */
export const MEMO_PROGRAM: Address = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
export const MEMO_PROGRAM_V1: Address = address("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo");

/** The token programs. Accounts of both have the same layout in their first 165 bytes. */
export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set<string>([TOKEN_PROGRAM, TOKEN_2022_PROGRAM]);

/** The mint of wrapped SOL. */
export const WRAPPED_SOL: Address = address("So11111111111111111111111111111111111111112");
