import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  hashStruct,
  keccak256,
  maxUint256,
  parseSignature,
  type Address,
  type Hex,
} from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  approve,
  call,
  depositBalance,
  eventsOf,
  deployApprovedToken,
  id,
  mint,
  nativeTransfer,
  payBalance,
  reenteredError,
  transfer,
  zeroAddress,
  type Call,
} from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain, type Tx } from "../test/chain.ts";
import { installPermit2, permit2Errors } from "../test/permit2.ts";
import { answersAnythingAbi, answersAnythingBytecode } from "./generated/answers-anything.ts";
import {
  callbackAuthorizationAbi,
  callbackAuthorizationBytecode,
} from "./generated/callback-authorization.ts";
import { callbackTokenAbi, callbackTokenBytecode } from "./generated/callback-token.ts";
import {
  approvalProxyAbi,
  approvalProxyBytecode,
  depositoryAbi,
  depositoryBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  permit2Address,
  permit2Domain,
  permitBatchWitnessTransferFromTypes,
  receiveWithAuthorizationTypes,
  routerAbi,
  routerBytecode,
  routeWitnessTypes,
  testUsdAbi,
  testUsdBytecode,
  transferErrorsAbi,
} from "./index.ts";

// Payments by signature. The signature determines the route, and the submitter can do nothing else.

const { user, solver, stranger, owner, allocator, deployer } = accounts;
const farFuture = 2n ** 40n;

interface Witness {
  readonly relayer: Address;
  readonly refundTo: Address;
  readonly refundTokens: readonly Address[];
  readonly calls: readonly Call[];
}

interface Permit {
  readonly permitted: readonly { readonly token: Address; readonly amount: bigint }[];
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly deadline: bigint;
}

