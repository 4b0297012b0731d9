import { depositAddressFactoryAbi } from "@causeway/contracts";
import type { Address, Hex, RequestId, RequestTerms } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import {
  deployAccountAbstraction,
  localAccount,
  localDeployment,
  type LocalAccount,
} from "@causeway/localnet";
import type { SignatureStep } from "@causeway/wire";
import { encodeFunctionData, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createPermitSignatures } from "../../../apps/api/src/chains/permit-signatures.adapter.ts";
import { createTokenPermits } from "../../../apps/api/src/chains/token-permits.adapter.ts";
import {
  PERMIT_KEY_ID,
  type PermitPolicy,
  type PermitTokens,
} from "../../../apps/api/src/chains/permits.port.ts";
import { executePermit } from "../../../apps/api/src/executions/permits/execute-permit.ts";
import { permitCall, vrsOf } from "../../../apps/api/src/quotes/permits/permit-call.ts";
import { hasPermit } from "../../../apps/api/src/quotes/permits/typed-data.ts";
import type { TermsWithPermit } from "../../../apps/api/src/quotes/permits/typed-data.ts";
import { idempotencyStore } from "../../../apps/api/src/http/idempotency-store.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { utcDay } from "../../../apps/api/src/db/utc-day.ts";
import { readSpending } from "../../../apps/api/src/payments/execution-writes.postgres.ts";
import { LeaseLost } from "../../../apps/api/src/http/idempotency.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import type { AnswerToStore } from "../../../apps/api/src/balances/accept-claim.ts";
import { crashingServices } from "../../fakes/crashing-services.ts";
import type { QuotedRequest, QuoteOverrides } from "../../support/engine-world.ts";
import { approveCall } from "../../support/execution-world.ts";
import { startSwapWorld, type SwapWorld } from "../../support/swap-world.ts";

// Users without native tokens sign once. The chains, the contracts and the engine are real.

let world: SwapWorld;
const executor = localAccount("executor").address.toLowerCase() as Address;
/** The limits are far above what the tests spend. */
const policy: PermitPolicy = { dailyUsd: 10n ** 24n, perUser: 100, windowMs: 3_600_000 };
const permit2 = localDeployment.permit2.toLowerCase() as Address;
const factory = localDeployment.depositAddressFactory;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
  for (const chain of [world.origin, world.destination]) {
    await chain.fund(executor, { native: 10n ** 20n, tokens: 0n });
    await chain.mine();
    await world.watch(chain);
  }
}, 120_000);
afterAll(async () => await world.stop());
afterEach(() => {
  expect(world.events.all.filter(({ event }) => event === "transition_rejected")).toEqual([]);
});

/** Code that returns the magic value of EIP-1271 for any call. */
const ANY_SIGNATURE = "0x631626ba7e60e01b60005260206000f3";

const mintAbi = parseAbi(["function mint(address to, uint256 amount)"]);

interface User extends LocalAccount {
  readonly recipient: Address;
}

/** A user with only this amount of a token. `approved`: the user approved Permit2 long ago. */
async function aUser(token: Address, amount: bigint, { approved = false } = {}): Promise<User> {
  const { origin, stranger } = world;
  const privateKey = generatePrivateKey();
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
  const user: User = { ...stranger, privateKey, address, recipient: world.anAddress() };
  await origin.send(stranger, {
    to: token,
    data: encodeFunctionData({ abi: mintAbi, args: [address, amount] }),
  });
  await origin.mine();
  if (approved) {
    await origin.client.setBalance({ address, value: 10n ** 18n });
    await origin.send(user, approveCall(token, permit2, 2n ** 256n - 1n));
    await origin.mine();
    await origin.client.setBalance({ address, value: 0n });
  }
  await world.watch(origin);
  return user;
}

