import type { Address, FeeSponsorship, Hex32, RequestId } from "@causeway/domain";
import fc from "fast-check";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { balanceReads } from "../../../apps/api/src/balances/balance-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { acceptClaim } from "../../../apps/api/src/balances/accept-claim.ts";
import { accrueAppFees } from "../../../apps/api/src/balances/accrue-app-fees.ts";
import { creditTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { closePaidClaim } from "../../../apps/api/src/balances/end-claim.ts";
import { makeHoldPermanent, releaseHold, returnPermanent } from "../../../apps/api/src/balances/move-hold.ts";
import { payFees } from "../../../apps/api/src/balances/pay-fees.ts";
import { placeHold } from "../../../apps/api/src/balances/place-hold.ts";
import { releaseFees } from "../../../apps/api/src/balances/release-fees.ts";
import { reserveFees } from "../../../apps/api/src/balances/reserve-fees.ts";
import {
  chargeSponsorship,
  settleSponsorship,
  reserveSponsorship,
} from "../../../apps/api/src/balances/sponsor-fees.ts";
import { noChains } from "../../fakes/no-chains.ts";
import {
  ONE,
  violatedInvariants,
  startLedgerWorld,
  usdc,
  type LedgerWorld,
} from "../../support/ledger-world.ts";
import { someAddress, someHash, someTerms } from "../../support/terms.ts";

// An app and parties that cooperate with it never take out more than they put in, whatever they do with a
// balance.

const SEED = Number(process.env["FUZZ_SEED"] ?? "20261122");
const RUNS = Number(process.env["FUZZ_RUNS"] ?? "60");

let world: LedgerWorld;
beforeAll(async () => {
  world = await startLedgerWorld();
});
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

interface Act {
  readonly kind:
    | "topUp"
    | "fastFill"
    | "deposit"
    | "overdue"
    | "sponsorFees"
    | "fillSponsored"
    | "dropSponsored"
    | "reserveCall"
    | "makeCall"
    | "dropCall"
    | "claim";
  /** Selects the request, call or wallet. */
  readonly at: number;
  readonly cents: number;
  /** The part of the charge, in bps, that goes to parties other than the service. */
  readonly transferredBps: number;
}

const anAct: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom<Act["kind"]>(
    "topUp",
    "fastFill",
    "fastFill",
    "deposit",
    "overdue",
    "sponsorFees",
    "sponsorFees",
    "fillSponsored",
    "fillSponsored",
    "dropSponsored",
    "reserveCall",
    "makeCall",
    "dropCall",
    "claim",
    "claim",
  ),
  at: fc.nat(2),
  cents: fc.integer({ min: 1, max: 1_000 }),
  transferredBps: fc.constantFrom(0, 1, 5_000, 10_000, 10_000),
});

const usdOf = (cents: number): bigint => (BigInt(cents) * ONE) / 100n;
const unitsOf = (usd: bigint): bigint => usd / 10n ** 12n;

/** What the members of one group put in and took out so far, in USD with 18 decimals. */
class Group {
  putInUsd = 0n;
  tookOutUsd = 0n;
  readonly app = someAddress();
  readonly friend = someAddress();
  readonly keyId = randomBytes(8).toString("hex");
  readonly #fronts = new Map<
    number,
    { readonly requestId: RequestId; readonly usd: bigint; state: string }
  >();
  readonly #sponsored = new Map<
    number,
    { readonly terms: ReturnType<typeof sponsoredTerms>; readonly usd: bigint; readonly transferUsd: bigint }
  >();
  readonly #calls = new Map<
    number,
    { readonly requestId: RequestId; readonly usd: bigint; readonly valueUsd: bigint }
  >();

  async start(): Promise<void> {
    await world.pool.query(
      `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, funding_address, rules, created_at_ms, updated_at_ms)
       values ($1, 'group', decode($1, 'hex'), '{quote}', '{}', '{}', $2, '{"maxCallValueUsd":"0"}', 1, 1)`,
      [this.keyId, this.app],
    );
  }