interface Authorization {
  readonly token: Address;
  readonly from: Address;
  readonly value: bigint;
  /** Unix seconds, like `validBefore`. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
}

let chain: TestChain;
let router: Address;
let proxy: Address;
let depository: Address;
let token: Address;
let usd: Address;
let recipient: Address;
let turn = 0;

beforeAll(async () => {
  chain = await startTestChain();
  await installPermit2(chain);
  router = await chain.deploy(routerAbi, routerBytecode);
  proxy = await chain.deploy(approvalProxyAbi, approvalProxyBytecode, [router]);
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
});
beforeEach(async () => {
  turn += 1;
  recipient = freshAddress(turn);
  token = await deployApprovedToken(chain, permit2Address, 1_000n);
  usd = await chain.deploy(testUsdAbi, testUsdBytecode, ["Test USD", "USD"]);
  await chain.send(deployer, { to: usd, data: mint(user.address, 1_000n) });
});
afterEach(async () => {
  for (const holder of [proxy, router]) {
    expect(await chain.nativeBalance(holder), "native left behind").toBe(0n);
    for (const usedToken of [token, usd]) {
      expect(await chain.tokenBalance(usedToken, holder), "tokens left behind").toBe(0n);
    }
  }
});
afterAll(async () => await chain.stop());

function witness(changes: Partial<Witness> = {}): Witness {
  const deposit = call(router, depositBalance(depository, user.address, token, 300n));
  return {
    relayer: zeroAddress,
    refundTo: zeroAddress,
    refundTokens: [],
    calls: [deposit],
    ...changes,
  };
}

function permit(changes: Partial<Permit> = {}): Permit {
  return { permitted: [{ token, amount: 300n }], nonce: BigInt(turn), deadline: farFuture, ...changes };
}

async function signPermit(signed: Permit, routeWitness: Witness): Promise<Hex> {
  return await user.signTypedData({
    domain: permit2Domain(chainId),
    types: permitBatchWitnessTransferFromTypes,
    primaryType: "PermitBatchWitnessTransferFrom",
    message: { ...signed, spender: proxy, witness: routeWitness },
  });
}

function permit2Route(
  signedPermit: Permit,
  routeWitness: Witness,
  signature: Hex,
  from: Address = user.address,
): Tx {
  return {
    to: proxy,
    data: encodeFunctionData({
      abi: approvalProxyAbi,
      functionName: "permit2Route",
      args: [from, signedPermit, routeWitness, signature],
    }),
  };
}

function permit2Error(errorName: "InvalidSigner" | "InvalidNonce"): Hex {
  return encodeErrorResult({ abi: permit2Errors, errorName });
}

function usdWitness(changes: Partial<Witness> = {}): Witness {
  return witness({
    calls: [call(router, depositBalance(depository, user.address, usd, 300n))],
    ...changes,
  });
}

function authorization(changes: Partial<Authorization> = {}): Authorization {
  return { token: usd, from: user.address, value: 300n, validAfter: 0n, validBefore: farFuture, ...changes };
}

/** Computes the nonce as the contract documents it. */
function nonceOf(authorized: Authorization, routeWitness: Witness): Hex {
  const witnessHash = hashStruct({
    types: routeWitnessTypes,
    primaryType: "RouteWitness",
    data: routeWitness,
  });
  const words = ["bytes32", "address", "address", "uint256", "uint256", "uint256"] as const;
  return keccak256(
    encodeAbiParameters(
      words.map((type) => ({ type })),
      [
        witnessHash,
        authorized.token,
        authorized.from,
        authorized.value,
        authorized.validAfter,
        authorized.validBefore,
      ],
    ),
  );
}

async function signAuthorization(authorized: Authorization, routeWitness: Witness): Promise<Hex> {
  return await user.signTypedData({
    domain: { name: "Test USD", version: "1", chainId, verifyingContract: authorized.token },
    types: receiveWithAuthorizationTypes,
    primaryType: "ReceiveWithAuthorization",
    message: {
      from: authorized.from,
      to: proxy,
      value: authorized.value,
      validAfter: authorized.validAfter,
      validBefore: authorized.validBefore,
      nonce: nonceOf(authorized, routeWitness),
    },
  });
}

function withSignature(authorized: Authorization, signature: Hex) {
  const { r, s, yParity } = parseSignature(signature);
  return { ...authorized, v: 27 + yParity, r, s };
}

function authorizationRoute(authorized: Authorization, routeWitness: Witness, signature: Hex): Tx {
  return {
    to: proxy,
    data: encodeFunctionData({
      abi: approvalProxyAbi,
      functionName: "authorizationRoute",
      args: [withSignature(authorized, signature), routeWitness],
    }),
  };
}

function wrongRelayer(relayer: Address, caller: Address): Hex {
  return encodeErrorResult({ abi: approvalProxyAbi, errorName: "WrongRelayer", args: [relayer, caller] });
}

/** Every field of a witness changed, one at a time. */
function alterations(original: Witness): readonly (readonly [string, Witness])[] {
  const [first] = original.calls;
  if (first === undefined) throw new RangeError("a route without calls");
  const calls = (changes: Partial<Call>): Witness => ({ ...original, calls: [{ ...first, ...changes }] });
  return [
    ["another relayer", { ...original, relayer: stranger.address }],
    ["another refund recipient", { ...original, refundTo: stranger.address }],
    ["another token to refund", { ...original, refundTokens: [recipient] }],
    ["another target", calls({ to: proxy })],
    ["other calldata", calls({ data: depositBalance(depository, stranger.address, token, 300n) })],
    ["another value", calls({ value: 1n })],
    ["another allowFailure", calls({ allowFailure: true })],
    ["no call", { ...original, calls: [] }],
    ["an extra call", { ...original, calls: [first, first] }],
  ];
}

test("deposits tokens with one Permit2 signature, and the submitter pays the gas", async () => {
  const tx = permit2Route(permit(), witness(), await signPermit(permit(), witness()));
  const before = await chain.nativeBalance(user.address);
  const receipt = await chain.send(stranger, tx);
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 300n, id },
  ]);
  expect(await chain.tokenBalance(token, user.address)).toBe(700n);
  expect(await chain.nativeBalance(user.address)).toBe(before);
});

