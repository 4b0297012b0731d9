import { inconsistent, RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import { expect, test } from "vitest";
import type { NonEvmArrivals } from "./non-evm-connection.ts";
import type { Verdict } from "./non-evm-deposit-quorum.ts";
import { createSecondPass } from "./non-evm-second-pass.ts";

const networkFault = new RpcFault({ kind: "network", method: "call", reason: "refused" });

function aDeposit(block: number, fields: Partial<DepositFact> = {}): DepositFact {
  return {
    txHash: `0x${block.toString(16).padStart(64, "0")}`,
    ordinal: 0,
    logIndex: 0,
    blockNumber: BigInt(block),
    blockHash: "0x0b",
    depositor: "0x0d",
    sender: "0x0e",
    currency: "0x0c",
    amount: 100n,
    id: "0x1d",
    timestamp: BigInt(block),
    ...fields,
  };
}

const deposit = aDeposit(7);

function readingTo(block: number, deposits: readonly DepositFact[] = []): NonEvmArrivals {
  const upTo = { number: BigInt(block), hash: "0x0b", timestamp: BigInt(block) } as const;
  return { deposits, cursor: String(block), upTo };
}

/** A lead (endpoint 0) that hides everything, and other endpoints. */
function createPass(count = 3) {
  let nowMs = 0;
  const EPOCH_MS = 1_000_000;
  const world = {
    /** What each reading of another endpoint returns. */
    readAgain: (_index: number, _cursor: string): NonEvmArrivals => readingTo(1_000),
    confirm: async (_deposits: readonly DepositFact[]): Promise<boolean | "refuted"> =>
      await Promise.resolve(true),
    /** What a quorum shows, depending on what one endpoint shows. */
    shown: (deposits: readonly DepositFact[]) => deposits,
    reached: 1_000_000n,
    /** The time of the lead's newest block. */
    leadTime: 1_000n,
    /** The endpoint indexes and cursors of second readings. */
    readings: [] as [number, string][],
    faults: [] as number[],
    hiddenLeads: [] as number[],
  };
  const connections = Array.from({ length: count }, (_, index) => ({
    arrivals: async (cursor: string | undefined) => {
      world.readings.push([index, cursor ?? ""]);
      return await Promise.resolve(world.readAgain(index, cursor ?? ""));
    },
  }));
  const pass = createSecondPass(connections, {
    order: { noteFault: (index) => void world.faults.push(index) },
    now: () => nowMs,
    epochMs: () => EPOCH_MS + nowMs,
    depositsKey: (deposits) => deposits.map(({ txHash, amount }) => `${txHash} ${amount}`).join("\n"),
    confirm: async (_, deposits): Promise<Verdict> => {
      const isShown = await world.confirm(deposits);
      if (isShown === true) return { deposits: world.shown(deposits) };
      const isRefuted = isShown === "refuted";
      return { waiting: deposits, claim: { sinceMs: 0, dueMs: 0, reportedAtMs: 0, isRefuted } };
    },
    hasReached: ({ number }) => number <= world.reached,
    onHidden: (index) => void world.hiddenLeads.push(index),
  });
  const read = async (
    cursor: number,
    to: number,
    shown: readonly DepositFact[] = [],
    listed: readonly DepositFact[] = shown,
    checked?: string,
  ) => {
    const upTo = { number: BigInt(to), hash: "0x0b", timestamp: world.leadTime } as const;
    const found = pass.complete(0, { cursor: String(cursor), checked }, listed, {
      ...readingTo(to, shown),
      upTo,
    });
    await new Promise((resolve) => void setImmediate(resolve));
    return found;
  };
  return { world, read, forward: (ms: number) => void (nowMs += ms) };
}

test("a hidden deposit is returned until it is stored, however often storing fails", async () => {
  const { world, read, forward } = createPass();
  world.readAgain = (_, cursor) => readingTo(1_000, cursor === "1" ? [deposit] : []);
  await read(1, 100);
  forward(60_000);
  await read(1, 100);
  for (let failures = 0; failures < 5; failures++) {
    expect((await read(1, 100)).deposits).toEqual([deposit]);
    forward(60_000);
  }
  // From here on, every reading is stored.
  let cursor = 100;
  const returned: number[] = [];
  for (let polls = 0; polls < 20; polls++) {
    returned.push((await read(cursor, cursor + 10)).deposits.length);
    cursor += 10;
    forward(10_000);
  }
  // A failover to a database without the newest minute loses nothing.
  expect(returned.slice(0, 7)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  expect(returned.slice(-5)).toEqual([0, 0, 0, 0, 0]);
});

test("a deposit that the lead showed in a reading that was not stored, and then hides, is found", async () => {
  const { world, read, forward } = createPass();
  world.readAgain = (_, cursor) => readingTo(1_000, cursor === "1" ? [deposit] : []);
  await read(1, 100, [deposit]);
  forward(60_000);
  await read(1, 100);
  expect((await read(1, 100)).deposits).toEqual([deposit]);
  expect(world.hiddenLeads).toEqual([0]);
});

test("the lead is not reported for what it shows or has shown", async () => {
  // It is shown again, or another endpoint shows another amount than a quorum.
  for (const again of [deposit, aDeposit(7, { amount: 1n })]) {
    const { world, read, forward } = createPass();
    world.readAgain = () => readingTo(1_000, [again]);
    world.shown = () => [deposit];
    await read(1, 100, [deposit]);
    forward(60_000);
    await read(100, 100);
    expect((await read(100, 100)).deposits).toEqual([]);
    // The lead's deposit waits for a quorum, so the cursor stays.
    const waiting = createPass();
    waiting.world.readAgain = () => readingTo(1_000, [again]);
    waiting.world.shown = () => [deposit];
    for (let polls = 0; polls < 3; polls++) {
      await waiting.read(1, 1, [], [deposit]);
      waiting.forward(60_000);
    }
    expect([...world.hiddenLeads, ...waiting.world.hiddenLeads]).toEqual([]);
  }
});

test("a hidden deposit without a quorum waits for hours, also past its range, and is a fault once a minute", async () => {
  const { world, read, forward } = createPass();
  const late: RpcFault[] = [];
  world.readAgain = (index, cursor) => {
    if (index === 2) throw networkFault;
    return readingTo(1_000, cursor === "1" ? [deposit] : []);
  };
  world.confirm = async () => await Promise.resolve(false);
  for (let polls = 0; polls < 720; polls++) {
    const found = await read(1, 100);
    expect(found.deposits).toEqual([]);
    if (found.fault !== undefined) late.push(found.fault);
    forward(10_000);
  }
  expect(world.readings.at(-1)?.[1]).toBe("1000");
  expect(late.length).toBeGreaterThan(110);
  expect(late.length).toBeLessThanOrEqual(120);
  expect(late[0]?.message).toContain(deposit.txHash);
  world.confirm = async () => await Promise.resolve(true);
  forward(60_000);
  await read(1, 100);
  expect((await read(1, 100)).deposits).toEqual([deposit]);
});

test("a deposit that a quorum of other endpoints does not have is dropped after ten tries", async () => {
  const { world, read, forward } = createPass();
  let tries = 0;
  world.readAgain = (_, cursor) => readingTo(1_000, cursor === "1" ? [deposit] : []);
  world.confirm = async () => {
    tries++;
    return await Promise.resolve("refuted");
  };
  for (let polls = 0; polls < 180; polls++) {
    expect((await read(1, 100)).fault).toBeUndefined();
    forward(10_000);
  }
  expect(tries).toBe(10);
});

test("an endpoint that invents deposits evicts only its own, and each loss is a fault", async () => {
  const { world, read, forward } = createPass();
  let invented = 100;
  const hidden = [deposit];
  world.readAgain = (index) => {
    const deposits = Array.from({ length: index === 1 ? 200 : 0 }, () => aDeposit(invented++));
    return readingTo(1_000, index === 1 ? deposits : hidden.splice(0));
  };
  world.confirm = async () => await Promise.resolve(false);
  const faults: string[] = [];
  for (let polls = 0; polls < 60; polls++) {
    const { fault } = await read(1, 100);
    if (fault !== undefined) faults.push(fault.message);
    forward(10_000);
  }
  expect(faults.some((text) => text.includes(aDeposit(299).txHash) && text.includes("reported"))).toBe(true);
  world.confirm = async ([first]) => await Promise.resolve(first?.txHash === deposit.txHash);
  forward(60_000);
  await read(1, 100);
  expect((await read(1, 100)).deposits).toEqual([deposit]);
});

test("confirming what another endpoint invents does not delay the lead, and requests 8 at once", async () => {
  const { world, read, forward } = createPass();
  const never = Promise.withResolvers<boolean>();
  let confirmations = 0;
  world.readAgain = () =>
    readingTo(
      1_000,
      Array.from({ length: 200 }, (_, index) => aDeposit(100 + index)),
    );
  world.confirm = async () => {
    confirmations++;
    return await never.promise;
  };
  await read(1, 100);
  forward(60_000);
  await read(1, 100);
  expect((await read(1, 110, [deposit])).deposits).toEqual([deposit]);
  expect(confirmations).toBe(8);
});

test("a second reading never begins past what a quorum has reached", async () => {
  const { world, read, forward } = createPass();
  world.reached = 5_000n;
  world.readAgain = (index, cursor) => {
    if (Number(cursor) > 5_000) throw inconsistent("getSlot", "the node is behind");
    return index === 1 ? readingTo(9_000_000) : readingTo(Number(cursor) + 10);
  };
  for (let polls = 0; polls < 60; polls++) {
    await read(1, 100);
    forward(10_000);
  }
  expect(world.readings.map(([, cursor]) => Number(cursor)).every((cursor) => cursor <= 5_000)).toBe(true);
  expect(Number(world.readings.at(-1)?.[1])).toBeGreaterThan(1);
  expect(world.faults).toEqual([]);
});

test("an endpoint that is behind a second reading is not at fault, and one that is down is", async () => {
  const { world, read, forward } = createPass();
  world.readAgain = (index) => {
    throw index === 1 ? inconsistent("getSlot", "the node is behind") : networkFault;
  };
  for (let polls = 0; polls < 13; polls++) {
    await read(1, 100);
    forward(10_000);
  }
  expect(world.faults).toEqual([2]);
});

test("a restart begins before every deposit that waits or is not stored, and finds it again", async () => {
  const before = createPass();
  before.world.readAgain = (_, cursor) =>
    readingTo(Number(cursor) + 100, cursor === "100" ? [aDeposit(107)] : []);
  before.world.confirm = async () => await Promise.resolve(false);
  const checked: (string | undefined)[] = [];
  for (let cursor = 0; cursor < 800; cursor += 100) {
    checked.push((await before.read(cursor, cursor + 100)).checked);
    before.forward(60_000);
  }
  // Second readings are two behind the lead, and stay where the waiting deposit was found.
  expect(checked.slice(0, 4)).toEqual(["0", "0", "100", "100"]);
  expect(checked.at(-1)).toBe("100");

  const after = createPass();
  const [waiting, stored] = [aDeposit(107), aDeposit(250)];
  after.world.readAgain = (_, cursor) => {
    if (cursor === "100") return readingTo(200, [waiting]);
    return readingTo(Number(cursor) + 100, cursor === "200" ? [stored] : []);
  };
  const found: DepositFact[] = [];
  let last: string | undefined;
  for (let cursor = 800; cursor < 2_500; cursor += 100) {
    const read = await after.read(cursor, cursor + 100, [], [], checked.at(-1));
    found.push(...read.deposits);
    last = read.checked;
    after.forward(60_000);
  }
  expect([...new Set(found)]).toEqual([waiting, stored]);
  expect(after.world.readings.slice(0, 3).map(([, cursor]) => cursor)).toEqual(["100", "200", "300"]);
  expect(last).not.toBe("100");
  // The lead before the restart may have shown them.
  expect(after.world.hiddenLeads).toEqual([]);
});

test("a range from before a restart that no endpoint can read is given up with a fault", async () => {
  const { world, read, forward } = createPass();
  const faults: RpcFault[] = [];
  world.readAgain = (_, cursor) => {
    if (cursor === "1") throw networkFault;
    return readingTo(Number(cursor) + 100);
  };
  let last: string | undefined;
  for (let cursor = 800; cursor < 2_500; cursor += 100) {
    const found = await read(cursor, cursor + 100, [], [], "1");
    if (found.fault !== undefined) faults.push(found.fault);
    last = found.checked;
    forward(60_000);
  }
  expect(faults).toMatchObject([{ kind: "inconsistent" }]);
  expect(Number(last)).toBeGreaterThanOrEqual(800);
});

test("after a range was given up, a reading that fails later is repeated, not what follows the restart", async () => {
  const { world, read, forward } = createPass();
  world.leadTime = 1_000_000_000n;
  let isDown = true;
  world.readAgain = (_, cursor) => {
    if (isDown) throw networkFault;
    return readingTo(Number(cursor) + 100);
  };
  let cursor = 800;
  const minutes = async (count: number): Promise<void> => {
    for (let minute = 0; minute < count; minute++) {
      await read(cursor, cursor + 100, [], [], "1");
      cursor += 100;
      forward(60_000);
    }
  };
  await minutes(13);
  isDown = false;
  await minutes(5);
  isDown = true;
  await minutes(3);
  const cursors = world.readings.map(([, from]) => Number(from));
  expect(cursors.at(-1)).toBeGreaterThan(1_000);
  expect(cursors.slice(-8)).toEqual(cursors.slice(-8).toSorted((a, b) => a - b));
});

test("a lead that names a future time during a restart is named once it hides a deposit", async () => {
  const { world, read, forward } = createPass();
  world.leadTime = 1_000_000_000n;
  world.readAgain = (_, cursor) => {
    const to = Number(cursor) + 1_000;
    return readingTo(to, cursor === "8001" ? [aDeposit(8_500)] : []);
  };
  for (let cursor = 800; cursor < 2_500; cursor += 100) {
    await read(cursor, cursor + 100, [], [], "1");
    forward(60_000);
  }
  expect(world.hiddenLeads).toEqual([0]);
});

test("a deposit without a quorum holds what a restart reads again for a day, and hides no later one", async () => {
  const { world, read, forward } = createPass(2);
  const later = aDeposit(150_050);
  world.readAgain = (_, cursor) => {
    const shown = cursor === "100" ? [aDeposit(107)] : cursor === "150000" ? [later] : [];
    return readingTo(Number(cursor) + 100, shown);
  };
  world.confirm = async () => await Promise.resolve(false);
  const checked: string[] = [];
  const faults: string[] = [];
  for (let minute = 0; minute < 1_510; minute++) {
    const found = await read(minute * 100, (minute + 1) * 100);
    checked.push(found.checked ?? "");
    if (found.fault !== undefined) faults.push(found.fault.message);
    forward(60_000);
  }
  expect(checked[1_400]).toBe("100");
  expect(Number(checked[1_460])).toBeGreaterThan(140_000);
  expect(checked.at(-1)).toBe("150000");
  // Each of them is named, and the fault states which one a restart forgets.
  const [old, recent] = [aDeposit(107).txHash, later.txHash];
  expect(faults.slice(-4).filter((text) => text.includes(old))).toHaveLength(2);
  expect(faults.slice(-4).filter((text) => text.includes(recent))).toHaveLength(2);
  expect(faults.some((text) => text.includes(old) && text.includes("counts only if it is reported"))).toBe(
    true,
  );
  expect(faults.some((text) => text.includes(recent) && text.includes("reported"))).toBe(false);
});
