import type { Address, Currency, Hex } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import {
  domainSeparator,
  encodeAbiParameters,
  keccak256,
  parseAbiParameters,
  toBytes,
  toFunctionSelector,
} from "viem";
import { expect, test } from "vitest";
import { aChain, ORIGIN } from "../../../../test/fakes/quote-world.ts";
import type { ChainDirectory, ConnectedChain } from "./chains.port.ts";
import { createTokenPermits } from "./token-permits.adapter.ts";

const token: Address = `0x${"ab".repeat(20)}`;
const word = (hex: string): Hex => `0x${hex.padStart(64, "0")}`;
const text = (value: string): Hex => encodeAbiParameters(parseAbiParameters("string"), [value]);
const hashOf = (value: string): Hex => keccak256(toBytes(value));
const separatorOf = (name: string, version: string, chainId = ORIGIN): Hex =>
  domainSeparator({ domain: { name, version, chainId, verifyingContract: token } });

const described = (fields: Hex, name: string, version: string, chainId = ORIGIN): Hex =>
  encodeAbiParameters(parseAbiParameters("bytes1, string, string, uint256, address, bytes32, uint256[]"), [
    fields,
    name,
    version,
    BigInt(chainId),
    token,
    word("0"),
    [],
  ]);

/** The result of each function; all others revert. */
type Answers = Readonly<Record<string, Hex>>;

const receive = {
  "authorizationState(address,bytes32)": word("0"),
  "RECEIVE_WITH_AUTHORIZATION_TYPEHASH()": hashOf(
    "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
  ),
};
const permit = {
  "nonces(address)": word("5"),
  "PERMIT_TYPEHASH()": hashOf(
    "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)",
  ),
};

function world(answers: Answers, supportsPermit = false) {
  const bySelector = new Map(
    Object.entries(answers).map(([name, answer]) => [toFunctionSelector(name), answer]),
  );
  const calls: string[] = [];
  const state = { nowMs: 0, isDown: false };
  const ask = async (_to: Address, data: Hex): Promise<Hex | undefined> => {
    calls.push(data);
    if (state.isDown) throw new Error("the node is unreachable");
    return bySelector.get(data.slice(0, 10) as Hex);
  };
  const connected = { connection: { reader: { ask } } } as unknown as ConnectedChain;
  const chains: Pick<ChainDirectory, "get"> = { get: (id) => (id === ORIGIN ? connected : undefined) };
  const currency: Currency = { ...aChain(ORIGIN).tokens[0]!, address: token, supportsPermit };
  const permits = createTokenPermits(chains, { nowMs: () => state.nowMs });
  return {
    state,
    calls: calls,
    currency,
    permits,
    readPermits: async () => await permits.permitsOf(currency),
  };
}

const readPermits = async (answers: Answers, supportsPermit?: boolean) =>
  await world(answers, supportsPermit).readPermits();

test("accepts a domain that the token describes and whose hash matches", async () => {
  const answers = {
    ...receive,
    ...permit,
    "eip712Domain()": described("0x0f", "Coin", "3"),
    "DOMAIN_SEPARATOR()": separatorOf("Coin", "3"),
  };
  expect(await readPermits(answers)).toEqual({
    domain: { name: "Coin", version: "3" },
    eip3009: true,
    eip2612: true,
  });
});

test("without a description, accepts the name and a version that the hash confirms", async () => {
  const named = { ...receive, ...permit, "name()": text("USD Coin") };
  const v2 = { ...named, "version()": text("2"), "DOMAIN_SEPARATOR()": separatorOf("USD Coin", "2") };
  expect(await readPermits(v2)).toMatchObject({ domain: { name: "USD Coin", version: "2" }, eip3009: true });
  const withoutVersion = { ...named, "DOMAIN_SEPARATOR()": separatorOf("USD Coin", "1") };
  expect(await readPermits(withoutVersion)).toMatchObject({
    domain: { name: "USD Coin", version: "1" },
    eip2612: true,
  });
});

test("refuses a domain that its hash does not confirm", async () => {
  const nothing = { domain: undefined, eip3009: false, eip2612: false };
  const answers = { ...receive, ...permit, "name()": text("Coin"), "version()": text("1") };
  expect(await readPermits({ ...answers, "DOMAIN_SEPARATOR()": separatorOf("Old Coin", "1") })).toEqual(
    nothing,
  );
  expect(await readPermits({ ...answers, "DOMAIN_SEPARATOR()": separatorOf("Coin", "1", 1) })).toEqual(
    nothing,
  );
  expect(await readPermits(answers)).toEqual(nothing);
  const right = separatorOf("Coin", "1");
  for (const domain of [
    described("0x1f", "Coin", "1"),
    described("0x0f", "Coin", "1", 1),
    described("0x0f", "C", "1"),
  ])
    expect(await readPermits({ ...answers, "eip712Domain()": domain, "DOMAIN_SEPARATOR()": right })).toEqual(
      nothing,
    );
});

test("authorizations and permits count only with the standard type hashes", async () => {
  const domainAnswers = { "name()": text("Coin"), "DOMAIN_SEPARATOR()": separatorOf("Coin", "1") };
  const state = { "authorizationState(address,bytes32)": word("0") };
  expect((await readPermits({ ...domainAnswers, ...state })).eip3009).toBe(false);
  const otherTypehash = { ...receive, "RECEIVE_WITH_AUTHORIZATION_TYPEHASH()": word("12") };
  expect((await readPermits({ ...domainAnswers, ...otherTypehash })).eip3009).toBe(false);
  // A permit for any amount, as in the oldest tokens.
  expect(
    (await readPermits({ ...domainAnswers, ...permit, "PERMIT_TYPEHASH()": word("34") }, true)).eip2612,
  ).toBe(false);
  // Most tokens do not expose the type: then the operator's setting or a described domain is needed.
  const withoutTypehash = { ...domainAnswers, "nonces(address)": word("0") };
  expect((await readPermits(withoutTypehash)).eip2612).toBe(false);
  expect((await readPermits(withoutTypehash, true)).eip2612).toBe(true);
  expect(
    (await readPermits({ ...withoutTypehash, "eip712Domain()": described("0x0f", "Coin", "1") })).eip2612,
  ).toBe(true);
  expect((await readPermits(domainAnswers, true)).eip2612).toBe(false);
});

test("a contract with arbitrary or no answers accepts no permit", async () => {
  const names = [...Object.keys({ ...receive, ...permit }), "eip712Domain()", "name()", "DOMAIN_SEPARATOR()"];
  for (const answer of ["0x", word("1"), "0x12"] as const) {
    const answers = Object.fromEntries(names.map((name) => [name, answer]));
    expect(await readPermits(answers, true)).toEqual({ domain: undefined, eip3009: false, eip2612: false });
  }
  expect(await readPermits({}, true)).toEqual({ domain: undefined, eip3009: false, eip2612: false });
});

test("caches what a token accepts for an hour, and does not cache a failure", async () => {
  const {
    state,
    calls: asked,
    readPermits: ask,
    permits,
    currency,
  } = world({ ...permit, "name()": text("Coin") });
  state.isDown = true;
  await expect(ask()).rejects.toThrow("unreachable");
  state.isDown = false;
  const before = asked.length;
  await Promise.all([ask(), ask()]);
  const once = asked.length - before;
  await ask();
  expect(asked.length - before).toBe(once);
  state.nowMs += 3_600_000;
  await ask();
  expect(asked.length - before).toBe(2 * once);
  expect(await permits.nonceOf(currency, NATIVE_CURRENCY)).toBe(5n);
});