test("routes several permitted tokens, and refunds the remainder of each to the signer", async () => {
  const other = await deployApprovedToken(chain, permit2Address, 1_000n);
  const twoTokenPermit = permit({
    permitted: [
      { token, amount: 300n },
      { token: other, amount: 50n },
    ],
  });
  const routeWitness = witness({
    calls: [call(token, transfer(recipient, 100n)), call(other, transfer(recipient, 20n))],
  });
  await chain.send(
    solver,
    permit2Route(twoTokenPermit, routeWitness, await signPermit(twoTokenPermit, routeWitness)),
  );
  expect(await chain.tokenBalance(token, recipient)).toBe(100n);
  expect(await chain.tokenBalance(other, recipient)).toBe(20n);
  expect(await chain.tokenBalance(token, user.address)).toBe(900n);
  expect(await chain.tokenBalance(other, user.address)).toBe(980n);
  expect(await chain.tokenBalance(other, router)).toBe(0n);
});

test("refunds the remainders of the permitted and the listed tokens to the signed address", async () => {
  const other = await deployApprovedToken(chain, permit2Address, 0n);
  for (const swapped of [usd, other]) await chain.send(deployer, { to: swapped, data: mint(router, 5n) });
  const routeWitness = witness({
    refundTo: recipient,
    refundTokens: [usd, other],
    calls: [call(token, transfer(stranger.address, 100n))],
  });
  await chain.send(solver, permit2Route(permit(), routeWitness, await signPermit(permit(), routeWitness)));
  expect(await chain.tokenBalance(token, recipient)).toBe(200n);
  expect(await chain.tokenBalance(usd, recipient)).toBe(5n);
  expect(await chain.tokenBalance(other, recipient)).toBe(5n);
});

test("only a named relayer can submit", async () => {
  const routeWitness = witness({ relayer: solver.address });
  const tx = permit2Route(permit(), routeWitness, await signPermit(permit(), routeWitness));
  expect(await chain.revertOf(stranger, tx)).toBe(wrongRelayer(solver.address, stranger.address));
  expect(await chain.revertOf(user, tx)).toBe(wrongRelayer(solver.address, user.address));
  await chain.send(solver, tx);

  const usdBound = usdWitness({ relayer: solver.address });
  const usdTx = authorizationRoute(
    authorization(),
    usdBound,
    await signAuthorization(authorization(), usdBound),
  );
  expect(await chain.revertOf(stranger, usdTx)).toBe(wrongRelayer(solver.address, stranger.address));
  await chain.send(solver, usdTx);
});

test("no part of the route of permitted tokens can be changed", async () => {
  const signature = await signPermit(permit(), witness());
  for (const [what, altered] of alterations(witness())) {
    const answer = await chain.revertOf(stranger, permit2Route(permit(), altered, signature));
    expect(answer, what).toBe(permit2Error("InvalidSigner"));
  }
});

test("neither amount, token, nonce, deadline nor owner of a permit can be changed", async () => {
  const signature = await signPermit(permit(), witness());
  const altered: readonly Permit[] = [
    permit({ permitted: [{ token, amount: 301n }] }),
    permit({ permitted: [{ token: usd, amount: 300n }] }),
    permit({
      permitted: [
        { token, amount: 300n },
        { token: usd, amount: 1n },
      ],
    }),
    permit({ permitted: [] }),
    permit({ nonce: 1_000n }),
    permit({ deadline: farFuture + 1n }),
  ];
  for (const signedPermit of altered) {
    expect(await chain.revertOf(stranger, permit2Route(signedPermit, witness(), signature))).toBe(
      permit2Error("InvalidSigner"),
    );
  }
  const forOther = permit2Route(permit(), witness(), signature, stranger.address);
  expect(await chain.revertOf(stranger, forOther)).toBe(permit2Error("InvalidSigner"));
});