  async act({ kind, at, cents, transferredBps }: Act): Promise<void> {
    const usd = usdOf(cents);
    const transferUsd = (usd * BigInt(transferredBps)) / 10_000n;
    switch (kind) {
      case "topUp":
        return await this.#topUp(usd);
      case "fastFill":
        return await this.#fastFill(at, usd);
      case "deposit":
        return await this.#deposit(at);
      case "overdue":
        return await this.#overdue(at);
      case "sponsorFees":
        return await this.#sponsorFees(at, usd, transferUsd);
      case "fillSponsored":
        return await this.#fillSponsored(at);
      case "dropSponsored":
        return await this.#dropSponsored(at);
      case "reserveCall":
        return await this.#reserveCall(at, usd, transferUsd);
      case "makeCall":
        return await this.#makeCall(at);
      case "dropCall":
        return await this.#dropCall(at);
      case "claim":
        return await this.#claim(at === 0 ? this.app : this.friend, usd);
      default:
        kind satisfies never;
    }
  }

  /** Ends the history: claims everything possible, and lets every missing deposit become overdue. */
  async end(): Promise<void> {
    for (let at = 0; at < 3; at++) {
      await this.#fillSponsored(at);
      await this.#makeCall(at);
    }
    for (const wallet of [this.app, this.friend]) {
      const free = await world.available(wallet, "claim");
      if (free > 0n) await this.#claim(wallet, free);
    }
    for (let at = 0; at < 3; at++) await this.#overdue(at);
  }

  async #topUp(usd: bigint): Promise<void> {
    await world.inTransaction(
      async (tx) =>
        await creditTopUp(world.services, tx, {
          wallet: this.app,
          asset: usdc,
          amount: unitsOf(usd),
          movementKey: `top-up:${someHash()}`,
        }),
    );
    this.putInUsd += usd;
  }

  /** Fast fills a request: the recipient is paid immediately. */
  async #fastFill(at: number, usd: bigint): Promise<void> {
    const requestId = someHash();
    const hold = { wallet: this.app, keyId: this.keyId, requestId, usd, chainId: 1, amount: unitsOf(usd) };
    const placed = await world.inTransaction(
      async (tx) => await placeHold(world.services, tx, { ...hold, currency: usdc.currency }),
    );
    if (placed.kind !== "placed") return;
    this.tookOutUsd += usd;
    const before = this.#fronts.get(at);
    if (before !== undefined) await this.#settle(before);
    this.#fronts.set(at, { requestId, usd, state: "held" });
  }

  async #deposit(at: number): Promise<void> {
    const front = this.#fronts.get(at);
    if (front === undefined || front.state === "covered") return;
    const move = front.state === "held" ? releaseHold : returnPermanent;
    await world.inTransaction(async (tx) => await move(world.services, tx, front.requestId));
    this.putInUsd += front.usd;
    front.state = "covered";
  }

  async #overdue(at: number): Promise<void> {
    const front = this.#fronts.get(at);
    if (front !== undefined) await this.#settle(front);
  }

  async #settle(front: { readonly requestId: RequestId; state: string }): Promise<void> {
    if (front.state !== "held") return;
    await world.inTransaction(async (tx) => await makeHoldPermanent(world.services, tx, front.requestId));
    front.state = "debited";
  }

  /** Reserves the gas and the app fee of a request whose fill is planned. */
  async #sponsorFees(at: number, usd: bigint, transferUsd: bigint): Promise<void> {
    if (this.#sponsored.has(at)) return;
    const terms = sponsoredTerms(this, usd, transferUsd);
    const reserved = await world.inTransaction(
      async (tx) => await reserveSponsorship(world.services, tx, terms, usd),
    );
    if (reserved.kind === "reserved") this.#sponsored.set(at, { terms, usd, transferUsd });
  }

  /**
   * Fills a sponsored request: the deposit pays the output and the app fee, and the sponsored part is output
   * too.
   */
  async #fillSponsored(at: number): Promise<void> {
    const sponsored = this.#sponsored.get(at);
    if (sponsored === undefined) return;
    this.#sponsored.delete(at);
    const { terms, transferUsd } = sponsored;
    const depositUsd = 10_000n * ONE;
    await world.inTransaction(async (tx) => {
      for (const wallet of [this.app, this.friend].toSorted()) await tx.ledger.lockWallet(wallet, 1);
      await chargeSponsorship(world.services, tx, terms);
      await accrueAppFees({ ...world.services, chains: noChains }, tx, terms, terms.origin.amount);
    });
    this.putInUsd += depositUsd;
    // The app fee reduces the output, and the sponsor adds as much. Gas is a cost of the service.
    this.tookOutUsd += depositUsd - transferUsd + transferUsd;
  }

  async #dropSponsored(at: number): Promise<void> {
    const sponsored = this.#sponsored.get(at);
    if (sponsored === undefined) return;
    this.#sponsored.delete(at);
    await world.inTransaction(
      async (tx) =>
        await settleSponsorship(world.services, tx, sponsored.terms, {
          name: "refunding",
          kind: "bridge",
          front: "none",
          depositId: undefined,
          failReason: undefined,
          refundFailReason: undefined,
          final: false,
        }),
    );
  }

  async #reserveCall(at: number, usd: bigint, valueUsd: bigint): Promise<void> {
    if (this.#calls.has(at)) return;
    const requestId = someHash();
    const reserved = await world.inTransaction(
      async (tx) =>
        await reserveFees(world.services, tx, {
          wallet: this.app,
          usd,
          transferredUsd: valueUsd,
          requestId,
          movementKey: `execution:${requestId}:reserve`,
        }),
    );
    if (reserved.kind === "reserved") this.#calls.set(at, { requestId, usd, valueUsd });
  }

  /** Makes a sponsored call that carries native tokens to the recipient and uses half of its gas limit. */
  async #makeCall(at: number): Promise<void> {
    const call = this.#calls.get(at);
    if (call === undefined) return;
    this.#calls.delete(at);
    const { requestId, usd, valueUsd } = call;
    const due = { usd: valueUsd + (usd - valueUsd) / 2n };
    const payer = { requestId, wallet: this.app };
    await world.inTransaction(
      async (tx) => await payFees(world.services, tx, payer, due, `execution:${requestId}:pay`),
    );
    this.tookOutUsd += valueUsd;
  }

  async #dropCall(at: number): Promise<void> {
    const call = this.#calls.get(at);
    if (call === undefined) return;
    this.#calls.delete(at);
    const payer = { requestId: call.requestId, wallet: this.app };
    await world.inTransaction(
      async (tx) => await releaseFees(world.services, tx, payer, `execution:${call.requestId}:release`),
    );
  }

  async #claim(wallet: Address, usd: bigint): Promise<void> {
    const claimId: Hex32 = someHash();
    const amount = unitsOf(usd);
    if (amount === 0n) return;
    const createdAtMs = world.services.clock.nowMs();
    await world.inTransaction(
      async (tx) =>
        await tx.claims.offer({
          claimId,
          wallet,
          ...usdc,
          recipient: someAddress(),
          amount,
          feeAmount: 0n,
          expiresAt: Math.floor(createdAtMs / 1000) + 600,
          createdAtMs,
        }),
    );
    const balances = balanceReads(sqlOn(world.pool));
    const signatures = { isSignedBy: async () => true };
    try {
      await acceptClaim({ ...world.services, balances, signatures }, claimId, "0x");
    } catch (error) {
      if (!/exceeds the available app balance/.test(String(error))) throw error;
      return;
    }
    await world.inTransaction(async (tx) => await closePaidClaim(world.services, tx, { wallet, claimId }));
    this.tookOutUsd += usd;
  }
}

