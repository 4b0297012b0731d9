import {
  concat,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  keccak256,
  maxUint256,
  toHex,
  type Address,
  type Hex,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, zeroAddress } from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import {
  burnAction,
  encodeExecute,
  executeMultiple,
  executionOf,
  highS,
  mintAction,
  signExecution,
  transferAction,
  type Execution,
} from "../test/executions.ts";
import { reenteringOracleAbi, reenteringOracleBytecode } from "./generated/reentering-oracle.ts";
import { hubAbi, hubBytecode, oracleAbi, oracleBytecode } from "./index.ts";

const { owner, stranger, solver, user, deployer } = accounts;
// An EOA acts as the oracle; oracle-multisig.test.ts covers a multisig.
const signer = accounts.allocator;
const unauthorized: Hex = "0x82b42900";
const [alice, bob] = [freshAddress(1), freshAddress(2)];

let chain: TestChain;
let hub: Address;
let oracle: Address;
let tokenId = 0n;

async function grant(contract: Address, holder: Address): Promise<void> {
  const data = encodeFunctionData({ abi: oracleAbi, functionName: "grantRoles", args: [holder, 1n] });
  await chain.send(owner, { to: contract, data });
}

beforeAll(async () => {
  chain = await startTestChain();
  hub = await chain.deploy(hubAbi, hubBytecode, [owner.address]);
  oracle = await chain.deploy(oracleAbi, oracleBytecode, [owner.address, hub, "Oracle", "1"]);
  await grant(hub, oracle);
  await grant(oracle, signer.address);
});
afterAll(async () => await chain.stop());

async function balance(holder: Address, id = tokenId): Promise<bigint> {
  return await chain.client.readContract({
    address: hub,
    abi: hubAbi,
    functionName: "balanceOf",
    args: [holder, id],
  });
}
async function isExecuted(execution: Execution): Promise<boolean> {
  return await chain.client.readContract({
    address: oracle,
    abi: oracleAbi,
    functionName: "isExecuted",
    args: [execution.idempotencyKey],
  });
}
async function signAndEncode(execution: Execution): Promise<Hex> {
  return encodeExecute(execution, signer.address, await signExecution(signer, oracle, execution));
}
async function submitAll(executions: readonly Execution[]) {
  const signatures = await Promise.all(
    executions.map(async (execution) => await signExecution(signer, oracle, execution)),
  );
  return await chain.send(solver, {
    to: oracle,
    data: executeMultiple(executions, signer.address, signatures),
  });
}
/** Mints a token id that no other test uses. */
async function mintFresh(holder: Address, amount: bigint): Promise<bigint> {
  tokenId += 1n;
  const execution = executionOf([mintAction(holder, tokenId, amount)]);
  await chain.send(solver, { to: oracle, data: await signAndEncode(execution) });
  return tokenId;
}
const invalidSignature = encodeErrorResult({ abi: oracleAbi, errorName: "InvalidSignature" });

test("anyone can submit a signed execution; its actions run in order and emit an event", async () => {
  tokenId += 1n;
  const execution = executionOf([
    mintAction(alice, tokenId, 100n),
    transferAction(alice, bob, tokenId, 70n),
    burnAction(bob, tokenId, 5n),
  ]);
  expect(await isExecuted(execution)).toBe(false);
  const receipt = await chain.send(stranger, { to: oracle, data: await signAndEncode(execution) });

  expect([await balance(alice), await balance(bob)]).toEqual([30n, 65n]);
  expect(await isExecuted(execution)).toBe(true);
  expect(eventsOf(receipt, oracle, oracleAbi, "Executed")).toEqual([
    { idempotencyKey: execution.idempotencyKey, oracle: signer.address },
  ]);
});

test("has the published names: HUB() and the typed data that oracles sign", async () => {
  expect(await chain.client.readContract({ address: oracle, abi: oracleAbi, functionName: "HUB" })).toBe(hub);
  expect(keccak256(toHex("Execution(bytes32 idempotencyKey,bytes[] actions)"))).toBe(
    "0x821c9f218660060ad54afef3dc04f1786940fee025460be0e809f4812224eaf8",
  );
});

