import type { Hex32, OrderId } from "@causeway/domain";
import { expect, test } from "vitest";
import { readSweepData, writeProgramSweep, writeSweepData } from "./sweep-data.ts";

const orderId = `0x${"ab".repeat(32)}` as OrderId;
const id: Hex32 = `0x${"cd".repeat(32)}`;
const depositor = `0x${"ef".repeat(32)}` as const;

test.each([
  [true, 0n],
  [false, 1n],
  [true, 2n ** 64n - 1n],
])("reads back the data of a program sweep: strict %s, excess %s", (strict, excess) => {
  const sweep = { orderId, key: { id, depositor, strict }, excess };
  expect(readSweepData(writeProgramSweep(sweep))).toEqual(sweep);
});

test("reads back the data of a sweep by key, in the format of earlier versions", () => {
  const data = writeSweepData({ orderId, keyId: id });
  expect(data).toBe(`0x${"ab".repeat(32)}${"cd".repeat(32)}`);
  expect(readSweepData(data)).toEqual({ orderId, key: { id, depositor: "0x", strict: false }, excess: 0n });
});

test("refuses data that is not of a sweep, and an excess that is not a uint64", () => {
  const key = { id, depositor, strict: true };
  for (const excess of [-1n, 2n ** 64n])
    expect(() => writeProgramSweep({ orderId, key, excess })).toThrow("is not a uint64");
  const whole = writeProgramSweep({ orderId, key, excess: 1n });
  for (const data of ["0x", orderId, `${whole}00`, whole.slice(0, -2)] as const)
    expect(() => readSweepData(data as `0x${string}`)).toThrow("not the data of a sweep");
});
