import type { Address } from "@causeway/domain";
import { createMetrics } from "@causeway/service-kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { balanceReads } from "../../../apps/api/src/balances/balance-reads.postgres.ts";
import {
  balanceReport,
  claimReport,
  holdReport,
} from "../../../apps/api/src/balances/operator-balance-reads.postgres.ts";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { sqlOn, type Sql } from "../../../apps/api/src/db/pool.postgres.ts";
import { balanceGauges } from "../../../apps/api/src/telemetry/balance-gauges.ts";
import type { BalanceReads } from "../../../apps/api/src/balances/balance-reads.port.ts";
import { acceptClaim } from "../../../apps/api/src/balances/accept-claim.ts";
import { reverseTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { makeHoldPermanent } from "../../../apps/api/src/balances/move-hold.ts";
import { placeHold } from "../../../apps/api/src/balances/place-hold.ts";
import { readBalances, readClaims } from "../../../apps/api/src/balances/read-balances.ts";
import { reserveFees } from "../../../apps/api/src/balances/reserve-fees.ts";
import { ONE, ether, startLedgerWorld, usdc, type LedgerWorld } from "../../support/ledger-world.ts";
import { someAddress, someHash } from "../../support/terms.ts";

let world: LedgerWorld;
let sql: Sql;
let reads: BalanceReads;
const wallet = someAddress();
const debtor = someAddress();
const requestId = someHash();
const heldId = someHash();
const lostId = someHash();
const claimId = someHash();

const hold = async (id: typeof heldId, usd: bigint): Promise<void> => {
  const terms = { wallet, keyId: "key", usd, chainId: 10, currency: usdc.currency, amount: 9n };
  await world.inTransaction(async (tx) => await placeHold(world.services, tx, { ...terms, requestId: id }));
};

beforeAll(async () => {
  world = await startLedgerWorld();
  sql = sqlOn(world.pool);
  reads = balanceReads(sql);
  const { services } = world;
  await world.credit(wallet, usdc, 100_000_000n);
  await world.credit(wallet, ether, ONE);
  await world.inTransaction(
    async (tx) =>
      await reserveFees(services, tx, {
        wallet,
        usd: 10n * ONE,
        transferredUsd: 0n,
        requestId,
        movementKey: requestId,
      }),
  );
  await hold(heldId, 20n * ONE);
  await hold(lostId, 5n * ONE);
  await world.inTransaction(async (tx) => await makeHoldPermanent(services, tx, lostId));
  const reversed = { wallet: debtor, asset: usdc, amount: 3_000_000n, movementKey: someHash() };
  await world.inTransaction(async (tx) => await reverseTopUp(services, tx, reversed));
  const createdAtMs = services.clock.nowMs();
  await world.inTransaction(
    async (tx) =>
      await tx.claims.offer({
        claimId,
        wallet,
        ...usdc,
        recipient: debtor,
        amount: 4_000_000n,
        feeAmount: 100_000n,
        expiresAt: Math.floor(createdAtMs / 1000) + 600,
        createdAtMs,
      }),
  );
  const signatures = { isSignedBy: async () => true };
  await acceptClaim({ ...services, balances: reads, signatures }, claimId, "0x");
  const topUp = {
    chainId: usdc.chainId,
    txHash: someHash(),
    ordinal: 0,
    blockNumber: 5n,
    blockHash: someHash(),
    confirmAtBlock: 9n,
    sender: debtor,
    currency: usdc.currency,
    seenAtMs: 1,
  };
  await world.inTransaction(async (tx) => {
    await tx.topUps.upsert({ ...topUp, wallet: undefined, state: "unattributed", amount: 77n });
    await tx.topUps.upsert({ ...topUp, wallet: debtor, state: "seen", amount: 78n });
  });
});
afterAll(async () => await world.stop());

test("reports a wallet's balance, its reserved and its available amount", async () => {
  const balances = await readBalances({ ...world.services, balances: reads }, wallet);
  expect(balances.main).toMatchObject({
    currency: { id: "usdc" },
    amount: 80_900_000n,
    pending: 14_100_000n,
    owed: 0n,
    usd: (809n * ONE) / 10n,
  });
  expect(balances.all.map(({ currency }) => currency.id)).toEqual(["usdc", "eth"]);
  expect(balances).toMatchObject({
    totalUsd: (20_809n * ONE) / 10n,
    heldUsd: 20n * ONE,
    availableUsd: (20_609n * ONE) / 10n,
  });
});

test("subtracts debt from the total, and does not report it as funds", async () => {
  const balances = await readBalances({ ...world.services, balances: reads }, debtor);
  expect(balances.main).toMatchObject({ amount: 0n, owed: 3_000_000n });
  expect(balances).toMatchObject({ totalUsd: 0n, availableUsd: 0n });
});

test("movements come newest first, page by page, each once", async () => {
  const all = await reads.events(wallet, { limit: 50, after: undefined });
  expect(all.map(({ context, account, delta }) => [context, account, delta])).toEqual([
    ["set-pending-amount", "pending", 4_100_000n],
    ["set-pending-amount", "balance", -4_100_000n],
    ["fast-fill-reduce-balance", "balance", -5_000_000n],
    ["set-pending-amount", "pending", 10_000_000n],
    ["set-pending-amount", "balance", -10_000_000n],
    ["balance-topup", "balance", ONE],
    ["balance-topup", "balance", 100_000_000n],
  ]);
  expect(all[0]?.requestId).toBe(claimId);
  expect(all[2]).toMatchObject({ requestId: lostId, balanceAfter: 85_000_000n });
  const pages = [];
  for (let after: string | undefined; ;) {
    const page = await reads.events(wallet, { limit: 3, after });
    pages.push(...page);
    after = page.at(-1)?.id;
    if (page.length < 3) break;
  }
  expect(pages).toEqual(all);
});

test("holds and claims come newest first, page by page, and an offer is not listed as a claim", async () => {
  const unsigned = someHash();
  await world.inTransaction(
    async (tx) =>
      await tx.claims.offer({
        claimId: unsigned,
        wallet,
        ...usdc,
        recipient: debtor,
        amount: 1n,
        feeAmount: 0n,
        expiresAt: 1,
        createdAtMs: 1,
      }),
  );
  const first = await reads.holds(wallet, { limit: 1, after: undefined });
  expect(first).toMatchObject([{ requestId: lostId, state: "permanent" }]);
  const after = { atMs: first[0]?.placedAtMs ?? 0, id: lostId };
  expect(await reads.holds(wallet, { limit: 5, after })).toMatchObject([
    { requestId: heldId, state: "active" },
  ]);
  const claims = await readClaims({ ...world.services, balances: reads }, wallet, {
    limit: 9,
    after: undefined,
  });
  expect(claims).toMatchObject([{ claim: { claimId, state: "paying" }, usd: 4n * ONE }]);
});

test("an operator's report shows every wallet, the service's accounts, holds, claims, and uncredited top-ups", async () => {
  const rows = (await balanceReport(sql)) as Record<string, unknown>[];
  expect(rows.find((row) => row["wallet"] === wallet && row["currency"] === usdc.currency)).toMatchObject({
    balance: 80_900_000n,
    pending: 14_100_000n,
    owed: 0n,
    held_usd: "20.000000",
  });
  expect(rows.find((row) => row["wallet"] === debtor)).toMatchObject({ balance: 0n, owed: 3_000_000n });
  expect(rows.find((row) => row["wallet"] === "house" && row["currency"] === usdc.currency)).toMatchObject({
    held_on_chain: 97_000_000n,
    fees: 0n,
    fronted: 5_000_000n,
  });
  expect(await balanceReport(sql, debtor)).toHaveLength(1);
  expect(await holdReport(sql)).toMatchObject([
    { request_id: heldId, state: "active", usd: "20.000000" },
    { request_id: lostId, state: "permanent" },
  ]);
  expect(await claimReport(sql)).toMatchObject([{ claim_id: claimId, state: "paying" }]);
  expect(await strandedFunds(sql)).toMatchObject([
    { about: "top-up", amount: 77n, sender: debtor as Address },
  ]);
});

test("the metrics report holds, exposure, debts, top-ups and claims, or zero if there are none", async () => {
  const { registry } = createMetrics("test");
  balanceGauges(registry, reads, world.services.appBalance.currencies, world.services.clock);
  registry.setDefaultLabels({});
  const text = await registry.metrics();
  for (const line of [
    "causeway_app_balance_holds 1",
    "causeway_app_balance_exposure_usd 20",
    'causeway_app_balance_owed{currency="USDC"} 3',
    'causeway_app_balance_owed{currency="ETH"} 0',
    'causeway_app_balance_top_ups{state="seen"} 1',
    'causeway_app_balance_top_ups{state="unattributed"} 1',
    "causeway_app_balance_claims_paying 1",
  ])
    expect(text.split("\n")).toContain(line);
});
