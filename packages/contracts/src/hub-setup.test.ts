import { afterAll, beforeAll, expect, test } from "vitest";
import { zeroAddress } from "../test/calls.ts";
import { accounts, startTestChain, type TestChain } from "../test/chain.ts";
import {
  create2Calldata,
  deterministicDeployer,
  planHub,
  plannedAddress,
  type ContractName,
} from "./deploy/index.ts";
import { hubAbi, hubSetupAbi, hubSetupBytecode } from "./index.ts";

const { allocator, deployer, owner, stranger, user } = accounts;
const plan = planHub({
  owner: owner.address,
  allocator: allocator.address,
  oracles: [user.address],
  threshold: 1,
  domain: { name: "Oracle", version: "1" },
});
const addressOf = (contract: ContractName) => plannedAddress(plan, contract);

let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
  for (const { creationCode } of plan.creations)
    await chain.send(deployer, { to: deterministicDeployer, data: create2Calldata(creationCode) });
});
afterAll(async () => await chain.stop());

test("deploys the contracts at their planned addresses, with one role each, and the owner owns them", async () => {
  const contracts = [
    { address: addressOf("Hub"), holder: addressOf("Oracle") },
    { address: addressOf("Oracle"), holder: addressOf("OracleMultisig") },
    { address: addressOf("Allocator"), holder: allocator.address },
  ];
  for (const { address, holder } of contracts) {
    // The functions are the same in all three.
    const read = { address, abi: hubAbi } as const;
    expect(await chain.client.readContract({ ...read, functionName: "owner" })).toBe(owner.address);
    expect(await chain.client.readContract({ ...read, functionName: "rolesOf", args: [holder] })).toBe(1n);
    for (const other of [addressOf("HubSetup"), deployer.address, owner.address, stranger.address])
      expect(await chain.client.readContract({ ...read, functionName: "rolesOf", args: [other] })).toBe(0n);
  }
});

test("anyone can send the creation transaction, and sending it again changes nothing", async () => {
  const code = await chain.client.getCode({ address: addressOf("Hub") });
  for (const { creationCode } of plan.creations) {
    const again = { to: deterministicDeployer, data: create2Calldata(creationCode) };
    expect((await chain.mine(stranger, again)).status).toBe("reverted");
  }
  expect(await chain.client.getCode({ address: addressOf("Hub") })).toBe(code);
});

test("HubSetup cannot be deployed without an owner, an oracle or an allocator", async () => {
  const args = [owner.address, addressOf("OracleMultisig"), allocator.address, "Oracle", "1"];
  const deploy = async (place: number) =>
    await chain.deployRevertOf(hubSetupAbi, hubSetupBytecode, args.with(place, zeroAddress));
  const [newOwnerIsZeroAddress, addressCannotBeZero] = ["0x7448fbae", "0xe622e040"];
  expect(await deploy(0)).toBe(newOwnerIsZeroAddress);
  expect(await deploy(1)).toBe(addressCannotBeZero);
  expect(await deploy(2)).toBe(addressCannotBeZero);
});