/** Hides that tokens support EIP-3009 authorizations and, with `nothing`, EIP-2612 permits too. */
const withoutEip3009 = (nothing = false): PermitTokens => {
  const tokens = createTokenPermits(world.services.chains, world.clock);
  return {
    ...tokens,
    permitsOf: async (token) => {
      const permits = await tokens.permitsOf(token);
      return { ...permits, eip3009: false, eip2612: permits.eip2612 && !nothing };
    },
  };
};
const only2612 = (): PermitTokens => withoutEip3009();
const noPermits = (): PermitTokens => withoutEip3009(true);

async function requestQuote(
  user: User,
  ask: QuoteOverrides = {},
  permitTokens?: PermitTokens,
): Promise<QuotedRequest> {
  const whole = { user: user.address, recipient: user.recipient, usePermit: true, ...ask };
  return await world.quote(whole, undefined, permitTokens && { permitTokens });
}

function signatureStep({ answer }: QuotedRequest): SignatureStep {
  const step = answer.steps.find(({ kind }) => kind === "signature");
  if (step?.kind !== "signature" || step.id === "authorize")
    throw new Error("the quote has no signature step");
  return step;
}

/** Signs the step as a wallet would that received the answer as JSON. */
async function signStep(
  user: User,
  agreed: QuotedRequest,
  change: (sign: Sign) => void = () => {},
): Promise<Hex> {
  const sign = JSON.parse(JSON.stringify(signatureStep(agreed).items[0]?.data.sign)) as Sign;
  change(sign);
  const { domain, types, primaryType, value: message } = sign;
  return await privateKeyToAccount(user.privateKey).signTypedData({
    domain,
    types,
    primaryType,
    message,
  } as Parameters<ReturnType<typeof privateKeyToAccount>["signTypedData"]>[0]);
}
interface Sign {
  domain: { name: string; chainId: number };
  types: Record<string, unknown>;
  primaryType: string;
  value: Record<string, unknown> & {
    witness: { relayer: string; refundTo: string; calls: { data: string }[] };
    permitted: { amount: string }[];
  };
}

async function post(
  agreed: QuotedRequest,
  signature: Hex,
  {
    permitPolicy = policy,
    kind,
    by = world.services,
    keep,
  }: { permitPolicy?: PermitPolicy; kind?: string; by?: WorkerServices; keep?: AnswerToStore } = {},
): Promise<void> {
  const body = signatureStep(agreed).items[0]?.data.post.body;
  const permitSignatures = createPermitSignatures(world.services.chains);
  await executePermit(
    { ...by, permitSignatures, permitPolicy },
    { kind: kind ?? body?.kind ?? "", requestId: body?.requestId as RequestId, signature },
    keep,
  );
}

async function refusalOf(
  work: Promise<unknown>,
): Promise<{ code: string; reason: unknown; message: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw new Error(`not refused: ${String(error)}`);
  const { data } = error.facts;
  const reason = typeof data === "object" ? data["reason"] : undefined;
  return { code: error.code, reason, message: error.message };
}

function termsOf({ terms }: QuotedRequest): TermsWithPermit {
  if (!hasPermit(terms)) throw new Error("the terms are not paid by signature");
  return terms;
}

/**
 * Checks that the request ends with the recipient paid as quoted, that the user never had native tokens, and
 * that the output paid the gas.
 */
async function expectPaid(user: User, agreed: QuotedRequest): Promise<void> {
  const { terms } = agreed;
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  const { currency, chainId, minimumAmount } = terms.destination;
  const chain = chainId === world.origin.chain.id ? world.origin : world.destination;
  expect(await chain.balance(user.recipient, currency)).toBeGreaterThanOrEqual(minimumAmount);
  expect(await world.origin.balance(user.address, NATIVE_CURRENCY)).toBe(0n);
  const [deposit, ...others] = await world.depositsOf(agreed.requestId);
  expect(others).toEqual([]);
  expect(deposit).toMatchObject({ depositor: user.address, disposition: "accepted" });
  expect(terms.originGasUsd).toBeGreaterThan(0n);
}

const hundred = 100_000_000n;

