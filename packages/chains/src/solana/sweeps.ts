import { bytesOf, type Hex } from "@causeway/domain";
import { decodeAddress, encodeAddress, nativeCurrency } from "@causeway/families";
import {
  associatedTokenAddress,
  deriveDepositAddress,
  isDepositAddressProgram,
  programDataAddress,
  sweepNativeInstruction,
  sweepTokenInstruction,
  type AccountFact,
  type DepositoryAccounts,
  type PlainInstruction,
} from "@causeway/families/solana";
import type {
  AddressBalances,
  AddressKey,
  AddressToRead,
  NonEvmDepositAddresses,
  NonEvmPayment,
} from "../non-evm-connection.ts";
import { tokenBalance, tokenAccountRefusal, type MintFact } from "./mints.ts";
import { createTokenAccountInstruction } from "./payment-instructions.ts";
import type { SolanaReads } from "./reads.ts";
import type { SolanaRpc } from "./rpc.ts";

const NATIVE = nativeCurrency("solana-vm");
/** What a sweep of lamports or tokens may compute, with two deposits. */
const UNITS = { lamports: 60_000, tokens: 160_000 } as const;
/**
 * What a sweep may cost, in payments of lamports: one that computes as much as the largest sweep, with one
 * signature.
 */
const SWEEP_PER_PAYMENT = 5n;
/** Maximum accounts per request. */
const MAX_ACCOUNTS = 100;
/** Maximum token accounts in the cache. */
const MAX_CACHED_ACCOUNTS = 50_000;

export interface SweepOptions {
  readonly rpc: Pick<SolanaRpc, "accounts" | "finalSlot">;
  readonly reads: Pick<SolanaReads, "accounts" | "minBalance">;
  readonly pdas: DepositoryAccounts;
  /** The program of deposit addresses. */
  readonly program: string;
  /** The solver: operator of all its addresses. */
  readonly operator: string;
  /** Undefined: the account is not a mint. @throws RpcFault */
  readonly mintOf: (mint: string) => Promise<MintFact | undefined>;
  /** The same, including what can change, such as transfer fees; not cached. @throws RpcFault */
  readonly currentMint: (mint: string) => Promise<MintFact | undefined>;
  /** What a new token account of a mint costs, lamports. @throws RpcFault */
  readonly tokenRent: (mint: MintFact) => Promise<bigint>;
}

/** The instructions of a sweep, and what they require. */
export interface PlannedSweep {
  readonly instructions: readonly PlainInstruction[];
  readonly units: number;
  /** Lamports for a token account of the vault that is still to be created. */
  readonly rent: bigint;
}

/** Deposit addresses that are accounts of a program. */
export interface SolanaSweeps {
  readonly addresses: NonEvmDepositAddresses;
  /**
   * A sweep's instructions after the one that limits its compute units. Undefined: it pays another account
   * than the depository, or its currency is not a token of this chain.
   */
  instructions(payment: NonEvmPayment): Promise<PlannedSweep["instructions"] | undefined>;
  /** The same instructions, with their cost. @throws RpcFault */
  plan(payment: NonEvmPayment): Promise<PlannedSweep | undefined>;
  /** Why the depository would not get the amount. @throws RpcFault */
  refusalOf(payment: Pick<NonEvmPayment, "currency" | "recipient">): Promise<string | undefined>;
}

