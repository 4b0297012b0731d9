import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { bytesOf, type Hex } from "@causeway/domain";
import { decodeAddress, inconsistent, nativeCurrency } from "@causeway/families";
import { InsufficientInventory, type NonEvmAttempt, type NonEvmPayment } from "../non-evm-connection.ts";
import {
  associatedTokenAddress,
  COMPUTE_BUDGET_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_PROGRAMS,
  type AccountFact,
  type DepositoryAccounts,
  type PlainInstruction,
} from "@causeway/families/solana";
import { tokenBalance, mintOf, tokenAccountRefusal, type MintFact } from "./mints.ts";
import {
  computeInstructions,
  createTokenAccountInstruction,
  lamportTransferInstruction,
  memoInstruction,
  tokenTransferInstruction,
} from "./payment-instructions.ts";
import { createOutcomes } from "./payment-outcome.ts";
import type { SolanaReads } from "./reads.ts";
import { createMintCache } from "./mint-cache.ts";
import type { SolanaRpc } from "./rpc.ts";
import { createSweeps } from "./sweeps.ts";
import {
  blockhashOf,
  readPayment,
  signedInstructions,
  signPayment,
  debitsOf,
  type Payer,
  type SignedInstruction,
} from "./sign-payment.ts";

/** Lamports per signature of a transaction. */
const SIGNATURE_FEE = 5_000n;
/**
 * Compute limits of a payment, without and with the creation of a token account, and the range of extra units
 * that makes equal payments distinct transactions.
 */
const UNITS = { lamports: 20_000, tokens: 80_000, spread: 16_384 } as const;
/** Maximum price per compute unit, in millionths of a lamport. */
const MAX_PRICE = 1_000_000n;
/** Bytes of a token account; for Token-2022, including the extensions that its mints may require. */
const TOKEN_ACCOUNT_BYTES = { classic: 165, newer: 220 } as const;
/** Maximum difference between the last valid heights that two endpoints return. They lag up to 30 s. */
const MAX_HEIGHT_DIFFERENCE = 100n;
/** Number of requests to an endpoint for a blockhash from another one, and the pause in between, ms. */
const BLOCKHASH_ATTEMPTS = 4;
const BLOCKHASH_PAUSE_MS = 500;

/** Owners of accounts that no transaction can write to: program loaders, and the owner of sysvars. */
const UNWRITABLE_OWNER = /^(?:NativeLoader|BPFLoader|LoaderV4|Sysvar)1*/;
const NATIVE = nativeCurrency("solana-vm");
/** The memo of a payment that is for no order, which is a refund. */
const NO_ORDER = "refund";

export interface PaymentOptions {
  readonly rpc: SolanaRpc;
  readonly reads: SolanaReads;
  readonly pdas: DepositoryAccounts;
  /** The solver's address, base58. */
  readonly payer: string;
  /** The program of deposit addresses, base58. Undefined: there are none. */
  readonly depositAddressProgram?: string | undefined;
  /** ms since epoch. */
  readonly now: () => number;
}

type PaymentAccounts =
  | { readonly kind: "lamports"; readonly wallet: string }
  | {
      readonly kind: "tokens";
      readonly wallet: string;
      readonly token: string;
      readonly fact: MintFact;
      readonly from: string;
      readonly to: string;
    };

/** The instructions of a payment after the compute budget. */
function payingInstructions(
  payer: string,
  accounts: PaymentAccounts,
  { amount, orderId }: Pick<NonEvmPayment, "amount" | "orderId">,
): readonly PlainInstruction[] {
  const memo = memoInstruction(orderId ?? NO_ORDER);
  if (accounts.kind === "lamports") return [memo, lamportTransferInstruction(payer, accounts.wallet, amount)];
  const { wallet, token: mint, fact, from, to } = accounts;
  const { tokenProgram } = fact;
  return [
    createTokenAccountInstruction({ payer, tokens: to, wallet, mint, tokenProgram }),
    // Directly before the transfer, because some token accounts require a memo.
    memo,
    tokenTransferInstruction({ ...fact, mint, from, to, owner: payer, amount }),
  ];
}

/** The instructions of a payment, and what they take from the solver. */
interface PlannedPayment {
  readonly instructions: readonly PlainInstruction[];
  readonly units: number;
  readonly rent: bigint;
  /** Lamports without fee and rent. */
  readonly lamports: bigint;
  readonly tokens?: { readonly from: string; readonly mint: string; readonly amount: bigint };
}

