import type { Hex, Hex32 } from "@causeway/domain";
import type { ExchangeRpc } from "./rpc.ts";
import { createWeightShares } from "./weight-shares.ts";

/** Called before each request; if it throws, the request is not sent. */
export type Allow = (method: string, weight: number) => Promise<void> | void;

/** Called with the weight of an answer in addition to its request. */
export type Charge = (weight: number) => void;

/** Hyperliquid's weight of each request. */
const WEIGHT = { account: 2, post: 1, info: 20, explorer: 40 };
/** Entries per additional weight of 1 in a ledger answer. */
const ENTRIES_PER_WEIGHT = 20;
const MAX_REMEMBERED = 500;

/**
 * The same endpoint, used only as its rate limit allows. Answers from its client's cache are not charged
 * again.
 */
export function withAllowance(rpc: ExchangeRpc, allow: Allow, charge: Charge): ExchangeRpc {
  const transactions = new Set<Hex32>();
  const tokens = new Set<Hex>();
  return {
    profile: rpc.profile,
    transaction: async (hash) => {
      if (transactions.has(hash)) return await rpc.transaction(hash);
      await allow("txDetails", WEIGHT.explorer);
      const found = await rpc.transaction(hash);
      if (found !== undefined) remember(transactions, hash);
      return found;
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
      if (!tokens.has(tokenId)) await allow("spotMeta", WEIGHT.info);
      const found = await rpc.token(tokenId);
      if (found !== undefined) remember(tokens, tokenId);
      return found;
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

function remember<T>(set: Set<T>, value: T): void {
  const [oldest] = set;
  if (set.size >= MAX_REMEMBERED && oldest !== undefined) set.delete(oldest);
  set.add(value);
}

/** How long answers may be cached, ms. */
const CACHE_MS = 5_000;
const MAX_KEPT = 1_000;

/**
 * Caches for some seconds that a transaction is absent, and whether and at what cost an account can be paid.
 * Use only for answers to clients: everything else must see a transaction as soon as it exists.
 */
export function withRecentAnswers(rpc: ExchangeRpc): ExchangeRpc {
  const absent = recent<undefined>();
  return {
    ...withRecentChecks(rpc),
    transaction: async (hash) => {
      if (absent.get(hash) !== undefined) return undefined;
      const found = await rpc.transaction(hash);
      if (found === undefined) absent.set(hash, undefined);
      return found;
    },
  };
}

/**
 * Caches for some seconds whether and at what cost an account can be paid: planning a payment reads that
 * several times. Not for signing it.
 */
export function withRecentChecks(rpc: ExchangeRpc): ExchangeRpc {
  const checks = recent<Awaited<ReturnType<ExchangeRpc["transferCheck"]>>>();
  const inFlight = new Map<string, ReturnType<ExchangeRpc["transferCheck"]>>();
  return {
    ...rpc,
    transferCheck: async (user, source) => {
      const key = `${user} ${source}`;
      const kept = checks.get(key);
      if (kept !== undefined) return kept.answer;
      const waiting = inFlight.get(key);
      if (waiting !== undefined) return await waiting;
      const asked = rpc.transferCheck(user, source);
      inFlight.set(key, asked);
      try {
        const answer = await asked;
        // Start the cache time now: the request may have waited long for its share.
        checks.set(key, answer);
        return answer;
      } finally {
        inFlight.delete(key);
      }
    },
  };
}

function recent<T>() {
  const kept = new Map<string, { readonly answer: T; readonly untilMs: number }>();
  return {
    get: (key: string) => {
      const found = kept.get(key);
      return found === undefined || found.untilMs < performance.now() ? undefined : found;
    },
    set: (key: string, answer: T): void => {
      kept.delete(key);
      const [oldest] = kept.keys();
      if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, { answer, untilMs: performance.now() + CACHE_MS });
    },
  };
}

/**
 * The endpoint for each purpose, within its share of the rate limit. In the API, client requests beyond their
 * share are refused at once; in the worker, they belong to payments, which wait. There, planning caches for
 * some seconds whether an account can be paid, but signing checks again.
 */
export function rpcsFor(endpoint: ExchangeRpc, weightPerMinute: number | undefined, answersClients: boolean) {
  const asked = answersClients ? withRecentAnswers(endpoint) : endpoint;
  if (weightPerMinute === undefined)
    return { deposits: endpoint, payments: endpoint, questions: asked, pulse: endpoint, tokens: endpoint };
  const shares = createWeightShares(weightPerMinute);
  const payments = withAllowance(endpoint, shares.payments.wait, shares.payments.charge);
  const deposits = withAllowance(endpoint, shares.deposits.wait, shares.deposits.charge);
  if (!answersClients)
    return { deposits, payments, questions: withRecentChecks(payments), pulse: payments, tokens: deposits };
  const refused = withAllowance(endpoint, shares.clients.takeNow, shares.clients.charge);
  const patient = withAllowance(endpoint, shares.clients.wait, shares.clients.charge);
  return { deposits, payments, questions: withRecentAnswers(refused), pulse: patient, tokens: refused };
}
