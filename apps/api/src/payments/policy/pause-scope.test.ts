import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress } from "../../../../../test/support/terms.ts";
import { pauseAdmin } from "./pause-admin.ts";
import { pauseOf, pauseScopeText, readPauseScope } from "./pause-scope.ts";
import type { Pause } from "./policy.port.ts";
import { refusePaused } from "./refuse-paused.ts";
import { spentMemory } from "./spent-memory.ts";

const paused = (text: string): Pause => {
  const scope = readPauseScope(text);
  if (scope === undefined) throw new Error(`${text} is not a scope`);
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
  "%o is not a scope",
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

test("pauses a configured chain once, and reports what is not paused or not known", async () => {
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

function aCounted(id: string, amount = 5n) {
  const currency = someAddress();
  const call = { to: currency, data: "0x", value: amount } as const;
  return { id, chainId: 1, sender: someAddress(), nonce: 3, call, outflow: { currency, amount } };
}

test("the memory of a process counts each payment once per day, and adds only the increase if its value rises", () => {
  const memory = spentMemory();
  const [one, two, three, four] = ["1", "2", "3", "4"].map((id) => aCounted(id)) as [
    ...ReturnType<typeof aCounted>[],
  ];
  const add = (payment: ReturnType<typeof aCounted> | undefined, usd: bigint, day = 1) =>
    payment && memory.add({ payment, key: "solver", day, usd, maxUsd: 10n });
  expect([add(one, 6n), add(one, 6n), add(two, 5n), add(three, 3n)]).toEqual([6n, 6n, 11n, 9n]);
  expect([add(one, 7n), add(one, 6n)]).toEqual([10n, 10n]);
  expect(add(four, 10n, 2)).toBe(10n);
});

test("the memory counts a changed row as another payment, and releases only what a receipt shows unpaid", () => {
  const memory = spentMemory();
  const add = (payment: ReturnType<typeof aCounted>, usd: bigint) =>
    memory.add({ payment, key: "solver", day: 1, usd, maxUsd: 10n });
  const payment = aCounted("1");
  expect(add(payment, 6n)).toBe(6n);
  // A slot's id is used again, for another call.
  const changed = { ...payment, call: { ...payment.call, to: someAddress() } };
  expect(add(changed, 6n)).toBe(12n);
  for (const other of [changed, { ...payment, nonce: 4 }]) memory.noteUnpaid(other, true);
  memory.release(changed);
  memory.release(payment);
  expect(add(aCounted("2"), 5n)).toBe(11n);
  // A receipt that was reorged out proves nothing.
  memory.noteUnpaid(payment, true);
  memory.noteUnpaid(payment, false);
  memory.release(payment);
  expect(add(aCounted("2"), 5n)).toBe(11n);
  memory.noteUnpaid(payment, true);
  memory.release(payment);
  expect(add(aCounted("2"), 5n)).toBe(5n);
});