test("a token with authorizations (EIP-3009) is bridged by one signature, with its gas deducted from the output", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user);
  expect(agreed.answer.steps).toMatchObject([
    {
      id: "authorize1",
      kind: "signature",
      items: [
        {
          status: "incomplete",
          data: {
            sign: { signatureKind: "eip712", primaryType: "ReceiveWithAuthorization" },
            post: {
              endpoint: "/execute/permits",
              method: "POST",
              body: { kind: "eip3009", requestId: agreed.requestId, api: "bridge" },
            },
          },
          check: { endpoint: `/intents/status/v3?requestId=${agreed.requestId}`, method: "GET" },
        },
      ],
    },
  ]);
  expect(signatureStep(agreed).items[0]?.data.sign.types).not.toHaveProperty("EIP712Domain");
  expect(agreed.answer.fees.gas.amount).toBe("0");
  const bySender = await world.quote({ user: user.address, recipient: user.recipient });
  expect(agreed.terms.destination.expectedAmount).toBeLessThan(bySender.terms.destination.expectedAmount);
  const before = await world.origin.balance(executor, NATIVE_CURRENCY);
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);
  expect(await world.origin.balance(world.user.address, world.usdc)).toBeGreaterThan(0n);
  expect(await world.origin.balance(user.address, world.usdc)).toBe(0n);
  expect(await world.origin.balance(executor, NATIVE_CURRENCY)).toBeLessThan(before);
  const execution = await world.services.reads.execution(agreed.requestId);
  // The output has paid for the gas, so no gas counts as at risk.
  await world.round();
  expect(await world.services.reads.execution(agreed.requestId)).toMatchObject({
    settled: true,
    costUsd: 0n,
  });
  expect(execution?.keyId).toBe("permits");
});

test("deducts the quoted cost of submitting the permit from the refund of its deposit", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user, { referrer: "debug-force-refund" });
  await post(agreed, await signStep(user, agreed));
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "refund" });
  const back = await world.origin.balance(user.address, world.usdc);
  expect(back).toBeGreaterThanOrEqual(agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? hundred);
  // At one dollar per USDC. The refund's own gas is deducted too.
  expect((hundred - back) * 10n ** 12n).toBeGreaterThan(agreed.terms.originGasUsd ?? 0n);
});

test("a token with permits only (EIP-2612) is deposited through its order's deposit address", async () => {
  const amount = 100n * 10n ** 18n;
  const user = await aUser(world.tst, amount);
  const agreed = await requestQuote(user, { originCurrency: world.tst, amount: amount.toString() });
  expect(signatureStep(agreed).items[0]?.data.sign.primaryType).toBe("Permit");
  expect(signatureStep(agreed).items[0]?.data.post.body.kind).toBe("eip2612");
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);
});

test("a client is asked only for kinds of signatures that it supports", async () => {
  const amount = (100n * 10n ** 18n).toString();
  const user = await aUser(world.tst, BigInt(amount), { approved: true });
  const ask = { originCurrency: world.tst, amount };
  const agreed = await requestQuote(user, { ...ask, permitKinds: ["eip3009", "permit2"] });
  expect(agreed.answer.steps.map(({ id }) => id)).toEqual(["authorize1"]);
  expect(signatureStep(agreed).items[0]?.data.post.body.kind).toBe("permit2");
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);

  const only = await requestQuote(user, { ...ask, permitKinds: ["eip2612"] });
  expect(signatureStep(only).items[0]?.data.post.body.kind).toBe("eip2612");
  const holder = await aUser(world.usdc, hundred);
  const batch = await requestQuote(holder, { permitKinds: ["permit2"] });
  expect(signatureStep(batch).items[0]?.data.post.body.kind).toBe("permit2");
  await expect(requestQuote(user, { ...ask, permitKinds: ["eip3009"] })).rejects.toMatchObject({
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: expect.stringContaining("add permit2"),
    facts: { field: "permitKinds" },
  });
});

