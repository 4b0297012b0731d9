import {
  hyperliquidCurrency,
  hyperliquidNonceOf,
  hyperliquidNonceWindow,
  hyperliquidSigningProfiles,
  hyperliquidActionId,
  parseAddress,
  PERPS_CURRENCY,
  PERPS_DECIMALS,
  sendAssetAction,
  type Address,
  type HyperliquidTransferAction,
  type HyperliquidApiFacts,
  type HyperliquidNetwork,
  type HyperliquidPlace,
  type Hex,
  type Hex32,
  type HyperliquidAction,
} from "@causeway/domain";
import { garbage, RpcFault } from "@causeway/families";
import {
  InsufficientInventory,
  type PayingConnection,
  type NonEvmAttempt,
  type NonEvmOutcome,
  type NonEvmPayment,
} from "../non-evm-connection.ts";
import {
  isNonceOver,
  type HyperliquidTransaction,
  type LedgerTransfer,
  type UnknownEntry,
} from "@causeway/families/hyperliquid";
import { transferableBalance, findHolding, units, type Holding } from "./holdings.ts";
import { newestTransactionsOf } from "./newest-transactions.ts";
import { blockHashOf } from "./arrivals.ts";
import type { HyperliquidRpc } from "./rpc.ts";
import {
  actionIdOf,
  decodeSignedAction,
  encodeSignedAction,
  idOfSigned,
  nonceOfSigned,
  signerOf,
  signExchangeAction,
} from "./signed-action.ts";
import {
  createCrowdedTimestamps,
  readWholeLedger,
  createLedgerCache,
  type LedgerReading,
} from "./whole-ledger.ts";

