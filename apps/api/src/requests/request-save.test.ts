import { quotedState } from "@causeway/domain";
import { expect, test } from "vitest";
import { someTerms } from "../../../../test/support/terms.ts";
import type { DriverRow, Sql } from "../db/pool.postgres.ts";
import { nameMemory } from "./history/name-memory.ts";
import { saveRequests } from "./request-save.postgres.ts";

/** A connection that answers all statements at once, when `answer` is called. */
function aConnection() {
  const sent: string[] = [];
  const { promise, resolve } = Promise.withResolvers<DriverRow[]>();
  const sql = {
    query: async ({ name }: { name: string }) => {
      sent.push(name);
      return await promise;
    },
  } as unknown as Sql;
  return { sql, sent, answer: () => resolve([]) };
}

const terms = someTerms({});
const { requestId } = terms;
const state = { ...quotedState("bridge"), name: "fillable", depositId: "4" } as const;
const names = [
  { chainId: terms.origin.chainId, address: terms.origin.currency },
  { chainId: terms.destination.chainId, address: terms.destination.currency },
].map((currency) => ({ ...currency, asset: "eth", symbol: "ETH", wrapsNative: false }));

test("lists a request that enters history without waiting for an answer, once its names are known", async () => {
  const memory = nameMemory();
  const first = aConnection();
  const firstSave = saveRequests(first.sql, [{ requestId, state, enters: terms }], 1, memory);
  expect(first.sent).toEqual(["request_save_entering"]);
  first.answer();
  await firstSave;
  memory.keep(names);
  const second = aConnection();
  const secondSave = saveRequests(second.sql, [{ requestId, state, enters: terms }], 1, memory);
  expect(second.sent).toEqual(["request_save_entering", "history_insert"]);
  second.answer();
  await secondSave;
  expect(second.sent).toHaveLength(2);
});

test("does not write history for a change that lists nothing", async () => {
  const memory = nameMemory();
  memory.keep(names);
  const { sql, sent, answer } = aConnection();
  const saved = saveRequests(sql, [{ requestId, state }], 1, memory);
  answer();
  await saved;
  expect(sent).toEqual(["request_save_state"]);
});

test.for(["inTxHashes", "txHashes", "refundTxHashes"] as const)(
  "a change of %s saves hashes",
  async (hashes) => {
    const { sql, sent, answer } = aConnection();
    const saved = saveRequests(
      sql,
      [
        { requestId, state },
        { requestId: terms.orderId as string as typeof requestId, state, [hashes]: [] },
      ],
      1,
    );
    answer();
    await saved;
    expect(sent).toEqual(["request_save"]);
  },
);

test("an internal change saves only the state, unless it has hashes", async () => {
  const { sql, sent, answer } = aConnection();
  const otherRequestId = terms.orderId as string as typeof requestId;
  const internal = { state, isInternal: true } as const;
  const saved = saveRequests(
    sql,
    [
      { requestId, ...internal },
      { requestId: otherRequestId, ...internal, txHashes: [] },
    ],
    1,
  );
  answer();
  await saved;
  expect(sent).toEqual(["request_save_internal", "request_save"]);
});
