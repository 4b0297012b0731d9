import {
  hyperliquidSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  PERPS_CURRENCY,
  sendAssetAction,
  type Address,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, expect, test, vi } from "vitest";
import { RpcFault } from "@causeway/families";
import type { HyperliquidTransaction, LedgerTransfer } from "@causeway/families/hyperliquid";
import { writeCursor } from "./cursor.ts";
import { createPayments, type HyperliquidPayments } from "./pay.ts";
import { createArrivalsReader } from "./arrivals.ts";
import type { HyperliquidRpc } from "./rpc.ts";
import { withAllowance, withRecentChecks } from "./shared-rpc.ts";
import { encodeSignedAction, idOfSigned, nonceOfSigned, signExchangeAction } from "./signed-action.ts";
import { RateLimitShareExceeded } from "../nodes/rate-limit-share-exceeded.ts";
import { createWeightShares } from "./weight-shares.ts";

const privateKey: Hex32 = `0x${"11".repeat(32)}`;
const solver = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
const depository: Address = "0x00000000000000000000000000000000000000d1";
const stranger: Address = "0x00000000000000000000000000000000000000a3";
const friend: Address = "0x00000000000000000000000000000000000000a2";
const START = 1_763_761_234_567n;
const MINUTE_MS = 60_000;
/** The public endpoint's limit per minute for each IP, and the weight of each request. */
const WEIGHT = { perMinute: 1_200, clock: 2, ledger: 20, explorer: 40 };

function transfer(time: bigint, number: number, from: Address, to: Address): LedgerTransfer {
  const hash: Hex32 = `0x${number.toString(16).padStart(64, "0")}`;
  return { hash, time, kind: "usdSend", user: from, destination: to, amount: "1", nonce: undefined };
}

function dustTransfers(
  count: number,
  to: Address,
  timeOf: (index: number) => bigint,
): readonly LedgerTransfer[] {
  return Array.from({ length: count }, (_, index) => transfer(timeOf(index), index + 1, stranger, to));
}

/**
 * The public endpoint: its budget refills continuously, and a request beyond it is answered with HTTP status
 * 429. An answer shows the first 500 entries of its range.
 */
function publicEndpoint(
  entries: readonly LedgerTransfer[],
  explorer: { ownTransaction?: HyperliquidTransaction; listsOwn?: boolean } = {},
) {
  const { ownTransaction, listsOwn = true } = explorer;
  const sorted = entries.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const firstFrom = (time: bigint): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.time ?? time) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const byHash = new Map(entries.map((entry) => [entry.hash, entry]));
  const chargedHashes = new Set<Hex32>();
  let nowMs = 0;
  let refilledAtMs = 0;
  let budget = WEIGHT.perMinute;
  const spend = (method: string, weight: number): void => {
    budget = Math.min(WEIGHT.perMinute, budget + ((nowMs - refilledAtMs) * WEIGHT.perMinute) / MINUTE_MS);
    refilledAtMs = nowMs;
    if (budget < weight) throw new RpcFault({ kind: "http", method, reason: "HTTP status 429: " });
    budget -= weight;
  };
  const answers: Partial<HyperliquidRpc> = {
    clock: async () => {
      spend("clearinghouseState", WEIGHT.clock);
      return await Promise.resolve(START + 120_000n + BigInt(nowMs));
    },
    ledger: async (_user, from, to) => {
      spend("userNonFundingLedgerUpdates", WEIGHT.ledger);
      const first = firstFrom(from);
      const transfers = sorted.slice(first, Math.min(first + 500, firstFrom(to + 1n)));
      return await Promise.resolve({ size: transfers.length, transfers, unknown: [] });
    },
    transaction: async (hash) => {
      if (!chargedHashes.has(hash)) spend("txDetails", WEIGHT.explorer);
      chargedHashes.add(hash);
      if (ownTransaction?.hash === hash) return await Promise.resolve(ownTransaction);
      const time = byHash.get(hash)?.time ?? START;
      const user = stranger;
      const transaction = {
        hash,
        time,
        block: time,
        user,
        error: undefined,
        action: undefined,
        isOpaque: false,
      };
      return await Promise.resolve(transaction);
    },
    token: async (tokenId) => {
      return await Promise.resolve({ name: "USDC", tokenId, index: 0, decimals: 8 });
    },
    withdrawable: async () => {
      spend("clearinghouseState", WEIGHT.clock);
      return await Promise.resolve("1000");
    },
    transferCheck: async () => {
      spend("preTransferCheck", WEIGHT.ledger);
      return await Promise.resolve({ fee: "0", isSanctioned: false });
    },
    transactionsOf: async () => {
      spend("userDetails", WEIGHT.explorer);
      return await Promise.resolve(ownTransaction !== undefined && listsOwn ? [ownTransaction] : []);
    },
  };
  return {
    rpc: answers as HyperliquidRpc,
    setNow: (ms: number): void => void (nowMs = ms),
    /**
     * Repeats an action like the worker, with pauses that double after faults; returns the virtual minutes
     * until it is done.
     */
    minutesUntil: async (isDone: () => Promise<boolean>): Promise<number> => {
      for (let pauseMs = 500; nowMs < 12 * 60 * MINUTE_MS; nowMs += 2_000)
        try {
          if (await isDone()) return nowMs / MINUTE_MS;
          pauseMs = 500;
        } catch (error) {
          if (!(error instanceof RpcFault)) throw error;
          nowMs += pauseMs;
          pauseMs = Math.min(pauseMs * 2, MINUTE_MS);
        }
      return Infinity;
    },
  };
}

