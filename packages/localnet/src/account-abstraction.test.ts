import { createPublicClient, http, isHex, parseAbi, size } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deployAccountAbstraction, localAccountAbstraction as contracts } from "./account-abstraction.ts";
import { startAnvil, type RunningAnvil } from "@causeway/testkit";
import { deployLocal } from "./deploy.ts";

let node: RunningAnvil;
beforeAll(async () => {
  node = await startAnvil({ chainId: 72_100_117, blockTimeSeconds: 1 });
  await deployLocal(node);
  await deployAccountAbstraction(node);
});
afterAll(async () => await node.stop());

test("the ERC-4337 contracts have the same addresses as on public chains", async () => {
  const client = createPublicClient({ transport: http(node.url) });
  for (const [name, address] of Object.entries(contracts)) {
    const code = await client.getCode({ address });
    expect(isHex(code) && size(code) > 1_000, name).toBe(true);
  }
});

test("each account contract accepts calls from the entry point of its version", async () => {
  const client = createPublicClient({ transport: http(node.url) });
  const factoryAbi = parseAbi(["function accountImplementation() view returns (address)"]);
  const accountAbi = parseAbi(["function entryPoint() view returns (address)"]);
  const entryPointOf = {
    simpleAccountFactory: "entryPoint07",
    simpleAccountFactory08: "entryPoint08",
  } as const;
  for (const [factory, entryPoint] of Object.entries(entryPointOf) as [
    keyof typeof entryPointOf,
    keyof typeof contracts,
  ][]) {
    const implementation = { abi: factoryAbi, address: contracts[factory] } as const;
    const address = await client.readContract({ ...implementation, functionName: "accountImplementation" });
    expect(await client.readContract({ abi: accountAbi, address, functionName: "entryPoint" })).toBe(
      contracts[entryPoint],
    );
  }
  const delegate = { abi: accountAbi, address: contracts.simple7702Account } as const;
  expect(await client.readContract({ ...delegate, functionName: "entryPoint" })).toBe(contracts.entryPoint08);
});

test("refuses to deploy the ERC-4337 contracts twice on one chain", async () => {
  await expect(deployAccountAbstraction(node)).rejects.toThrow("creation of entryPoint07 reverted on chain");
});
