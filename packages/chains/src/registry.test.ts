import { expect, test } from "vitest";
import type { VmType } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { evidenceSources } from "./registry.ts";

const createChain = (
  name: string,
  vmType: VmType,
  fields: Partial<ConfiguredChain> = {},
): ConfiguredChain => ({
  name,
  vmType,
  rpcUrls: ["http://127.0.0.1:1"],
  rpcQuorum: 1,
  depository: undefined,
  additionalDepositories: [],
  hubChainId: "1",
  evm: {
    chainId: 1,
    finality: { kind: "tag" },
    blockTimeSeconds: 12,
    fillContracts: [],
    isZksyncStack: false,
  },
  ...fields,
});

test("creates a source for each configured chain, by name", async () => {
  const sources = await evidenceSources([
    createChain("ethereum", "ethereum-vm"),
    createChain("base", "ethereum-vm"),
  ]);
  expect([...sources.keys()]).toEqual(["ethereum", "base"]);
  for (const [name, source] of sources) {
    expect(source.chain.name).toBe(name);
    await source.close();
  }
});

test("refuses duplicate names, facts of another family, and a quorum of more endpoints than configured, at startup", async () => {
  await expect(
    evidenceSources([createChain("x", "ethereum-vm"), createChain("x", "ethereum-vm")]),
  ).rejects.toThrow(/more than once/);
  await expect(evidenceSources([createChain("x", "ethereum-vm", { rpcQuorum: 2 })])).rejects.toThrow(
    RangeError,
  );
  await expect(evidenceSources([createChain("x", "ethereum-vm", { evm: undefined })])).rejects.toThrow(
    RangeError,
  );
});