/** How the solver pays on a cluster. */
export function createPayments({ rpc, reads, pdas, payer, now, depositAddressProgram }: PaymentOptions) {
  const mints = createMintCache<MintFact>();
  const outcome = createOutcomes({ rpc, reads, payer });
  const sweeps =
    depositAddressProgram === undefined
      ? undefined
      : createSweeps({
          rpc,
          reads,
          pdas,
          program: depositAddressProgram,
          operator: payer,
          mintOf: readMint,
          currentMint: async (mint) => cacheMint(mint, (await reads.accounts([mint], "confirmed"))[0]),
          tokenRent,
        });

  /**
   * Undefined: not a mint. Cached, because a mint does not change except for fees and similar settings, which
   * are read for each payment.
   */
  async function readMint(mint: string): Promise<MintFact | undefined> {
    const cached = mints.get(mint);
    if (cached !== undefined) return cached;
    const [account] = await reads.accounts([mint], "finalized");
    return cacheMint(mint, account);
  }

  function cacheMint(mint: string, account: AccountFact | undefined): MintFact | undefined {
    const fact = mintOf(account);
    if (fact !== undefined) mints.set(mint, fact);
    return fact;
  }

  async function solverTokenAccount(mint: string): Promise<string | undefined> {
    const fact = await readMint(mint);
    if (fact === undefined) return undefined;
    return await associatedTokenAddress(payer, mint, fact.tokenProgram);
  }

  async function tokenRent({ tokenProgram }: MintFact): Promise<bigint> {
    const isClassic = tokenProgram === TOKEN_PROGRAM;
    return await reads.minBalance(isClassic ? TOKEN_ACCOUNT_BYTES.classic : TOKEN_ACCOUNT_BYTES.newer);
  }

  async function computePrice(): Promise<bigint> {
    const price = await reads.computePrice([payer]);
    return price < MAX_PRICE ? price : MAX_PRICE;
  }

  /** The accounts of a payment. Undefined: its currency is not a token of this chain. */
  async function accountsOf({
    recipient,
    currency,
  }: Pick<NonEvmPayment, "recipient" | "currency">): Promise<PaymentAccounts | undefined> {
    const wallet = toBase58(recipient);
    const token = toBase58(currency);
    if (token === NATIVE) return { kind: "lamports", wallet };
    const fact = await readMint(token);
    if (fact === undefined) return undefined;
    const [from, to] = await Promise.all([
      associatedTokenAddress(payer, token, fact.tokenProgram),
      associatedTokenAddress(wallet, token, fact.tokenProgram),
    ]);
    return { kind: "tokens", wallet, token, fact, from, to };
  }

  /** The chain facts that a payment needs, read at once. */
  async function plan({ recipient, currency, amount }: Omit<NonEvmPayment, "orderId">) {
    const wallet = toBase58(recipient);
    const token = toBase58(currency);
    if (token === NATIVE) {
      const [account] = await reads.accounts([wallet], "confirmed");
      return {
        kind: "lamports" as const,
        wallet,
        amount,
        refusal: await lamportRefusal(wallet, account, amount),
      };
    }
    const accounts = await accountsOf({ recipient, currency });
    if (accounts?.kind !== "tokens")
      return { kind: "nothing" as const, refusal: "currency is not a token of this chain" };
    const { fact, from, to } = accounts;
    const [mint, target, walletAccount] = await reads.accounts([token, to, wallet], "confirmed");
    const current = cacheMint(token, mint) ?? fact;
    const refusal =
      depositoryRefusal(wallet) ??
      // Tokens owned by a token account, a mint or a program could not be moved, because these accounts
      // cannot sign.
      (walletAccount !== undefined &&
      (TOKEN_PROGRAMS.has(walletAccount.owner) || UNWRITABLE_OWNER.test(walletAccount.owner))
        ? "recipient is not a wallet"
        : undefined) ??
      (amount === 0n ? "amount must be greater than 0" : undefined) ??
      current.refusal ??
      tokenAccountRefusal(target, current, bytesOf(recipient));
    const hasTokenAccount = target !== undefined && target.data.length > 0;
    return {
      kind: "tokens" as const,
      wallet,
      token,
      fact: current,
      from,
      to,
      isThere: hasTokenAccount,
      amount,
      refusal,
    };
  }

  function depositoryRefusal(wallet: string): string | undefined {
    if (wallet === pdas.vault || wallet === pdas.depository) return "recipient must not be a depository";
    return wallet === payer ? "recipient must not be the solver" : undefined;
  }

  async function lamportRefusal(
    wallet: string,
    account: AccountFact | undefined,
    amount: bigint,
  ): Promise<string | undefined> {
    const refusal = depositoryRefusal(wallet);
    if (refusal !== undefined) return refusal;
    if (amount === 0n) return "amount must be greater than 0";
    if (account !== undefined && UNWRITABLE_OWNER.test(account.owner))
      return "recipient must not be a program";
    const minLamports = await reads.minBalance(account?.data.length ?? 0);
    if ((account?.lamports ?? 0n) + amount < minLamports)
      return `recipient account would have less than the minimum balance of ${minLamports} lamports`;
    return undefined;
  }

  /** @throws InsufficientInventory when the payment is not possible */
  async function planPayment(payment: NonEvmPayment): Promise<PlannedPayment> {
    if (payment.sweeps !== undefined) {
      const sweep = await sweeps?.plan(payment);
      if (sweep === undefined)
        throw new InsufficientInventory("the currency or the depository of the sweep is not configured");
      return { instructions: sweep.instructions, units: sweep.units, rent: sweep.rent, lamports: 0n };
    }
    const planned = await plan(payment);
    if (planned.kind === "nothing") throw new InsufficientInventory(planned.refusal);
    const instructions = payingInstructions(payer, planned, payment);
    const { amount } = planned;
    if (planned.kind === "lamports")
      return { instructions, units: UNITS.lamports, rent: 0n, lamports: amount };
    const { from, token: mint } = planned;
    const rent = planned.isThere ? 0n : await tokenRent(planned.fact);
    return { instructions, units: UNITS.tokens, rent, lamports: 0n, tokens: { from, mint, amount } };
  }

  /** What the payment's bytes do, regardless of the chain's state. Undefined: its currency is not known. */
  async function expectedInstructions(
    payment: NonEvmPayment,
  ): Promise<readonly PlainInstruction[] | undefined> {
    if (payment.sweeps !== undefined) return await sweeps?.instructions(payment);
    const accounts = await accountsOf(payment);
    return accounts && payingInstructions(payer, accounts, payment);
  }

  const feeOf = (price: bigint, units: number): bigint =>
    SIGNATURE_FEE + (price * BigInt(units) + 999_999n) / 1_000_000n;

  return {
    depositAddresses: sweeps?.addresses,

    refusalOf: async (payment: Omit<NonEvmPayment, "orderId">): Promise<string | undefined> =>
      payment.sweeps === undefined
        ? (await plan(payment)).refusal
        : sweeps === undefined
          ? "deposit addresses of this chain are not enabled"
          : await sweeps.refusalOf(payment),

    balances: async (currencies: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>> => {
      const addresses = await Promise.all(
        currencies.map(async (currency) => {
          const token = toBase58(currency);
          return token === NATIVE ? payer : await solverTokenAccount(token);
        }),
      );
      const knownAddresses = addresses.filter((address) => address !== undefined);
      const accounts = await reads.accounts(knownAddresses, "confirmed");
      const accountsByAddress = new Map(knownAddresses.map((address, index) => [address, accounts[index]]));
      return new Map(
        currencies.map((currency, index) => {
          const account = accountsByAddress.get(addresses[index] ?? "");
          return [
            currency,
            toBase58(currency) === NATIVE ? (account?.lamports ?? 0n) : tokenBalance(account),
          ];
        }),
      );
    },

    /** An unknown recipient is assumed to have no token account yet. */
    paymentCost: async (currency: Hex, recipient: Hex | undefined): Promise<bigint> => {
      const price = await computePrice();
      const token = toBase58(currency);
      if (token === NATIVE) return feeOf(price, UNITS.lamports + UNITS.spread);
      const fact = await readMint(token);
      const fee = feeOf(price, UNITS.tokens + UNITS.spread);
      if (fact === undefined) return fee;
      const rent = await tokenRent(fact);
      if (recipient === undefined) return fee + rent;
      const [target] = await reads.accounts(
        [await associatedTokenAddress(toBase58(recipient), token, fact.tokenProgram)],
        "confirmed",
      );
      return target !== undefined && target.data.length > 0 ? fee : fee + rent;
    },

    prepareWith:
      (pair: Payer["pair"]) =>
      async (
        payment: NonEvmPayment,
        earlierAttempts: readonly NonEvmAttempt[],
        reserved: readonly Hex[],
      ): Promise<NonEvmAttempt> => {
        for (const attempt of earlierAttempts) {
          const { kind } = await outcome(attempt);
          // New bytes would not conflict, so both would pay.
          if (kind !== "dead")
            throw inconsistent("prepare", `an earlier attempt is ${kind} and may still pay`);
        }
        const [planned, price, lifetime] = await Promise.all([
          planPayment(payment),
          computePrice(),
          reads.lifetime(),
        ]);
        const { instructions, rent } = planned;
        const maxUnits = planned.units + UNITS.spread;
        const fee = feeOf(price, maxUnits) + rent;
        await checkFunds(planned, fee, reserved);

        const reservedBytes = new Set(reserved);
        for (;;) {
          const units = maxUnits - randomInt(UNITS.spread);
          const signed = await signPayment(
            { address: payer, pair },
            [...computeInstructions(units, price), ...instructions],
            lifetime,
          );
          // The same bytes for two payments would pay once.
          if (!reservedBytes.has(signed.raw)) return { ...signed, fee, madeAtMs: now() };
        }
      },

    isPayment: async (attempt: NonEvmAttempt, payment: NonEvmPayment): Promise<boolean> => {
      const signed = await signedInstructions(attempt, payer);
      const plannedInstructions = await expectedInstructions(payment);
      if (signed === undefined || plannedInstructions === undefined) return false;
      const [limit, price, ...paymentInstructions] = signed;
      const isBudget = [limit, price].every((instruction) => instruction?.[0] === COMPUTE_BUDGET_PROGRAM);
      const expected = plannedInstructions.map(({ programId, keys, data }): SignedInstruction => [
        programId,
        keys.map(({ pubkey }) => pubkey),
        data,
      ]);
      return isBudget && isDeepStrictEqual(paymentInstructions, expected);
    },

    isCurrent: async ({ raw }: NonEvmAttempt): Promise<boolean> => {
      const { lastHeight } = await reads.lifetime();
      const heightDifference = readPayment(raw).lastHeight - lastHeight;
      if (heightDifference > MAX_HEIGHT_DIFFERENCE || heightDifference < -MAX_HEIGHT_DIFFERENCE) return false;
      // No block could contain bytes with an invented blockhash. A new one may reach this endpoint late.
      for (let attempts = 1; !(await reads.isBlockhashValid(blockhashOf(raw), "processed")); attempts++) {
        if (attempts === BLOCKHASH_ATTEMPTS) return false;
        await sleep(BLOCKHASH_PAUSE_MS);
      }
      return true;
    },

    send: async ({ raw }: NonEvmAttempt): Promise<"sent" | { readonly refused: string }> =>
      await reads.send(readPayment(raw).transaction),

    outcome,
  };

  /** @throws InsufficientInventory */
  async function checkFunds(
    { lamports: paymentLamports, tokens }: PlannedPayment,
    fee: bigint,
    reserved: readonly Hex[],
  ): Promise<void> {
    // In the final view, pending payments are not debited yet, so nothing is subtracted twice.
    const addresses = [payer, ...(tokens === undefined ? [] : [tokens.from])];
    const [payerAccount, tokenAccount] = await reads.accounts(addresses, "finalized");
    const pendingDebits = reserved.map(debitsOf);
    const pendingLamports = pendingDebits.reduce((sum, debit) => sum + debit.lamports + SIGNATURE_FEE, 0n);
    // The payer's account must keep the minimum balance.
    const needed = fee + pendingLamports + (await reads.minBalance(0)) + paymentLamports;
    const balance = payerAccount?.lamports ?? 0n;
    if (balance < needed)
      throw new InsufficientInventory(
        `insufficient balance: ${balance} lamports available, ${needed} needed`,
      );
    if (tokens === undefined) return;
    const { from, mint, amount } = tokens;
    const pendingTokens = pendingDebits.reduce((sum, debit) => sum + (debit.tokens.get(from) ?? 0n), 0n);
    const available = tokenBalance(tokenAccount) - pendingTokens;
    if (available < amount)
      throw new InsufficientInventory(
        `insufficient balance of ${mint}: ${available} available, ${amount} needed`,
      );
  }
}

function toBase58(bytes: Hex): string {
  return decodeAddress("solana-vm", bytes);
}
