import type { RecipientStanding, TokenBehavior } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import { createTokenQuirks } from "./token-quirks.adapter.ts";

const CHAIN = 1;
const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const token = address("c1");
const PLAIN: TokenBehavior = { transfers: "exact", resetsApproval: false };
const CHARGES: TokenBehavior = { transfers: "charges", resetsApproval: false };

function world({ maxKept = 100 } = {}) {
  const probes: string[] = [];
  const faults: unknown[] = [];
  const node = {
    behavior: PLAIN as TokenBehavior,
    standing: "open" as RecipientStanding,
    fault: undefined as Error | undefined,
  };
  const respond = async <T>(what: string, answer: T): Promise<T> => {
    probes.push(what);
    await Promise.resolve();
    if (node.fault !== undefined) throw node.fault;
    return answer;
  };
  const time = { nowMs: 1_000_000 };
  const quirks = createTokenQuirks({
    probes: new Map([
      [
        CHAIN,
        {
          behavior: async (probed) => await respond(probed, node.behavior),
          recipient: async (probed, recipient) => await respond(`${probed}>${recipient}`, node.standing),
        },
      ],
    ]),
    clock: { nowMs: () => time.nowMs },
    onFault: (error) => faults.push(error),
    maxKept,
  });
  return { quirks, probes: probes, faults, node, time };
}

test("concurrent callers share one read, and a known result is returned immediately", async () => {
  const { quirks, probes: asked } = world();
  const first = await Promise.all([1, 2, 3].map(async () => await quirks.behavior(CHAIN, token)));
  expect(first).toEqual([PLAIN, PLAIN, PLAIN]);
  expect(quirks.behavior(CHAIN, token)).toEqual(PLAIN);
  expect(asked).toEqual([token]);
});

test("an expired answer is returned once more while the token is probed again", async () => {
  const { quirks, probes: asked, node, time } = world();
  await quirks.behavior(CHAIN, token);
  node.behavior = CHARGES;
  time.nowMs += 6 * 3_600_000 - 1;
  expect(quirks.behavior(CHAIN, token)).toEqual(PLAIN);
  expect(asked).toHaveLength(1);
  time.nowMs += 1;
  expect(quirks.behavior(CHAIN, token)).toEqual(PLAIN);
  await expect.poll(() => quirks.behavior(CHAIN, token)).toEqual(CHARGES);
  expect(asked).toHaveLength(2);
});

test("a node that does not answer leaves a token unknown for a short time", async () => {
  const { quirks, faults, node, time } = world();
  node.fault = new Error("gone");
  expect(await quirks.behavior(CHAIN, token)).toEqual({ transfers: undefined, resetsApproval: undefined });
  expect(await quirks.recipient(CHAIN, token, address("a1"))).toBeUndefined();
  expect(faults).toEqual([node.fault, node.fault]);
  node.fault = undefined;
  time.nowMs += 60_000;
  void quirks.behavior(CHAIN, token);
  void quirks.recipient(CHAIN, token, address("a1"));
  await expect.poll(() => quirks.behavior(CHAIN, token)).toEqual(PLAIN);
  await expect.poll(() => quirks.recipient(CHAIN, token, address("a1"))).toBe("open");
});

test("probes each recipient and evicts the least recently used first", async () => {
  const { quirks, probes: asked } = world({ maxKept: 2 });
  for (const byte of ["a1", "a2", "a3"]) await quirks.recipient(CHAIN, token, address(byte));
  expect(quirks.recipient(CHAIN, token, address("a3"))).toBe("open");
  expect(asked).toHaveLength(3);
  await quirks.recipient(CHAIN, token, address("a1"));
  expect(asked).toHaveLength(4);
});

test("returns no result on a chain without pools", () => {
  const { quirks } = world();
  expect(quirks.behavior(2, token)).toEqual({ transfers: undefined, resetsApproval: undefined });
  expect(quirks.recipient(2, token, address("a1"))).toBeUndefined();
});
