import { amountToUsdUp, depositAddressOf, gasCostWei, NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { expect, test } from "vitest";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  market,
  ORIGIN,
  quoteWorld,
  rareOn,
  usdcOn,
  user,
  wethOn,
} from "../../../../../test/fakes/quote-world.ts";
import type { NewDepositAddress } from "./deposit-addresses.port.ts";
import { createQuote } from "../../quotes/create-quote.ts";
import type { QuoteServices } from "../../quotes/create-quote.ts";
import { sweepGasOf } from "./sweep-gas.ts";

const factory: Address = `0x${"fa".repeat(20)}`;
const operator: Address = `0x${"e1".repeat(20)}`;
const wallet: Address = `0x${"77".repeat(20)}`;

type World = Parameters<typeof quoteWorld>[0];

function addressWorld(world: World = {}): {
  services: QuoteServices;
  issued: NewDepositAddress[];
} {
  const issued: NewDepositAddress[] = [];
  const services = quoteWorld({
    ...world,
    origin: { contracts: { ...aChain(ORIGIN).contracts, depositAddressFactory: factory } },
  });
  const { insertQuoted } = services.requests;
  return {
    issued,
    services: {
      ...services,
      depositAddressOperator: { address: operator },
      requests: {
        insertQuoted: async (terms, address) => {
          if (address !== undefined) issued.push(address);
          await insertQuoted(terms, address);
        },
      },
    },
  };
}

const addressInput = (changes: Partial<QuoteInput> = {}): QuoteInput =>
  aQuoteInput({ useDepositAddress: true, ...changes });

