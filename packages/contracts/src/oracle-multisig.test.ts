import {
  concat,
  encodeErrorResult,
  encodeFunctionData,
  keccak256,
  toHex,
  type Address,
  type Hex,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, zeroAddress } from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import {
  ascending,
  encodeExecute,
  executionOf,
  highS,
  signAscending,
  mintAction,
  signExecution,
  type Execution,
} from "../test/executions.ts";
import {
  hubAbi,
  hubBytecode,
  oracleAbi,
  oracleBytecode,
  oracleMultisigAbi,
  oracleMultisigBytecode,
} from "./index.ts";

const { owner, stranger, deployer } = accounts;
const [first, second, third] = ascending([accounts.allocator, accounts.user, accounts.solver]);
if (first === undefined || second === undefined || third === undefined)
  throw new RangeError("expected three oracles");
const oracles = [first, second, third].map(({ address }) => address);
const hash = keccak256(toHex("a fact"));
const valid = "0x1626ba7e";
const invalid = "0xffffffff";

let chain: TestChain;
let multisig: Address;

async function deploySet(signers: readonly Address[], threshold: bigint): Promise<Address> {
  return await chain.deploy(oracleMultisigAbi, oracleMultisigBytecode, [owner.address, signers, threshold]);
}
async function validate(signature: Hex, contract = multisig): Promise<Hex> {
  return await chain.client.readContract({
    address: contract,
    abi: oracleMultisigAbi,
    functionName: "isValidSignature",
    args: [hash, signature],
  });
}
async function signHash(
  signer: { sign?: ((p: { hash: Hex }) => Promise<Hex>) | undefined },
  digest = hash,
): Promise<Hex> {
  if (signer.sign === undefined) throw new TypeError("this account signs no bare hashes");
  return await signer.sign({ hash: digest });
}

beforeAll(async () => {
  chain = await startTestChain();
  multisig = await deploySet(oracles, 2n);
});
afterAll(async () => await chain.stop());

test("accepts any two of three oracles", async () => {
  for (const pair of [
    [first, second],
    [first, third],
    [second, third],
  ]) {
    expect(
      await validate(concat(await Promise.all(pair.map(async (signer) => await signHash(signer))))),
    ).toBe(valid);
  }
});

test("reads only as many entries as the threshold", async () => {
  const [a, b, c] = [await signHash(first), await signHash(second), await signHash(third)];
  expect(await validate(concat([a, b, c]))).toBe(valid);
  expect(await validate(concat([a, b, `0x${"00".repeat(65)}`]))).toBe(valid);
  expect(await validate(concat([`0x${"00".repeat(65)}`, a, b]))).toBe(invalid);
});

test.each<[string, () => Promise<Hex>]>([
  ["of nothing", async () => await Promise.resolve("0x" as const)],
  ["of one oracle", async () => await signHash(first)],
  ["of one oracle twice", async () => concat([await signHash(first), await signHash(first)])],
  ["of one oracle in both forms", async () => concat([await signHash(first), highS(await signHash(first))])],
  ["out of order", async () => concat([await signHash(second), await signHash(first)])],
  [
    "with a stranger among them",
    async () => await signAscending([first, stranger], async (signer) => await signHash(signer)),
  ],
  [
    "of strangers",
    async () => await signAscending([stranger, deployer], async (signer) => await signHash(signer)),
  ],
  [
    "of the owner and an oracle",
    async () => await signAscending([first, owner], async (signer) => await signHash(signer)),
  ],
  ["with an s in the upper half", async () => concat([await signHash(first), highS(await signHash(second))])],
  [
    "with an s in the upper half first",
    async () => concat([highS(await signHash(first)), await signHash(second)]),
  ],
  [
    "over another hash",
    async () => concat([await signHash(first), await signHash(second, keccak256("0x01"))]),
  ],
  [
    "with a v of 0 or 1",
    async () => {
      const [a, b] = [await signHash(first), await signHash(second)];
      return concat([a, b.slice(0, 132) as Hex, toHex(Number(`0x${b.slice(130)}`) - 27, { size: 1 })]);
    },
  ],
  [
    "with a v of 29",
    async () => concat([await signHash(first), (await signHash(second)).slice(0, 130) as Hex, "0x1d"]),
  ],
  ["of zeroes", async () => await Promise.resolve(`0x${"00".repeat(130)}` as const)],
  [
    "cut by a byte",
    async () =>
      (await signAscending([first, second], async (signer) => await signHash(signer))).slice(0, -2) as Hex,
  ],
  ["with a byte too many", async () => concat([await signHash(first), await signHash(second), "0x00"])],
])("reports an invalid signature %s without reverting", async (_what, signature) => {
  expect(await validate(await signature())).toBe(invalid);
});

