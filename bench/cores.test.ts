import { expect, test } from "vitest";
import { coresIn } from "./cores.ts";

test("a list of cores is read with its ranges", () => {
  expect(coresIn("0-3,8")).toEqual([0, 1, 2, 3, 8]);
  expect(coresIn("1")).toEqual([1]);
  expect(coresIn("")).toEqual([]);
});