/** Minutes until a deposit behind transfers by others is judged, and how often each transfer was. */
async function minutesToDeposit(earlierTransfers: readonly LedgerTransfer[], deposit: LedgerTransfer) {
  const endpoint = publicEndpoint([...earlierTransfers, deposit]);
  const judged: Hex32[] = [];
  const reader = createArrivalsReader({
    rpc: endpoint.rpc,
    depositories: [depository],
    judge: async ({ hash }) => {
      judged.push(hash);
      return await Promise.resolve(undefined);
    },
    findPurpose: async () => await Promise.resolve(undefined),
    onStranded: () => undefined,
    onSkipped: () => undefined,
    onCrowdedTimestamp: () => undefined,
  });
  let cursor = writeCursor({ time: START - 1_000n, block: 0n, seen: [] });
  const minutes = await endpoint.minutesUntil(async () => {
    const arrivals = await reader.arrivals(cursor);
    ({ cursor } = arrivals);
    if (judged.includes(deposit.hash)) return true;
    if (arrivals.fault !== undefined) throw arrivals.fault;
    return false;
  });
  return { minutes, judged };
}

const deposit = transfer(START + 60_000n, 1_000_000, friend, depository);

test("finds a deposit behind 300 transfers of one block time within 12 minutes at a public endpoint's rate limit", async () => {
  const { minutes, judged } = await minutesToDeposit(
    dustTransfers(300, depository, () => START),
    deposit,
  );
  expect(minutes).toBeLessThan(12);
  expect(judged).toHaveLength(301);
  expect(new Set(judged).size).toBe(301);
});

test("finds a deposit behind 600 transfers in 42 seconds within 30 minutes at a public endpoint's rate limit", async () => {
  const { minutes, judged } = await minutesToDeposit(
    dustTransfers(600, depository, (index) => START + BigInt(index) * 70n),
    deposit,
  );
  expect(minutes).toBeLessThan(30);
  expect(judged).toHaveLength(601);
  expect(new Set(judged).size).toBe(601);
});

test("finds a deposit behind 23 block times of 150 transfers each", async () => {
  const { minutes, judged } = await minutesToDeposit(
    dustTransfers(3_450, depository, (index) => START + BigInt(Math.floor(index / 150)) * 1_000n),
    deposit,
  );
  expect(minutes).toBeLessThan(3_451 / 25);
  expect(judged).toHaveLength(3_451);
  expect(new Set(judged).size).toBe(3_451);
});

test("finds a deposit behind 10,000 transfers in 50 seconds", async () => {
  const { minutes, judged } = await minutesToDeposit(
    dustTransfers(10_000, depository, (index) => START + BigInt(index) * 5n),
    deposit,
  );
  expect(minutes).toBeLessThan(10_001 / 25);
  expect(judged).toHaveLength(10_001);
  expect(new Set(judged).size).toBe(10_001);
}, 30_000);

