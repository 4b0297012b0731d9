import { concat, encodeFunctionData, erc20Abi, hexToBigInt, numberToHex, pad, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount, sign } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failuresAbi, failuresBytecode } from "@causeway/contracts";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { mined, solver, startEvmWorld, type EvmWorld } from "../../test/chain.ts";
import type { Authorization, ChainReader, TracedCall } from "@causeway/families/evm";
import { judgeAuthorizations, recoverAuthority } from "./authorizations.ts";
import { createChainReader } from "./reader.ts";
import { signTransaction } from "./sign-transaction.ts";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";
import { createChainWriter } from "./writer.ts";

const chainId = 31_032;
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const sender = solver.address.toLowerCase() as Address;
const senderKey: Hex = `0x${Buffer.from(solver.getHdKey().privateKey ?? []).toString("hex")}`;

const senderAccount = privateKeyToAccount(senderKey);

let world: EvmWorld;
let transport: RpcTransport;
let reader: ChainReader;
let failures: Address;

beforeAll(async () => {
  world = await startEvmWorld(chainId);
  transport = createRpcTransport({ url: world.node.url });
  reader = createChainReader(world.chain, transport);
  failures = await world.wallet.deploy(failuresAbi, failuresBytecode);
}, 30_000);
afterAll(async () => {
  await transport.close();
  await world.node.stop();
});

type Signer = ReturnType<typeof privateKeyToAccount>;
const createSigner = (): Signer => privateKeyToAccount(generatePrivateKey());
const addressOf = ({ address }: Pick<Signer, "address">): Address => address.toLowerCase() as Address;

async function authorize(
  signer: Signer,
  change: Partial<Pick<Authorization, "chainId" | "address" | "nonce">> = {},
): Promise<Authorization> {
  const terms = { chainId, address: failures, nonce: 0, ...change };
  const { r, s, yParity } = await signer.signAuthorization(terms);
  return { ...terms, r, s, yParity: yParity === 1 ? 1 : 0 };
}

function toWire({ chainId: id, address, nonce, yParity, r, s }: Authorization) {
  return {
    chainId: numberToHex(id),
    address,
    nonce: numberToHex(nonce),
    yParity: numberToHex(yParity),
    r,
    s,
  };
}

const write = encodeFunctionData({ abi: failuresAbi, functionName: "write", args: [7n] });

/** Sends the traced call with the traced gas, signed by us. */
async function send(call: TracedCall, gas: bigint) {
  const nonce = await reader.nonce(sender, "latest");
  const { raw, hash } = await signTransaction(
    { chainId, nonce, ...call, gas, ...fees },
    async (digest: Hex32) => {
      const { r, s, yParity } = await sign({ hash: digest, privateKey: senderKey });
      return { r, s, yParity: yParity === 1 ? 1 : 0 };
    },
  );
  expect(await createChainWriter(transport).broadcast(raw)).toEqual({ kind: "accepted" });
  return await mined(reader, hash);
}

async function codeOf(account: Address): Promise<Hex> {
  return (await world.wallet.rpc("eth_getCode", [account, "latest"])) as Hex;
}

test("a fresh account without native tokens gets code and runs it in one transaction, with the returned gas", async () => {
  const account = createSigner();
  const call = {
    to: addressOf(account),
    data: write,
    value: 0n,
    authorizationList: [await authorize(account)],
  };
  const outcome = await reader.trace(sender, call, fees);
  if (outcome.kind !== "ok") throw new Error(`no success: ${JSON.stringify(outcome)}`);
  const { effects, gas, gasUsed } = outcome;
  expect(effects.kind === "seen" && effects.accounts.get(addressOf(account))).toMatchObject({
    nonceBefore: 0n,
    nonceAfter: 1n,
    codeChanged: true,
  });
  // The transaction itself, the authorization, and two slots written.
  expect(gasUsed).toBeGreaterThan(21_000n + 12_500n + 2n * 20_000n);
  expect(await send(call, gas)).toMatchObject({ status: "success", gasUsed });
  expect(await codeOf(addressOf(account))).toBe(concat(["0xef0100", failures]));
});

