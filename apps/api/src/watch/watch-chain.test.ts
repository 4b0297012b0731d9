import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Head } from "@causeway/chains";
import { RpcFault } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { EventName } from "../db/events.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { watchChain } from "./watch-chain.job.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A chain whose node does not answer, and a watcher that always acquires leadership. */
function aDeadNode() {
  const events: EventName[] = [];
  const listeners = new Set<(head: Head) => void>();
  let attempts = 0;
  const services = {
    signer: { address: "0x01" },
    enginePolicy: {},
    events: {
      happened: (event: EventName) => events.push(event),
      fault: (event: EventName) => events.push(event),
    },
  } as unknown as WorkerServices;
  const connected = {
    chain: { id: 1, name: "base" },
    connection: {
      heads: {
        onHead: (listener: (head: Head) => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      reader: {
        nonce: async () => {
          attempts += 1;
          return await Promise.reject(new RpcFault({ kind: "network", method: "x", reason: "down" }));
        },
      },
    },
  } as unknown as ConnectedChain;
  const watcher = watchChain(services, connected, async () => ({
    lost: new AbortController().signal,
    reportWork: () => undefined,
    release: async () => undefined,
  }));
  return {
    watcher,
    events,
    tries: () => attempts,
    announceHead: () => {
      for (const listener of listeners) listener({} as Head);
    },
  };
}

test("retries at growing pauses of at most 15 seconds to lead a chain whose node is unreachable, without claiming to lead it", async () => {
  const { watcher, events, tries } = aDeadNode();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toBeGreaterThanOrEqual(6);
  expect(tries()).toBeLessThanOrEqual(9);
  const before = tries();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(tries()).toBe(before + 1);
  expect(new Set(events)).toEqual(new Set(["chain_fault"]));
  await watcher.close();
});

test("retries immediately when a new block shows that the node is back", async () => {
  const { watcher, tries, announceHead } = aDeadNode();
  await vi.advanceTimersByTimeAsync(60_000);
  const before = tries();
  await vi.advanceTimersByTimeAsync(1_000);
  announceHead();
  await vi.advanceTimersByTimeAsync(1);
  expect(tries()).toBe(before + 1);
  await watcher.close();
});

test("stops immediately while it waits", async () => {
  const { watcher } = aDeadNode();
  await vi.advanceTimersByTimeAsync(60_000);
  await watcher.close();
});
