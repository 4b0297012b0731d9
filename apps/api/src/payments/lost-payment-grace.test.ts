import { expect, test } from "vitest";
import type { RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { JournalEntry } from "./payment-journal.port.ts";
import { mayBeRestored } from "./lost-payment-grace.ts";

const [HELD_MS, AT_MS] = [100_000_000, 5_000_000];
const [ORIGIN, DESTINATION, REMOVED] = [1, 2, 3];

/**
 * Whether the deposit of a lost fill may still be restored.
 * @param scannedMs time of the newest block that was read, by chain
 */
async function mayDepositBeRestored(
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
  return await mayBeRestored(services, entry, record, HELD_MS);
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
])(
  "whether the deposit of a lost payment may still be restored $name: $expected",
  async ({ afterMs, scanned, expected }) => {
    expect(await mayDepositBeRestored(afterMs, scanned)).toBe(expected);
  },
);

test("does not wait for the blocks of a chain that was removed", async () => {
  expect(await mayDepositBeRestored(600_000, { [REMOVED]: 1_000 }, REMOVED)).toBe(false);
});

test("counts from the payment if a restored backup holds an earlier time for the lane", async () => {
  const atMs = HELD_MS + 3_600_000;
  expect(await mayDepositBeRestored(3_700_000, {}, ORIGIN, atMs)).toBe(true);
  expect(await mayDepositBeRestored(4_200_000, {}, ORIGIN, atMs)).toBe(false);
});
