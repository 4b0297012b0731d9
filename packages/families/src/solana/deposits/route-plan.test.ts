import { bytesOf, type Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { readPlan } from "./route-plan.ts";
import { readSwap } from "./swap-instruction.ts";

/** Steps in hex: tag and fields; percent and indices follow each. */
function read(...pools: readonly string[]) {
  const steps = pools.map((pool) => `${pool}640001`).join("");
  const bytes = bytesOf(`0x${pools.length.toString(16).padStart(2, "0")}000000${steps}`);
  const end = readPlan(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0);
  return end === bytes.length ? "whole" : end;
}

// Published examples of the data; the first is of the transaction
// 2aBMaQvN8StxvedeExc8sGWfBUTC1co9ZnUXE7UE5UDboFWbrxrXvV7bXeWRSY6hhpU1RuNSVTHVFmoE6sfdcDDd.
test.each<[pool: string, data: Hex, amounts: { readonly maxInput: bigint; readonly minOutput: bigint }]>([
  [
    "Raydium",
    "0xe517cb977ae3ad2a010000000764000100e87648170000007c2b09714f0100001e0055",
    { maxInput: 100_000_000_000n, minOutput: 1_436_388_339_112n },
  ],
  [
    "WhirlpoolSwapV2",
    "0xe517cb977ae3ad2a010000002f0000640001b2000000000000002003000000000000640014",
    { maxInput: 178n, minOutput: 792n },
  ],
])("reads the amounts of a route through %s", (_, data, amounts) => {
  expect(readSwap({ programId: "", keys: [], data })).toMatchObject(amounts);
});

test("reads each kind of pool with the size of its fields", () => {
  expect(read("07", "1101", "1d".padEnd(34, "0"), "2b".padEnd(22, "0"), "47".padEnd(6, "0"))).toBe("whole");
  expect(read("57".padEnd(20, "0"), "5900", "6801", "6c")).toBe("whole");
});

test("reads lists of further accounts", () => {
  expect(read("2f0000", "2f01010200000006010702", "4b00000000", "4b010000000601")).toBe("whole");
  expect(read("67000103000000060107010801")).toBe("whole");
});

test("refuses an option that is neither absent nor present, and a tag beyond the table", () => {
  expect(read("2f0002")).toEqual({ refusal: "a route through an unknown kind of pool, tag 47" });
  expect(read("07", "6d")).toEqual({ refusal: "a route through an unknown kind of pool, tag 109" });
});

test("never ends within the data if a list claims more than there is", () => {
  expect(read("4bffffffff")).toBe(4 + 1 + 4 + 2 * 0xffff_ffff + 3);
  expect(() => read("4bffffffff", "07")).toThrow(RangeError);
});