test("a permit can be submitted only once", async () => {
  const tx = permit2Route(permit(), witness(), await signPermit(permit(), witness()));
  await chain.send(stranger, tx);
  expect(await chain.tokenBalance(token, depository)).toBe(300n);
  expect(await chain.revertOf(solver, tx)).toBe(permit2Error("InvalidNonce"));
});

test("a permit expires at its deadline", async () => {
  const late = permit({ deadline: 1n });
  const tx = permit2Route(late, witness(), await signPermit(late, witness()));
  expect(await chain.revertOf(solver, tx)).toBe(
    encodeErrorResult({ abi: permit2Errors, errorName: "SignatureExpired", args: [1n] }),
  );
});

test("a failed route moves no tokens and does not use up the permit's nonce", async () => {
  const tooMuch = witness({ calls: [call(router, depositBalance(depository, user.address, token, 301n))] });
  const tx = permit2Route(permit(), tooMuch, await signPermit(permit(), tooMuch));
  expect(await chain.revertOf(solver, tx)).toBe(
    encodeErrorResult({ abi: routerAbi, errorName: "BalanceBelowMinimum", args: [token, 300n, 301n] }),
  );
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
  await chain.send(solver, permit2Route(permit(), witness(), await signPermit(permit(), witness())));
});

test("the submitter provides native tokens for calls; the remainder goes to the signer", async () => {
  const routeWitness = witness({ calls: [call(router, nativeTransfer(recipient, 8n), 8n)] });
  const tx = permit2Route(permit(), routeWitness, await signPermit(permit(), routeWitness));
  await expect(chain.readCall(solver, tx)).rejects.toThrow();
  const before = await chain.nativeBalance(user.address);
  await chain.send(solver, { ...tx, value: 11n });
  expect(await chain.nativeBalance(recipient)).toBe(8n);
  expect((await chain.nativeBalance(user.address)) - before).toBe(3n);
});

test("for a token with a transfer fee, the calls decide whether enough arrived", async () => {
  const charging = await deployApprovedToken(chain, permit2Address, 1_000n, {
    abi: feeOnTransferAbi,
    bytecode: feeOnTransferBytecode,
  });
  const signedPermit = permit({ permitted: [{ token: charging, amount: 300n }] });
  const paying = (minimum: bigint): Witness =>
    witness({ calls: [call(router, payBalance(charging, recipient, minimum))] });
  const tooMuch = permit2Route(signedPermit, paying(298n), await signPermit(signedPermit, paying(298n)));
  expect(await chain.revertOf(solver, tooMuch)).toBe(
    encodeErrorResult({ abi: routerAbi, errorName: "BalanceBelowMinimum", args: [charging, 297n, 298n] }),
  );
  await chain.send(
    solver,
    permit2Route(signedPermit, paying(297n), await signPermit(signedPermit, paying(297n))),
  );
});

test("fails without Permit2", async () => {
  const tx = permit2Route(permit(), witness(), await signPermit(permit(), witness()));
  const code = await chain.client.getCode({ address: permit2Address });
  await chain.client.setCode({ address: permit2Address, bytecode: "0x" });
  expect(await chain.revertOf(solver, tx)).toBe("0x");
  await chain.client.setCode({ address: permit2Address, bytecode: code ?? "0x" });
});

test("deposits tokens without any approval, with one EIP-3009 signature", async () => {
  const tx = authorizationRoute(
    authorization(),
    usdWitness(),
    await signAuthorization(authorization(), usdWitness()),
  );
  const receipt = await chain.send(stranger, tx);
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token: usd, amount: 300n, id },
  ]);
  expect(await chain.tokenBalance(usd, user.address)).toBe(700n);
});