/** The terms of a request whose sponsor pays gas and a fee. Another member's balance gets the fee. */
function sponsoredTerms(
  { app, friend, keyId }: Pick<Group, "app" | "friend" | "keyId">,
  usd: bigint,
  transferUsd: bigint,
) {
  const nothing = { selected: false, totalUsd: 0n, sponsoredUsd: 0n };
  const share = (sponsoredUsd: bigint) => ({ selected: true, totalUsd: sponsoredUsd, sponsoredUsd });
  const sponsorship: FeeSponsorship = {
    wallet: app,
    capHit: false,
    amount: unitsOf(usd),
    usd,
    components: {
      execution: share(usd - transferUsd),
      app: share(transferUsd),
      swap: nothing,
      relay: nothing,
      rent: nothing,
    },
  };
  const fees = [{ recipient: friend, bps: 1, amount: unitsOf(transferUsd) }];
  return { ...someTerms(), keyId, sponsorship, appFees: { ...usdc, fees } };
}

test("never lets cooperating parties take out more than they put in, for any sequence of actions", async () => {
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anAct, { minLength: 10, maxLength: 40 }), async (acts) => {
      const group = new Group();
      await group.start();
      for (const act of acts) await group.act(act);
      await group.end();
      // A claim below one base unit is skipped and moves nothing.
      expect(group.tookOutUsd - group.putInUsd).toBeLessThanOrEqual(0n);
      if (group.tookOutUsd > 0n) moved++;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  expect(moved).toBeGreaterThan(RUNS / 3);
}, 120_000);