test("the returned gas includes every authorization", async () => {
  const [firstSigner, secondSigner] = [createSigner(), createSigner()];
  const list = await Promise.all([authorize(firstSigner), authorize(secondSigner)]);
  const call = { to: addressOf(firstSigner), data: write, value: 0n };
  const outcome = await reader.trace(sender, { ...call, authorizationList: list }, fees);
  const single = await reader.trace(sender, { ...call, authorizationList: list.slice(0, 1) }, fees);
  if (outcome.kind !== "ok" || single.kind !== "ok") throw new Error("no success");
  // 25,000, of which 12,500 are refunded if the account already exists.
  expect(outcome.gasUsed - single.gasUsed).toBeGreaterThanOrEqual(12_500n);
  const estimate = await world.wallet.rpc("eth_estimateGas", [
    { from: sender, to: call.to, data: write, authorizationList: list.map(toWire) },
  ]);
  expect(BigInt(estimate as Hex)).toBeGreaterThan(21_000n + 2n * 25_000n);
  expect(await send({ ...call, authorizationList: list }, outcome.gas)).toMatchObject({
    status: "success",
    gasUsed: outcome.gasUsed,
  });
});

test("an authorization that the chain skips is a failure with its reason", async () => {
  const account = createSigner();
  const authorization = await authorize(account);
  const high = numberToHex(order - hexToBigInt(authorization.s), { size: 32 });
  const cases: readonly (readonly [Authorization, string])[] = [
    [await authorize(account, { nonce: 1 }), "AUTHORIZATION_NONCE_MISMATCH"],
    [await authorize(account, { chainId: 1 }), "AUTHORIZATION_CHAIN_MISMATCH"],
    [
      { ...authorization, s: high, yParity: authorization.yParity === 1 ? 0 : 1 },
      "AUTHORIZATION_INVALID_SIGNATURE",
    ],
    [{ ...authorization, r: pad("0x") }, "AUTHORIZATION_INVALID_SIGNATURE"],
    // An invalid signature recovers to a signer other than the intended account.
    [{ ...authorization, address: world.token }, "NO_CODE_TO_CALL"],
    [await authorize(createSigner()), "NO_CODE_TO_CALL"],
    // Authorizes the code of an account that has none.
    [await authorize(account, { address: sender }), "NO_CODE_TO_CALL"],
  ];
  for (const [flawed, label] of cases) {
    const call = { to: addressOf(account), data: write, value: 0n, authorizationList: [flawed] };
    const outcome = await reader.trace(sender, call, fees);
    expect(outcome).toMatchObject({ kind: "reverts", failure: { label } });
    if (!label.startsWith("AUTHORIZATION")) continue;
    expect(await send(call, 200_000n)).toMatchObject({ status: "success", logs: [] });
    expect(await codeOf(addressOf(account))).toBe("0x");
  }
});

test("applies several authorizations of one account, and one of the sender, in the order of the chain", async () => {
  const account = createSigner();
  const senderNonce = await reader.nonce(sender, "latest");
  const list = [
    await authorize(account, { address: world.token }),
    await authorize(account, { nonce: 1, chainId: 0 }),
    await authorize(senderAccount, { nonce: senderNonce + 1 }),
  ];
  const call = { to: addressOf(account), data: write, value: 0n, authorizationList: list };
  const outcome = await reader.trace(sender, call, fees);
  if (outcome.kind !== "ok") throw new Error(`no success: ${JSON.stringify(outcome)}`);
  expect(await send(call, outcome.gas)).toMatchObject({ status: "success", gasUsed: outcome.gasUsed });
  expect(await codeOf(addressOf(account))).toBe(concat(["0xef0100", failures]));
  expect(await codeOf(sender)).toBe(concat(["0xef0100", failures]));

  const after = await reader.nonce(sender, "latest");
  const clearing = { to: sender, data: "0x", value: 0n } as const;
  const cleared = [await authorize(senderAccount, { nonce: after + 1, address: zeroAddress })];
  expect(await reader.trace(sender, { ...clearing, authorizationList: cleared }, fees)).toMatchObject({
    kind: "ok",
  });
  expect(await send({ ...clearing, authorizationList: cleared }, 100_000n)).toMatchObject({
    status: "success",
  });
  expect(await codeOf(sender)).toBe("0x");
  const stale = [await authorize(senderAccount, { nonce: after })];
  expect(await reader.trace(sender, { ...clearing, authorizationList: stale }, fees)).toMatchObject({
    failure: { label: "AUTHORIZATION_NONCE_MISMATCH" },
  });
});

test("refuses an authorization of an account that is a contract", () => {
  const list: Authorization[] = [
    { chainId: 0, address: failures, nonce: 3, yParity: 0, r: pad("0x01"), s: pad("0x01") },
  ];
  const authority: Address = `0x${"ac".repeat(20)}`;
  const judge = (code: Hex) =>
    judgeAuthorizations(list, [authority], new Map([[authority, { nonce: 3n, nextNonce: 3n, code }]]), {
      chainId,
      sender,
    });
  expect(judge("0x6000")).toMatchObject({ kind: "skipped", label: "AUTHORIZATION_ACCOUNT_HAS_CODE" });
  expect(judge(concat(["0xef0100", sender]))).toEqual({
    kind: "apply",
    delegations: [{ authority, code: concat(["0xef0100", failures]), nonce: 4n }],
  });
});

