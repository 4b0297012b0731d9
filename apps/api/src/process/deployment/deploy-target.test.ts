import { planChain, plannedAddress } from "@causeway/contracts/deploy";
import { getAddress, type Address } from "viem";
import { expect, test } from "vitest";
import { isMulticall3Planned } from "./deploy-target.ts";

const address = (byte: string): Address => getAddress(`0x${byte.repeat(20)}`);
const complete = planChain({
  owner: address("0a"),
  allocator: address("0b"),
  solver: address("0c"),
  multicall3: true,
});
const created = plannedAddress(complete, "Multicall3");

test.each([
  ["deploys Multicall3 if the entry has none", undefined, true],
  ["still verifies the Multicall3 that an earlier deployment wrote", created, true],
  ["recognizes it in lower case", created.toLowerCase(), true],
  ["leaves another Multicall3 alone", address("ca"), false],
])("%s", (_, multicall3, isPlanned) => {
  expect(isMulticall3Planned({ contracts: { multicall3 } }, complete)).toBe(isPlanned);
});
