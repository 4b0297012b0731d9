import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress } from "../../../../../test/support/terms.ts";
import { pauseAdmin } from "./pause-admin.ts";
import { pauseOf, pauseScopeText, readPauseScope } from "./pause-scope.ts";
import type { Pause } from "./policy.port.ts";
import { refusePaused } from "./refuse-paused.ts";
import { spentMemory } from "./spent-memory.ts";

const aPause = (text: string): Pause => {
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
  expect(pauseOf([aPause(text)], route) !== undefined).toBe(covers);
  expect(pauseScopeText(aPause(text).scope)).toBe(text);
});

test.for(["", "ALL", "chain:", "chain:base", "route:1>2", "route:1", "chain:1 "])(
  "%o is not a scope",
  (text) => {
    expect(readPauseScope(text)).toBeUndefined();
  },
);

test("refuses a paused route with its scope, and without the operator's reason", () => {
  const pauses = () => [aPause("chain:2")];
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

function aCountedPayment(id: string, amount = 5n) {
  const currency = someAddress();
  const call = { to: currency, data: "0x", value: amount } as const;
  return { id, chainId: 1, sender: someAddress(), nonce: 3, call, outflow: { currency, amount } };
}

test("counts each payment once per day in memory, and only the increase if its value rises", () => {
  const memory = spentMemory();
  const [first, second, third, fourth] = ["1", "2", "3", "4"].map((id) => aCountedPayment(id)) as [
    ...ReturnType<typeof aCountedPayment>[],
  ];
  const add = (payment: ReturnType<typeof aCountedPayment> | undefined, usd: bigint, day = 1) =>
    payment && memory.add({ payment, key: "solver", day, usd, maxUsd: 10n });
  expect([add(first, 6n), add(first, 6n), add(second, 5n), add(third, 3n)]).toEqual([6n, 6n, 11n, 9n]);
  expect([add(first, 7n), add(first, 6n)]).toEqual([10n, 10n]);
  expect(add(fourth, 10n, 2)).toBe(10n);
});

test("counts a changed row as another payment, and releases only payments that a receipt proves unpaid", () => {
  const memory = spentMemory();
  const add = (payment: ReturnType<typeof aCountedPayment>, usd: bigint) =>
    memory.add({ payment, key: "solver", day: 1, usd, maxUsd: 10n });
  const payment = aCountedPayment("1");
  expect(add(payment, 6n)).toBe(6n);
  // The same slot id, with another call.
  const changed = { ...payment, call: { ...payment.call, to: someAddress() } };
  expect(add(changed, 6n)).toBe(12n);
  for (const unpaid of [changed, { ...payment, nonce: 4 }]) memory.noteUnpaid(unpaid, true);
  memory.release(changed);
  memory.release(payment);
  expect(add(aCountedPayment("2"), 5n)).toBe(11n);
  // A receipt that was reorged out proves nothing.
  memory.noteUnpaid(payment, true);
  memory.noteUnpaid(payment, false);
  memory.release(payment);
  expect(add(aCountedPayment("2"), 5n)).toBe(11n);
  memory.noteUnpaid(payment, true);
  memory.release(payment);
  expect(add(aCountedPayment("2"), 5n)).toBe(5n);
});
