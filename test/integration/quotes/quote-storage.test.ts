import type { RequestTerms } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { createQuote } from "../../../apps/api/src/quotes/create-quote.ts";
import { aQuoteInput, quoteWorld } from "../../fakes/quote-world.ts";
import { createTestDatabase } from "../../support/database.ts";

const database = await createTestDatabase();
const pool = createPool(database.url, { max: 4, statementTimeoutMs: 5_000, applicationName: "test" });
const insert = groupedQuoteInserts(sqlOn(pool));
const reads = postgresReads(sqlOn(pool));
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Terms of real quotes, each with its own request id and order id. */
async function someTerms(count: number, referrers: readonly string[] = []): Promise<RequestTerms[]> {
  const world = quoteWorld();
  await createQuote(world, aQuoteInput());
  const [terms] = world.stored;
  if (terms === undefined) throw new Error("the quote stored nothing");
  return Array.from({ length: count }, (_, index) => {
    const id = (kind: string): `0x${string}` =>
      `0x${(kind + crypto.randomUUID().replaceAll("-", "")).padEnd(64, "0")}`;
    return { ...terms, requestId: id("aa"), orderId: id("bb"), referrer: referrers[index] };
  });
}

test("quotes stored in one group are read unchanged, regardless of the texts in them", async () => {
  const texts = ["a,b", 'with "quotes" and \\', "{1,NULL}", "line\nend\u001f\u001e", "", "ü€\u{1f600}"];
  const stored = await someTerms(40, texts);
  await Promise.all(stored.map(insert));
  for (const terms of stored) {
    const record = await reads.request(terms.requestId);
    expect(record?.terms).toEqual(JSON.parse(JSON.stringify(terms, encodeBigints), decodeBigints));
    expect(record?.state.name).toBe("quoted");
  }
});

test("concurrent status reads return each request's own status, and nothing for unknown ids", async () => {
  const [fresh, paid, refunded] = await someTerms(3);
  if (fresh === undefined || paid === undefined || refunded === undefined) throw new Error("too few terms");
  await Promise.all([fresh, paid, refunded].map(insert));
  const hash = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`;
  await pool.query(
    `update requests set state = 'filled', final = true, deposit_id = 7, updated_at_ms = 1800000000000,
       in_tx_hashes = $2, tx_hashes = $3 where request_id = $1`,
    [paid.requestId, [hash("1"), hash("2")], [hash("3")]],
  );
  await pool.query(
    `update requests set state = 'failed', deposit_id = 8, fail_reason = 'SLIPPAGE',
       refund_fail_reason = 'MANUAL_REFUND_REQUIRED', refund_tx_hashes = $2 where request_id = $1`,
    [refunded.requestId, [hash("4")]],
  );
  const unknown = hash("f");
  const requestIds = [unknown, refunded.requestId, fresh.requestId, paid.requestId, fresh.requestId];
  const [none, third, first, second, again] = await Promise.all(requestIds.map((id) => reads.status(id)));
  expect(none).toBeUndefined();
  expect(again).toEqual(first);
  const common = {
    originChainId: fresh.origin.chainId,
    destinationChainId: fresh.destination.chainId,
    createdAtMs: fresh.createdAtMs,
    updatedAtMs: fresh.createdAtMs,
    inTxHashes: [],
    txHashes: [],
    refundTxHashes: [],
  };
  const state = {
    kind: "bridge",
    front: "none",
    depositId: undefined,
    failReason: undefined,
    refundFailReason: undefined,
    final: false,
  };
  expect(first).toEqual({
    ...common,
    requestId: fresh.requestId,
    payByMs: fresh.fillDeadlineMs,
    state: { ...state, name: "quoted" },
  });
  expect(second).toEqual({
    ...common,
    requestId: paid.requestId,
    payByMs: paid.fillDeadlineMs,
    updatedAtMs: 1_800_000_000_000,
    inTxHashes: [hash("1"), hash("2")],
    txHashes: [hash("3")],
    state: { ...state, name: "filled", depositId: "7", final: true },
  });
  expect(third).toEqual({
    ...common,
    requestId: refunded.requestId,
    payByMs: refunded.fillDeadlineMs,
    refundTxHashes: [hash("4")],
    state: {
      ...state,
      name: "failed",
      depositId: "8",
      failReason: "SLIPPAGE",
      refundFailReason: "MANUAL_REFUND_REQUIRED",
    },
  });
  expect(await reads.status(unknown)).toBeUndefined();
});

function encodeBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

function decodeBigints(_key: string, value: unknown): unknown {
  return typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
}
