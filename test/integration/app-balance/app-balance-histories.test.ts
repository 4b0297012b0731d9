import type { Address, Hex32, LedgerAsset, RequestId } from "@causeway/domain";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { balanceReads } from "../../../apps/api/src/balances/balance-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { acceptClaim } from "../../../apps/api/src/balances/accept-claim.ts";
import { creditTopUp, reverseTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { closePaidClaim, returnClaim } from "../../../apps/api/src/balances/end-claim.ts";
import {
  makeHoldPermanent,
  reinstateHold,
  releaseHold,
  returnPermanent,
} from "../../../apps/api/src/balances/move-hold.ts";
import { payFees } from "../../../apps/api/src/balances/pay-fees.ts";
import { placeHold } from "../../../apps/api/src/balances/place-hold.ts";
import { releaseFees } from "../../../apps/api/src/balances/release-fees.ts";
import { reserveFees } from "../../../apps/api/src/balances/reserve-fees.ts";
import {
  ONE,
  violatedInvariants,
  ether,
  startLedgerWorld,
  usdc,
  type LedgerWorld,
} from "../../support/ledger-world.ts";
import { someAddress, someHash } from "../../support/terms.ts";

/** Fixed, so that every kind of movement occurs. The interleaving still differs from run to run. */
const SEED = Number(process.env["FUZZ_SEED"] ?? "20261121");

let world: LedgerWorld;
beforeAll(async () => {
  world = await startLedgerWorld();
});
afterAll(async () => await world.stop());

/** One action on a wallet. `at` selects the request, top-up or claim of the history. */
interface Act {
  readonly kind:
    | "topUp"
    | "reverse"
    | "reserve"
    | "pay"
    | "release"
    | "hold"
    | "releaseHold"
    | "reinstateHold"
    | "makeHoldPermanent"
    | "returnPermanent"
    | "claim"
    | "claimPaid"
    | "claimReturned";
  readonly at: number;
  readonly asset: LedgerAsset;
  /** The amount in US cents, for any asset. */
  readonly cents: number;
}

const kinds: readonly Act["kind"][] = [
  "topUp",
  "topUp",
  "topUp",
  "reverse",
  "reserve",
  "reserve",
  "pay",
  "release",
  "hold",
  "hold",
  "releaseHold",
  "reinstateHold",
  "makeHoldPermanent",
  "makeHoldPermanent",
  "returnPermanent",
  "returnPermanent",
  "claim",
  "claim",
  "claim",
  "claimPaid",
  "claimPaid",
  "claimReturned",
];
const anAct: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...kinds),
  at: fc.nat(4),
  asset: fc.constantFrom(usdc, ether),
  cents: fc.integer({ min: 1, max: 1_000 }),
});
/** A history of rows. The actions of one row run concurrently. */
const aHistory = fc.array(fc.array(anAct, { minLength: 1, maxLength: 6 }), { minLength: 10, maxLength: 20 });

/** The ids of one history. Actions with the same `at` use the same id. */
interface Names {
  readonly wallet: Address;
  readonly requests: readonly RequestId[];
  readonly held: readonly RequestId[];
  readonly claims: readonly Hex32[];
  readonly topUps: readonly string[];
}

function namesOf(): Names {
  const five = (): Hex32[] => Array.from({ length: 5 }, someHash);
  return { wallet: someAddress(), requests: five(), held: five(), claims: five(), topUps: five() };
}

const unitsOf = (asset: LedgerAsset, cents: number): bigint =>
  asset === usdc ? BigInt(cents) * 10_000n : BigInt(cents) * 5n * 10n ** 12n;

