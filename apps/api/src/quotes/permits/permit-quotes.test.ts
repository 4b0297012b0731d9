import type { Address, RequestTerms } from "@causeway/domain";
import { authorizationNonce, depositAddressOf, NATIVE_CURRENCY } from "@causeway/domain";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import { expect, test } from "vitest";
import type { QuoteWorldOptions } from "../../../../../test/fakes/quote-world.ts";
import {
  aChain,
  aQuoteInput,
  lockedOn,
  market,
  NOW_MS,
  ORIGIN,
  quoteWorld,
  usdcOn,
  user,
} from "../../../../../test/fakes/quote-world.ts";
import type { PermitTokens, TokenPermits } from "../../chains/permits.port.ts";
import { createQuote } from "../create-quote.ts";
import { priceIntent } from "../price-intent.ts";
import { hasPermit, typedDataOf } from "./typed-data.ts";
import type { TermsWithPermit } from "./typed-data.ts";

const executor: Address = "0x7777777777777777777777777777777777777777";
const permit2: Address = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const factory: Address = "0x8888888888888888888888888888888888888888";
const domain = { name: "USD Coin", version: "2" };
const allPermits: TokenPermits = { domain, eip3009: true, eip2612: true };
const { contracts } = aChain(ORIGIN);

function tokens(permits: Partial<TokenPermits> = {}): PermitTokens {
  return { permitsOf: () => ({ ...allPermits, ...permits }), nonceOf: async () => 7n };
}

interface QuotedPermit {
  readonly answer: QuoteAnswer;
  readonly terms: TermsWithPermit;
}

async function quote(
  change: Partial<QuoteInput> = {},
  permits: Partial<TokenPermits> = {},
  world: QuoteWorldOptions = {},
): Promise<QuotedPermit> {
  const origin = { contracts: { ...contracts, permit2, depositAddressFactory: factory } };
  const services = quoteWorld({ pools: market(), ...world, origin: { ...origin, ...world.origin } });
  const signing = { ...services, executor: { address: executor }, permitTokens: tokens(permits) };
  const answer = await createQuote(signing, aQuoteInput({ usePermit: true, ...change }));
  const terms = services.stored[0] as RequestTerms;
  if (!hasPermit(terms)) throw new Error("the quote was requested with usePermit but has no permit");
  return { answer, terms };
}

const methodOf = async (...args: Parameters<typeof quote>): Promise<string> =>
  (await quote(...args)).terms.permit.method;

test("prefers authorizations to permits, and both to Permit2", async () => {
  expect(await methodOf()).toBe("eip3009");
  expect(await methodOf({}, { eip3009: false })).toBe("eip2612");
  expect(await methodOf({}, { eip3009: false, eip2612: false })).toBe("permit2");
  // Without a known domain the token cannot verify a signature.
  expect(await methodOf({}, { domain: undefined })).toBe("permit2");
});

test("an account with code signs for Permit2 only, because tokens do not accept contract signatures", async () => {
  expect(await methodOf({}, {}, { recipientHasCode: true })).toBe("permit2");
  const origin = { contracts };
  await expect(quote({}, {}, { recipientHasCode: true, origin })).rejects.toMatchObject({
    code: "UNSUPPORTED_EXECUTION_TYPE",
    facts: { field: "usePermit" },
  });
});

test("uses Permit2 when the payment is swapped first, or when the chain has no deposit address factory", async () => {
  const withoutAuthorization = { eip3009: false };
  expect(
    await methodOf(
      { originCurrency: lockedOn(ORIGIN), amount: "1000000000000000000000" },
      withoutAuthorization,
    ),
  ).toBe("permit2");
  expect(await methodOf({}, withoutAuthorization, { origin: { contracts: { ...contracts, permit2 } } })).toBe(
    "permit2",
  );
});

