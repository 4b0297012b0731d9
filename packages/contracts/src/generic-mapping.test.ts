import {
  concat,
  encodeErrorResult,
  encodeFunctionData,
  toHex,
  type Address,
  type Hex,
  type LocalAccount,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, zeroAddress } from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { ascending, highS, signAscending } from "../test/executions.ts";
import {
  genericMappingAbi,
  genericMappingBytecode,
  genericMappingDomain,
  oracleMultisigAbi,
  oracleMultisigBytecode,
  setEntryTypes,
} from "./index.ts";

const { owner, stranger, deployer, user: submitter } = accounts;
const oracles = [accounts.user, accounts.solver];
const word = (n: number): Hex => toHex(n, { size: 32 });

let chain: TestChain;
let multisig: Address;
let mapping: Address;
let entries = 0;

/** An entry that no oracle has signed. */
function newEntry() {
  entries += 1;
  return {
    user: freshAddress(entries),
    id: word(100 + entries),
    data: concat([word(7), freshAddress(5)]).toLowerCase() as Hex,
    nonce: word(entries),
  };
}
type Entry = ReturnType<typeof newEntry>;

async function signEntry(
  signer: LocalAccount,
  entry: Entry,
  chain = chainId,
  contract = mapping,
): Promise<Hex> {
  return await signer.signTypedData({
    domain: genericMappingDomain(chain, contract),
    types: setEntryTypes,
    primaryType: "SetEntry",
    message: entry,
  });
}
async function signQuorum(entry: Entry): Promise<Hex> {
  return await signAscending(oracles, async (signer) => await signEntry(signer, entry));
}
function setEntry({ user, id, data, nonce }: Entry, signature: Hex) {
  return {
    to: mapping,
    data: encodeFunctionData({
      abi: genericMappingAbi,
      functionName: "setEntry",
      args: [user, id, data, nonce, signature],
    }),
  };
}
async function entryOf({ user, id }: Pick<Entry, "user" | "id">): Promise<readonly [Hex, bigint]> {
  return await chain.client.readContract({
    address: mapping,
    abi: genericMappingAbi,
    functionName: "getEntry",
    args: [user, id],
  });
}
const refusal = (errorName: "InvalidSignature" | "DataCannotBeEmpty" | "AddressCannotBeZero"): Hex =>
  encodeErrorResult({ abi: genericMappingAbi, errorName });

beforeAll(async () => {
  chain = await startTestChain();
  const signers = oracles.map(({ address }) => address);
  multisig = await chain.deploy(oracleMultisigAbi, oracleMultisigBytecode, [owner.address, signers, 2n]);
  mapping = await chain.deploy(genericMappingAbi, genericMappingBytecode, [multisig]);
});
afterAll(async () => await chain.stop());

test("any account can set an entry that the oracles signed, which gets the time of its block", async () => {
  const entry = newEntry();
  expect(await entryOf(entry)).toEqual(["0x", 0n]);
  const receipt = await chain.send(stranger, setEntry(entry, await signQuorum(entry)));
  const { timestamp } = await chain.client.getBlock({ blockNumber: receipt.blockNumber });
  expect(await entryOf(entry)).toEqual([entry.data, timestamp]);
  expect(eventsOf(receipt, mapping, genericMappingAbi, "EntrySet")).toEqual([{ ...entry, setAt: timestamp }]);
});

test("the first entry is permanent: neither the same nor another signed entry can replace it", async () => {
  const entry = newEntry();
  await chain.send(submitter, setEntry(entry, await signQuorum(entry)));
  const before = await entryOf(entry);
  const refused = encodeErrorResult({
    abi: genericMappingAbi,
    errorName: "EntryIsSet",
    args: [entry.user, entry.id],
  });
  for (const change of [
    {},
    { data: word(8) },
    { nonce: word(9_999) },
    { data: word(8), nonce: word(9_998) },
  ]) {
    const again = { ...entry, ...change };
    expect(await chain.revertOf(submitter, setEntry(again, await signQuorum(again)))).toBe(refused);
  }
  expect(await entryOf(entry)).toEqual(before);
});

test("keeps separate entries for each account and id", async () => {
  const entry = newEntry();
  await chain.send(submitter, setEntry(entry, await signQuorum(entry)));
  const others = [
    { ...entry, user: freshAddress(800), data: word(1) },
    { ...entry, id: word(801), data: word(2) },
  ];
  for (const other of others) {
    expect(await entryOf(other)).toEqual(["0x", 0n]);
    await chain.send(submitter, setEntry(other, await signQuorum(other)));
    expect((await entryOf(other))[0]).toBe(other.data);
  }
  expect((await entryOf(entry))[0]).toBe(entry.data);
});