test("computes the same authorization nonce as the contract", async () => {
  const routeWitness = usdWitness({
    relayer: solver.address,
    refundTo: recipient,
    refundTokens: [token, usd],
  });
  const answer = await chain.client.readContract({
    address: proxy,
    abi: approvalProxyAbi,
    functionName: "authorizationNonce",
    args: [withSignature(authorization(), `0x${"11".repeat(64)}1b`), routeWitness],
  });
  expect(answer).toBe(nonceOf(authorization(), routeWitness));
});

test("computes the expected hash and nonce of a fixed witness", () => {
  const fixed: Witness = {
    relayer: freshAddress(1),
    refundTo: freshAddress(2),
    refundTokens: [freshAddress(3), freshAddress(4)],
    calls: [{ to: freshAddress(5), data: "0x1234", value: 6n, allowFailure: true }],
  };
  const authorized: Authorization = {
    token: freshAddress(7),
    from: freshAddress(8),
    value: 9n,
    validAfter: 10n,
    validBefore: 11n,
  };
  expect(hashStruct({ types: routeWitnessTypes, primaryType: "RouteWitness", data: fixed })).toBe(
    "0x96b8620fb403675147b0f1259d381faefd456bb3f1e031091067ec66002dec02",
  );
  expect(nonceOf(authorized, fixed)).toBe(
    "0xeceb18246eb68e89aac712b918b982ec14433ff4aab0b2cb624d341bbfa845d1",
  );
});

test("no part of the route of authorized tokens can be changed", async () => {
  const signature = await signAuthorization(authorization(), usdWitness());
  for (const [what, altered] of alterations(usdWitness())) {
    const answer = await chain.revertOf(
      // The relayer is checked before the signature.
      stranger,
      authorizationRoute(authorization(), altered, signature),
    );
    expect(answer, what).toBe(encodeErrorResult({ abi: testUsdAbi, errorName: "InvalidAuthorization" }));
  }
});

test("neither value, times, owner nor token of an authorization can be changed", async () => {
  const signature = await signAuthorization(authorization(), usdWitness());
  const otherUsd = await chain.deploy(testUsdAbi, testUsdBytecode, ["Test USD", "USD"]);
  await chain.send(deployer, { to: otherUsd, data: mint(user.address, 1_000n) });
  for (const altered of [
    authorization({ value: 299n }),
    authorization({ validAfter: 1n }),
    authorization({ validBefore: farFuture + 1n }),
    authorization({ from: solver.address }),
    authorization({ token: otherUsd }),
  ]) {
    expect(await chain.revertOf(stranger, authorizationRoute(altered, usdWitness(), signature))).toBe(
      encodeErrorResult({ abi: testUsdAbi, errorName: "InvalidAuthorization" }),
    );
  }
});

test("an authorization can be used only in the proxy, and only once", async () => {
  const signature = await signAuthorization(authorization(), usdWitness());
  const { r, s, v, from, value, validAfter, validBefore } = withSignature(authorization(), signature);
  const nonce = nonceOf(authorization(), usdWitness());
  const directCall = encodeFunctionData({
    abi: testUsdAbi,
    functionName: "receiveWithAuthorization",
    args: [from, proxy, value, validAfter, validBefore, nonce, v, r, s],
  });
  expect(await chain.revertOf(stranger, { to: usd, data: directCall })).toBe(
    encodeErrorResult({ abi: testUsdAbi, errorName: "CallerIsNotPayee", args: [stranger.address, proxy] }),
  );
  // The signature is invalid for `transferWithAuthorization`, which anyone could submit.
  const asTransfer = encodeFunctionData({
    abi: testUsdAbi,
    functionName: "transferWithAuthorization",
    args: [from, proxy, value, validAfter, validBefore, nonce, v, r, s],
  });
  expect(await chain.revertOf(stranger, { to: usd, data: asTransfer })).toBe(
    encodeErrorResult({ abi: testUsdAbi, errorName: "InvalidAuthorization" }),
  );

  const tx = authorizationRoute(authorization(), usdWitness(), signature);
  await chain.send(stranger, tx);
  expect(await chain.revertOf(solver, tx)).toBe(
    encodeErrorResult({
      abi: testUsdAbi,
      errorName: "AuthorizationUsedOrCanceled",
      args: [user.address, nonce],
    }),
  );
});