test("an authorization's nonce binds the deposit to the order, and the remainder goes to the signer", async () => {
  const { terms } = await quote({ recipient: factory, refundTo: factory });
  const { permit, orderId } = terms;
  expect(permit).toMatchObject({
    token: usdcOn(ORIGIN),
    amount: 100_000_000n,
    spender: contracts.approvalProxy,
    deadline: Math.floor(NOW_MS / 1000) + 600,
    witness: { relayer: executor, refundTo: user, refundTokens: [] },
  });
  const [call, ...others] = permit.witness!.calls;
  expect(others).toEqual([]);
  expect(call).toMatchObject({ to: contracts.router, value: 0n });
  expect(call!.data.endsWith(orderId.slice(2))).toBe(true);
  const validBefore = BigInt(permit.deadline);
  const authorized = { token: permit.token, from: user, value: permit.amount, validAfter: 0n, validBefore };
  expect(permit.nonce).toBe(authorizationNonce(authorized, permit.witness!));
  expect(typedDataOf(terms)).toMatchObject({
    domain: { ...domain, chainId: ORIGIN, verifyingContract: usdcOn(ORIGIN) },
    value: { from: user, to: contracts.approvalProxy, nonce: permit.nonce },
  });
});

test("names the order's strict address as the permit's spender and uses the user's next nonce", async () => {
  const { terms } = await quote({}, { eip3009: false });
  const key = { id: terms.orderId, depositor: user, recovery: NATIVE_CURRENCY, strict: true };
  expect(typedDataOf(terms).value).toMatchObject({
    owner: user,
    spender: depositAddressOf(factory, key),
    value: "100000000",
    nonce: "7",
  });
});

test("signs the pools, the minimum and the deposit of a swap paid by permit", async () => {
  const { answer, terms } = await quote({
    originCurrency: lockedOn(ORIGIN),
    amount: "100000000000000000000",
  });
  expect(terms.kind).toBe("bridge");
  const { witness, amount } = terms.permit;
  expect(amount).toBe(100n * 10n ** 18n);
  expect(witness!.calls.length).toBeGreaterThan(1);
  const deposit = witness!.calls.at(-1)!.data;
  expect(deposit).toContain(terms.origin.minimumAmount!.toString(16).padStart(64, "0"));
  expect(deposit.endsWith(terms.orderId.slice(2))).toBe(true);
  const [step] = answer.steps;
  if (step?.kind !== "signature") throw new Error("the first step is not a signature");
  // The nonce of an authorization commits to the route; only the service stores the route itself.
  const validBefore = BigInt(terms.permit.deadline);
  const authorized = { token: terms.permit.token, from: user, value: amount, validAfter: 0n, validBefore };
  expect(step.items[0]!.data.sign.value["nonce"]).toBe(authorizationNonce(authorized, witness!));
});