/** The solver's payments on Hyperliquid. */
export interface HyperliquidPayments {
  balances(currencies: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>>;
  paymentCost(currency: Hex, recipient: Hex | undefined): Promise<bigint>;
  refusalOf(payment: Omit<NonEvmPayment, "orderId">): Promise<string | undefined>;
  /** Makes payments signed by this key of the solver. */
  prepareWith(privateKey: Hex32): PayingConnection["prepare"];
  isPayment(attempt: NonEvmAttempt, payment: NonEvmPayment): Promise<boolean>;
  send(attempt: NonEvmAttempt): Promise<"sent" | { readonly refused: string }>;
  outcome(attempt: NonEvmAttempt): Promise<NonEvmOutcome>;
}

export interface HyperliquidPaymentsOptions {
  readonly rpc: HyperliquidRpc;
  readonly solver: Address;
  readonly depositories: readonly Address[];
  readonly usdcTokenId: Hex;
  readonly exchange: Pick<HyperliquidApiFacts, "profile" | "isTestnet">;
  /** ms since epoch. */
  now(): number;
  /** Called if a ledger entry prevents a decision about a payment, because it may be that payment. */
  onUnclear(hash: Hex32, nonce: bigint): void;
  /**
   * Called if a payment is not found, but cannot be declared dead either, because the solver's ledger has
   * gaps. `moment`: a block time (ms) with too many entries; undefined if only part of the ledger was read so
   * far.
   */
  onIncompleteLedger(nonce: bigint, crowdedTime: bigint | undefined): void;
}

/** 0.01 USDC, in base units of both perps and spot. */
const CENT = 1_000_000n;

/**
 * Milliseconds by which our clock may be ahead of Hyperliquid's. A payment cannot be in a block that is older
 * than its creation by more than this.
 */
const SKEW_MS = 600_000n;

/** In a crowded ledger, a payment is first searched from just before its nonce until this much later, ms. */
const NEAR_NONCE_MS = 1_000n;
const NEWEST_MS = 60_000n;

/**
 * Payments are `sendAsset` actions: they name all currencies and places in the same way, and the ledger
 * includes their nonces. The nonce makes retries safe: Hyperliquid accepts each nonce of an account once.
 * While the old bytes of a payment could still be accepted, new ones use the same nonce, so only one of them
 * counts.
 */
export function createPayments(options: HyperliquidPaymentsOptions): HyperliquidPayments {
  const { rpc, solver } = options;
  const profile = hyperliquidSigningProfiles[options.exchange.profile];
  const network: HyperliquidNetwork = options.exchange.isTestnet ? "Testnet" : "Mainnet";
  let lastNonce = 0n;
  const closedPages = createLedgerCache();
  const crowded = createCrowdedTimestamps();

  const holdingIn = async (currency: Hex): Promise<Holding | undefined> =>
    await findHolding(rpc, currency, options.usdcTokenId);

  async function outcome({ raw }: NonEvmAttempt): Promise<NonEvmOutcome> {
    const { action, nonce: actionNonce } = decodeSignedAction(raw);
    const nonce = BigInt(actionNonce);
    const id = actionIdOf(action, profile);
    // Read the clock before the ledger, so that the ledger is at least as new.
    const clock = await rpc.clock(solver);
    const isOver = isNonceOver(nonce, clock);
    const window = hyperliquidNonceWindow(nonce);
    const to = clock < window.closesAt ? clock : window.closesAt;
    const from = isOver ? window.opensAt : nonce - SKEW_MS;
    const read = async (limit: { readonly maxRequests?: number } = {}): Promise<LedgerReading> =>
      await readWholeLedger(rpc, solver, from, to, {
        onlySent: true,
        cachedPages: isOver ? closedPages : undefined,
        crowded,
        ...limit,
      });
    const entryWithNonce = ({ transfers }: LedgerReading) => transfers.find((entry) => entry.nonce === nonce);
    // Others can make the ledger long, but cannot fill the list of the solver's own transactions. It takes
    // one request; the rest of a long ledger may take dozens.
    let ledger = await read({ maxRequests: 1 });
    let use: Pick<LedgerTransfer, "hash"> | undefined = entryWithNonce(ledger);
    if (use === undefined && !ledger.isWhole) {
      use = await findListedUse(nonce);
      // Until the nonce is over, a missing entry proves nothing: the payment is posted again with the same
      // nonce, and counts once.
      if (!isOver) use ??= await findLikelyUse(nonce, to);
      else if (use === undefined) {
        ledger = await read();
        use = entryWithNonce(ledger);
      }
    }
    const isSame = (executedAction: HyperliquidAction | undefined): boolean =>
      executedAction !== undefined && hyperliquidActionId(executedAction, profile) === id;
    const finalIn = ({ block, hash }: HyperliquidTransaction): NonEvmOutcome => ({
      kind: "final",
      block: { number: block, hash: blockHashOf(block) },
      txId: hash,
    });
    if (use !== undefined) {
      const transaction = await rpc.transaction(use.hash);
      // The explorer is behind the ledger: the action happened, but its content is not known yet.
      if (transaction === undefined) return { kind: "pending" };
      if (transaction.error !== undefined) return { kind: "unseen" };
      if (transaction.isOpaque) throw unreadableTransaction(use.hash);
      return isSame(transaction.action)
        ? finalIn(transaction)
        : { kind: "dead", reason: "nonce was used by another action" };
    }
    // An entry of an unknown kind, or without a nonce, may be this payment. Declaring the payment dead would
    // pay it twice.
    const { destination } = action;
    const ambiguous = isOver
      ? [
          ...ledger.transfers.filter(
            (entry) => entry.nonce === undefined && entry.destination === destination,
          ),
          ...ledger.unknown.filter((entry) => mayBePayment(entry, { from: solver, to: destination })),
        ]
      : [];
    let blockedBy: { readonly hash: Hex32; readonly isOpaque: boolean } | undefined;
    for (const { hash } of ambiguous) {
      const transaction = await rpc.transaction(hash);
      if (transaction === undefined) {
        blockedBy ??= { hash, isOpaque: false };
        continue;
      }
      // Only the solver's own signature makes its payment.
      if (transaction.error !== undefined || transaction.user !== solver) continue;
      if (transaction.isOpaque) blockedBy = { hash, isOpaque: true };
      else if (isSame(transaction.action)) return finalIn(transaction);
    }
    if (blockedBy !== undefined) {
      const { hash, isOpaque } = blockedBy;
      options.onUnclear(hash, nonce);
      if (isOpaque) throw unreadableTransaction(hash);
      return { kind: "pending" };
    }
    if (isOver && ledger.isWhole) return { kind: "dead", reason: "nonce expired without being used" };
    // The payment may be among the unread entries. Declaring it dead would pay it twice.
    if (isOver) options.onIncompleteLedger(nonce, ledger.crowded[0]);
    return { kind: "unseen" };
  }

  /**
   * The solver's own transaction that used a nonce, if the explorer lists it among the newest ones: others
   * cannot fill that list.
   */
  async function findListedUse(nonce: bigint): Promise<HyperliquidTransaction | undefined> {
    return (await newestTransactionsOf(rpc, solver)).find(
      ({ user, error, action }) => user === solver && error === undefined && nonceOfAction(action) === nonce,
    );
  }

  /**
   * The solver's transfer that used a nonce, if it is in the most likely places: right after the nonce's
   * time, from the first post, or among the newest entries, from a later post. At most three requests, so
   * that a crowded ledger delays no other payment; a transfer that is not found may exist all the same.
   */
  async function findLikelyUse(nonce: bigint, to: bigint): Promise<LedgerTransfer | undefined> {
    const near = nonce - NEAR_NONCE_MS;
    const newest = to - NEWEST_MS;
    const ranges = newest > near ? [[near, 2] as const, [newest, 1] as const] : [[near, 3] as const];
    for (const [from, maxRequests] of ranges) {
      const { transfers } = await readWholeLedger(rpc, solver, from, to, {
        onlySent: true,
        crowded,
        maxRequests,
      });
      const transfer = transfers.find((entry) => entry.nonce === nonce);
      if (transfer !== undefined) return transfer;
    }
    return undefined;
  }

  /** A nonce that none of our actions uses, by Hyperliquid's clock, which validates it. */
  async function freshNonce(reserved: readonly Hex[]): Promise<bigint> {
    const clock = await rpc.clock(solver);
    const reservedNonces = new Set(reserved.map(nonceOfSigned));
    let nonce = clock > lastNonce ? clock : lastNonce + 1n;
    while (reservedNonces.has(nonce)) nonce += 1n;
    lastNonce = nonce;
    return nonce;
  }

  async function paymentCost(_currency: Hex, recipient: Hex | undefined): Promise<bigint> {
    const account = recipient === undefined ? undefined : parseAddress(recipient);
    if (account === undefined || account === solver) return 0n;
    return units((await rpc.transferCheck(account, solver)).fee, PERPS_DECIMALS);
  }

  /**
   * Uses a nonce up, so that nothing else with it counts: moves one cent of the solver from one of its
   * accounts to the other. Hyperliquid refuses a transfer to the same place.
   * @throws InsufficientInventory if the solver has less than a cent in both accounts
   */
  async function cancelAction(nonce: bigint, earlierAttempts: number): Promise<HyperliquidTransferAction> {
    const perps: HyperliquidPlace = { kind: "perps" };
    const spot: HyperliquidPlace = { kind: "spot", tokenId: options.usdcTokenId };
    for (const [from, to] of [
      [perps, spot],
      [spot, perps],
    ] as const) {
      const holding = await holdingIn(hyperliquidCurrency(from));
      if (holding === undefined || (await transferableBalance(rpc, solver, holding)) < CENT) continue;
      const { token, decimals } = holding;
      const destination = solver;
      const transfer = {
        network,
        destination,
        from,
        to,
        token,
        amount: CENT,
        decimals,
        nonce: Number(nonce),
      };
      return sendAssetAction(profile, { ...transfer, signatureChainId: chainIdAfter(earlierAttempts) });
    }
    throw new InsufficientInventory("insufficient balance for the 0.01 USDC transfer that cancels a nonce");
  }

  async function signAttempt(
    privateKey: Hex32,
    action: HyperliquidTransferAction,
    fee: bigint,
  ): Promise<NonEvmAttempt> {
    const raw = encodeSignedAction(await signExchangeAction(profile, action, privateKey));
    return { raw, txId: idOfSigned(raw), fee, madeAtMs: options.now() };
  }

  return {
    balances: async (currencies) =>
      new Map(
        await Promise.all(
          currencies.map(async (currency) => {
            const holding = await holdingIn(currency);
            return [
              currency,
              holding === undefined ? 0n : await transferableBalance(rpc, solver, holding),
            ] as const;
          }),
        ),
      ),

    paymentCost,

    refusalOf: async ({ recipient, currency, amount }) => {
      const account = parseAddress(recipient);
      if (account === undefined) return "recipient must be a 20-byte account";
      if (account === solver) return "recipient must not be the solver";
      if (options.depositories.includes(account)) return "recipient must not be a depository";
      if (amount <= 0n) return "amount must be greater than 0";
      if ((await holdingIn(currency)) === undefined) return "currency is not listed on Hyperliquid";
      const { isSanctioned } = await rpc.transferCheck(account, solver);
      return isSanctioned ? "Hyperliquid does not accept payments to this account" : undefined;
    },

    prepareWith: (privateKey) => async (payment, earlierAttempts, reserved) => {
      const { currency, amount } = payment;
      const recipient = parseAddress(payment.recipient);
      const holding = await holdingIn(currency);
      if (recipient === undefined || holding === undefined)
        throw new RangeError("recipient or currency does not exist on Hyperliquid");
      const fee = await paymentCost(currency, recipient);

      let nonce: bigint | undefined;
      for (const attempt of earlierAttempts) {
        const { kind } = await outcome(attempt);
        if (kind === "final") return attempt;
        if (kind !== "dead") nonce = nonceOfSigned(attempt.raw);
      }
      nonce ??= await freshNonce(reserved);
      if (recipient === solver)
        return await signAttempt(privateKey, await cancelAction(nonce, earlierAttempts.length), 0n);

      const outgoing = (raw: Hex): bigint => outflowOf(raw, holding);
      const needed = reserved.reduce((sum, raw) => sum + outgoing(raw), amount);
      const cost = currency === PERPS_CURRENCY ? fee : 0n;
      const balance = await transferableBalance(rpc, solver, holding);
      if (balance < needed + cost)
        throw new InsufficientInventory(
          `insufficient balance of ${currency}: ${balance} available, ${needed + cost} needed including pending payments`,
        );

      const { place, token, decimals } = holding;
      const action = sendAssetAction(profile, {
        network,
        signatureChainId: chainIdAfter(earlierAttempts.length),
        destination: recipient,
        from: place,
        to: place,
        token,
        amount,
        decimals,
        nonce: Number(nonce),
      });
      return await signAttempt(privateKey, action, fee);
    },

    isPayment: async ({ raw, txId }, { recipient, currency, amount }) => {
      const signed = decodeSignedAction(raw);
      const { action } = signed;
      if (txId !== idOfSigned(raw) || signed.nonce !== hyperliquidNonceOf(action)) return false;
      if ((await signerOf(signed, profile)) !== solver) return false;
      if (action[profile.chainField] !== network || action["fromSubAccount"] !== "") return false;
      if (action["type"] !== "sendAsset" || action["destination"] !== recipient) return false;
      if (recipient === solver) return true;
      const holding = await holdingIn(currency);
      if (holding === undefined || action["destinationDex"] !== action["sourceDex"]) return false;
      return outflowOf(raw, holding) === amount;
    },

    send: async (attempt) => {
      const answer = await rpc.post(decodeSignedAction(attempt.raw));
      if (answer === undefined) return "sent";
      const { refusal } = answer;
      // Hyperliquid also refuses an action that it has already executed.
      if ((await outcome(attempt)).kind === "final") return "sent";
      // A refusal due to insufficient funds is not final: the same bytes may succeed later.
      if (/insufficient|balance|margin/i.test(refusal))
        throw new RpcFault({ kind: "refused", method: "exchange", reason: refusal });
      return { refused: refusal };
    },

    outcome,
  };
}

function nonceOfAction(action: HyperliquidAction | undefined): bigint | undefined {
  return action?.type === "UsdSend" ? action.time : action?.nonce;
}

/** The hash of entries that Hyperliquid itself creates, without a transaction. */
const NO_TRANSACTION: Hex32 = `0x${"00".repeat(32)}`;

/**
 * Whether an entry of an unknown kind may be a payment between these accounts. Omitted fields may be
 * anything.
 */
function mayBePayment(
  { hash, user, destination }: UnknownEntry,
  payment: { readonly from: Address; readonly to: unknown },
): boolean {
  return (
    hash !== NO_TRANSACTION &&
    (user === undefined || user === payment.from) &&
    (destination === undefined || destination === payment.to)
  );
}

function unreadableTransaction(hash: Hex32): RpcFault {
  return garbage("txDetails", `cannot determine whether ${hash} made the payment`);
}

/** Another chain id for the signature: it has no effect, but gives different bytes for the same action. */
function chainIdAfter(earlierAttempts: number): number {
  return 1 + earlierAttempts;
}

/** The amount that signed bytes debit from a place, in base units of its currency. */
function outflowOf(raw: Hex, { place, token, decimals }: Holding): bigint {
  const { action } = decodeSignedAction(raw);
  const dex = place.kind === "perps" ? "" : place.kind === "spot" ? "spot" : place.dex;
  if (action["sourceDex"] !== dex || !String(action["token"]).endsWith(token.tokenId)) return 0n;
  return units(String(action["amount"]), decimals);
}