test("an idempotency key executes only once, even with other signed actions", async () => {
  const id = await mintFresh(alice, 10n);
  const first = executionOf([transferAction(alice, bob, id, 4n)]);
  await chain.send(solver, { to: oracle, data: await signAndEncode(first) });
  const already = encodeErrorResult({
    abi: oracleAbi,
    errorName: "AlreadyExecuted",
    args: [first.idempotencyKey],
  });
  const otherActions = { ...first, actions: [transferAction(alice, bob, id, 6n)] };
  for (const again of [first, otherActions]) {
    expect(await chain.revertOf(solver, { to: oracle, data: await signAndEncode(again) })).toBe(already);
  }
  expect(await balance(bob)).toBe(4n);
});

test.each<[string, (e: Execution) => Promise<Hex>]>([
  ["by another key", async (e) => await signExecution(stranger, oracle, e)],
  ["for another contract", async (e) => await signExecution(signer, hub, e)],
  ["for another chain", async (e) => await signExecution(signer, oracle, e, { chain: chainId + 1 })],
  ["for another domain name", async (e) => await signExecution(signer, oracle, e, { name: "Hub" })],
  ["for another domain version", async (e) => await signExecution(signer, oracle, e, { version: "2" })],
  [
    "for another idempotency key",
    async (e) => await signExecution(signer, oracle, { ...e, idempotencyKey: toHex(1, { size: 32 }) }),
  ],
  [
    "for other actions",
    async (e) => await signExecution(signer, oracle, { ...e, actions: [mintAction(bob, 1n, 1n)] }),
  ],
  [
    "for the same actions concatenated",
    async (e) => await signExecution(signer, oracle, { ...e, actions: [concat(e.actions)] }),
  ],
  ["with s in the upper half", async (e) => highS(await signExecution(signer, oracle, e))],
  ["of zero bytes", async () => await Promise.resolve("0x" as const)],
  ["of 65 zero bytes", async () => await Promise.resolve(`0x${"00".repeat(65)}` as const)],
])("a signature %s is refused", async (_what, signature) => {
  const execution = executionOf([mintAction(alice, 1_000n, 1n), mintAction(alice, 1_000n, 2n)]);
  const data = encodeExecute(execution, signer.address, await signature(execution));
  expect(await chain.revertOf(solver, { to: oracle, data })).toBe(invalidSignature);
});

test("the constructor sets the domain, so that an existing network can be joined", async () => {
  const older = await chain.deploy(oracleAbi, oracleBytecode, [owner.address, hub, "Other", "2"]);
  await grant(older, signer.address);
  await grant(hub, older);
  const execution = executionOf([mintAction(alice, 2_000n, 9n)]);
  const wrong = encodeExecute(execution, signer.address, await signExecution(signer, older, execution));
  expect(await chain.revertOf(solver, { to: older, data: wrong })).toBe(invalidSignature);
  const signature = await signExecution(signer, older, execution, { name: "Other", version: "2" });
  await chain.send(solver, { to: older, data: encodeExecute(execution, signer.address, signature) });
  expect(await balance(alice, 2_000n)).toBe(9n);
});

test("refuses valid signatures by accounts without the role or whose role was revoked", async () => {
  const execution = executionOf([mintAction(alice, 3_000n, 1n)]);
  const refusal = (account: Address): Hex =>
    encodeErrorResult({ abi: oracleAbi, errorName: "NotAnOracle", args: [account] });
  const signAndEncodeBy = async (account: typeof owner): Promise<Hex> =>
    encodeExecute(execution, account.address, await signExecution(account, oracle, execution));
  for (const account of [stranger, owner]) {
    expect(await chain.revertOf(solver, { to: oracle, data: await signAndEncodeBy(account) })).toBe(
      refusal(account.address),
    );
  }
  const zero = encodeExecute(execution, zeroAddress, `0x${"00".repeat(65)}`);
  expect(await chain.revertOf(solver, { to: oracle, data: zero })).toBe(refusal(zeroAddress));

  await grant(oracle, user.address);
  const revoke = encodeFunctionData({
    abi: oracleAbi,
    functionName: "revokeRoles",
    args: [user.address, 1n],
  });
  await chain.send(owner, { to: oracle, data: revoke });
  expect(await chain.revertOf(solver, { to: oracle, data: await signAndEncodeBy(user) })).toBe(
    refusal(user.address),
  );
});