test("the output pays for the gas of the signature for all trade types, and the user pays no gas", async () => {
  const services = quoteWorld({ pools: market() });
  const bySender = await createQuote(services, aQuoteInput());
  const { answer, terms } = await quote();
  expect(terms.originGasUsd).toBeGreaterThan(0n);
  expect(BigInt(answer.details.currencyOut.amount)).toBeLessThan(BigInt(bySender.details.currencyOut.amount));
  expect(answer.fees.gas.amount).toBe("0");
  const overhead = await quote({ originGasOverhead: 100_000 });
  expect(overhead.terms.originGasUsd!).toBeGreaterThan(terms.originGasUsd!);
  expect(overhead.terms.permit.gasUnits).toBe(terms.permit.gasUnits + 100_000n);

  for (const tradeType of ["EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const) {
    const output = { tradeType, amount: "20000000000000000" };
    const { terms: signed } = await quote(output);
    const { details } = await createQuote(quoteWorld({ pools: market() }), aQuoteInput(output));
    expect(signed.permit.amount).toBe(signed.origin.amount);
    expect(signed.permit.amount).toBeGreaterThan(BigInt(details.currencyIn.amount));
    // One unit less does not cover it.
    const less = { amount: (signed.permit.amount - 1n).toString() };
    expect((await quote(less)).terms.destination.expectedAmount).toBeLessThan(20_000_000_000_000_000n);
  }
});

test("has the solver fill a same-chain permit, with the origin gas priced into the output", async () => {
  const sameChain = { destinationChainId: ORIGIN };
  const { answer, terms } = await quote({ ...sameChain, destinationCurrency: lockedOn(ORIGIN) });
  expect(terms).toMatchObject({ kind: "bridge", destination: { paidFrom: expect.any(String) } });
  expect(terms.originGasUsd).toBeGreaterThan(0n);
  expect(answer.steps.map(({ id }) => id)).toEqual(["authorize2"]);
});

test("requests a Permit2 approval once when the allowance is too low, at the user's own gas", async () => {
  const withoutDomain = { domain: undefined };
  const tooLow = await quote({}, withoutDomain, { account: { allowance: 99_999_999n } });
  expect(tooLow.answer.steps.map(({ id, kind }) => [id, kind])).toEqual([
    ["approve", "transaction"],
    ["authorize1", "signature"],
  ]);
  const [approve] = tooLow.answer.steps;
  expect(approve!.items[0]!.data).toMatchObject({ to: usdcOn(ORIGIN) });
  expect(JSON.stringify(approve)).toContain(`${permit2.slice(2)}${"f".repeat(64)}`);
  expect(BigInt(tooLow.answer.fees.gas.amount)).toBeGreaterThan(0n);
  const sufficient = await quote({}, withoutDomain, { account: { allowance: 100_000_000n } });
  expect(sufficient.answer.steps.map(({ id }) => id)).toEqual(["authorize1"]);
  const [usdc, ...others] = aChain(ORIGIN).tokens;
  const resettingToken = {
    origin: {
      tokens: [{ ...usdc!, resetsApproval: true }, ...others],
      contracts: { ...contracts, permit2, depositAddressFactory: factory },
    },
    account: { allowance: 5n },
  };
  const reset = await quote({}, withoutDomain, resettingToken);
  expect(reset.answer.steps.map(({ id }) => id)).toEqual(["approve", "approve", "authorize1"]);
});

test("a quote with a signature omits the EIP712Domain type, and every order has its own nonce", async () => {
  const answers = [
    await quote(),
    await quote({}, { eip3009: false }),
    await quote({}, { domain: undefined }),
  ];
  for (const { answer } of answers) {
    expect(JSON.stringify(answer.steps)).not.toContain("EIP712Domain");
  }
  const permit2Nonce = answers[2]!.terms.permit.nonce;
  expect(permit2Nonce).toBe(answers[2]!.terms.orderId);
});

test("a signature is valid for the requested time, but not longer than its quote", async () => {
  const nowSeconds = Math.floor(NOW_MS / 1000);
  expect((await quote({ permitExpiry: 60 })).terms.permit.deadline).toBe(nowSeconds + 60);
  expect((await quote({ permitExpiry: 3600, ttl: 100 })).terms.permit.deadline).toBe(
    Math.floor((NOW_MS + 100_000) / 1000),
  );
  for (const permitExpiry of [0, 59, 86_401])
    await expect(quote({ permitExpiry })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      facts: { field: "permitExpiry" },
    });
});

test("refuses routes that cannot be paid by signature and names the field", async () => {
  const refusal = { code: "UNSUPPORTED_EXECUTION_TYPE", facts: { field: "usePermit" } };
  await expect(quote({ originCurrency: NATIVE_CURRENCY })).rejects.toMatchObject(refusal);
  const send = { destinationChainId: ORIGIN, destinationCurrency: usdcOn(ORIGIN), recipient: executor };
  await expect(quote(send)).rejects.toMatchObject(refusal);
  await expect(quote({ useDepositAddress: true })).rejects.toMatchObject(refusal);
  const input = aQuoteInput({ usePermit: true });
  await expect(createQuote(quoteWorld(), input)).rejects.toMatchObject(refusal);
  const executing = { ...quoteWorld(), executor: { address: executor } };
  await expect(createQuote(executing, input)).rejects.toMatchObject(refusal);
});

test("reports a node that cannot read the token's permit support as a node error, not as a token without permits", async () => {
  const unreachable: PermitTokens = {
    permitsOf: () => Promise.reject(new Error("connection refused")),
    nonceOf: async () => 0n,
  };
  const services = { ...quoteWorld(), executor: { address: executor }, permitTokens: unreachable };
  await expect(createQuote(services, aQuoteInput({ usePermit: true }))).rejects.toMatchObject({
    code: "RPC_HTTP_ERROR",
  });
});

test("prices a payment by signature without storing anything", async () => {
  const services = quoteWorld({ origin: { contracts: { ...contracts, permit2 } } });
  const signing = { ...services, executor: { address: executor }, permitTokens: tokens() };
  const { details } = await priceIntent(signing, aQuoteInput({ usePermit: true }));
  expect(details.currencyOut.amount).toBe((await quote()).answer.details.currencyOut.amount);
  expect(services.stored).toEqual([]);
});