test("returns an entry of any length unchanged", async () => {
  for (const data of [
    "0x01",
    toHex("x".repeat(31)),
    toHex("x".repeat(32)),
    toHex("x".repeat(500)),
  ] as const) {
    const entry = { ...newEntry(), data };
    await chain.send(submitter, setEntry(entry, await signQuorum(entry)));
    expect((await entryOf(entry))[0]).toBe(data);
  }
});

test.each<[string, (entry: Entry) => Promise<Hex>]>([
  ["of one oracle", async (entry) => await signEntry(accounts.user, entry)],
  [
    "of one oracle twice",
    async (entry) => {
      const signature = await signEntry(accounts.user, entry);
      return concat([signature, signature]);
    },
  ],
  [
    "of the oracles in the wrong order",
    async (entry) =>
      concat(
        await Promise.all(
          ascending(oracles)
            .toReversed()
            .map(async (signer) => await signEntry(signer, entry)),
        ),
      ),
  ],
  [
    "of strangers",
    async (entry) =>
      await signAscending([stranger, deployer], async (signer) => await signEntry(signer, entry)),
  ],
  [
    "in another form",
    async (entry) => await signAscending(oracles, async (signer) => highS(await signEntry(signer, entry))),
  ],
  [
    "for another chain",
    async (entry) =>
      await signAscending(oracles, async (signer) => await signEntry(signer, entry, chainId + 1)),
  ],
  [
    "for another contract",
    async (entry) =>
      await signAscending(oracles, async (signer) => await signEntry(signer, entry, chainId, multisig)),
  ],
  ["for another account", async (entry) => await signQuorum({ ...entry, user: freshAddress(900) })],
  ["for another id", async (entry) => await signQuorum({ ...entry, id: word(901) })],
  ["for other data", async (entry) => await signQuorum({ ...entry, data: word(902) })],
  ["for another nonce", async (entry) => await signQuorum({ ...entry, nonce: word(903) })],
  ["of nothing", async () => await Promise.resolve("0x" as const)],
])("a signature %s sets no entry", async (_what, signature) => {
  const entry = newEntry();
  expect(await chain.revertOf(submitter, setEntry(entry, await signature(entry)))).toBe(
    refusal("InvalidSignature"),
  );
  expect(await entryOf(entry)).toEqual(["0x", 0n]);
});

test("sets all valid entries of a batch once, and reports the others", async () => {
  const [first, second, unsigned, empty, existing] = [
    newEntry(),
    newEntry(),
    newEntry(),
    newEntry(),
    newEntry(),
  ];
  await chain.send(submitter, setEntry(existing, await signQuorum(existing)));
  const before = await entryOf(existing);
  const replacement = { ...first, data: word(9) };
  const batch: readonly [Entry, Hex][] = [
    [unsigned, await signQuorum(second)],
    [first, await signQuorum(first)],
    [existing, await signQuorum(existing)],
    [replacement, await signQuorum(replacement)],
    [{ ...empty, data: "0x" }, await signQuorum({ ...empty, data: "0x" })],
    [second, await signQuorum(second)],
  ];
  const receipt = await chain.send(stranger, {
    to: mapping,
    data: encodeFunctionData({
      abi: genericMappingAbi,
      functionName: "setEntries",
      args: [batch.map(([entry, signature]) => ({ ...entry, signature }))],
    }),
  });
  const { timestamp } = await chain.client.getBlock({ blockNumber: receipt.blockNumber });
  expect(await entryOf(first)).toEqual([first.data, timestamp]);
  expect(await entryOf(second)).toEqual([second.data, timestamp]);
  for (const unset of [unsigned, empty]) expect(await entryOf(unset)).toEqual(["0x", 0n]);
  expect(await entryOf(existing)).toEqual(before);
  expect(eventsOf(receipt, mapping, genericMappingAbi, "EntryLeftOut")).toEqual(
    [unsigned, existing, first, empty].map(({ user, id }) => ({ user, id })),
  );
});

test("refuses an empty entry: it would look like a missing one", async () => {
  const entry: Entry = { ...newEntry(), data: "0x" };
  expect(await chain.revertOf(submitter, setEntry(entry, await signQuorum(entry)))).toBe(
    refusal("DataCannotBeEmpty"),
  );
});

test("cannot be deployed without an oracle", async () => {
  expect(await chain.deployRevertOf(genericMappingAbi, genericMappingBytecode, [zeroAddress])).toBe(
    refusal("AddressCannotBeZero"),
  );
});