test("pays any other token through Permit2, after one approval", async () => {
  const user = await aUser(world.tst, 100n * 10n ** 18n, { approved: true });
  const ask = { originCurrency: world.tst, amount: (100n * 10n ** 18n).toString() };
  const agreed = await requestQuote(user, ask, noPermits());
  expect(agreed.answer.steps.map(({ id }) => id)).toEqual(["authorize1"]);
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);

  const fresh = await aUser(world.tst, 100n * 10n ** 18n);
  const first = await requestQuote(fresh, ask, noPermits());
  expect(first.answer.steps.map(({ id, kind }) => [id, kind])).toEqual([
    ["approve", "transaction"],
    ["authorize1", "signature"],
  ]);
  const [approve] = first.answer.steps;
  expect(JSON.stringify(approve)).toContain(permit2.slice(2));
  expect(approve?.items[0]).not.toHaveProperty("check");
  expect(await refusalOf(signStep(fresh, first).then((signature) => post(first, signature)))).toMatchObject({
    code: "PERMIT_FAILED",
    reason: "PERMIT2_ALLOWANCE_TOO_LOW",
  });
});

test("swaps a token that the solver does not hold before the deposit, by the same signature", async () => {
  const user = await aUser(world.odd, 40n * 10n ** 18n, { approved: true });
  const agreed = await requestQuote(user, {
    originCurrency: world.odd,
    amount: (10n * 10n ** 18n).toString(),
  });
  expect(agreed.terms.input?.currency).toBe(world.odd);
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);
  expect(await world.origin.balance(user.address, world.odd)).toBe(30n * 10n ** 18n);
});

test("on one chain, a user without native tokens signs for an amount of tokens, and the solver pays out native tokens", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user, {
    destinationChainId: world.origin.chain.id,
    destinationCurrency: NATIVE_CURRENCY,
  });
  const step = signatureStep(agreed);
  expect([step.id, step.items[0]?.data.post.body.api]).toEqual(["authorize2", "swap"]);
  expect(agreed.terms.kind).toBe("bridge");
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);
});

test("a contract account signs for Permit2, and its contract verifies the signature", async () => {
  const user = await aUser(world.usdc, hundred, { approved: true });
  await world.origin.client.setCode({ address: user.address, bytecode: ANY_SIGNATURE });
  const agreed = await requestQuote(user, { originGasOverhead: 10_000 });
  expect(signatureStep(agreed).items[0]?.data.post.body.kind).toBe("permit2");
  await post(agreed, "0x1234567890");
  await expectPaid(user, agreed);
});

test("accepts the same signature any number of times, also concurrently, and refuses another signature for the same request", async () => {
  const user = await aUser(world.usdc, 2n * hundred);
  const agreed = await requestQuote(user, {}, only2612());
  const signature = await signStep(user, agreed);
  const compact = await compactOf(signature);
  await Promise.all(Array.from({ length: 20 }, async () => await post(agreed, signature)));
  await post(agreed, signature);
  expect(await refusalOf(post(agreed, compact))).toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("was already executed by another call"),
  });
  await expectPaid(user, agreed);
  await post(agreed, signature);
  expect(await world.depositsOf(agreed.requestId)).toHaveLength(1);
  expect(await world.origin.balance(user.address, world.usdc)).toBe(hundred);
});

test("stores the answer to an Idempotency-Key in the accepting commit, and accepts nothing after a lost lease", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user);
  const signature = await signStep(user, agreed);
  const store = idempotencyStore(sqlOn(world.pool));
  const call = { scope: "ip:127.0.0.1", endpoint: "POST /execute/permits", bodyHash: "b" };
  const answer = { status: 200, body: "{}" };
  const begin = async (key: string) => await store.begin({ ...call, key }, world.clock.nowMs());
  const [lost, kept] = [await begin("lost"), await begin("kept")];
  if (lost.kind !== "started" || kept.kind !== "started") throw new Error("expected new calls");
  await store.abandon(lost.lease);
  await expect(post(agreed, signature, { keep: { lease: lost.lease, answer } })).rejects.toThrow(LeaseLost);
  expect(await world.services.reads.execution(agreed.requestId)).toBeUndefined();
  await post(agreed, signature, { keep: { lease: kept.lease, answer } });
  expect(await begin("kept")).toEqual({ kind: "answered", answer });
  await expectPaid(user, agreed);
});