async function apply(names: Names, { kind, at, asset, cents }: Act): Promise<void> {
  const { services } = world;
  const { wallet } = names;
  const usd = (BigInt(cents) * ONE) / 100n;
  const [requestId, heldId, claimId, topUp] = [
    names.requests[at],
    names.held[at % 2],
    names.claims[at % 2],
    names.topUps[at],
  ];
  if (requestId === undefined || heldId === undefined || claimId === undefined || topUp === undefined)
    throw new Error("invariant violated: fewer than five ids");
  const amount = unitsOf(asset, 100 * (at + 1));
  const moved = { wallet, asset: at % 2 === 0 ? usdc : ether, amount };
  switch (kind) {
    case "topUp":
      await world.inTransaction(
        async (tx) =>
          await creditTopUp(services, tx, { ...moved, movementKey: `${topUp}:in:${asset.currency}` }),
      );
      return;
    case "reverse":
      await world.inTransaction(
        async (tx) =>
          await reverseTopUp(services, tx, { ...moved, movementKey: `${topUp}:out:${asset.currency}` }),
      );
      return;
    case "reserve":
      await world.inTransaction(
        async (tx) =>
          await reserveFees(services, tx, {
            wallet,
            usd,
            transferredUsd: usd / 2n,
            requestId,
            movementKey: `${requestId}:r`,
          }),
      );
      return;
    case "pay":
      await world.inTransaction(
        async (tx) => await payFees(services, tx, { wallet, requestId }, { usd }, `${requestId}:p`),
      );
      return;
    case "release":
      await world.inTransaction(
        async (tx) => await releaseFees(services, tx, { wallet, requestId }, `${requestId}:x`),
      );
      return;
    case "hold": {
      const hold = {
        wallet,
        keyId: "key",
        requestId: heldId,
        usd,
        chainId: 1,
        currency: asset.currency,
        amount,
      };
      await world.inTransaction(async (tx) => await placeHold(services, tx, hold));
      return;
    }
    case "releaseHold":
    case "reinstateHold":
    case "makeHoldPermanent":
    case "returnPermanent": {
      const moves = { releaseHold, reinstateHold, makeHoldPermanent, returnPermanent };
      await world.inTransaction(async (tx) => await moves[kind](services, tx, heldId));
      return;
    }
    case "claim":
      await claim(wallet, claimId, asset, cents);
      return;
    case "claimPaid":
      await world.inTransaction(async (tx) => await closePaidClaim(services, tx, { wallet, claimId }));
      return;
    case "claimReturned": {
      const end = { failReason: "TRANSACTION_REVERTED", cost: cents % 2 === 0 ? "fee" : "nothing" } as const;
      await world.inTransaction(async (tx) => await returnClaim(services, tx, { wallet, claimId }, end));
      return;
    }
    default:
      kind satisfies never;
  }
}

/** Offers a claim unless it was offered before, and accepts it if the balance suffices. */
async function claim(wallet: Address, claimId: Hex32, asset: LedgerAsset, cents: number): Promise<void> {
  const balances = balanceReads(sqlOn(world.pool));
  const createdAtMs = world.services.clock.nowMs();
  if ((await balances.claim(claimId)) === undefined)
    await world
      .inTransaction(
        async (tx) =>
          await tx.claims.offer({
            claimId,
            wallet,
            ...asset,
            recipient: someAddress(),
            amount: unitsOf(asset, cents),
            feeAmount: unitsOf(asset, 3),
            expiresAt: Math.floor(createdAtMs / 1000) + 600,
            createdAtMs,
          }),
      )
      .catch((error: unknown) => {
        if (!/duplicate/.test(String(error))) throw error;
      });
  const signatures = { isSignedBy: async () => true };
  await acceptClaim({ ...world.services, balances, signatures }, claimId, "0x").catch((error: unknown) => {
    if (!/exceeds the available app balance/.test(String(error))) throw error;
  });
}

test("for any history and concurrency, every asset sums to zero, balances are the sums of their entries, and pending is what is in progress", async () => {
  const counted: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(aHistory, async (history) => {
      const names = namesOf();
      for (const acts of history) {
        const results = await Promise.allSettled(acts.map(async (act) => await apply(names, act)));
        for (const result of results) if (result.status === "rejected") throw result.reason;
      }
      expect(await violatedInvariants(world.pool)).toEqual([]);
      const { rows } = await world.pool.query<{ context: string }>(
        "select context from ledger_movements where wallet = $1",
        [names.wallet],
      );
      for (const { context } of rows) counted[context] = (counted[context] ?? 0) + 1;
    }),
    { numRuns: 25, seed: SEED },
  );
  // Every kind of movement must have occurred.
  expect(Object.keys(counted).toSorted()).toEqual([
    "balance-topup",
    "balance-topup-reversed",
    "claim",
    "fast-fill-increase-balance",
    "fast-fill-reduce-balance",
    "pay-fees",
    "set-pending-amount",
    "unset-pending-amount",
  ]);
}, 120_000);

test("after any history, the solver's holdings equal what came in minus what went out", async () => {
  const { rows } = await world.pool.query<{ currency: string; ledger: bigint; facts: bigint }>(
    `select currency, sum(amount) filter (where account = 'custody') as ledger,
       (select coalesce(sum(c.amount), 0) from claims c where c.state = 'paid' and c.currency = e.currency)
       - sum(amount) filter (where account <> 'custody' and movement_id in (select id from ledger_movements where context in ('balance-topup', 'balance-topup-reversed'))) as facts
     from ledger_entries e group by currency`,
  );
  expect(rows.length).toBe(2);
  for (const { currency, ledger, facts } of rows) expect(ledger, currency).toBe(facts);
});