const profile = hyperliquidSigningProfiles.hyperliquid;
const NONCE = START;
const paidAction = sendAssetAction(profile, {
  network: "Mainnet",
  signatureChainId: 1,
  destination: friend,
  from: { kind: "perps" },
  to: { kind: "perps" },
  token: { name: "USDC", tokenId: MAINNET_USDC_TOKEN_ID },
  amount: 1_250_000_000n,
  decimals: 8,
  nonce: Number(NONCE),
});
const raw: Hex = encodeSignedAction(await signExchangeAction(profile, paidAction, privateKey));
const attempt = { raw, txId: idOfSigned(raw), fee: 0n, madeAtMs: 0 };
const paymentTransaction: HyperliquidTransaction = {
  hash: `0x${"88".repeat(32)}`,
  time: NONCE + 1_000n,
  block: 7n,
  user: solver,
  error: undefined,
  action: {
    type: "SendAsset",
    chain: "Mainnet",
    destination: friend,
    sourceDex: "",
    destinationDex: "",
    token: String(paidAction["token"]),
    amount: String(paidAction["amount"]),
    fromSubAccount: "",
    nonce: NONCE,
  },
  isOpaque: false,
};

function paymentsOn(rpc: HyperliquidRpc): HyperliquidPayments {
  return createPayments({
    rpc,
    solver,
    depositories: [depository],
    usdcTokenId: MAINNET_USDC_TOKEN_ID,
    exchange: { profile: "hyperliquid", isTestnet: false },
    now: () => 0,
    onUnclear: () => undefined,
    onIncompleteLedger: () => undefined,
  });
}

/** Minutes until a payment is seen as final after 900 transfers by others in three block times before it. */
async function minutesToFinal(listsOwn: boolean): Promise<number> {
  const sent: LedgerTransfer = {
    ...transfer(paymentTransaction.time, 0, solver, friend),
    hash: paymentTransaction.hash,
    nonce: NONCE,
  };
  const bursts = dustTransfers(900, solver, (index) => START - 90_000n + BigInt(index % 3) * 31_000n);
  const endpoint = publicEndpoint([...bursts, sent], { ownTransaction: paymentTransaction, listsOwn });
  const payments = paymentsOn(endpoint.rpc);
  return await endpoint.minutesUntil(async () => (await payments.outcome(attempt)).kind === "final");
}

test("after a burst of transfers, reports immediately that a payment was not posted and re-signs it with the same nonce", async () => {
  for (const timeOf of [
    (index: number) => START - 30_000n + BigInt(Math.floor(index / 150)) * 2_000n,
    (index: number) => START - 30_000n + BigInt(index) * 9n,
  ]) {
    const endpoint = publicEndpoint(dustTransfers(10_000, solver, timeOf));
    const payments = paymentsOn(endpoint.rpc);
    const minutes = await endpoint.minutesUntil(async () => {
      expect(await payments.outcome(attempt)).toEqual({ kind: "unseen" });
      const payment = { recipient: friend, currency: PERPS_CURRENCY, amount: 1n, orderId: undefined };
      const [replacement, cancellation] = [
        await payments.prepareWith(privateKey)(payment, [attempt], []),
        await payments.prepareWith(privateKey)({ ...payment, recipient: solver }, [attempt], []),
      ];
      expect([replacement, cancellation].map(({ raw: bytes }) => nonceOfSigned(bytes))).toEqual([
        NONCE,
        NONCE,
      ]);
      return true;
    });
    expect(minutes).toBe(0);
  }
});

test("finds a payment that was posted in the middle of a burst even if the explorer does not list it", async () => {
  const sent: LedgerTransfer = {
    ...transfer(paymentTransaction.time, 0, solver, friend),
    hash: paymentTransaction.hash,
    nonce: NONCE,
  };
  const burst = dustTransfers(10_000, solver, (index) => START - 30_000n + BigInt(index) * 9n);
  const endpoint = publicEndpoint([...burst, sent], { ownTransaction: paymentTransaction, listsOwn: false });
  const payments = paymentsOn(endpoint.rpc);
  expect(await payments.outcome(attempt)).toMatchObject({ kind: "final", txId: paymentTransaction.hash });
  // Preparing it again returns the bytes that paid, so there is nothing else to post.
  const payment = { recipient: friend, currency: PERPS_CURRENCY, amount: 1n, orderId: undefined };
  expect(await payments.prepareWith(privateKey)(payment, [attempt], [])).toBe(attempt);
});

