import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import { pauseAdmin } from "./pause-admin.ts";
import { pauseOf, pauseScopeText, readPauseScope } from "./pause-scope.ts";
import type { Pause } from "./policy.port.ts";
import { refusePaused } from "./refuse-paused.ts";
import { spentMemory } from "./spent-memory.ts";

const paused = (text: string): Pause => {
  const scope = readPauseScope(text);
  if (scope === undefined) throw new Error(`${text} is no scope`);
  return { scope, pausedBy: "on call", reason: "drill", sinceMs: 1 };
};
const route = { originChainId: 1, destinationChainId: 2 };

test.for([
  ["all", true],
  ["chain:1", true],
  ["chain:2", true],
  ["chain:3", false],
  ["route:1-2", true],
  ["route:2-1", false],
] as const)("%s covers a payment from chain 1 to chain 2: %s", ([text, covers]) => {
  expect(pauseOf([paused(text)], route) !== undefined).toBe(covers);
  expect(pauseScopeText(paused(text).scope)).toBe(text);
});

test.for(["", "ALL", "chain:", "chain:base", "route:1>2", "route:1", "chain:1 "])(
  "%o is no scope",
  (text) => {
    expect(readPauseScope(text)).toBeUndefined();
  },
);

test("a paused route is refused with its scope, and without the operator's reason", () => {
  const pauses = () => [paused("chain:2")];
  expect(() => refusePaused({ pauses }, 3, 4)).not.toThrow();
  expect(() => refusePaused({}, 1, 2)).not.toThrow();
  let error: unknown;
  try {
    refusePaused({ pauses }, 1, 2);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE", facts: { data: { pausedScope: "chain:2" } } });
  expect((error as ServiceError).message).not.toContain("drill");
});

test("pauses a configured chain, once, and says what is not paused or not known", async () => {
  const stored = new Map<string, Pause>();
  const admin = pauseAdmin({
    store: {
      list: async () => [...stored.values()],
      add: async (pause) => {
        const text = pauseScopeText(pause.scope);
        stored.set(text, stored.get(text) ?? pause);
        return stored.get(text) ?? pause;
      },
      remove: async (scope) => stored.delete(pauseScopeText(scope)),
    },
    clock: { nowMs: () => 5 },
    events: { alarm: () => undefined },
    isKnownChain: (chainId) => chainId === 1,
  });
  await admin.pause("chain:1", "ann", "incident");
  expect(await admin.pause("chain:1", "bob", "again")).toMatchObject({ pausedBy: "ann", sinceMs: 5 });
  await expect(admin.pause("chain:2", "ann", "typo")).rejects.toThrow(
    "scope names chain 2, which is not configured",
  );
  await expect(admin.pause("base", "ann", "typo")).rejects.toThrow("scope must be all, chain:<chain id>");
  await expect(admin.resume("all")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await admin.resume("chain:1");
  expect(await admin.list()).toEqual([]);
});

test("the memory of a process counts each slot once per day, and gives back what did not pay", () => {
  const memory = spentMemory();
  const add = (slotId: string, usd: bigint, day = 1) =>
    memory.add({ slotId, chainId: 1, key: "solver", day, usd, maxUsd: 10n });
  expect([add("1", 6n), add("1", 6n), add("2", 5n), add("3", 4n)]).toEqual([6n, 6n, 11n, 10n]);
  memory.giveBack("1");
  expect(add("2", 5n)).toBe(9n);
  expect(add("4", 10n, 2)).toBe(10n);
});
