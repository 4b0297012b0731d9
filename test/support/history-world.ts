import type { Hex, RequestEvent, RequestTerms, TxHash } from "@causeway/domain";
import { expect } from "vitest";
import type pg from "pg";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresRequestHistory } from "../../apps/api/src/requests/history/request-history.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import type { RequestHistory } from "../../apps/api/src/requests/history/request-history.port.ts";
import type { Slot } from "../../apps/api/src/db/records.port.ts";
import type { RequestChange, UnitOfWork } from "../../apps/api/src/db/unit-of-work.port.ts";
import { listRequests } from "../../apps/api/src/requests/history/list-requests.ts";
import { createSearchLimiter } from "../../apps/api/src/requests/history/search-limiter.ts";
import { requestTrace } from "../../apps/api/src/requests/history/request-trace.ts";
import { transition } from "../../apps/api/src/requests/transition.ts";
import { hexAddressFormat } from "../fakes/hex-address-format.ts";
import type { RouteFakes } from "../fakes/route-services.ts";
import { noAppBalances } from "../fakes/no-app-balances.ts";
import { noChains } from "../fakes/no-chains.ts";
import { recordedEvents } from "../fakes/recorded-events.ts";
import { createTestDatabase } from "./database.ts";
import { enginePolicy } from "./engine-policy.ts";
import { someAddress, someHash, someTerms } from "./terms.ts";

/** The bytes of every stored attempt. They are too long to be a part of any hash by chance. */
export const SIGNED_BYTES: Hex = `0x${"5197ed".repeat(20)}`;

/** A paid request and its ids. */
export interface PaidRequest {
  readonly terms: RequestTerms;
  readonly depositId: string;
  readonly depositTx: TxHash;
}

export interface FilledRequest extends PaidRequest {
  readonly fillTx: TxHash;
}

export interface HistoryWorld {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly uow: UnitOfWork;
  readonly history: RequestHistory;
  readonly routes: Pick<RouteFakes, "listRequests" | "requestTrace" | "addressFormat">;
  readonly clock: { nowMs(): number; advance(ms: number): void };
  aQuotedRequest(change?: Partial<RequestTerms>): Promise<RequestTerms>;
  /** Applies one event to a request in a separate commit. Returns the kind of the decision. */
  applyEvent(
    terms: RequestTerms,
    event: RequestEvent,
    change?: Omit<RequestChange, "state">,
  ): Promise<string>;
  /** A request that was quoted, and whose deposit was seen and confirmed. */
  aPaidRequest(change?: Partial<RequestTerms>, block?: bigint): Promise<PaidRequest>;
  /** Adds a deposit for a quote. Its block has this number. */
  addDeposit(terms: RequestTerms, block: bigint): Promise<PaidRequest>;
  /** Applies a reorg that moved the deposit to this block. */
  mineAgain(paid: PaidRequest, block: bigint): Promise<PaidRequest>;
  /** A request that was paid, and whose recipient received `delivered`. */
  aFilledRequest(change?: Partial<RequestTerms>, delivered?: bigint, block?: bigint): Promise<FilledRequest>;
  /** A request that was paid and refunded. */
  aRefundedRequest(change?: Partial<RequestTerms>): Promise<PaidRequest & { readonly refundTx: TxHash }>;
  stop(): Promise<void>;
}

export const HISTORY_START_MS = 1_700_000_100_000;

