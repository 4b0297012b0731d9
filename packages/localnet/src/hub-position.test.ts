import { executionTypes, oracleAbi, oracleDomain } from "@causeway/contracts";
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  keccak256,
  slice,
  toHex,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localAccount, localAccounts } from "./accounts.ts";
import { createLocalClient, sendPipelined, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { deployHub, localHub, type HubContracts } from "./deploy-hub.ts";
import type { HubEndpoint } from "./endpoints.ts";
import { watchPosition } from "./hub-position.ts";

const { chainId: id, name } = localHub;
let contracts: HubContracts;
const oracles = localAccounts("oracle", 3);
const holder = { chainName: "local-a", address: localAccount("solver").address };
const currency = { chainName: "local-a", address: `0x${"cc".repeat(20)}` as Address };
const hashOf = (account: { chainName: string; address: Address }): Hex =>
  keccak256(encodePacked(["string", "address"], [account.chainName, account.address]));
const [alias, tokenId] = [slice(hashOf(holder), 12), BigInt(hashOf(currency))];
const order: Address = `0x${"0d".repeat(20)}`;

let node: RunningAnvil;
let hub: HubEndpoint;
beforeAll(async () => {
  node = await startAnvil({ chainId: id });
  contracts = await deployHub(node, { signers: oracles.map(({ address }) => address), threshold: 2 });
  hub = { id, name, rpcUrl: node.url, contracts };
});
afterAll(async () => await node.stop());

/** Executes in one transaction what pairs of oracles signed (by index; default: the first and the last). */
async function settle(
  settlements: readonly { readonly actions: readonly Hex[]; readonly signerIndexes?: readonly number[] }[],
): Promise<void> {
  const executions = settlements.map(({ actions }) => ({
    idempotencyKey: keccak256(concat(actions)),
    actions,
  }));
  const signatures = executions.map(async (message, index) => {
    const signerIndexes = settlements[index]?.signerIndexes ?? [0, 2];
    const signers = oracles
      .filter((_, number) => signerIndexes.includes(number))
      .toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
    const domain = oracleDomain(id, contracts.oracle);
    const sign = { domain, types: executionTypes, primaryType: "Execution", message } as const;
    return concat(
      await Promise.all(
        signers.map(async ({ privateKey }) => await privateKeyToAccount(privateKey).signTypedData(sign)),
      ),
    );
  });
  const data = encodeFunctionData({
    abi: oracleAbi,
    functionName: "executeMultiple",
    args: [executions, contracts.oracleMultisig, await Promise.all(signatures)],
  });
  const deployer = privateKeyToAccount(localAccount("deployer").privateKey);
  await sendPipelined(
    createLocalClient(node),
    deployer,
    [{ label: "x", to: contracts.oracle, data }],
    900_000n,
  );
}

const mint = (to: Address, token: bigint, amount: bigint): Hex =>
  encodeAbiParameters(
    ["uint8", "address", "uint256", "uint256"].map((type) => ({ type })),
    [0, to, token, amount],
  );
const transfer = (from: Address, to: Address, token: bigint, amount: bigint): Hex =>
  encodeAbiParameters(
    ["uint8", "address", "address", "uint256", "uint256"].map((type) => ({ type })),
    [2, from, to, token, amount],
  );

test("reads the growth of a position from the hub, with the oracles that signed it", async () => {
  await settle([{ actions: [mint(alias, tokenId, 100n)] }]);
  const position = await watchPosition({ hub, oracles, holder, currency });
  await settle([
    { actions: [mint(order, tokenId, 25n)], signerIndexes: [1, 2] },
    { actions: [transfer(order, alias, tokenId, 25n)] },
  ]);
  await settle([
    { actions: [mint(order, tokenId, 3n), mint(alias, tokenId + 1n, 3n)], signerIndexes: [0, 1] },
  ]);
  const settled = await position.waitForGrowth(25n, AbortSignal.timeout(5_000));
  expect(settled).toMatchObject({ before: 100n, after: 125n });
  expect(settled.signers).toEqual([oracles[0]?.address, oracles[2]?.address]);
  expect(settled.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
});

test("ignores balances of other tokens and holders", async () => {
  const position = await watchPosition({ hub, oracles, holder, currency });
  await settle([
    { actions: [mint(alias, tokenId + 1n, 5n)] },
    { actions: [mint(order, tokenId, 6n)] },
    { actions: [mint(alias, tokenId, 1n)] },
  ]);
  await expect(position.waitForGrowth(2n, AbortSignal.abort())).rejects.toThrow("grew by 1, expected 2");
});

test("does not count signatures of unknown signers", async () => {
  const known = oracles.slice(0, 1);
  const position = await watchPosition({ hub, oracles: known, holder, currency });
  await settle([{ actions: [mint(alias, tokenId, 7n), mint(order, BigInt(toHex("x")), 1n)] }]);
  const { signers } = await position.waitForGrowth(7n, AbortSignal.timeout(5_000));
  expect(signers).toEqual([oracles[0]?.address]);
});
