import type { Address } from "@solana/kit";
import { expect, test } from "vitest";
import { RpcFault } from "@causeway/families";
import { createArrivals } from "./arrivals.ts";
import { writeCursor } from "./cursor.ts";
import type { SolanaRpc } from "./rpc.ts";

const START = 10_000n;
const someAddress = "11111111111111111111111111111111" as Address;

/**
 * A cluster with `crowd` transactions, `slotsApart` slots apart, that name the vault but deposit nothing, and
 * an endpoint that answers about `answered` of them per reading.
 */
function clusterOf(crowd: number, answered: number, slotsApart = 1n) {
  const entries = Array.from({ length: crowd }, (_, index) => ({
    signature: `signature${String(index).padStart(5, "0")}`,
    slot: START + BigInt(index) * slotsApart,
    failed: false,
  }));
  const reported = new Set<string>();
  let requests = 0;
  const rpc: Partial<SolanaRpc> = {
    finalSlot: async () => {
      requests = 0;
      return await Promise.resolve(START + BigInt(crowd));
    },
    signaturesOf: async () => await Promise.resolve(entries.toReversed()),
    transaction: async (signature) => {
      if (++requests > answered)
        throw new RpcFault({ kind: "http", method: "getTransaction", reason: "HTTP status 429: " });
      reported.add(signature);
      const facts = {
        signature,
        slot: START,
        timestamp: 0n,
        feePayer: someAddress,
        signers: [],
        failed: true,
      };
      const none = { instructions: [], logs: [], lamports: new Map(), tokens: [] };
      return await Promise.resolve({ kind: "final", value: { ...facts, ...none } });
    },
  };
  const reader = createArrivals({
    rpc: rpc as SolanaRpc,
    reads: {
      block: async (slot) => await Promise.resolve({ number: slot, hash: `0x${slot}`, timestamp: slot * 2n }),
    },
    pdas: { program: someAddress, depository: someAddress, vault: someAddress },
    mints: async () => await Promise.resolve([]),
    onFault: () => undefined,
  });
  return { reader, reported };
}

test.each([
  ["a slot apart", 1n],
  ["in one slot", 0n],
])(
  "a burst %s beyond what the endpoint returns in one response delays a read but does not stop it",
  async (_, slotsApart) => {
    const { reader, reported } = clusterOf(120, 30, slotsApart);
    let cursor = writeCursor({ slot: START, signatures: [] });
    let faults = 0;
    for (let readings = 0; readings < 20 && reported.size < 120; readings++)
      try {
        ({ cursor } = await reader.arrivals(cursor));
      } catch (error) {
        expect(error).toBeInstanceOf(RpcFault);
        faults++;
      }
    expect(reported.size).toBe(120);
    expect(faults).toBeGreaterThan(0);
  },
);

test("reports the time of the oldest unread transaction while many are read", async () => {
  const { reader } = clusterOf(300, 1_000);
  const first = await reader.arrivals(writeCursor({ slot: START, signatures: [] }));
  expect(first.unreadSince).toBe((START + 199n) * 2n);
  const second = await reader.arrivals(first.cursor);
  expect(second.unreadSince).toBeUndefined();
  expect(second.upTo.number).toBe(START + 300n);
});