test("replacing the signer set takes effect immediately, and removed signers can no longer sign", async () => {
  const set = await deploySet(oracles, 2n);
  const next = [third.address, stranger.address];
  const data = encodeFunctionData({ abi: oracleMultisigAbi, functionName: "setSigners", args: [next, 1n] });
  const receipt = await chain.send(owner, { to: set, data });
  expect(eventsOf(receipt, set, oracleMultisigAbi, "SignersChanged")).toEqual([
    { signers: next, threshold: 1n },
  ]);

  const read = { address: set, abi: oracleMultisigAbi } as const;
  expect(await chain.client.readContract({ ...read, functionName: "signers" })).toEqual(next);
  expect(await chain.client.readContract({ ...read, functionName: "threshold" })).toBe(1n);
  const isSigner = async (account: Address): Promise<boolean> =>
    await chain.client.readContract({ ...read, functionName: "isSigner", args: [account] });
  expect([await isSigner(first.address), await isSigner(stranger.address)]).toEqual([false, true]);
  expect(
    await validate(await signAscending([first, second], async (signer) => await signHash(signer)), set),
  ).toBe(invalid);
  expect(await validate(await signHash(stranger), set)).toBe(valid);
});

test("only the owner can change the set", async () => {
  const data = encodeFunctionData({
    abi: oracleMultisigAbi,
    functionName: "setSigners",
    args: [[stranger.address], 1n],
  });
  for (const account of [stranger, first]) {
    expect(await chain.revertOf(account, { to: multisig, data })).toBe("0x82b42900");
  }
});

test.each<[string, () => readonly [readonly Address[], bigint], () => Hex]>([
  ["a threshold of none", () => [oracles, 0n], () => invalidThreshold(0n, 3n)],
  ["a threshold above the number of signers", () => [oracles, 4n], () => invalidThreshold(4n, 3n)],
  ["no signers", () => [[], 0n], () => invalidThreshold(0n, 0n)],
  ["the zero address", () => [[first.address, zeroAddress], 1n], () => noAddress],
  [
    "a signer twice",
    () => [[first.address, second.address, first.address], 2n],
    () => encodeErrorResult({ abi: oracleMultisigAbi, errorName: "DuplicateSigner", args: [first.address] }),
  ],
])("a set with %s is refused, both on deployment and later", async (_what, set, reason) => {
  const [signers, threshold] = set();
  expect(
    await chain.deployRevertOf(oracleMultisigAbi, oracleMultisigBytecode, [
      owner.address,
      signers,
      threshold,
    ]),
  ).toBe(reason());
  const data = encodeFunctionData({
    abi: oracleMultisigAbi,
    functionName: "setSigners",
    args: [signers, threshold],
  });
  expect(await chain.revertOf(owner, { to: multisig, data })).toBe(reason());
});

const noAddress = encodeErrorResult({ abi: oracleMultisigAbi, errorName: "AddressCannotBeZero" });
function invalidThreshold(threshold: bigint, signers: bigint): Hex {
  return encodeErrorResult({
    abi: oracleMultisigAbi,
    errorName: "InvalidThreshold",
    args: [threshold, signers],
  });
}

test("cannot be deployed without an owner", async () => {
  const args = [zeroAddress, oracles, 2n];
  expect(await chain.deployRevertOf(oracleMultisigAbi, oracleMultisigBytecode, args)).toBe(noAddress);
});

test("the Oracle contract executes actions signed by two of three oracles, but not by only one", async () => {
  const hub = await chain.deploy(hubAbi, hubBytecode, [owner.address]);
  const oracle = await chain.deploy(oracleAbi, oracleBytecode, [owner.address, hub, "Oracle", "1"]);
  for (const [to, holder] of [
    [hub, oracle],
    [oracle, multisig],
  ] as const) {
    const data = encodeFunctionData({ abi: hubAbi, functionName: "grantRoles", args: [holder, 1n] });
    await chain.send(owner, { to, data });
  }
  const alice = freshAddress(1);
  const execution: Execution = executionOf([mintAction(alice, 7n, 25n)]);
  const submit = async (signature: Hex) =>
    await chain.mine(stranger, { to: oracle, data: encodeExecute(execution, multisig, signature) });
  const sign = async (signer: typeof first): Promise<Hex> => await signExecution(signer, oracle, execution);

  expect((await submit(await sign(first))).status).toBe("reverted");
  expect((await submit(await signAscending([first, stranger], sign))).status).toBe("reverted");
  const elsewhere = await signAscending(
    [first, second],
    async (signer) => await signExecution(signer, oracle, execution, { chain: chainId + 1 }),
  );
  expect((await submit(elsewhere)).status).toBe("reverted");
  expect((await submit(await signAscending([first, third], sign))).status).toBe("success");
  expect(
    (await submit(await signAscending([second, third], sign))).status,
    "another pair, the same fact",
  ).toBe("reverted");
  const hubBalance = { address: hub, abi: hubAbi, functionName: "balanceOf", args: [alice, 7n] } as const;
  expect(await chain.client.readContract(hubBalance)).toBe(25n);
});