test("only the owner can add oracles", async () => {
  const data = encodeFunctionData({
    abi: oracleAbi,
    functionName: "grantRoles",
    args: [stranger.address, 1n],
  });
  for (const account of [stranger, signer, deployer]) {
    expect(await chain.revertOf(account, { to: oracle, data })).toBe(unauthorized);
  }
});

function words(...values: readonly bigint[]): Hex {
  return encodeAbiParameters(
    values.map(() => ({ type: "uint256" })),
    values,
  );
}
const wide = 1n << 160n;

test.each<[string, Hex]>([
  ["of no bytes", "0x"],
  ["of one byte", "0x00"],
  ["without its amount", words(0n, 1n, 1n)],
  ["with a byte too many", concat([words(0n, 1n, 1n, 1n), "0x00"])],
  ["with a word too many", words(1n, 1n, 1n, 1n, 1n)],
  ["that transfers with only one address", words(2n, 1n, 1n, 1n)],
  ["with bits above its address", words(0n, wide + 1n, 1n, 1n)],
  ["with bits above its second address", words(2n, 1n, wide + 1n, 1n, 1n)],
  ["with bits above its address and no amount", words(1n, wide + 1n, 1n, 0n)],
])("reverts the whole execution for a malformed action: %s", async (_what, action) => {
  tokenId += 1n;
  const execution = executionOf([mintAction(alice, tokenId, 1n), action]);
  const data = await signAndEncode(execution);
  expect(await chain.revertOf(solver, { to: oracle, data })).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "MalformedAction", args: [1n] }),
  );
  await chain.mine(solver, { to: oracle, data });
  expect([await balance(alice), await isExecuted(execution)]).toEqual([0n, false]);
});

test.each<[string, Hex, bigint]>([
  ["a fast mint", words(3n, 1n, 1n, 1n), 3n],
  ["an unknown kind", words(4n, 1n, 1n, 1n), 4n],
  ["a kind wider than one byte", words(256n, 1n, 1n, 1n), 256n],
])("an action of another kind is refused: %s", async (_what, action, kind) => {
  expect(await chain.revertOf(solver, { to: oracle, data: await signAndEncode(executionOf([action])) })).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "UnsupportedAction", args: [0n, kind] }),
  );
});

test("refuses an execution without actions, which would use up its idempotency key", async () => {
  expect(await chain.revertOf(solver, { to: oracle, data: await signAndEncode(executionOf([])) })).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "NoActions" }),
  );
});

test("skips an action without an amount, even if it would fail", async () => {
  const id = await mintFresh(alice, 5n);
  const execution = executionOf([
    mintAction(zeroAddress, id, 0n),
    burnAction(bob, id, 0n),
    transferAction(bob, zeroAddress, id, 0n),
    transferAction(alice, bob, id, 5n),
  ]);
  const receipt = await chain.send(solver, { to: oracle, data: await signAndEncode(execution) });
  expect(eventsOf(receipt, hub, hubAbi, "Transfer")).toHaveLength(1);
  expect([await balance(alice), await balance(bob)]).toEqual([0n, 5n]);
});

test("an execution that the hub refuses has no effect and can be submitted again", async () => {
  const id = await mintFresh(alice, 5n);
  const execution = executionOf([mintAction(bob, id, 1n), transferAction(alice, bob, id, 6n)]);
  const data = await signAndEncode(execution);
  expect((await chain.mine(solver, { to: oracle, data })).status).toBe("reverted");
  expect([await balance(alice), await balance(bob), await isExecuted(execution)]).toEqual([5n, 0n, false]);

  await chain.send(solver, {
    to: oracle,
    data: await signAndEncode(executionOf([mintAction(alice, id, 1n)])),
  });
  await chain.send(solver, { to: oracle, data });
  expect([await balance(alice), await balance(bob)]).toEqual([0n, 7n]);
});