export function createSweeps(options: SweepOptions): SolanaSweeps {
  const { rpc, reads, pdas, program, operator, mintOf, currentMint, tokenRent } = options;
  const tokenAccounts = new Map<string, string>();

  const seedsOf = ({ id, depositor, strict }: AddressKey) => ({
    operator,
    depositor: toBase58(depositor),
    id,
    strict,
  });
  const addressOf = (key: AddressKey): string =>
    deriveDepositAddress(program, { ...seedsOf(key), depository: pdas.program });

  /** The account with an address's balance of a currency. Undefined: it is not a token of this chain. */
  async function holdingAccountOf(wallet: string, currency: string): Promise<string | undefined> {
    if (currency === NATIVE) return wallet;
    const cached = tokenAccounts.get(`${wallet} ${currency}`);
    if (cached !== undefined) return cached;
    const fact = await mintOf(currency);
    if (fact === undefined) return undefined;
    const account = await associatedTokenAddress(wallet, currency, fact.tokenProgram);
    if (tokenAccounts.size >= MAX_CACHED_ACCOUNTS) tokenAccounts.clear();
    tokenAccounts.set(`${wallet} ${currency}`, account);
    return account;
  }

  async function readBalances(
    addresses: readonly AddressToRead[],
    currencies: readonly Hex[],
  ): Promise<AddressBalances> {
    const pairs = addresses.flatMap(({ address, sweeps }) =>
      currencies.map((currency) => ({ account: address, currency, isSwept: sweeps.length > 0 })),
    );
    const holdingAccounts = await Promise.all(
      pairs.map(
        async ({ account, currency }) => await holdingAccountOf(toBase58(account), toBase58(currency)),
      ),
    );
    const uniqueAccounts = [...new Set(holdingAccounts.filter((place) => place !== undefined))];
    const from = await rpc.finalSlot();
    const states = new Map<string, { readonly slot: bigint; readonly account: AccountFact | undefined }>();
    const parts = Array.from({ length: Math.ceil(uniqueAccounts.length / MAX_ACCOUNTS) }, (_, index) =>
      uniqueAccounts.slice(index * MAX_ACCOUNTS, (index + 1) * MAX_ACCOUNTS),
    );
    await Promise.all(
      parts.map(async (part) => {
        const { slot, accounts } = await rpc.accounts(part, from);
        part.forEach((address, index) => states.set(address, { slot, account: accounts[index] }));
      }),
    );
    const slots = [...states.values()].map(({ slot }) => slot);
    const atBlock = slots.reduce((min, slot) => (slot < min ? slot : min), slots[0] ?? from);
    return {
      atBlock,
      balances: pairs.map(({ account, currency, isSwept }, index) => {
        const state = states.get(holdingAccounts[index] ?? "");
        // A sweep may be in a later slot than `atBlock`: it would be subtracted twice.
        const isUnclear = state === undefined || (isSwept && state.slot !== atBlock);
        const amount =
          toBase58(currency) === NATIVE ? (state?.account?.lamports ?? 0n) : tokenBalance(state?.account);
        return { account, currency, amount: isUnclear ? undefined : amount };
      }),
    };
  }

  async function instructions({
    recipient,
    currency,
    amount,
    orderId,
    sweeps,
  }: NonEvmPayment): Promise<readonly PlainInstruction[] | undefined> {
    if (sweeps === undefined || orderId === undefined)
      throw new RangeError("invariant violated: a sweep without its address or its order");
    if (toBase58(recipient) !== pdas.program) return undefined;
    const terms = { program, pdas, from: seedsOf(sweeps.key), orderId, amount, excess: sweeps.excess };
    const mint = toBase58(currency);
    if (mint === NATIVE) return [sweepNativeInstruction(terms)];
    const fact = await mintOf(mint);
    if (fact === undefined) return undefined;
    const { tokenProgram } = fact;
    const tokens = await associatedTokenAddress(pdas.vault, mint, tokenProgram);
    return [
      createTokenAccountInstruction({ payer: operator, tokens, wallet: pdas.vault, mint, tokenProgram }),
      await sweepTokenInstruction({ ...terms, mint, tokenProgram }),
    ];
  }

  /** The vault's token account for a mint. */
  async function vaultTokens(mint: string, { tokenProgram }: MintFact): Promise<AccountFact | undefined> {
    const [account] = await reads.accounts(
      [await associatedTokenAddress(pdas.vault, mint, tokenProgram)],
      "confirmed",
    );
    return account;
  }

  async function tokenRefusal(currency: Hex): Promise<string | undefined> {
    const mint = toBase58(currency);
    if (mint === NATIVE) return undefined;
    const fact = await currentMint(mint);
    if (fact === undefined) return "currency is not a token of this chain";
    const account = await vaultTokens(mint, fact);
    return (
      fact.refusal ?? tokenAccountRefusal(account, fact, bytesOf(encodeAddress("solana-vm", pdas.vault)))
    );
  }

  return {
    addresses: {
      kind: "program",
      addressOf: (key) => encodeAddress("solana-vm", addressOf(key)),
      sweepCost: (paymentCost) => paymentCost * SWEEP_PER_PAYMENT,
      refusalOf: async ({ currency, amount }) => {
        if (toBase58(currency) !== NATIVE) return await tokenRefusal(currency);
        const minimum = await reads.minBalance(0);
        return amount < minimum
          ? `amount must be at least ${minimum} lamports, the rent-exempt minimum of a Solana account`
          : undefined;
      },
      problem: async () => {
        const [account] = await reads.accounts([await programDataAddress(program)], "confirmed");
        return isDepositAddressProgram(account)
          ? undefined
          : `${program} is not the deposit address program of this release`;
      },
      newest: async () => {
        const number = await rpc.finalSlot();
        // Final: its number identifies it.
        return { number, hash: `0x${number.toString(16)}` };
      },
      balances: readBalances,
      sweepable: async (key, currency) => {
        const holdingAccount = await holdingAccountOf(addressOf(key), toBase58(currency));
        if (holdingAccount === undefined) return 0n;
        const [account] = await reads.accounts([holdingAccount], "finalized");
        return holdingAccount === addressOf(key) ? (account?.lamports ?? 0n) : tokenBalance(account);
      },
    },
    instructions,
    plan: async (payment) => {
      const sweepInstructions = await instructions(payment);
      const mint = toBase58(payment.currency);
      if (sweepInstructions === undefined || mint === NATIVE)
        return sweepInstructions && { instructions: sweepInstructions, units: UNITS.lamports, rent: 0n };
      const fact = await mintOf(mint);
      const hasTokenAccount = fact !== undefined && ((await vaultTokens(mint, fact))?.data.length ?? 0) > 0;
      return {
        instructions: sweepInstructions,
        units: UNITS.tokens,
        rent: fact === undefined || hasTokenAccount ? 0n : await tokenRent(fact),
      };
    },
    refusalOf: async ({ currency, recipient }) =>
      toBase58(recipient) === pdas.program ? await tokenRefusal(currency) : "a sweep must pay the depository",
  };
}

function toBase58(bytes: Hex): string {
  return decodeAddress("solana-vm", bytes);
}