/** A world of requests with complete histories in the tables, stored by the service's own writes. */
export async function startHistoryWorld(): Promise<HistoryWorld> {
  const database = await createTestDatabase();
  const pool = createPool(database.url, { max: 20, statementTimeoutMs: 20_000, applicationName: "test" });
  const sql = sqlOn(pool);
  const events = recordedEvents();
  const uow = postgresUnitOfWork(pool, events);
  let nowMs = HISTORY_START_MS;
  const clock = {
    nowMs: () => nowMs,
    advance: (ms: number): void => {
      nowMs += ms;
    },
  };
  const insertQuoted = groupedQuoteInserts(sql);
  const services = { ...noAppBalances, events, clock };
  const history = postgresRequestHistory(sql);
  const historyServices = {
    history,
    chains: noChains,
    searchLimiter: createSearchLimiter(),
    reads: postgresReads(sql),
    enginePolicy,
  };

  const aQuotedRequest = async (change: Partial<RequestTerms> = {}): Promise<RequestTerms> => {
    const terms = someTerms({ createdAtMs: clock.nowMs(), ...change });
    await insertQuoted(terms);
    const { requestId, depositAddress } = terms;
    if (depositAddress !== undefined)
      await uow.run(async (tx) => await tx.depositAddresses.setAddress(requestId, depositAddress.address));
    return terms;
  };
  const applyEvent: HistoryWorld["applyEvent"] = async (terms, event, change) =>
    await uow.run(async (tx) => {
      const record = await tx.requests.lock(terms.requestId);
      if (record === undefined) throw new Error("invariant violated: request is not stored");
      return (await transition(services, tx, record, event, change, {})).decision.kind;
    });
  const deposit = async (
    terms: RequestTerms,
    block: bigint,
    depositTx = someHash(),
  ): Promise<PaidRequest> => {
    const [stored] = await uow.run(
      async (tx) =>
        await tx.deposits.record(terms.origin.chainId, [
          {
            txHash: depositTx,
            ordinal: 0,
            blockNumber: block,
            blockHash: someHash(),
            confirmAtBlock: block + 2n,
            depositor: terms.user,
            sender: terms.user,
            currency: terms.origin.currency,
            amount: terms.origin.amount,
            orderId: terms.orderId,
            requestId: terms.requestId,
            seenAtMs: clock.nowMs(),
            valueUsd: terms.inputUsd,
          },
        ]),
    );
    if (stored === undefined) throw new Error("the deposit was already stored");
    return { terms, depositId: stored.id, depositTx };
  };
  const addDeposit: HistoryWorld["addDeposit"] = async (terms, block) => {
    const deposited = await deposit(terms, block);
    const { depositId, depositTx } = deposited;
    await applyEvent(
      terms,
      { kind: "depositSeen", depositId, verdict: { kind: "match" }, confirmed: true, late: false },
      { inTxHashes: [depositTx] },
    );
    return deposited;
  };
  const aPaidRequest: HistoryWorld["aPaidRequest"] = async (change, block = 10n) =>
    await addDeposit(await aQuotedRequest(change), block);
  const payLeg = async (
    { terms }: PaidRequest,
    leg: "fill" | "refund",
    legId: string,
    amount: bigint,
  ): Promise<{ readonly slot: Slot; readonly txHash: TxHash }> => {
    const side = leg === "fill" ? terms.destination : terms.origin;
    const sender = someAddress();
    const txHash = someHash();
    const attemptFields = {
      n: 0,
      kind: "pay",
      raw: SIGNED_BYTES,
      broadcastAtMs: undefined,
      offeredSinceMs: undefined,
    } as const;
    const slot = await uow.run(async (tx) => {
      await tx.lanes.open(side.chainId, sender, 7);
      const [reserved] = await tx.lanes.reserve(
        [
          {
            chainId: side.chainId,
            sender,
            leg: { kind: leg, id: legId, requestId: terms.requestId },
            call: { to: someAddress(), data: "0xabcd", value: 1n },
            gasLimit: 50_000n,
            maxFeePerGas: 3n,
            maxPriorityFeePerGas: 1n,
            outflow: { currency: side.currency, amount },
            ...(leg === "fill" && { delivers: amount }),
            cancelAfterMs: clock.nowMs() + 60_000,
          },
        ],
        clock.nowMs(),
      );
      if (reserved === undefined) throw new Error("the leg is paid already");
      const slotId = reserved.id;
      const [atMs, fees] = [clock.nowMs(), { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n }];
      const first = { ...attemptFields, txHash: someHash(), ...fees, createdAtMs: atMs };
      const bumped = { maxFeePerGas: 5n, maxPriorityFeePerGas: 2n, createdAtMs: atMs + 1 };
      const second = { ...attemptFields, n: 1, txHash, ...bumped };
      for (const attempt of [first, second]) await tx.lanes.addAttempts([{ slotId, attempt }]);
      await tx.lanes.setBroadcasts([{ slotId, n: 0 }], clock.nowMs());
      await tx.lanes.setBroadcasts([{ slotId, n: 1 }], clock.nowMs() + 1);
      return reserved;
    });
    return { slot, txHash };
  };
  const mine = async (slotId: string): Promise<void> =>
    await uow.run(
      async (tx) =>
        await tx.lanes.setMined(
          [
            {
              slotId,
              attempt: 1,
              blockNumber: 900n,
              blockHash: someHash(),
              status: "success",
              gasUsed: 40_000n,
              effectiveGasPrice: 4n,
            },
          ],
          clock.nowMs(),
        ),
    );

  return {
    pool,
    url: database.url,
    uow,
    history,
    clock,
    aQuotedRequest,
    applyEvent,
    aPaidRequest,
    addDeposit,
    mineAgain: async ({ terms, depositTx }, block) => await deposit(terms, block, depositTx),
    async aFilledRequest(change, delivered, block) {
      const paidRequest = await aPaidRequest(change, block);
      const { terms } = paidRequest;
      await applyEvent(terms, { kind: "fillPlanned" });
      const { slot, txHash } = await payLeg(
        paidRequest,
        "fill",
        terms.requestId,
        delivered ?? terms.destination.expectedAmount,
      );
      await applyEvent(terms, { kind: "fillBroadcast" });
      clock.advance(4_000);
      await mine(slot.id);
      expect(await applyEvent(terms, { kind: "fillMined" }, { txHashes: [txHash] })).toBe("applied");
      return { ...paidRequest, fillTx: txHash };
    },
    async aRefundedRequest(change) {
      const paidRequest = await aPaidRequest(change);
      const { terms, depositId } = paidRequest;
      await applyEvent(terms, { kind: "fillImpossible", reason: "SLIPPAGE" });
      const { slot, txHash } = await payLeg(paidRequest, "refund", depositId, 95n);
      await mine(slot.id);
      expect(await applyEvent(terms, { kind: "refundMined", depositId }, { refundTxHashes: [txHash] })).toBe(
        "applied",
      );
      return { ...paidRequest, refundTx: txHash };
    },
    routes: {
      listRequests: (question, searcher) => listRequests(historyServices, question, searcher),
      requestTrace: (requestId) => requestTrace(historyServices, requestId),
      addressFormat: hexAddressFormat,
    },
    stop: async () => {
      await pool.end();
      await database.drop();
    },
  };
}
