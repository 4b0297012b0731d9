import type { Hex, Hex32 } from "@causeway/domain";
import type { HyperliquidRpc } from "./rpc.ts";
import { createWeightShares } from "./weight-shares.ts";

/** Called before each request; if it throws, the request is not sent. */
export type Allow = (method: string, weight: number) => Promise<void> | void;

/** Called with the weight of an answer in addition to its request. */
export type Charge = (weight: number) => void;

/** Hyperliquid's weight of each request. */
const WEIGHT = { account: 2, post: 1, info: 20, explorer: 40 };
/** Entries per additional weight of 1 in a ledger answer. */
const ENTRIES_PER_WEIGHT = 20;
const MAX_SEEN = 500;

/**
 * The same endpoint, used only as its rate limit allows. Answers from its client's cache are not charged
 * again.
 */
export function withAllowance(rpc: HyperliquidRpc, allow: Allow, charge: Charge): HyperliquidRpc {
  const seenTransactions = new Set<Hex32>();
  const seenTokens = new Set<Hex>();
  return {
    profile: rpc.profile,
    transaction: async (hash) => {
      if (seenTransactions.has(hash)) return await rpc.transaction(hash);
      await allow("txDetails", WEIGHT.explorer);
      const transaction = await rpc.transaction(hash);
      if (transaction !== undefined) addBounded(seenTransactions, hash);
      return transaction;
    },
    transactionsOf: async (user) => {
      await allow("userDetails", WEIGHT.explorer);
      return await rpc.transactionsOf(user);
    },
    ledger: async (user, from, to) => {
      await allow("userNonFundingLedgerUpdates", WEIGHT.info);
      const page = await rpc.ledger(user, from, to);
      charge(Math.ceil(page.size / ENTRIES_PER_WEIGHT));
      return page;
    },
    clock: async (user) => {
      await allow("clearinghouseState", WEIGHT.account);
      return await rpc.clock(user);
    },
    token: async (tokenId) => {
      if (!seenTokens.has(tokenId)) await allow("spotMeta", WEIGHT.info);
      const token = await rpc.token(tokenId);
      if (token !== undefined) addBounded(seenTokens, tokenId);
      return token;
    },
    withdrawable: async (user, dex) => {
      await allow("clearinghouseState", WEIGHT.account);
      return await rpc.withdrawable(user, dex);
    },
    spotBalances: async (user) => {
      await allow("spotClearinghouseState", WEIGHT.account);
      return await rpc.spotBalances(user);
    },
    transferCheck: async (user, source) => {
      await allow("preTransferCheck", WEIGHT.info);
      return await rpc.transferCheck(user, source);
    },
    post: async (body) => {
      await allow("exchange", WEIGHT.post);
      return await rpc.post(body);
    },
    close: () => rpc.close(),
  };
}

function addBounded<T>(set: Set<T>, value: T): void {
  const [oldest] = set;
  if (set.size >= MAX_SEEN && oldest !== undefined) set.delete(oldest);
  set.add(value);
}

/** How long answers may be cached, ms. */
const CACHE_MS = 5_000;
const MAX_CACHED = 1_000;

/**
 * Caches for some seconds that a transaction is absent, and whether and at what cost an account can be paid.
 * Use only for answers to clients: everything else must see a transaction as soon as it exists.
 */
export function withRecentAnswers(rpc: HyperliquidRpc): HyperliquidRpc {
  const absent = createRecentCache<undefined>();
  return {
    ...withRecentChecks(rpc),
    transaction: async (hash) => {
      if (absent.get(hash) !== undefined) return undefined;
      const transaction = await rpc.transaction(hash);
      if (transaction === undefined) absent.set(hash, undefined);
      return transaction;
    },
  };
}

/**
 * Caches for some seconds whether and at what cost an account can be paid: planning a payment reads that
 * several times. Not for signing it.
 */
export function withRecentChecks(rpc: HyperliquidRpc): HyperliquidRpc {
  const checks = createRecentCache<Awaited<ReturnType<HyperliquidRpc["transferCheck"]>>>();
  const inFlight = new Map<string, ReturnType<HyperliquidRpc["transferCheck"]>>();
  return {
    ...rpc,
    transferCheck: async (user, source) => {
      const key = `${user} ${source}`;
      const cached = checks.get(key);
      if (cached !== undefined) return cached.answer;
      const pending = inFlight.get(key);
      if (pending !== undefined) return await pending;
      const check = rpc.transferCheck(user, source);
      inFlight.set(key, check);
      try {
        const answer = await check;
        // Start the cache time now: the request may have waited long for its share.
        checks.set(key, answer);
        return answer;
      } finally {
        inFlight.delete(key);
      }
    },
  };
}

function createRecentCache<T>() {
  const entries = new Map<string, { readonly answer: T; readonly untilMs: number }>();
  return {
    get: (key: string) => {
      const entry = entries.get(key);
      return entry === undefined || entry.untilMs < performance.now() ? undefined : entry;
    },
    set: (key: string, answer: T): void => {
      entries.delete(key);
      const [oldest] = entries.keys();
      if (entries.size >= MAX_CACHED && oldest !== undefined) entries.delete(oldest);
      entries.set(key, { answer, untilMs: performance.now() + CACHE_MS });
    },
  };
}

/**
 * The endpoint for each purpose, within its share of the rate limit. In the API, client requests beyond their
 * share are refused at once; in the worker, they belong to payments, which wait. There, planning caches for
 * some seconds whether an account can be paid, but signing checks again.
 */
export function rpcsFor(
  endpoint: HyperliquidRpc,
  weightPerMinute: number | undefined,
  answersClients: boolean,
) {
  const cachedEndpoint = answersClients ? withRecentAnswers(endpoint) : endpoint;
  if (weightPerMinute === undefined)
    return {
      deposits: endpoint,
      payments: endpoint,
      onDemand: cachedEndpoint,
      polling: endpoint,
      tokens: endpoint,
    };
  const shares = createWeightShares(weightPerMinute);
  const payments = withAllowance(endpoint, shares.payments.wait, shares.payments.charge);
  const deposits = withAllowance(endpoint, shares.deposits.wait, shares.deposits.charge);
  if (!answersClients)
    return { deposits, payments, onDemand: withRecentChecks(payments), polling: payments, tokens: deposits };
  const refusing = withAllowance(endpoint, shares.clients.takeNow, shares.clients.charge);
  const waiting = withAllowance(endpoint, shares.clients.wait, shares.clients.charge);
  return { deposits, payments, onDemand: withRecentAnswers(refusing), polling: waiting, tokens: refusing };
}