test("refuses a signature over anything that differs from the quote", async () => {
  const user = await aUser(world.tst, 100n * 10n ** 18n, { approved: true });
  const ask = { originCurrency: world.tst, amount: (10n ** 19n).toString() };
  const agreed = await requestQuote(user, ask, noPermits());
  const stranger = world.anAddress();
  const changes: ((sign: Sign) => void)[] = [
    ({ value }) => (value.witness.relayer = stranger),
    ({ value }) => (value.witness.refundTo = stranger),
    ({ value }) => {
      const [call] = value.witness.calls;
      if (call) call.data = call.data.replace(user.address.slice(2), stranger.slice(2));
    },
    ({ value }) => value.witness.calls.pop(),
    ({ value }) => value.permitted.forEach((token) => (token.amount = "1")),
    ({ value }) => (value["spender"] = stranger),
    ({ value }) => (value["nonce"] = "1"),
    ({ value }) => (value["deadline"] = String(2n ** 40n)),
    ({ domain }) => (domain.chainId = world.destination.chain.id),
    ({ domain }) => (domain.name = "Permit3"),
  ];
  for (const change of changes)
    expect(await refusalOf(post(agreed, await signStep(user, agreed, change)))).toMatchObject({
      code: "PERMIT_FAILED",
      reason: "INVALID_SIGNATURE",
    });
  const otherUser = await aUser(world.tst, 10n ** 20n, { approved: true });
  for (const signature of [await signStep(otherUser, agreed), "0x", "0x1234"] as const)
    expect(await refusalOf(post(agreed, signature))).toMatchObject({ reason: "INVALID_SIGNATURE" });
  expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
  // Adds blocks after the expensive transactions of the set-up, so that these do not raise the priority fee.
  for (let block = 0; block < 10; block += 1) await world.origin.mine();
  await world.watch(world.origin);
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);
});

test("an invalid permit is refused before anything is broadcast, with the reason", async () => {
  const user = await aUser(world.usdc, hundred - 1n);
  const agreed = await requestQuote(user);
  const signature = await signStep(user, agreed);
  expect(await refusalOf(post(agreed, signature))).toMatchObject({
    code: "PERMIT_FAILED",
    reason: "GASLESS_PERMIT_BALANCE_TOO_LOW",
  });
  expect(await refusalOf(post(agreed, signature, { kind: "permit2" }))).toMatchObject({
    code: "INVALID_REQUEST",
  });
  const bySender = await world.quote();
  const plain = { ...agreed, answer: { ...agreed.answer, requestId: bySender.requestId } };
  signatureStep(plain).items[0]!.data.post.body.requestId = bySender.requestId;
  expect(await refusalOf(post(plain, signature))).toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("without usePermit"),
  });
  signatureStep(plain).items[0]!.data.post.body.requestId = `0x${"77".repeat(32)}`;
  expect(await refusalOf(post(plain, signature))).toMatchObject({ code: "INVALID_REQUEST" });

  // Only the simulation detects that the nonce of the permit was used in the meantime.
  const rich = await aUser(world.usdc, 3n * hundred);
  const [first, other] = [await requestQuote(rich, {}, only2612()), await requestQuote(rich, {}, only2612())];
  await post(first, await signStep(rich, first));
  await expectPaid(rich, first);
  expect(await refusalOf(signStep(rich, other).then((late) => post(other, late)))).toMatchObject({
    code: "PERMIT_FAILED",
    message: expect.stringContaining("Submitting the signature would revert"),
  });
  const late = await requestQuote(rich, { permitExpiry: 60 });
  const expired = await signStep(rich, late);
  world.clock.forward(50_000);
  expect(await refusalOf(post(late, expired))).toMatchObject({ reason: "SIGNATURE_EXPIRED" });
});

