import { encodeErrorResult, encodeFunctionData, maxUint256, type Address, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, zeroAddress } from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { hubAbi, hubBytecode } from "./index.ts";

// In these tests, the deployer has the minter role instead of the Oracle contract.
const { deployer: minter, owner, user, solver, stranger } = accounts;
const unauthorized: Hex = "0x82b42900";
const alias = freshAddress(1);

let chain: TestChain;
let hub: Address;
let tokenId = 0n;

type Args = readonly [address: Address, id: bigint, amount: bigint];

function mint(...args: Args): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "mint", args });
}
function burn(...args: Args): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "burn", args });
}
function transfer(...args: Args): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "transfer", args });
}
function approve(...args: Args): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "approve", args });
}
function move(from: Address, ...args: Args): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "move", args: [from, ...args] });
}
function transferFrom(from: Address, ...args: Args): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "transferFrom", args: [from, ...args] });
}
function setOperator(operator: Address, approved: boolean): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "setOperator", args: [operator, approved] });
}

async function balance(holder: Address, id = tokenId): Promise<bigint> {
  return await chain.client.readContract({
    address: hub,
    abi: hubAbi,
    functionName: "balanceOf",
    args: [holder, id],
  });
}
async function supply(id = tokenId): Promise<bigint> {
  return await chain.client.readContract({
    address: hub,
    abi: hubAbi,
    functionName: "totalSupply",
    args: [id],
  });
}
/** A new token id, of which only `holder` has `amount`. */
async function mintFresh(holder: Address, amount: bigint): Promise<bigint> {
  tokenId += 1n;
  await chain.send(minter, { to: hub, data: mint(holder, tokenId, amount) });
  return tokenId;
}

beforeAll(async () => {
  chain = await startTestChain();
  hub = await chain.deploy(hubAbi, hubBytecode, [owner.address]);
  const data = encodeFunctionData({ abi: hubAbi, functionName: "grantRoles", args: [minter.address, 1n] });
  await chain.send(owner, { to: hub, data });
});
afterAll(async () => await chain.stop());

test("the minter mints, moves and burns balances; the supply follows, and each change emits an event", async () => {
  const id = await mintFresh(alias, 100n);
  const moved = await chain.send(minter, { to: hub, data: move(alias, solver.address, id, 60n) });
  const burned = await chain.send(minter, { to: hub, data: burn(alias, id, 10n) });

  expect([await balance(alias), await balance(solver.address), await supply()]).toEqual([30n, 60n, 90n]);
  expect(eventsOf(moved, hub, hubAbi, "Transfer")).toEqual([
    { caller: minter.address, sender: alias, receiver: solver.address, id, amount: 60n },
  ]);
  expect(eventsOf(burned, hub, hubAbi, "Transfer")).toEqual([
    { caller: minter.address, sender: alias, receiver: zeroAddress, id, amount: 10n },
  ]);
});

test.each<[string, (id: bigint) => Hex]>([
  ["create", (id) => mint(stranger.address, id, 1n)],
  ["destroy", (id) => burn(alias, id, 1n)],
  ["move", (id) => move(alias, stranger.address, id, 1n)],
])("no account without the role may %s balances, not even the owner", async (_what, data) => {
  const id = await mintFresh(alias, 5n);
  for (const sender of [stranger, owner, user]) {
    expect(await chain.revertOf(sender, { to: hub, data: data(id) })).toBe(unauthorized);
  }
});

test("no account can transfer from an address without its approval", async () => {
  const id = await mintFresh(alias, 5n);
  for (const sender of [stranger, owner, minter]) {
    expect(await chain.revertOf(sender, { to: hub, data: transferFrom(alias, sender.address, id, 1n) })).toBe(
      encodeErrorResult({
        abi: hubAbi,
        errorName: "ERC6909InsufficientAllowance",
        args: [sender.address, 0n, 1n, id],
      }),
    );
  }
});