test("finds a payment immediately in the solver's own transactions, even after 900 transfers", async () => {
  expect(await minutesToFinal(true)).toBe(0);
});

test("finds a payment after 900 transfers within a minute even if the explorer no longer lists it", async () => {
  expect(await minutesToFinal(false)).toBeLessThan(1);
});

afterEach(() => void vi.useRealTimers());

/**
 * The minutes until a deposit behind 100 transfers is judged, while unseen payments are tracked, and clients
 * report a random transaction every second. All of it repeats as the worker does it, with pauses that double
 * after faults and end with a success.
 */
async function minutesWith(unseenPayments: number, withClients: boolean) {
  vi.useFakeTimers();
  const startedAt = performance.now();
  const endpoint = publicEndpoint([
    ...dustTransfers(100, depository, (index) => START + BigInt(index) * 300n),
    deposit,
  ]);
  const isLimit = (error: unknown): boolean =>
    error instanceof RpcFault && !(error instanceof RateLimitShareExceeded);
  let limits = 0;
  const countLimits = async <T>(request: () => Promise<T>): Promise<T> => {
    endpoint.setNow(performance.now() - startedAt);
    try {
      return await request();
    } catch (error) {
      if (isLimit(error)) limits += 1;
      throw error;
    }
  };
  const { clock, ledger, transaction, transactionsOf } = endpoint.rpc;
  const rpc: HyperliquidRpc = {
    ...endpoint.rpc,
    clock: (user) => countLimits(() => clock(user)),
    ledger: (user, from, to) => countLimits(() => ledger(user, from, to)),
    transaction: (hash) => countLimits(() => transaction(hash)),
    transactionsOf: (user) => countLimits(() => transactionsOf(user)),
  };
  const worker = createWeightShares(WEIGHT.perMinute);
  const api = createWeightShares(WEIGHT.perMinute);
  const judged = new Set<Hex32>();
  const createReader = (endpointRpc: HyperliquidRpc) =>
    createArrivalsReader({
      rpc: endpointRpc,
      maxTransactions: 16,
      depositories: [depository],
      judge: async ({ hash }) => {
        judged.add(hash);
        return await Promise.resolve(undefined);
      },
      findPurpose: async () => await Promise.resolve(undefined),
      onStranded: () => undefined,
      onSkipped: () => undefined,
      onCrowdedTimestamp: () => undefined,
    });
  const depositReader = createReader(withAllowance(rpc, worker.deposits.wait, worker.deposits.charge));
  const reportReader = createReader(withAllowance(rpc, api.clients.takeNow, api.clients.charge));
  const payments = paymentsOn(withAllowance(rpc, worker.payments.wait, worker.payments.charge));
  let isOver = false;
  const repeat = async (action: () => Promise<void>): Promise<void> => {
    let pauseMs = 500;
    while (!isOver) {
      try {
        await action();
        pauseMs = 500;
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
        const pause = pauseMs;
        await new Promise((resolve) => void setTimeout(resolve, pause));
        pauseMs = Math.min(pauseMs * 2, MINUTE_MS);
      }
      await new Promise((resolve) => void setTimeout(resolve, 1_000));
    }
  };
  let cursor = writeCursor({ time: START - 1_000n, block: 0n, seen: [] });
  let rounds = 0;
  const refusals: RateLimitShareExceeded[] = [];
  let reported = 0;
  const loops = [
    repeat(async () => {
      const arrivals = await depositReader.arrivals(cursor);
      ({ cursor } = arrivals);
      if (arrivals.fault !== undefined) throw arrivals.fault;
    }),
    repeat(async () => {
      await Promise.all(Array.from({ length: unseenPayments }, async () => payments.outcome(attempt)));
      rounds += 1;
    }),
    repeat(async () => {
      if (!withClients) return;
      reported += 1;
      try {
        await reportReader.arrivalsOf(`0x${(0xff0000 + reported).toString(16).padStart(64, "0")}`);
      } catch (error) {
        if (!(error instanceof RateLimitShareExceeded)) throw error;
        refusals.push(error);
      }
    }),
  ];
  let minutes = 0;
  for (; minutes < 60 && !judged.has(deposit.hash); minutes++) await vi.advanceTimersByTimeAsync(MINUTE_MS);
  isOver = true;
  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
  await Promise.all(loops);
  return { minutes, rounds, limits, refusals };
}