/** A third party submits the permit. The permit is mined in a block that the service has not read. */
async function pull(agreed: QuotedRequest, user: User, signature: Hex): Promise<void> {
  const { origin, stranger } = world;
  const { permit, orderId } = termsOf(agreed);
  const key = { id: orderId, depositor: user.address, recovery: NATIVE_CURRENCY, strict: true };
  const by = { deadline: BigInt(permit.deadline), ...vrsOf(signature) };
  await origin.send(stranger, {
    to: factory,
    data: encodeFunctionData({
      abi: depositAddressFactoryAbi,
      functionName: "pull",
      args: [key, permit.token, permit.amount, by],
    }),
  });
  await origin.mine();
}

/** Services that read the request with these changed terms. */
function withTerms(agreed: QuotedRequest, change: Partial<RequestTerms>): WorkerServices {
  const { services } = world;
  const request = async () => {
    const record = await world.request(agreed.requestId);
    return { ...record, terms: { ...record.terms, ...change } };
  };
  return { ...services, reads: { ...services.reads, request } };
}

test("a permit is not sent if its deposit would not be filled, or if its gas costs more than the output covers", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user);
  const signature = await signStep(user, agreed);
  const { origin, originGasUsd = 0n, firmUntilMs } = agreed.terms;
  const more = withTerms(agreed, { origin: { ...origin, amount: origin.amount + 1n } });
  expect(await refusalOf(post(agreed, signature, { by: more }))).toMatchObject({
    code: "PERMIT_FAILED",
    message: expect.stringContaining("does not make the deposit"),
  });
  const tooExpensive = { code: "PERMIT_FAILED", reason: "GAS_TOO_DEAR" };
  const { chains } = world.services;
  const get: typeof chains.get = (id) => {
    const connected = chains.get(id);
    return connected && { ...connected, chain: { ...connected.chain, disabled: true } };
  };
  const disabled = { ...world.services, chains: { ...chains, get } };
  expect(await refusalOf(post(agreed, signature, { by: disabled }))).toMatchObject({
    code: "CHAIN_DISABLED",
  });
  const hundredth = { originGasUsd: originGasUsd / 100n };
  expect(await refusalOf(post(agreed, signature, { by: withTerms(agreed, hundredth) }))).toMatchObject(
    tooExpensive,
  );
  // A small shortfall is tolerated while the quote is firm, and not afterwards.
  const estimate = (originGasUsd * 7n) / 10n;
  const late = withTerms(agreed, { originGasUsd: estimate, firmUntilMs: 0 });
  expect(await refusalOf(post(agreed, signature, { by: late }))).toMatchObject(tooExpensive);
  await post(agreed, signature, { by: withTerms(agreed, { originGasUsd: estimate, firmUntilMs }) });
  await expectPaid(user, agreed);
});

test("a signature that expires before its broadcast is not broadcast", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user, { permitExpiry: 60 });
  await post(agreed, await signStep(user, agreed));
  world.clock.forward(61_000);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "TRANSACTION_NOT_INCLUDED",
  });
  await world.round();
  expect(await world.origin.balance(user.address, world.usdc)).toBe(hundred);
  expect(await world.services.reads.execution(agreed.requestId)).toMatchObject({
    settled: true,
    costUsd: 0n,
  });
});

test("an account that became a contract since its quote cannot sign for tokens", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user);
  await world.origin.client.setCode({ address: user.address, bytecode: ANY_SIGNATURE });
  expect(await refusalOf(post(agreed, "0x1234567890"))).toMatchObject({ reason: "INVALID_SIGNATURE" });
});

test("refuses quotes that cannot be paid by signature, and names the field", async () => {
  const user = await aUser(world.usdc, hundred);
  const refusal = { code: "UNSUPPORTED_EXECUTION_TYPE", facts: { field: "usePermit" } };
  await expect(requestQuote(user, { originCurrency: NATIVE_CURRENCY })).rejects.toMatchObject(refusal);
  const sameChain = { destinationChainId: world.origin.chain.id };
  await expect(requestQuote(user, sameChain)).rejects.toMatchObject(refusal);
  for (const permitExpiry of [0, 59, 86_401])
    await expect(requestQuote(user, { permitExpiry })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      facts: { field: "permitExpiry" },
    });
  const ask = { user: user.address, usePermit: true };
  await expect(world.quote(ask, undefined, { permitTokens: undefined })).rejects.toMatchObject(refusal);
  await expect(world.quote(ask, undefined, { executor: undefined })).rejects.toMatchObject(refusal);
});