async function refusal(changes: Partial<QuoteInput>, world: World = {}): Promise<unknown> {
  const { services } = addressWorld(world);
  const error: unknown = await createQuote(services, addressInput(changes)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { code, facts } = error as { code: string; facts: { field?: string } };
  return [code, facts.field];
}

const placeholder: Address = "0x000000000000000000000000000000000000dead";
const call = { to: wallet, value: "0", data: "0x" };

test.each<[string, Partial<QuoteInput>, string, string]>([
  ["calls on the destination", { txs: [call] }, "EXTRA_TXS_NOT_SUPPORTED", "txs"],
  ["a signature", { usePermit: true }, "UNSUPPORTED_EXECUTION_TYPE", "usePermit"],
  [
    "a large request",
    { appFees: Array.from({ length: 150 }, () => ({ recipient: wallet, fee: 0 })) },
    "INVALID_REQUEST",
    "useDepositAddress",
  ],
  ["the gas overhead of a wallet", { originGasOverhead: 300_000 }, "INVALID_REQUEST", "originGasOverhead"],
  [
    "deposits in the name of the zero address",
    { user: NATIVE_CURRENCY, recipient: wallet, refundTo: wallet },
    "INVALID_ADDRESS",
    "user",
  ],
  [
    "a strict address for a placeholder user that refunds to the sender",
    { user: placeholder, recipient: wallet, strict: true, refundTo: NATIVE_CURRENCY },
    "INVALID_ADDRESS",
    "user",
  ],
  ["some sponsored fees", { sponsoredFeeComponents: ["relay"] }, "INVALID_REQUEST", "sponsoredFeeComponents"],
  [
    "an exact output at an open address",
    { tradeType: "EXACT_OUTPUT" },
    "UNSUPPORTED_EXECUTION_TYPE",
    "tradeType",
  ],
  ["a strict address without refundTo", { strict: true }, "INVALID_REQUEST", "refundTo"],
  [
    "recovery by the zero address",
    { recoveryAddress: NATIVE_CURRENCY },
    "INVALID_ADDRESS",
    "recoveryAddress",
  ],
  ["recovery by an invalid address", { recoveryAddress: "0x12" }, "INVALID_ADDRESS", "recoveryAddress"],
  [
    "recoveryAddress without useDepositAddress",
    { useDepositAddress: false, recoveryAddress: wallet },
    "INVALID_REQUEST",
    "recoveryAddress",
  ],
  [
    "strict without useDepositAddress",
    { useDepositAddress: false, strict: true },
    "INVALID_REQUEST",
    "strict",
  ],
  [
    "a currency that is swapped first",
    { originCurrency: wethOn(ORIGIN) },
    "UNSUPPORTED_CURRENCY",
    "originCurrency",
  ],
  ["a refund to a contract of the service", { refundTo: usdcOn(ORIGIN) }, "INVALID_RECIPIENT", "refundTo"],
])("refuses %s and names the field", async (_, changes, code, field) => {
  const chain = aChain(ORIGIN);
  const tokens = chain.tokens.map((token) => ({
    ...token,
    supportsBridging: token.address !== wethOn(ORIGIN),
  }));
  const world: World = code === "UNSUPPORTED_CURRENCY" ? { pools: market() } : {};
  if (code === "UNSUPPORTED_CURRENCY") {
    const services = quoteWorld({
      ...world,
      origin: { tokens, contracts: { ...chain.contracts, depositAddressFactory: factory } },
    });
    await expect(
      createQuote({ ...services, depositAddressOperator: { address: operator } }, addressInput(changes)),
    ).rejects.toMatchObject({ code, facts: { field } });
    return;
  }
  expect(await refusal(changes)).toEqual([code, field]);
});

test("refuses deposit addresses without a factory on the chain or without an operator key", async () => {
  const field = "useDepositAddress";
  const refused = { code: "UNSUPPORTED_EXECUTION_TYPE", facts: { field } };
  await expect(
    createQuote({ ...quoteWorld(), depositAddressOperator: { address: operator } }, addressInput()),
  ).rejects.toMatchObject(refused);
  const { services } = addressWorld();
  await expect(
    createQuote({ ...services, depositAddressOperator: undefined }, addressInput()),
  ).rejects.toMatchObject(refused);
});

test("refuses a deposit address for a same-chain transfer that the user can pay directly", async () => {
  const sameChainTransfer = {
    destinationChainId: ORIGIN,
    destinationCurrency: usdcOn(ORIGIN),
    recipient: wallet,
  };
  expect(await refusal({ ...sameChainTransfer, originCurrency: usdcOn(ORIGIN) })).toEqual([
    "UNSUPPORTED_ROUTE",
    "useDepositAddress",
  ]);
});

test("derives the address from the order and stores it with the quote and its request", async () => {
  const { services, issued } = addressWorld();
  const answer = await createQuote(
    services,
    addressInput({
      strict: true,
      refundTo: wallet,
      recoveryAddress: wallet,
      recipient: wallet,
      additionalData: { note: "x".repeat(8_192) },
      protocolVersion: "v2",
    }),
    "key-1",
  );
  const key = { id: answer.protocol.v2.orderId, depositor: user, recovery: wallet, strict: true };
  const address = depositAddressOf(factory, key as NewDepositAddress["key"]);
  expect(answer.steps.map((step) => [step.id, step.depositAddress])).toEqual([["deposit", address]]);
  expect(issued).toMatchObject([
    { address, key, refundTo: wallet, keyId: "key-1", requestId: answer.requestId },
  ]);
  expect(issued[0]?.question).toMatchObject({ strict: true, recipient: wallet });
  // Fields that a requote does not use are not stored.
  for (const field of ["amount", "tradeType", "refundTo", "additionalData", "protocolVersion"])
    expect(issued[0]?.question).not.toHaveProperty(field);
});

test("stores whether refundTo is missing, the sender or an address; the order refunds to the user unless it is an address", async () => {
  const storedRefundTo = async (changes: Partial<QuoteInput>): Promise<unknown[]> => {
    const { services, issued } = addressWorld();
    const { protocol } = await createQuote(services, addressInput(changes));
    return [issued[0]?.refundTo, protocol.v2.orderData.inputs[0]?.refunds[0]?.recipient];
  };
  expect(await storedRefundTo({})).toEqual(["nobody", user]);
  expect(await storedRefundTo({ refundTo: wallet })).toEqual([wallet, wallet]);
  expect(await storedRefundTo({ refundTo: NATIVE_CURRENCY })).toEqual(["sender", user]);
  // The recovery address never receives refunds.
  expect(await storedRefundTo({ refundTo: NATIVE_CURRENCY, recoveryAddress: wallet })).toEqual([
    "sender",
    user,
  ]);
});

test.each([
  ["native tokens", NATIVE_CURRENCY, "1000000000000000000"],
  ["a token", usdcOn(ORIGIN), "1000000000"],
])("deducts the measured gas of sweeping %s from the output", async (_, currency, amount) => {
  const { services } = addressWorld();
  const chain = services.chains.get(ORIGIN);
  if (chain === undefined) throw new Error("the chain is missing");
  const wei = gasCostWei(
    sweepGasOf(currency),
    chain.pulse.gasPrices(),
    chain.chain.fees.minPriorityFeeWei,
    chain.chain.fees.gasMarginBps,
  );
  const usd = amountToUsdUp(wei, { decimals: 18, priceUsd: 2_000n * 10n ** 18n });
  const change = { originCurrency: currency, amount, destinationCurrency: usdcOn(DESTINATION) };
  await createQuote(services, addressInput(change));
  expect(usd).toBeGreaterThan(0n);
  const { stored } = services as ReturnType<typeof quoteWorld>;
  expect(stored[0]?.originGasUsd).toBe(usd);
});

test("lets the solver fill a same-chain request even if pools exist, because an address only deposits", async () => {
  const { services } = addressWorld({ pools: market() });
  const answer = await createQuote(
    services,
    addressInput({
      originCurrency: usdcOn(ORIGIN),
      destinationChainId: ORIGIN,
      destinationCurrency: rareOn(ORIGIN),
      amount: "1000000000",
    }),
  );
  expect(answer.steps.map(({ id }) => id)).toEqual(["deposit"]);
  const { stored } = services as ReturnType<typeof quoteWorld>;
  expect(stored[0]).toMatchObject({ kind: "bridge", origin: { currency: usdcOn(ORIGIN) } });
  expect(stored[0]?.input).toBeUndefined();
});

test("issues a strict address before a wallet is connected when its refunds go to a named address", async () => {
  const { services, issued } = addressWorld();
  await createQuote(
    services,
    addressInput({ user: placeholder, recipient: wallet, strict: true, refundTo: wallet }),
  );
  expect(issued).toMatchObject([{ refundTo: wallet, key: { depositor: placeholder, strict: true } }]);
});