test("reverts the whole execution when a mint would overflow", async () => {
  const id = await mintFresh(alice, maxUint256);
  const execution = executionOf([burnAction(alice, id, 1n), mintAction(bob, id, 2n)]);
  expect((await chain.mine(solver, { to: oracle, data: await signAndEncode(execution) })).status).toBe(
    "reverted",
  );
  expect(await balance(alice)).toBe(maxUint256);
});

test("runs executions of a batch independently: skips executed ones, reports failing ones, and runs the others", async () => {
  const id = await mintFresh(alice, 10n);
  const done = executionOf([mintAction(alice, id, 1n)]);
  await chain.send(solver, { to: oracle, data: await signAndEncode(done) });
  const good = executionOf([transferAction(alice, bob, id, 3n)]);
  const underfunded = executionOf([mintAction(bob, id, 1n), transferAction(alice, bob, id, 1_000n)]);
  const malformed = executionOf(["0x1234"]);
  const last = executionOf([burnAction(bob, id, 1n)]);

  const receipt = await submitAll([done, good, underfunded, good, malformed, last]);
  const keys = (name: string): unknown[] =>
    eventsOf(receipt, oracle, oracleAbi, name).map((event) => (event as Execution).idempotencyKey);
  expect(keys("Executed")).toEqual([good, last].map((e) => e.idempotencyKey));
  expect(keys("ExecutionSkipped"), "also the duplicate").toEqual([done, good].map((e) => e.idempotencyKey));
  expect(eventsOf(receipt, oracle, oracleAbi, "ExecutionFailed")).toEqual([
    {
      idempotencyKey: underfunded.idempotencyKey,
      reason: encodeErrorResult({
        abi: hubAbi,
        errorName: "ERC6909InsufficientBalance",
        args: [alice, 8n, 1_000n, id],
      }),
    },
    {
      idempotencyKey: malformed.idempotencyKey,
      reason: encodeErrorResult({ abi: oracleAbi, errorName: "MalformedAction", args: [0n] }),
    },
  ]);
  expect([await balance(alice), await balance(bob)]).toEqual([8n, 2n]);
  expect([await isExecuted(underfunded), await isExecuted(last)]).toEqual([false, true]);
});

test("one invalid signature in a batch affects only its own execution", async () => {
  tokenId += 1n;
  const [good, bad] = [
    executionOf([mintAction(alice, tokenId, 1n)]),
    executionOf([mintAction(bob, tokenId, 1n)]),
  ];
  const signatures = [await signExecution(stranger, oracle, bad), await signExecution(signer, oracle, good)];
  const data = executeMultiple([bad, good], signer.address, signatures);
  const receipt = await chain.send(solver, { to: oracle, data });
  expect(eventsOf(receipt, oracle, oracleAbi, "ExecutionFailed")).toEqual([
    { idempotencyKey: bad.idempotencyKey, reason: invalidSignature },
  ]);
  expect([await balance(alice), await balance(bob)]).toEqual([1n, 0n]);
});

test("requires as many signatures as executions", async () => {
  const execution = executionOf([mintAction(alice, 4_000n, 1n)]);
  const data = executeMultiple([execution], signer.address, []);
  expect(await chain.revertOf(solver, { to: oracle, data })).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "LengthMismatch", args: [1n, 0n] }),
  );
});

