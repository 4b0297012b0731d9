import { createTokenProbe, NodeRefusal, type RpcTransport, type TokenProbe } from "@causeway/chains";
import { blocksRecipientAbi } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { deployHostileTokens, localAccount, type HostileTokens } from "@causeway/localnet";
import { encodeFunctionData, parseAbi, toHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRpcTransport } from "../../../packages/chains/src/nodes/transport.ts";
import { startPoolWorld, type PoolWorld } from "../../support/pool-world.ts";

// Tokens with unusual behavior in real pools. Probing approves and broadcasts nothing; only preparations send
// transactions.

const pairFactory = parseAbi(["function createPair(address tokenA, address tokenB) returns (address)"]);
const mintable = parseAbi(["function mint(address to, uint256 amount)"]);
const owner = localAccount("deployer");
const account = (byte: string): Address => `0x${byte.repeat(20)}`;

let world: PoolWorld;
let transport: RpcTransport;
let hostile: HostileTokens;
let probe: TokenProbe;

beforeAll(async () => {
  world = await startPoolWorld();
  transport = createRpcTransport({ url: world.chain.rpcUrl });
  hostile = await deployHostileTokens({ url: world.chain.rpcUrl, chainId: world.chain.id });
  for (const token of Object.values(hostile)) await createPoolOf(token, 10n ** 24n);
  probe = probeOn(transport);
}, 60_000);
afterAll(async () => {
  await transport.close();
  await world.stop();
});

function probeOn(transport: Pick<RpcTransport, "request">): TokenProbe {
  const { contracts, liquidity } = world.chain;
  if (liquidity === undefined) throw new TypeError("the chain has no pools");
  return createTokenProbe({ transport, multicall3: contracts.multicall3, liquidity });
}

/** A pair of this token and USDC that holds `amount` of the token. */
async function createPoolOf(token: Address, amount: bigint): Promise<void> {
  const { v2, client } = world;
  const args = [token, world.token.USDC] as const;
  const create = encodeFunctionData({ abi: pairFactory, functionName: "createPair", args });
  await world.send(owner, [{ to: v2.factory, data: create }]);
  const pair = await client.readContract({
    address: v2.factory,
    abi: parseAbi(["function getPair(address, address) view returns (address)"]),
    functionName: "getPair",
    args,
  });
  if (amount > 0n)
    await world.send(owner, [
      { to: token, data: encodeFunctionData({ abi: mintable, functionName: "mint", args: [pair, amount] }) },
    ]);
}

test("a token that charges for transfers is distinguished from one that does not", async () => {
  expect(await probe.behavior(hostile.feeOnTransfer)).toEqual({
    transfers: "charges",
    resetsApproval: false,
  });
  for (const token of [world.token.USDC, world.token.TST, world.token.WETH, hostile.returnsNothing])
    expect(await probe.behavior(token), token).toEqual({ transfers: "exact", resetsApproval: false });
});

test("detects a token whose allowance must be reset to zero first", async () => {
  expect(await probe.behavior(hostile.refusesApprovalChange)).toEqual({
    transfers: "exact",
    resetsApproval: true,
  });
});

test("a token that refuses every call has no known properties", async () => {
  expect((await probe.behavior(hostile.returnsFalse)).transfers).toBeUndefined();
});

test("a recipient that the token blocks is distinguished from other recipients", async () => {
  const blocked = account("b1");
  const data = encodeFunctionData({
    abi: blocksRecipientAbi,
    functionName: "setBlocked",
    args: [blocked, true],
  });
  await world.send(owner, [{ to: hostile.blocksRecipient, data }]);
  expect(await probe.recipient(hostile.blocksRecipient, blocked)).toBe("blocked");
  expect(await probe.recipient(hostile.blocksRecipient, account("b2"))).toBe("open");
  expect(await probe.recipient(world.token.USDC, blocked)).toBe("open");
  // The token pays no account at all, so nothing is known about this recipient.
  expect(await probe.recipient(hostile.returnsFalse, blocked)).toBeUndefined();
});

test("a token that its buyer cannot transfer is detected", async () => {
  // Blocks the stranger, to whom the probe's account (…0b01) transfers what it bought. If that account were
  // blocked, it would receive no tokens, and the behavior would be unknown.
  const data = encodeFunctionData({
    abi: blocksRecipientAbi,
    functionName: "setBlocked",
    args: ["0xca05e7a900000000000000000000000000000b02", true],
  });
  await world.send(owner, [{ to: hostile.blocksRecipient, data }]);
  expect((await probe.behavior(hostile.blocksRecipient)).transfers).toBe("refuses");
});

test("the properties of a token that no pool holds are unknown", async () => {
  const unpooled = await deployHostileTokens({ url: world.chain.rpcUrl, chainId: world.chain.id });
  const unknownBehavior = { transfers: undefined, resetsApproval: undefined };
  expect(await probe.behavior(unpooled.feeOnTransfer)).toEqual(unknownBehavior);
  await createPoolOf(unpooled.feeOnTransfer, 0n);
  expect(await probe.behavior(unpooled.feeOnTransfer)).toEqual(unknownBehavior);
  expect(await probe.recipient(unpooled.feeOnTransfer, account("b1"))).toBeUndefined();
  expect(await probe.behavior(account("ee"))).toEqual(unknownBehavior);
});

test("a node that does not support code overrides leaves a token unknown; an unavailable one is a fault", async () => {
  const unknownBehavior = { transfers: undefined, resetsApproval: undefined };
  const ignoring = probeOn({
    request: async (method, params, options) => await transport.request(method, params.slice(0, 2), options),
  });
  expect(await ignoring.behavior(world.token.USDC)).toEqual(unknownBehavior);
  const refusing = probeOn({
    request: async (method, params, options) => {
      if (params.length > 2)
        throw new NodeRefusal({
          method,
          nodeCode: -32602,
          nodeText: "too many arguments",
          nodeData: undefined,
        });
      return await transport.request(method, params, options);
    },
  });
  expect(await refusing.behavior(world.token.USDC)).toEqual(unknownBehavior);
  expect(await refusing.recipient(world.token.USDC, account("b1"))).toBeUndefined();
  const unavailable = probeOn({
    request: async () => {
      throw new Error("gone");
    },
  });
  await expect(unavailable.behavior(world.token.USDC)).rejects.toThrow("gone");
});

test("probing a second recipient takes one request, because the pool is known", async () => {
  let calls = 0;
  const countingProbe = probeOn({
    request: async (method, params, options) => {
      calls++;
      return await transport.request(method, params, options);
    },
  });
  expect(await countingProbe.recipient(world.token.TST, account("b1"))).toBe("open");
  const first = calls;
  expect(await countingProbe.recipient(world.token.TST, account("b2"))).toBe("open");
  expect(calls - first).toBe(1);
});

test("probing a token changes nothing on the chain", async () => {
  const { client, token } = world;
  const account: Address = "0xca05e7a900000000000000000000000000000b01";
  await probe.behavior(token.USDC);
  expect(await client.getCode({ address: account })).toBeUndefined();
  const data: Hex = `0x70a08231${account.slice(2).padStart(64, "0")}`;
  const { data: balance } = await client.call({ to: token.USDC, data });
  expect(BigInt(balance ?? toHex(1))).toBe(0n);
});
