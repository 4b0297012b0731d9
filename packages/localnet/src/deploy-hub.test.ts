import {
  allocatorAbi,
  genericMappingAbi,
  executionTypes,
  hubAbi,
  oracleAbi,
  oracleDomain,
  oracleMultisigAbi,
} from "@causeway/contracts";
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  toHex,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localAccount, localAccounts } from "./accounts.ts";
import {
  createLocalClient,
  sendPipelined,
  startAnvil,
  type LocalClient,
  type RunningAnvil,
} from "@causeway/testkit";
import { deployHub, hubContracts, localHub } from "./deploy-hub.ts";

const { chainId } = localHub;
const oracles = localAccounts("oracle", 3);
const quorum = { signers: oracles.map(({ address }) => address), threshold: 2 };
const contracts = hubContracts(quorum);
const alias: Address = `0x${"a1".repeat(20)}`;

let node: RunningAnvil;
let client: LocalClient;
beforeAll(async () => {
  node = await startAnvil({ chainId });
  client = createLocalClient(node);
  await deployHub(node, quorum);
});
afterAll(async () => await node.stop());

async function credit(key: Hex, signers: readonly { readonly address: Address; readonly privateKey: Hex }[]) {
  const types = ["uint8", "address", "uint256", "uint256"].map((type) => ({ type }));
  const execution = { idempotencyKey: key, actions: [encodeAbiParameters(types, [0, alias, 7n, 5n])] };
  const ascending = signers.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  const signatures = await Promise.all(
    ascending.map(
      async ({ privateKey }) =>
        await privateKeyToAccount(privateKey).signTypedData({
          domain: oracleDomain(chainId, contracts.oracle),
          types: executionTypes,
          primaryType: "Execution",
          message: execution,
        }),
    ),
  );
  const data = encodeFunctionData({
    abi: oracleAbi,
    functionName: "execute",
    args: [execution, contracts.oracleMultisig, concat(signatures)],
  });
  const deployer = privateKeyToAccount(localAccount("deployer").privateKey);
  await sendPipelined(client, deployer, [{ label: "execution", to: contracts.oracle, data }], 500_000n);
}

async function readCredit(): Promise<bigint> {
  return await client.readContract({
    address: contracts.hub,
    abi: hubAbi,
    functionName: "balanceOf",
    args: [alias, 7n],
  });
}

test("the contracts have the predicted addresses and refer to each other", async () => {
  const [hub, signers, threshold, oracleOfAllocator, oracleOfMapping] = await Promise.all([
    client.readContract({ address: contracts.oracle, abi: oracleAbi, functionName: "HUB" }),
    client.readContract({
      address: contracts.oracleMultisig,
      abi: oracleMultisigAbi,
      functionName: "signers",
    }),
    client.readContract({
      address: contracts.oracleMultisig,
      abi: oracleMultisigAbi,
      functionName: "threshold",
    }),
    client.readContract({ address: contracts.allocator, abi: allocatorAbi, functionName: "oracle" }),
    client.readContract({
      address: contracts.genericMapping,
      abi: genericMappingAbi,
      functionName: "oracle",
    }),
  ]);
  expect(hub).toBe(contracts.hub);
  expect(signers.toSorted()).toEqual(oracles.map(({ address }) => address).toSorted());
  expect(threshold).toBe(2n);
  expect(oracleOfAllocator).toBe(contracts.oracleMultisig);
  expect(oracleOfMapping).toBe(contracts.oracleMultisig);
});

test("two of the three local oracles can change the ledger; one cannot, even together with the owner", async () => {
  const [first, second, third] = oracles;
  if (first === undefined || second === undefined || third === undefined)
    throw new RangeError("expected three oracles");
  const owner = localAccount("owner");
  await expect(credit(keccak256(toHex("alone")), [first])).rejects.toThrow("reverted");
  await expect(credit(keccak256(toHex("owner")), [first, owner])).rejects.toThrow("reverted");
  expect(await readCredit()).toBe(0n);
  await credit(keccak256(toHex("two")), [third, second]);
  expect(await readCredit()).toBe(5n);
});

test("the local allocator can record payloads", async () => {
  const allocator = localAccount("allocator").address;
  const rolesCall = { address: contracts.allocator, abi: allocatorAbi, functionName: "rolesOf" } as const;
  expect(await client.readContract({ ...rolesCall, args: [allocator] })).toBe(1n);
  expect(await client.readContract({ ...rolesCall, args: [localAccount("solver").address] })).toBe(0n);
});