test("an oracle contract cannot reenter while it validates a signature", async () => {
  const hostile = await chain.deploy(reenteringOracleAbi, reenteringOracleBytecode);
  await grant(oracle, hostile);
  tokenId += 1n;
  const [outer, inner] = [
    executionOf([mintAction(alice, tokenId, 1n)]),
    executionOf([mintAction(bob, tokenId, 1n)]),
  ];
  const arm = async (tolerant: boolean): Promise<void> => {
    const args = [
      encodeExecute(inner, signer.address, await signExecution(signer, oracle, inner)),
      tolerant,
    ] as const;
    const data = encodeFunctionData({ abi: reenteringOracleAbi, functionName: "arm", args });
    await chain.send(user, { to: hostile, data });
  };
  await arm(false);
  const data = encodeExecute(outer, hostile, "0x");
  expect(await chain.revertOf(solver, { to: oracle, data })).toBe(invalidSignature);
  await arm(true);
  await chain.send(solver, { to: oracle, data });
  expect([await balance(alice), await balance(bob), await isExecuted(inner)]).toEqual([1n, 0n, false]);
});

test("a successor does not repeat executions of an earlier contract", async () => {
  tokenId += 1n;
  const old = executionOf([mintAction(alice, tokenId, 5n)]);
  await chain.send(solver, { to: oracle, data: await signAndEncode(old) });
  const next = await chain.deploy(oracleAbi, oracleBytecode, [owner.address, hub, "Oracle", "1"]);
  await grant(next, signer.address);
  await grant(hub, next);
  const add = (earlier: Address): Hex =>
    encodeFunctionData({ abi: oracleAbi, functionName: "addEarlier", args: [earlier] });
  expect(await chain.revertOf(stranger, { to: next, data: add(oracle) })).toBe(unauthorized);
  await chain.send(owner, { to: next, data: add(oracle) });

  const submit = async (execution: Execution): Promise<Hex> =>
    encodeExecute(execution, signer.address, await signExecution(signer, next, execution));
  expect(await chain.revertOf(solver, { to: next, data: await submit(old) })).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "AlreadyExecuted", args: [old.idempotencyKey] }),
  );
  const signatures = [await signExecution(signer, next, old)];
  const receipt = await chain.send(solver, {
    to: next,
    data: executeMultiple([old], signer.address, signatures),
  });
  expect(eventsOf(receipt, next, oracleAbi, "ExecutionSkipped")).toHaveLength(1);
  const fresh = executionOf([mintAction(alice, tokenId, 2n)]);
  await chain.send(solver, { to: next, data: await submit(fresh) });
  expect(await balance(alice)).toBe(7n);
});

test("accepts at most five earlier contracts, but neither itself nor an account without code", async () => {
  const next = await chain.deploy(oracleAbi, oracleBytecode, [owner.address, hub, "Oracle", "1"]);
  const add = (earlier: Address): Hex =>
    encodeFunctionData({ abi: oracleAbi, functionName: "addEarlier", args: [earlier] });
  for (const invalid of [next, stranger.address]) {
    expect(await chain.revertOf(owner, { to: next, data: add(invalid) })).toBe(
      encodeErrorResult({ abi: oracleAbi, errorName: "NotAContract" }),
    );
  }
  for (let count = 0; count < 5; count++) await chain.send(owner, { to: next, data: add(oracle) });
  expect(await chain.revertOf(owner, { to: next, data: add(oracle) })).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "TooManyEarlier" }),
  );
});

test("a contract without EIP-1271 cannot sign", async () => {
  await grant(oracle, hub);
  const execution = executionOf([mintAction(alice, 5_000n, 1n)]);
  const data = encodeExecute(execution, hub, await signExecution(signer, oracle, execution));
  expect(await chain.revertOf(solver, { to: oracle, data })).toBe(invalidSignature);
});

test.each<[string, () => readonly unknown[]]>([
  ["without an owner", () => [zeroAddress, hub, "Oracle", "1"]],
  ["without a hub", () => [owner.address, zeroAddress, "Oracle", "1"]],
])("cannot be deployed %s", async (_what, args) => {
  expect(await chain.deployRevertOf(oracleAbi, oracleBytecode, args())).toBe(
    encodeErrorResult({ abi: oracleAbi, errorName: "AddressCannotBeZero" }),
  );
});