test.each([2, 3])(
  "reads a deposit behind 100 transfers within 16 minutes while %i unseen payments are tracked",
  async (unseenPayments) => {
    const { minutes, rounds, limits } = await minutesWith(unseenPayments, false);
    expect(minutes).toBeLessThanOrEqual(16);
    expect(rounds).toBeGreaterThan(2 * minutes);
    expect(limits).toBe(0);
  },
);

test("reads a deposit within 16 minutes while a client reports random transactions, and tells the client when to try again", async () => {
  const { minutes, rounds, limits, refusals } = await minutesWith(2, true);
  expect(minutes).toBeLessThanOrEqual(16);
  expect(rounds).toBeGreaterThan(2 * minutes);
  expect(limits).toBe(0);
  expect(refusals.length).toBeGreaterThan(0);
  expect(refusals[0]?.retryAfterSeconds).toBeGreaterThan(0);
  expect(refusals[0]?.message).toContain("rate limit (weight 300 per minute)");
});

test("caches an account's transfer check for 5 s while planning, and repeats it before signing", async () => {
  vi.useFakeTimers();
  const endpoint = publicEndpoint([]);
  const checkedUsers: string[] = [];
  let answerAfterMs = 60_000;
  const rpc: HyperliquidRpc = {
    ...endpoint.rpc,
    transferCheck: async (user) => {
      checkedUsers.push(user);
      await new Promise((resolve) => void setTimeout(resolve, answerAfterMs));
      return { fee: "1", isSanctioned: false };
    },
  };
  const planning = paymentsOn(withRecentChecks(rpc));
  const payment = { recipient: friend, currency: PERPS_CURRENCY, amount: 1n };
  const plan = async (): Promise<bigint> => {
    const [, cost] = await Promise.all([
      planning.refusalOf(payment),
      planning.paymentCost(PERPS_CURRENCY, friend),
    ]);
    return cost;
  };
  const first = plan();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await first).toBe(100_000_000n);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await plan()).toBe(100_000_000n);
  expect(checkedUsers).toEqual([friend]);
  answerAfterMs = 0;
  const signing = paymentsOn(rpc).prepareWith(privateKey)({ ...payment, orderId: undefined }, [], []);
  await vi.advanceTimersByTimeAsync(0);
  await signing;
  expect(checkedUsers).toEqual([friend, friend]);
  await vi.advanceTimersByTimeAsync(1_100);
  const later = plan();
  await vi.advanceTimersByTimeAsync(0);
  await later;
  expect(checkedUsers).toHaveLength(3);
});

test("also charges a share for the entries of a ledger response, and waits for the refill", async () => {
  vi.useFakeTimers();
  const endpoint = publicEndpoint(dustTransfers(500, solver, () => START));
  const { clients } = createWeightShares(WEIGHT.perMinute);
  const rpc = withAllowance(endpoint.rpc, clients.takeNow, clients.charge);
  expect((await rpc.ledger(solver, START, START)).size).toBe(500);
  // A burst of 48, of which the answer took 20 + 500 / 20.
  expect(() => clients.takeNow("clock", 4)).toThrow(RateLimitShareExceeded);
  expect(() => clients.takeNow("clock", 3)).not.toThrow();
  clients.charge(30);
  await vi.advanceTimersByTimeAsync(6_500);
  expect(() => clients.takeNow("clock", 3)).toThrow(RateLimitShareExceeded);
  await vi.advanceTimersByTimeAsync(200);
  expect(() => clients.takeNow("clock", 3)).not.toThrow();
});