test("refuses an authorization of an account with a pending transaction", async () => {
  const account = createSigner();
  await world.wallet.send({ to: addressOf(account), value: 10n ** 18n });
  const call = {
    to: addressOf(account),
    data: write,
    value: 0n,
    authorizationList: [await authorize(account)],
  };
  await world.wallet.rpc("evm_setAutomine", [false]);
  try {
    const raw = await account.signTransaction({
      chainId,
      nonce: 0,
      to: sender,
      value: 1n,
      gas: 21_000n,
      type: "eip1559",
      ...fees,
    });
    expect(await createChainWriter(transport).broadcast(raw)).toEqual({ kind: "accepted" });
    expect(await reader.trace(sender, call, fees)).toMatchObject({
      kind: "reverts",
      failure: { label: "AUTHORIZATION_ACCOUNT_BUSY" },
    });
  } finally {
    await world.wallet.rpc("evm_mine", []);
    await world.wallet.rpc("evm_setAutomine", [true]);
  }
  const next = { ...call, authorizationList: [await authorize(account, { nonce: 1 })] };
  expect(await reader.trace(sender, next, fees)).toMatchObject({ kind: "ok" });
});

test("recovers no signer from numbers that are not a signature", async () => {
  const authorization = await authorize(senderAccount);
  expect(await recoverAuthority(authorization)).toBe(sender);
  for (const flaw of [{ r: pad("0x") }, { s: pad("0x") }, { r: `0x${"ff".repeat(32)}` as Hex }]) {
    expect(await recoverAuthority({ ...authorization, ...flaw })).toBeUndefined();
  }
});

test("passes the effects of the list as state overrides to a node that ignores it, with the same result", async () => {
  const receivedLists: unknown[] = [];
  const ignoringTransport: RpcTransport = {
    ...transport,
    request: async (method, params, options) => {
      if (method !== "debug_traceCall") return await transport.request(method, params, options);
      const [{ authorizationList, ...transaction }, ...otherParams] = params as [
        Record<string, unknown>,
        ...unknown[],
      ];
      receivedLists.push(authorizationList);
      return await transport.request(method, [transaction, ...otherParams], options);
    },
  };
  const ignoringReader = createChainReader(world.chain, ignoringTransport);
  const account = createSigner();
  const call = {
    to: addressOf(account),
    data: write,
    value: 0n,
    authorizationList: [await authorize(account)],
  };
  const [overridden, expected] = await Promise.all([
    ignoringReader.trace(sender, call, fees),
    reader.trace(sender, call, fees),
  ]);
  if (overridden.kind !== "ok" || expected.kind !== "ok") throw new Error("no success");
  expect(
    overridden.effects.kind === "seen" && overridden.effects.accounts.get(addressOf(account)),
  ).toMatchObject({
    nonceBefore: 0n,
    nonceAfter: 1n,
    codeChanged: true,
  });
  // The refund for it is unknown then.
  expect(overridden.gasUsed - expected.gasUsed).toBeGreaterThanOrEqual(0n);
  expect(overridden.gasUsed - expected.gasUsed).toBeLessThanOrEqual(12_500n);
  expect(await send(call, overridden.gas)).toMatchObject({ status: "success" });
  // Cached: the list is not tried again.
  const second = createSigner();
  receivedLists.length = 0;
  const secondCall = { ...call, to: addressOf(second), authorizationList: [await authorize(second)] };
  expect(await ignoringReader.trace(sender, secondCall, fees)).toMatchObject({ kind: "ok" });
  expect(receivedLists.every((list) => list === undefined)).toBe(true);
});

test("an authorization with a payment, or with a call of another account, is not a failure", async () => {
  const account = createSigner();
  const call = {
    to: addressOf(createSigner()),
    data: "0x",
    value: 5n,
    authorizationList: [await authorize(account)],
  } as const;
  expect(await reader.trace(sender, call, fees)).toMatchObject({ kind: "ok" });
  const token = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [sender] });
  const elsewhere = { ...call, to: world.token, value: 0n, data: token };
  expect(await reader.trace(sender, elsewhere, fees)).toMatchObject({ kind: "ok" });
});
