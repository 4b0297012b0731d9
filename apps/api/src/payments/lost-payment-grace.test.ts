import { expect, test } from "vitest";
import type { RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { JournalEntry } from "./payment-journal.port.ts";
import { mayComeBack } from "./lost-payment-grace.ts";

const [HELD_MS, AT_MS] = [100_000_000, 5_000_000];
const [ORIGIN, DESTINATION, REMOVED] = [1, 2, 3];

/**
 * Whether a fill's deposit may come back.
 * @param scannedMs time of the newest block that was read, by chain
 */
async function mayDepositComeBack(
  afterMs: number,
  scannedMs: Readonly<Record<number, number>>,
  originChainId = ORIGIN,
  atMs = AT_MS,
): Promise<boolean> {
  const services = {
    clock: { nowMs: () => HELD_MS + afterMs },
    reads: {
      scannedBlocks: async () =>
        new Map(
          Object.entries(scannedMs).map(([chainId, ms]) => [
            Number(chainId),
            { number: 1n, timestamp: BigInt(ms / 1000) },
          ]),
        ),
    },
    chains: { profile: (id: number) => (id === REMOVED ? undefined : { id }) },
  } as unknown as WorkerServices;
  const entry = { plan: { chainId: DESTINATION }, atMs } as unknown as JournalEntry;
  const record = { terms: { origin: { chainId: originChainId } } } as unknown as RequestRecord;
  return await mayComeBack(services, entry, record, HELD_MS);
}

test.each([
  { name: "within ten minutes after the lane was held", afterMs: 599_999, scanned: {}, expected: true },
  { name: "after ten minutes", afterMs: 600_000, scanned: {}, expected: false },
  {
    name: "while blocks of the origin before the loss are not read",
    afterMs: 9_000_000,
    scanned: { [ORIGIN]: HELD_MS - 1_000, [DESTINATION]: HELD_MS },
    expected: true,
  },
  {
    name: "after all blocks before the loss were read",
    afterMs: 600_000,
    scanned: { [ORIGIN]: HELD_MS, [DESTINATION]: HELD_MS },
    expected: false,
  },
])("expects the deposit of a lost payment: $name", async ({ afterMs, scanned, expected }) => {
  expect(await mayDepositComeBack(afterMs, scanned)).toBe(expected);
});

test("does not wait for the blocks of a chain that was removed", async () => {
  expect(await mayDepositComeBack(600_000, { [REMOVED]: 1_000 }, REMOVED)).toBe(false);
});

test("counts from the payment if a restored backup holds an earlier time for the lane", async () => {
  const atMs = HELD_MS + 3_600_000;
  expect(await mayDepositComeBack(3_700_000, {}, ORIGIN, atMs)).toBe(true);
  expect(await mayDepositComeBack(4_200_000, {}, ORIGIN, atMs)).toBe(false);
});