test("a holder with a key can transfer its balance, and no more", async () => {
  const id = await mintFresh(user.address, 5n);
  await chain.send(user, { to: hub, data: transfer(solver.address, id, 4n) });
  expect([await balance(user.address), await balance(solver.address)]).toEqual([1n, 4n]);
  expect(await chain.revertOf(user, { to: hub, data: transfer(solver.address, id, 2n) })).toBe(
    encodeErrorResult({
      abi: hubAbi,
      errorName: "ERC6909InsufficientBalance",
      args: [user.address, 1n, 2n, id],
    }),
  );
});

test("an approval covers one token id and shrinks with each transfer; an operator needs none", async () => {
  const id = await mintFresh(user.address, 50n);
  const other = await mintFresh(user.address, 50n);
  const approved = await chain.send(user, { to: hub, data: approve(stranger.address, id, 10n) });
  expect(eventsOf(approved, hub, hubAbi, "Approval")).toEqual([
    { owner: user.address, spender: stranger.address, id, amount: 10n },
  ]);
  await chain.send(stranger, { to: hub, data: transferFrom(user.address, solver.address, id, 7n) });
  const tooMuch = transferFrom(user.address, solver.address, id, 4n);
  expect((await chain.mine(stranger, { to: hub, data: tooMuch })).status).toBe("reverted");
  const wrongId = transferFrom(user.address, solver.address, other, 1n);
  expect((await chain.mine(stranger, { to: hub, data: wrongId })).status).toBe("reverted");

  const set = await chain.send(user, { to: hub, data: setOperator(stranger.address, true) });
  expect(eventsOf(set, hub, hubAbi, "OperatorSet")).toEqual([
    { owner: user.address, spender: stranger.address, approved: true },
  ]);
  await chain.send(stranger, { to: hub, data: wrongId });
  await chain.send(user, { to: hub, data: setOperator(stranger.address, false) });
  expect((await chain.mine(stranger, { to: hub, data: wrongId })).status).toBe("reverted");
});

test("the supply cannot overflow", async () => {
  const id = await mintFresh(alias, maxUint256);
  const panic = encodeErrorResult({
    abi: [{ type: "error", name: "Panic", inputs: [{ type: "uint256", name: "code" }] }],
    args: [0x11n],
  });
  for (const to of [alias, solver.address]) {
    expect(await chain.revertOf(minter, { to: hub, data: mint(to, id, 1n) })).toBe(panic);
  }
  await chain.send(minter, { to: hub, data: move(alias, alias, id, maxUint256) });
  expect(await balance(alias)).toBe(maxUint256);
});

test("the minter cannot burn or move more than the balance, nor pay the zero address", async () => {
  const id = await mintFresh(alias, 3n);
  for (const data of [
    burn(alias, id, 4n),
    move(alias, solver.address, id, 4n),
    move(alias, zeroAddress, id, 1n),
    mint(zeroAddress, id, 1n),
  ]) {
    expect((await chain.mine(minter, { to: hub, data })).status).toBe("reverted");
  }
  expect([await balance(alias), await supply()]).toEqual([3n, 3n]);
});

test("only the owner can grant and revoke the minter role", async () => {
  const grant = encodeFunctionData({ abi: hubAbi, functionName: "grantRoles", args: [stranger.address, 1n] });
  for (const sender of [stranger, minter])
    expect(await chain.revertOf(sender, { to: hub, data: grant })).toBe(unauthorized);

  const id = await mintFresh(alias, 1n);
  await chain.send(owner, { to: hub, data: grant });
  await chain.send(stranger, { to: hub, data: burn(alias, id, 1n) });
  const revoke = encodeFunctionData({
    abi: hubAbi,
    functionName: "revokeRoles",
    args: [stranger.address, 1n],
  });
  await chain.send(owner, { to: hub, data: revoke });
  expect(await chain.revertOf(stranger, { to: hub, data: mint(alias, id, 1n) })).toBe(unauthorized);
});

test("supports the ERC-6909 interface, and has an owner from the start", async () => {
  const isSupported = await chain.client.readContract({
    address: hub,
    abi: hubAbi,
    functionName: "supportsInterface",
    args: ["0x0f632fb3"],
  });
  expect(isSupported).toBe(true);
  expect(await chain.deployRevertOf(hubAbi, hubBytecode, [zeroAddress])).toBe(
    encodeErrorResult({ abi: hubAbi, errorName: "AddressCannotBeZero" }),
  );
});