test("fills the request when someone else submits the permit first and the service's own transaction reverts", async () => {
  const { origin, stranger, services } = world;
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user, {}, only2612());
  const signature = await signStep(user, agreed);
  await post(agreed, signature);
  await world.work();
  // The service's transaction is pending, and the third party's transaction has a higher fee.
  const { to, data } = permitCall(termsOf(agreed), origin.chain, signature);
  await origin.client.sendTransaction({
    account: privateKeyToAccount(stranger.privateKey),
    to,
    data,
    gas: 1_000_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 400_000_000_000n,
  });
  await expectPaid(user, agreed);
  expect((await origin.sentBy(executor)).at(-1)).toMatchObject({ succeeded: false });
  // The third party paid the gas of the deposit. The gas of the service was wasted, and is counted.
  expect(await services.reads.execution(agreed.requestId)).toMatchObject({ settled: true });
  expect((await services.reads.execution(agreed.requestId))?.costUsd).toBeGreaterThan(0n);
  const [deposit] = await world.depositsOf(agreed.requestId);
  expect(deposit?.sender).toBe(stranger.address);
  expect(await world.statusesOf(agreed.requestId)).not.toContain("failure");
});

test("fills the request when someone else submits the permit before the service broadcasts it, or before it is posted", async () => {
  const { origin } = world;
  for (const isPosted of [true, false]) {
    const user = await aUser(world.usdc, hundred);
    const agreed = await requestQuote(user, {}, only2612());
    const signature = await signStep(user, agreed);
    if (isPosted) await post(agreed, signature);
    await pull(agreed, user, signature);
    // The job reads the newest state before the watcher scans that block.
    await origin.announce();
    await world.work();
    await expectPaid(user, agreed);
    expect(await world.statusesOf(agreed.requestId)).not.toContain("failure");
    if (!isPosted)
      expect(await refusalOf(post(agreed, signature))).toMatchObject({
        message: expect.stringContaining("already has a deposit"),
      });
  }
});

test("fills an abandoned request once the third party's deposit is scanned", async () => {
  const user = await aUser(world.usdc, hundred);
  const agreed = await requestQuote(user, {}, only2612());
  const signature = await signStep(user, agreed);
  await post(agreed, signature);
  await pull(agreed, user, signature);
  await world.origin.announce();
  world.clock.forward(11_000);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "EXECUTION_REVERTED",
  });
  await expectPaid(user, agreed);
});

test("an EIP-7702 account signs for Permit2 with its own key", async () => {
  const { chain, client } = world.origin;
  const user = await aUser(world.usdc, hundred, { approved: true });
  await client.setAutomine(true);
  const { simple7702Account } = await deployAccountAbstraction({ url: chain.rpcUrl, chainId: chain.id });
  await client.setAutomine(false);
  await client.setCode({ address: user.address, bytecode: `0xef0100${simple7702Account.slice(2)}` });
  await world.watch(world.origin);
  const agreed = await requestQuote(user, { originGasOverhead: 10_000 });
  expect(signatureStep(agreed).items[0]?.data.post.body.kind).toBe("permit2");
  await post(agreed, await signStep(user, agreed));
  await expectPaid(user, agreed);
});