test("refunds the remainder of authorized tokens to the signer, or to the signed address", async () => {
  const spend = [call(usd, transfer(recipient, 100n))];
  const toUser = usdWitness({ calls: spend });
  await chain.send(
    stranger,
    authorizationRoute(authorization(), toUser, await signAuthorization(authorization(), toUser)),
  );
  expect(await chain.tokenBalance(usd, user.address)).toBe(900n);
  const elsewhere = usdWitness({ calls: spend, refundTo: owner.address });
  const tx = authorizationRoute(
    authorization(),
    elsewhere,
    await signAuthorization(authorization(), elsewhere),
  );
  await chain.send(stranger, tx);
  expect(await chain.tokenBalance(usd, owner.address)).toBe(200n);
});

test("refuses a token that accepts unknown calls without moving anything", async () => {
  const permissiveToken = await chain.deploy(answersAnythingAbi, answersAnythingBytecode);
  await chain.send(deployer, { to: permissiveToken, data: mint(user.address, 1_000n) });
  await chain.send(user, { to: permissiveToken, data: approve(proxy, maxUint256) });
  const authorized = authorization({ token: permissiveToken });
  expect(
    await chain.revertOf(stranger, authorizationRoute(authorized, usdWitness(), `0x${"11".repeat(64)}1b`)),
  ).toBe(encodeErrorResult({ abi: transferErrorsAbi, errorName: "TransferFailed" }));
});

/** Makes a token call the proxy with another route during its next transfer. */
async function armCallback(calling: Address): Promise<void> {
  const again = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [token, 0n, [], zeroAddress, []],
  });
  const arm = encodeFunctionData({ abi: callbackTokenAbi, functionName: "arm", args: [proxy, again] });
  await chain.send(user, { to: calling, data: arm });
}

async function answerTo(calling: Address): Promise<Hex> {
  return await chain.client.readContract({
    address: calling,
    abi: callbackTokenAbi,
    functionName: "answer",
  });
}

test("a token cannot reenter the proxy during a permit transfer", async () => {
  const calling = await deployApprovedToken(chain, permit2Address, 1_000n, {
    abi: callbackTokenAbi,
    bytecode: callbackTokenBytecode,
  });
  await armCallback(calling);
  const signedPermit = permit({ permitted: [{ token: calling, amount: 300n }] });
  const routeWitness = witness({
    calls: [call(router, depositBalance(depository, user.address, calling, 300n))],
  });
  await chain.send(
    solver,
    permit2Route(signedPermit, routeWitness, await signPermit(signedPermit, routeWitness)),
  );
  expect(await answerTo(calling)).toBe(reenteredError);
  expect(await chain.tokenBalance(calling, depository)).toBe(300n);
});

test("a token cannot reenter the proxy during an authorized transfer", async () => {
  const calling = await deployApprovedToken(chain, proxy, 1_000n, {
    abi: callbackAuthorizationAbi,
    bytecode: callbackAuthorizationBytecode,
  });
  await armCallback(calling);
  const authorized = authorization({ token: calling });
  const routeWitness = witness({
    calls: [call(router, depositBalance(depository, user.address, calling, 300n))],
  });
  await chain.send(
    solver,
    authorizationRoute(authorized, routeWitness, await signAuthorization(authorized, routeWitness)),
  );
  expect(await answerTo(calling)).toBe(reenteredError);
  expect(await chain.tokenBalance(calling, depository)).toBe(300n);
});