test("gas that is wasted because a user invalidates a signature is counted and limited", async () => {
  const { origin } = world;
  const user = await aUser(world.usdc, 5n * hundred);
  const agreed = await requestQuote(user);
  await post(agreed, await signStep(user, agreed));
  const another = await requestQuote(user);
  const second = await signStep(user, another);
  const unpaid = await world.services.reads.execution(agreed.requestId);
  // The daily budget also counts the gas that earlier signatures in this file wasted.
  const day = utcDay(world.clock.nowMs());
  const budget = { keyId: PERMIT_KEY_ID, day, user: undefined, target: undefined };
  const { todayUsd } = await readSpending(sqlOn(world.pool), budget, undefined);
  expect(todayUsd).toBeGreaterThanOrEqual(unpaid?.costUsd ?? 0n);
  const bounds = { ...policy, dailyUsd: todayUsd + 1n };
  expect(await refusalOf(post(another, second, { permitPolicy: bounds }))).toMatchObject({
    code: "SERVICE_UNAVAILABLE",
  });
  expect(world.events.of("permit_budget_spent")).toMatchObject([
    { facts: { todayUsd, dailyUsd: bounds.dailyUsd } },
  ]);
  expect(await refusalOf(post(another, second, { permitPolicy: { ...policy, perUser: 1 } }))).toMatchObject({
    code: "RATE_LIMITED",
  });
  await world.work();
  // The user moves the tokens away earlier in the block.
  await origin.client.setBalance({ address: user.address, value: 10n ** 18n });
  const transferAway = encodeFunctionData({
    abi: parseAbi(["function transfer(address to, uint256 amount)"]),
    args: [world.anAddress(), 5n * hundred],
  });
  await origin.client.sendTransaction({
    account: privateKeyToAccount(user.privateKey),
    to: world.usdc,
    data: transferAway,
    gas: 100_000n,
    maxFeePerGas: 500_000_000_000n,
    maxPriorityFeePerGas: 400_000_000_000n,
  });
  for (let round = 0; round < 5; round++) await world.round();
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "failure" });
  const settled = await world.services.reads.execution(agreed.requestId);
  expect(settled).toMatchObject({ settled: true });
  expect(settled?.costUsd).toBeGreaterThan(0n);
  expect(settled?.costUsd).toBeLessThan(unpaid?.costUsd ?? 0n);
  // The funds return, but the wasted gas stays counted.
  await origin.send(world.stranger, {
    to: world.usdc,
    data: encodeFunctionData({ abi: mintAbi, args: [user.address, hundred] }),
  });
  await origin.mine();
  await world.watch(origin);
  expect(await refusalOf(post(another, second, { permitPolicy: { ...policy, perUser: 1 } }))).toMatchObject({
    code: "RATE_LIMITED",
  });
  await post(another, second);
});

test("after a crash at any step, a client that posts again gets exactly one deposit and one fill", async () => {
  const runs: { user: User; agreed: QuotedRequest; crashMoment: string }[] = [];
  for (let crashAt = 0, hasCrashed = true; hasCrashed; crashAt++) {
    const user = await aUser(world.usdc, 2n * hundred);
    const agreed = await requestQuote(user);
    const signature = await signStep(user, agreed);
    const crashing = crashingServices(world.services, crashAt);
    const run = async (): Promise<void> => {
      await post(agreed, signature, { by: crashing });
      await world.work(crashing);
    };
    await run().catch((error: unknown) => {
      if (!crashing.hasCrashed()) throw error;
    });
    hasCrashed = crashing.hasCrashed();
    runs.push({ user, agreed, crashMoment: crashing.moments.at(-1) ?? "before anything" });
    await post(agreed, signature);
  }
  expect(runs.length).toBeGreaterThan(10);
  // Other processes complete all requests in the same rounds.
  for (const { user, agreed, crashMoment } of runs) {
    await expectPaid(user, agreed);
    expect(await world.origin.balance(user.address, world.usdc), crashMoment).toBe(hundred);
  }
}, 60_000);

/** The same signature in 64 bytes (EIP-2098). */
async function compactOf(signature: Hex): Promise<Hex> {
  const { r, s, v } = vrsOf(signature);
  const high = v === 28 ? 2n ** 255n : 0n;
  return `0x${r.slice(2)}${(BigInt(s) | high).toString(16).padStart(64, "0")}`;
}
