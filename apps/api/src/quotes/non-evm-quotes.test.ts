import {
  encodeFillContract,
  orderIdOf,
  ServiceError,
  type ErrorCode,
  type Hex,
  type OrderJson,
  type VmType,
} from "@causeway/domain";
import { encodeOrder, familyOf } from "@causeway/families";
import { mismatch } from "@causeway/service-kit";
import { quoteAnswer } from "@causeway/wire";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import { decodeFunctionData, getAddress } from "viem";
import { expect, test } from "vitest";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  foreignOn,
  lockedOn,
  market,
  NOW_MS,
  ORIGIN,
  PAIRS,
  quoteWorld,
  SMALL_PAIRS,
  usdcOn,
  user,
  wethOn,
} from "../../../../test/fakes/quote-world.ts";
import { aPayingAppKey, sponsor, withAppBalances } from "../../../../test/fakes/paying-app.ts";
import type { QuoteWorldOptions } from "../../../../test/fakes/quote-world.ts";
import {
  aConnectedNonEvmChain,
  bitcoin,
  bytesOn,
  hyperliquid,
  solana,
} from "../../../../test/fakes/non-evm-chains.ts";
import type { NonEvmScenario } from "../../../../test/fakes/non-evm-chains.ts";
import { noAppBalances } from "../../../../test/fakes/no-app-balances.ts";
import type { BitcoinDepositData, NonEvmUsers, UserDeposit } from "@causeway/chains";
import { quoteTerms, createQuote } from "./create-quote.ts";
import { priceFastFill } from "../executions/price-fast-fill.ts";
import { priceIntent } from "./price-intent.ts";

const SOLANA = 792_703_809;
const BITCOIN = 8_253_038;
const HYPERLIQUID = 1_337;
const NATIVE = `0x${"0".repeat(40)}`;
const executor: Hex = "0x7777777777777777777777777777777777777777";
const factory: Hex = "0x8888888888888888888888888888888888888888";

function bitcoinPayment({ amount, orderId }: UserDeposit): BitcoinDepositData["payment"] {
  const opReturnHex: Hex = `0x${Buffer.from(orderId).toString("hex")}`;
  return { address: bitcoin.depository, amount: amount.toString(), opReturn: orderId, opReturnHex };
}

/** Wallet adapters of the two chain families that need one. `deposits` records their arguments. */
function recordingUsers(deposits: UserDeposit[] = []): {
  svm: NonEvmUsers;
  bvm: NonEvmUsers;
  hypevm: NonEvmUsers;
} {
  return {
    svm: {
      balance: async () => 42n,
      deposit: async (payment) => {
        deposits.push(payment);
        return {
          data: {
            instructions: [
              {
                programId: solana.depository,
                keys: [{ pubkey: solana.user, isSigner: true, isWritable: true }],
                data: "0bff",
              },
            ],
            addressLookupTableAddresses: [],
          },
          fee: 5_000n,
        };
      },
    },
    bvm: {
      balance: async () => 43n,
      deposit: async (payment) => {
        deposits.push(payment);
        return { data: { psbt: "70736274ff01", payment: bitcoinPayment(payment) }, fee: 700n };
      },
    },
    hypevm: {
      balance: async () => 44n,
      token: async () => ({ name: "USDC", tokenId: hyperliquid.spot as Hex }),
    },
  };
}

interface Scenario extends QuoteWorldOptions {
  readonly svm?: NonEvmScenario;
  readonly bvm?: NonEvmScenario;
  readonly hypevm?: NonEvmScenario;
  readonly recordedDeposits?: UserDeposit[];
}

function worldOf({ svm, bvm, hypevm, recordedDeposits, ...world }: Scenario = {}) {
  const usersByFamily = recordingUsers(recordedDeposits);
  return quoteWorld({
    nonEvmChains: [
      aConnectedNonEvmChain("svm", { users: usersByFamily.svm, ...svm }),
      aConnectedNonEvmChain("bvm", { users: usersByFamily.bvm, ...bvm }),
      aConnectedNonEvmChain("hypevm", { users: usersByFamily.hypevm, ...hypevm }),
    ],
    ...world,
  });
}

/** 100 USDC or 0.01 BTC between any two chains. */
const places = {
  evm: { id: ORIGIN, currency: usdcOn(ORIGIN), user, amount: "100000000" },
  other: { id: DESTINATION, currency: usdcOn(DESTINATION), user, amount: "100000000" },
  svm: { id: SOLANA, currency: solana.usdc, user: solana.user, amount: "100000000" },
  sol: { id: SOLANA, currency: solana.native, user: solana.user, amount: "1000000000" },
  bvm: { id: BITCOIN, currency: bitcoin.native, user: bitcoin.user, amount: "1000000" },
  perps: { id: HYPERLIQUID, currency: hyperliquid.perps, user, amount: "10000000000" },
  spot: { id: HYPERLIQUID, currency: hyperliquid.spot, user, amount: "10000000000" },
} as const;
type Place = keyof typeof places;

function inputFor(from: Place, to: Place, change: Partial<QuoteInput> = {}): QuoteInput {
  const [origin, destination] = [places[from], places[to]];
  return {
    user: origin.user,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: origin.currency,
    destinationCurrency: destination.currency,
    recipient: destination.user,
    amount: origin.amount,
    tradeType: "EXACT_INPUT",
    ...(origin.id === HYPERLIQUID && { protocolVersion: "v2" }),
    ...change,
  };
}

const quote = async (from: Place, to: Place, change: Partial<QuoteInput> = {}, scenario: Scenario = {}) => {
  const world = worldOf(scenario);
  const answer = await createQuote(world, inputFor(from, to, change));
  const [terms] = world.stored;
  if (terms === undefined) throw new Error("the quote was not stored");
  return { answer, terms, world };
};

async function refusalOf(
  input: QuoteInput,
  scenario: Scenario = {},
): Promise<readonly [ErrorCode, string | undefined]> {
  const world = worldOf(scenario);
  try {
    await createQuote(world, input);
  } catch (error) {
    if (error instanceof ServiceError) {
      expect(world.stored).toEqual([]);
      return [error.code, error.facts.field];
    }
    throw error;
  }
  throw new Error("expected a refusal, got a quote");
}

const pairs: (readonly [Place, Place])[] = (Object.keys(places) as Place[]).flatMap((from) =>
  (Object.keys(places) as Place[])
    .filter((to) => from !== to && !(["evm", "other"].includes(from) && ["evm", "other"].includes(to)))
    .map((to) => [from, to] as const),
);

/** The family that an oracle configures for a chain of this name. */
function familiesOf(world: ReturnType<typeof worldOf>): (name: string) => VmType {
  const chains = [...world.chains.evmChains, ...world.chains.nonEvmChains].map(({ chain }) => chain);
  return (name) => {
    const chain = chains.find((candidate) => candidate.name === name);
    if (chain === undefined) throw new Error(`no chain ${name}`);
    return familyOf(chain);
  };
}

test.each(pairs)(
  "from %s to %s: the id in the deposit is the one that an oracle computes from the order",
  async (from, to) => {
    const { answer, terms, world } = await quote(from, to);
    const order = encodeOrder(answer.protocol.v2.orderData as OrderJson, familiesOf(world));
    expect(orderIdOf(order)).toBe(terms.orderId);
    expect(answer.protocol.v2.orderId).toBe(terms.orderId);
    expect(order).toEqual(terms.order);
  },
);

test.each(pairs)(
  "from %s to %s: the quote has the documented form and uses the address formats of its chains",
  async (from, to) => {
    const { answer, terms } = await quote(from, to);
    expect(mismatch(quoteAnswer, answer)).toBeUndefined();
    expect(answer.details).toMatchObject({
      sender: places[from].user,
      recipient: places[to].user,
      currencyIn: { currency: { address: places[from].currency, chainId: places[from].id } },
      currencyOut: { currency: { address: places[to].currency, chainId: places[to].id } },
    });
    expect(answer.protocol.v2.paymentDetails.currency).toBe(places[from].currency);
    for (const step of answer.steps) expect(step.requestId).toBe(terms.requestId);
    const text = JSON.stringify(answer);
    // Accounts of non-EVM chains must not appear as raw bytes.
    for (const [vmType, account] of [
      ["svm", solana.user],
      ["svm", solana.usdc],
      ["bvm", bitcoin.user],
    ] as const)
      expect(text).not.toContain(bytesOn(vmType, account));
  },
);

test("stores accounts as bytes, regardless of the client's format", async () => {
  const { terms } = await quote("svm", "bvm", { recipient: bitcoin.user.toUpperCase() });
  expect(terms).toMatchObject({
    kind: "bridge",
    user: bytesOn("svm", solana.user),
    refundTo: bytesOn("svm", solana.user),
    recipient: bytesOn("bvm", bitcoin.user),
    origin: { chainId: SOLANA, currency: bytesOn("svm", solana.usdc), amount: 100_000_000n },
    destination: { chainId: BITCOIN, currency: bytesOn("bvm", bitcoin.native) },
  });
  expect(terms.order.output.extraData).toBe("0x");
  expect(terms.order.inputs[0]?.refunds[0]?.extraData).toBe("0x");
  expect(terms).not.toHaveProperty("walletNonce");
});

test("an EVM side of the order names the contract whose events prove the payment", async () => {
  const contract = encodeFillContract(aChain(ORIGIN).contracts.router);
  const { order: fromEvmOrder } = (await quote("evm", "svm")).terms;
  expect([fromEvmOrder.inputs[0]?.refunds[0]?.extraData, fromEvmOrder.output.extraData]).toEqual([
    contract,
    "0x",
  ]);
  const { order: toEvmOrder } = (await quote("svm", "evm")).terms;
  expect([toEvmOrder.inputs[0]?.refunds[0]?.extraData, toEvmOrder.output.extraData]).toEqual([
    "0x",
    contract,
  ]);
});

// ——— prices ———

test("deducts the payment's cost, the flat fee and the pair's fee from an exact input", async () => {
  const { answer, terms } = await quote(
    "evm",
    "bvm",
    {},
    {
      bvm: {
        paymentCost: 2_000n,
        chain: { fees: { flatUsd: 10n ** 16n, depositBps: 0, withdrawalBps: 0, gasMarginBps: 1_000 } },
      },
    },
  );
  // 2000 sat and 10 % are 2200 sat, $1.10 at $50,000; $0.01 flat; 6 bps of 100 for a stable and a major
  // asset.
  const input = 100_000_000n;
  const execution = 1_110_000n;
  const service = 60_000n;
  expect(answer.fees.relayerGas.amount).toBe(String(execution));
  expect(answer.fees.relayerService.amount).toBe(String(service));
  // USDC with 6 decimals at $1 to BTC with 8 at $50,000.
  const expected = ((input - execution - service) * 10n ** 8n) / (50_000n * 10n ** 6n);
  expect(terms.destination.expectedAmount).toBe(expected);
  // 1 % for a major asset, rounded up in the user's favor.
  expect(terms.destination.minimumAmount).toBe((expected * 9_900n + 9_999n) / 10_000n);
});

test("charges the user, not the solver, for activating a Hyperliquid account", async () => {
  const dollar = 100_000_000n;
  const { user: fresh } = places.other;
  const first = { connection: { paymentCost: async (_: Hex, to?: Hex) => (to === fresh ? dollar : 0n) } };
  const { terms: active } = await quote("evm", "perps");
  const { terms } = await quote("evm", "perps", {}, { hypevm: first });
  expect(active.destination.expectedAmount - terms.destination.expectedAmount).toBe(dollar);
  expect(await refusalOf(inputFor("evm", "spot", { amount: "900000" }), { hypevm: first })).toEqual([
    "AMOUNT_TOO_LOW",
    "amount",
  ]);
  // A refund to an inactive account must not cost the solver the activation either.
  const elsewhere: Hex = `0x${"5a".repeat(20)}`;
  const back = { connection: { paymentCost: async (_: Hex, to?: Hex) => (to === elsewhere ? dollar : 0n) } };
  const { terms: refunded } = await quote("perps", "evm", { refundTo: elsewhere }, { hypevm: back });
  expect(refunded.order.inputs[0]?.refunds[0]?.minimumAmount).toBe(refunded.origin.amount - 10n * dollar);
  expect(
    await refusalOf(inputFor("evm", "perps"), {
      hypevm: { connection: { paymentCost: () => Promise.reject(new Error("connection refused")) } },
    }),
  ).toEqual(["RPC_HTTP_ERROR", "destinationChainId"]);
});

test("an exact output costs the smallest input that buys it, and has no slippage", async () => {
  const exact = { tradeType: "EXACT_OUTPUT", amount: "150000" } as const;
  const { terms } = await quote("evm", "bvm", exact);
  expect(terms.destination).toMatchObject({ expectedAmount: 150_000n, minimumAmount: 150_000n });
  const { terms: forward } = await quote("evm", "bvm", { amount: String(terms.origin.amount) });
  expect(forward.destination.expectedAmount).toBeGreaterThanOrEqual(150_000n);
  const { terms: less } = await quote("evm", "bvm", { amount: String(terms.origin.amount - 1n) });
  expect(less.destination.expectedAmount).toBeLessThan(150_000n);
});

test("an expected output may be lower by the client's slippage", async () => {
  const { terms } = await quote("evm", "svm", {
    tradeType: "EXPECTED_OUTPUT",
    amount: "90000000",
    slippageTolerance: "250",
  });
  expect(terms.destination).toMatchObject({ expectedAmount: 90_000_000n, minimumAmount: 87_750_000n });
});

test("the minimum refund leaves room for ten times today's cost of a payment on the origin", async () => {
  const { answer, terms } = await quote("bvm", "evm", {}, { bvm: { paymentCost: 2_000n } });
  const minimum = 1_000_000n - 20_000n;
  expect(terms.order.inputs[0]?.refunds[0]?.minimumAmount).toBe(minimum);
  expect(answer.details.refundCurrency.minimumAmount).toBe(String(minimum));
});

test("the minimum refund leaves room for the gas of reverted fills that pay a contract in native tokens", async () => {
  const native = { destinationCurrency: NATIVE };
  const plain = await quote("svm", "evm", native);
  const { terms } = await quote("svm", "evm", native, { recipientHasCode: true });
  const minRefundOf = (requestTerms: typeof terms) =>
    requestTerms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  expect(minRefundOf(terms)).toBeLessThan(minRefundOf(plain.terms));
});

test("the time estimate includes the finality of the origin", async () => {
  const seconds = async (from: Place, to: Place) => (await quote(from, to)).answer.details.timeEstimate;
  // The fake reports 1 + 2 seconds per confirmation.
  expect(await seconds("bvm", "evm")).toBe(1 + 2 * 6);
  expect(await seconds("svm", "evm")).toBe(1 + 2 * 32);
  expect(await seconds("perps", "evm")).toBe(1 + 2);
  expect(await seconds("evm", "svm")).toBe(1 + 2);
});

test("pricing stores nothing", async () => {
  const world = worldOf();
  const { details } = await priceIntent(world, inputFor("evm", "svm"));
  expect(details.recipient).toBe(solana.user);
  expect(world.stored).toEqual([]);
});

// ——— steps ———

const onlyStep = ({ steps }: QuoteAnswer) => {
  expect(steps).toHaveLength(1);
  const [step] = steps;
  if (step === undefined) throw new Error("the quote has no step");
  return step;
};

test("an EVM user deposits for a non-EVM destination as for any other request", async () => {
  const { answer, terms } = await quote("evm", "perps", {}, { account: { allowance: 10n ** 18n } });
  const step = onlyStep(answer);
  expect(step).toMatchObject({ id: "deposit", kind: "transaction" });
  const [item] = step.items;
  const { data } = decodeDeposit(item?.data as { data: Hex });
  expect(data).toEqual([user, getAddress(usdcOn(ORIGIN)), 100_000_000n, terms.orderId]);
});

function decodeDeposit({ data }: { data: Hex }): { data: readonly unknown[] } {
  const { args } = decodeFunctionData({
    abi: [
      {
        type: "function",
        name: "depositErc20",
        stateMutability: "nonpayable",
        inputs: [
          { name: "depositor", type: "address" },
          { name: "token", type: "address" },
          { name: "amount", type: "uint256" },
          { name: "id", type: "bytes32" },
        ],
        outputs: [],
      },
    ],
    data,
  });
  return { data: args };
}

test("a Solana wallet gets the instructions of its deposit and a check", async () => {
  const recordedDeposits: UserDeposit[] = [];
  const { answer, terms } = await quote("svm", "evm", {}, { recordedDeposits });
  expect(onlyStep(answer)).toEqual({
    id: "deposit",
    action: "Confirm transaction in your wallet",
    description: "Deposit 100 USDC to start the request",
    kind: "transaction",
    requestId: terms.requestId,
    depositAddress: "",
    items: [
      {
        status: "incomplete",
        data: {
          instructions: [
            {
              keys: [{ pubkey: solana.user, isSigner: true, isWritable: true }],
              programId: solana.depository,
              data: "0bff",
            },
          ],
          addressLookupTableAddresses: [],
        },
        check: { endpoint: `/intents/status/v3?requestId=${terms.requestId}`, method: "GET" },
      },
    ],
  });
  expect(recordedDeposits).toEqual([
    {
      user: bytesOn("svm", solana.user),
      currency: bytesOn("svm", solana.usdc),
      amount: 100_000_000n,
      orderId: terms.orderId,
      publicKey: undefined,
    },
  ]);
  expect(answer.details.userBalance).toBe("42");
  expect(answer.fees.gas).toMatchObject({
    amount: "5000",
    currency: { symbol: "SOL", address: solana.native },
  });
});

test("a Bitcoin wallet gets a transaction to sign, and the instructions for paying in another way", async () => {
  const recordedDeposits: UserDeposit[] = [];
  const publicKey = `02${"ab".repeat(32)}`;
  const { answer, terms } = await quote(
    "bvm",
    "evm",
    { additionalData: { userPublicKey: publicKey } },
    { recordedDeposits },
  );
  expect(onlyStep(answer).items[0]).toMatchObject({
    status: "incomplete",
    data: {
      psbt: "70736274ff01",
      payment: {
        address: bitcoin.depository,
        amount: "1000000",
        opReturn: terms.orderId,
        opReturnHex: `0x${Buffer.from(terms.orderId).toString("hex")}`,
      },
    },
    check: { endpoint: `/intents/status/v3?requestId=${terms.requestId}` },
  });
  expect(recordedDeposits[0]?.publicKey).toBe(publicKey);
});

test("quotes for a user with too little balance, without a transaction to sign", async () => {
  const poor: NonEvmUsers = {
    balance: async () => 0n,
    deposit: async (payment) => ({ data: { payment: bitcoinPayment(payment) }, fee: 0n }),
  };
  const { answer } = await quote("bvm", "evm", {}, { bvm: { users: poor } });
  const [item] = onlyStep(answer).items;
  expect(item?.data).not.toHaveProperty("psbt");
  expect(item?.data).toHaveProperty("payment.address", bitcoin.depository);
  expect(answer.details.userBalance).toBe("0");
});

test("a Hyperliquid withdrawal has two steps with one nonce: its mapping, without a check, and the transfer", async () => {
  const { answer, terms } = await quote("perps", "evm");
  const nonce = terms.walletNonce;
  expect(nonce).toBeGreaterThanOrEqual(NOW_MS);
  expect(nonce).toBeLessThan(NOW_MS + 10_000);
  const [authorize, deposit] = answer.steps;
  expect(answer.steps).toHaveLength(2);
  expect(authorize).toMatchObject({ id: "authorize", kind: "signature", requestId: terms.requestId });
  expect(authorize?.items).toEqual([
    {
      status: "incomplete",
      data: {
        sign: {
          signatureKind: "eip712",
          domain: {
            name: "ServiceNonceMapping",
            version: "2",
            chainId: 1,
            verifyingContract: NATIVE,
          },
          types: {
            NonceMapping: [
              { name: "chainId", type: "string" },
              { name: "wallet", type: "address" },
              { name: "depositor", type: "address" },
              { name: "id", type: "bytes32" },
              { name: "nonce", type: "uint256" },
            ],
          },
          value: { chainId: "exchange", wallet: user, depositor: user, id: terms.orderId, nonce },
          primaryType: "NonceMapping",
        },
        post: {
          endpoint: "/authorize",
          method: "POST",
          body: {
            type: "nonce-mapping",
            walletChainId: HYPERLIQUID,
            wallet: user,
            depositor: user,
            nonce,
            id: terms.orderId,
            signatureChainId: 1,
          },
        },
      },
    },
  ]);
  expect(deposit).toMatchObject({ id: "deposit", kind: "transaction", requestId: terms.requestId });
  expect(deposit?.items).toEqual([
    {
      status: "incomplete",
      data: {
        action: {
          type: "sendAsset",
          parameters: {
            exchangeChain: "Mainnet",
            destination: hyperliquid.depository,
            sourceDex: "",
            destinationDex: "",
            token: `USDC:${hyperliquid.spot}`,
            amount: "100",
            fromSubAccount: "",
            nonce,
          },
        },
        nonce,
        eip712Types: {
          "ExchangeTransaction:SendAsset": [
            { name: "exchangeChain", type: "string" },
            { name: "destination", type: "string" },
            { name: "sourceDex", type: "string" },
            { name: "destinationDex", type: "string" },
            { name: "token", type: "string" },
            { name: "amount", type: "string" },
            { name: "fromSubAccount", type: "string" },
            { name: "nonce", type: "uint64" },
          ],
        },
        eip712PrimaryType: "ExchangeTransaction:SendAsset",
      },
      check: { endpoint: `/intents/status/v3?requestId=${terms.requestId}`, method: "GET" },
    },
  ]);
  expect(answer.details.userBalance).toBe("44");
});

test("withdraws spot USDC from spot, under the names that the real Hyperliquid verifies", async () => {
  const facts = {
    profile: "hyperliquid",
    isTestnet: true,
    usdcTokenId: hyperliquid.spot as Hex,
    publicApiUrl: "https://api.exchange.example",
  } as const;
  // Hyperliquid's own token name, not the configured one.
  const renamedToken: NonEvmUsers = {
    balance: async () => 0n,
    token: async () => ({ name: "DOLLAR", tokenId: hyperliquid.spot as Hex }),
  };
  const { answer } = await quote(
    "spot",
    "evm",
    {},
    {
      hypevm: { chain: { exchange: facts }, users: renamedToken },
    },
  );
  expect(answer.steps[1]?.items[0]?.data).toMatchObject({
    action: {
      parameters: {
        hyperliquidChain: "Testnet",
        sourceDex: "spot",
        destinationDex: "spot",
        token: `DOLLAR:${hyperliquid.spot}`,
      },
    },
    eip712PrimaryType: "HyperliquidTransaction:SendAsset",
  });
});

test("no two withdrawals share a nonce, even when quoted at the same moment", async () => {
  const world = worldOf();
  for (let n = 0; n < 300; n++) await createQuote(world, inputFor("perps", "evm"));
  expect(new Set(world.stored.map(({ walletNonce }) => walletNonce)).size).toBe(300);
});

// ——— refusals ———

test("validates each address against its own chain, and the error names the field", async () => {
  expect(await refusalOf(inputFor("svm", "evm", { user }))).toEqual(["INVALID_ADDRESS", "user"]);
  expect(await refusalOf(inputFor("evm", "svm", { user: solana.user }))).toEqual(["INVALID_ADDRESS", "user"]);
  expect(await refusalOf(inputFor("evm", "svm", { recipient: user }))).toEqual([
    "INVALID_ADDRESS",
    "recipient",
  ]);
  expect(await refusalOf(inputFor("evm", "bvm", { recipient: solana.user }))).toEqual([
    "INVALID_ADDRESS",
    "recipient",
  ]);
  expect(await refusalOf(inputFor("evm", "perps", { recipient: hyperliquid.spot }))).toEqual([
    "INVALID_ADDRESS",
    "recipient",
  ]);
  expect(await refusalOf(inputFor("bvm", "evm", { refundTo: user }))).toEqual([
    "INVALID_ADDRESS",
    "refundTo",
  ]);
});

test("requires a recipient between chain families, except for withdrawals to the user's own EVM account", async () => {
  for (const [from, to] of [
    ["evm", "svm"],
    ["evm", "bvm"],
    ["evm", "perps"],
    ["svm", "evm"],
    ["svm", "bvm"],
    ["perps", "svm"],
  ] as const) {
    const { recipient: _, ...input } = inputFor(from, to);
    expect(await refusalOf(input), `${from} to ${to}`).toEqual(["INVALID_ADDRESS", "recipient"]);
  }
  const { recipient: _, ...withoutRecipient } = inputFor("perps", "evm");
  const world = worldOf();
  expect((await createQuote(world, withoutRecipient)).details.recipient).toBe(user);
  const { recipient: __, ...local } = inputFor("svm", "sol");
  expect((await createQuote(world, local)).details.recipient).toBe(solana.user);
});

test("refuses recipients that could never spend the payment", async () => {
  for (const [to, recipient] of [
    ["svm", solana.native],
    ["svm", solana.usdc],
    ["svm", solana.depository],
    ["svm", solana.solver],
    ["bvm", bitcoin.depository],
    ["bvm", bitcoin.solver],
    ["perps", NATIVE],
    ["perps", hyperliquid.depository],
    ["perps", hyperliquid.solver],
  ] as const)
    expect(await refusalOf(inputFor("evm", to, { recipient })), recipient).toEqual([
      "INVALID_RECIPIENT",
      "recipient",
    ]);
  expect(await refusalOf(inputFor("svm", "evm", { refundTo: solana.depository }))).toEqual([
    "INVALID_RECIPIENT",
    "refundTo",
  ]);
  // The placeholder of a page without a connected wallet gets its own error.
  await expect(createQuote(worldOf(), inputFor("svm", "evm", { user: solana.native }))).rejects.toThrow(
    "user must be a wallet, not the zero address",
  );
});

test("refuses an unknown currency, naming the field of its side", async () => {
  expect(await refusalOf(inputFor("svm", "evm", { originCurrency: NATIVE }))).toEqual([
    "INVALID_INPUT_CURRENCY",
    "originCurrency",
  ]);
  expect(await refusalOf(inputFor("evm", "svm", { destinationCurrency: NATIVE }))).toEqual([
    "INVALID_OUTPUT_CURRENCY",
    "destinationCurrency",
  ]);
  expect(await refusalOf(inputFor("evm", "bvm", { destinationCurrency: "btc" }))).toEqual([
    "INVALID_OUTPUT_CURRENCY",
    "destinationCurrency",
  ]);
});

test("swaps on the EVM side, before the deposit or in the fill", async () => {
  const scenario = { pools: market() };
  // About $100 of each.
  for (const [currency, amount] of [
    [foreignOn(ORIGIN), 10n ** 13n],
    [lockedOn(ORIGIN), 20n * 10n ** 18n],
  ] as const) {
    const from = await quote("evm", "svm", { originCurrency: currency, amount: amount.toString() }, scenario);
    expect(from.answer.steps.at(-1)?.id).toBe("deposit");
    expect(from.terms).toMatchObject({
      input: { currency, amount },
      destination: { currency: bytesOn("svm", solana.usdc) },
    });
    expect(from.terms.origin.currency).not.toBe(currency);
    expect(from.terms.origin.minimumAmount).toBeLessThan(from.terms.origin.amount);
    const to = await quote("svm", "evm", { destinationCurrency: currency }, scenario);
    expect(to.terms.destination).toMatchObject({ currency, minimumAmount: expect.any(BigInt) as bigint });
    expect([usdcOn(ORIGIN), wethOn(ORIGIN), NATIVE]).toContain(to.terms.destination.paidFrom);
    expect(mismatch(quoteAnswer, to.answer)).toBeUndefined();
  }
});

test("asks external services for the swap before a deposit, never for the swap of a fill", async () => {
  const scenario = { pools: market(), external: [PAIRS, SMALL_PAIRS] };
  const change = { amount: (20n * 10n ** 18n).toString() };
  const from = await quote("evm", "svm", { originCurrency: lockedOn(ORIGIN), ...change }, scenario);
  expect(from.answer.details.route.origin.includedSwapSources).toEqual([PAIRS]);
  expect(
    await refusalOf(inputFor("svm", "evm", { destinationCurrency: lockedOn(ORIGIN) }), scenario),
  ).toEqual(["NO_SWAP_ROUTES_FOUND", undefined]);
});

test("refuses a currency that the solver does not hold where nothing can be swapped", async () => {
  expect(await refusalOf(inputFor("evm", "svm", { originCurrency: lockedOn(ORIGIN) }))).toEqual([
    "UNSUPPORTED_CURRENCY",
    "originCurrency",
  ]);
  expect(await refusalOf(inputFor("evm", "svm", { originCurrency: foreignOn(ORIGIN) }))).toEqual([
    "INVALID_INPUT_CURRENCY",
    "originCurrency",
  ]);
});

test("a swap on the EVM side of an exact output buys the smallest deposit that pays for it", async () => {
  const scenario = { pools: market() };
  const exact = { originCurrency: lockedOn(ORIGIN), tradeType: "EXACT_OUTPUT", amount: "50000000" } as const;
  const { answer } = await quote("evm", "svm", exact, scenario);
  expect(answer.details.currencyOut).toMatchObject({ amount: "50000000", minimumAmount: "50000000" });
  const input = BigInt(answer.details.currencyIn.amount);
  const bought = async (amount: bigint): Promise<bigint> => {
    const change = { originCurrency: lockedOn(ORIGIN), amount: amount.toString() };
    return BigInt((await quote("evm", "svm", change, scenario)).answer.details.currencyOut.amount);
  };
  expect(await bought(input)).toBeGreaterThanOrEqual(50_000_000n);
  expect(await bought(input - 10n ** 14n)).toBeLessThan(50_000_000n);
});

test("refuses a withdrawal by a client that does not know protocol v2", async () => {
  for (const protocolVersion of ["v1", "preferV2", undefined])
    expect(await refusalOf({ ...inputFor("perps", "evm"), protocolVersion })).toEqual([
      "INVALID_REQUEST",
      "protocolVersion",
    ]);
  expect((await quote("evm", "perps", { protocolVersion: undefined })).terms.kind).toBe("bridge");
});

// ——— options of one end ———

const isEvm = (place: Place): boolean => place === "evm" || place === "other";
const calls = [{ to: user, value: "0", data: "0x" }];

test.each(pairs)(
  "from %s to %s: refuses options that the origin or destination does not support, and names them",
  async (from, to) => {
    const refused: readonly (readonly [Partial<QuoteInput>, ErrorCode])[] = [
      ...(isEvm(from)
        ? []
        : ([
            [{ useDepositAddress: true }, "UNSUPPORTED_EXECUTION_TYPE"],
            [{ usePermit: true }, "UNSUPPORTED_EXECUTION_TYPE"],
            [{ originGasOverhead: 80_000 }, "UNSUPPORTED_EXECUTION_TYPE"],
          ] as const)),
      ...(isEvm(to)
        ? []
        : ([
            [{ txs: calls }, "EXTRA_TXS_NOT_SUPPORTED"],
            [{ topupGas: true }, "UNSUPPORTED_EXECUTION_TYPE"],
          ] as const)),
    ];
    for (const [change, code] of refused)
      expect(await refusalOf(inputFor(from, to, change))).toEqual([code, Object.keys(change)[0]]);
  },
);

const withFactory = { contracts: { ...aChain(ORIGIN).contracts, depositAddressFactory: factory } };
/** The service can submit permits and sweep deposit addresses. */
function submittingWorld(scenario: Scenario = {}): ReturnType<typeof worldOf> {
  const permits = { domain: { name: "USD Coin", version: "2" }, eip3009: true, eip2612: true };
  return {
    ...worldOf({ ...scenario, origin: { ...withFactory, ...scenario.origin } }),
    executor: { address: executor },
    permitTokens: { permitsOf: () => permits, nonceOf: async () => 7n },
    depositAddressOperator: { address: executor },
  };
}
const pairsFromEvm = pairs.filter(([from]) => from === "evm");
const pairsToEvm = pairs.filter(([, to]) => to === "evm");

test.each(pairsFromEvm)(
  "from %s to %s: the user pays by signature, and the output pays its gas",
  async (from, to) => {
    const world = submittingWorld();
    const plain = await createQuote(submittingWorld(), inputFor(from, to));
    const answer = await createQuote(world, inputFor(from, to, { usePermit: true }));
    expect(mismatch(quoteAnswer, answer)).toBeUndefined();
    expect(answer.steps.map(({ id }) => id)).toEqual(["authorize1"]);
    const [terms] = world.stored;
    expect(terms?.permit).toMatchObject({ method: "eip3009", amount: 100_000_000n });
    expect(terms?.originGasUsd).toBeGreaterThan(0n);
    expect(BigInt(answer.details.currencyOut.amount)).toBeLessThan(BigInt(plain.details.currencyOut.amount));
  },
);

test.each(pairsFromEvm)(
  "from %s to %s: the quote is paid to a deposit address, open or strict",
  async (from, to) => {
    for (const options of [{}, { strict: true, refundTo: executor }]) {
      const world = submittingWorld();
      const answer = await createQuote(world, inputFor(from, to, { useDepositAddress: true, ...options }));
      expect(mismatch(quoteAnswer, answer)).toBeUndefined();
      const [terms] = world.stored;
      expect(terms?.depositAddress?.strict).toBe("strict" in options);
      expect(answer.steps).toMatchObject([{ id: "deposit", depositAddress: terms?.depositAddress?.address }]);
      expect(answer.details.recipient).toBe(places[to].user);
    }
  },
);

test.each(pairsFromEvm)(
  "from %s to %s: the output pays for a deposit that the service sends",
  async (from, to) => {
    const plain = await quote(from, to);
    const { answer, terms } = await quote(from, to, { originGasOverhead: "80000" });
    expect(terms.originGasUsd).toBeGreaterThan(0n);
    expect(BigInt(answer.details.currencyOut.amount)).toBeLessThan(
      BigInt(plain.answer.details.currencyOut.amount),
    );
  },
);

test.each(pairsToEvm)(
  "from %s to %s: a gas top-up is a second payment, paid from the deposit",
  async (from, to) => {
    const plain = await quote(from, to);
    const { answer, terms } = await quote(from, to, { topupGas: true, topupGasAmount: "3000000" });
    expect(mismatch(quoteAnswer, answer)).toBeUndefined();
    // Three dollars at $2,000.
    const wei = 1_500_000_000_000_000n;
    expect(terms.gasTopup?.amount).toBe(wei);
    expect(answer.details.currencyGasTopup?.amount).toBe(String(wei));
    expect(terms.order.output.payments).toMatchObject([
      { currency: usdcOn(ORIGIN), recipient: user },
      { currency: NATIVE, recipient: user, minimumAmount: wei, expectedAmount: wei },
    ]);
    const less = [plain.answer, answer].map(({ details }) => BigInt(details.currencyOut.amount));
    expect(less[0]! - less[1]!).toBeGreaterThanOrEqual(3_000_000n);
    expect(less[0]! - less[1]!).toBeLessThan(4_000_000n);
    // The fill may revert at the recipient, and then its gas is deducted.
    expect(BigInt(answer.details.refundCurrency.minimumAmount)).toBeLessThan(
      BigInt(plain.answer.details.refundCurrency.minimumAmount),
    );
  },
);

test("does not quote a payment that the chain would refuse for funds at a deposit address", async () => {
  const rent = async ({ amount }: { amount: bigint }) =>
    amount < 1_000_000_000n ? "the account does not exist, and rent is more" : undefined;
  const world = submittingWorld({ svm: { connection: { refusalOf: rent } } });
  const address = { useDepositAddress: true } as const;
  await expect(
    quoteTerms(world, inputFor("evm", "sol", { ...address, amount: "1000000" }), undefined),
  ).rejects.toMatchObject({ code: "AMOUNT_TOO_LOW", facts: { field: "amount" } });
  expect(
    (await quoteTerms(world, inputFor("evm", "sol", { ...address, amount: "500000000" }), undefined)).kind,
  ).toBe("bridge");
});

// ——— fees of apps ———

const app: Hex = `0x${"88".repeat(20)}`;

test.each(pairs)(
  "from %s to %s: app fees are taken from the deposit, which is the sum of the fees and the rest",
  async (from, to) => {
    const world = withAppBalances(worldOf());
    const appFees = [{ recipient: app, fee: "37" }];
    const plain = await createQuote(worldOf(), inputFor(from, to));
    const answer = await createQuote(world, inputFor(from, to, { appFees }));
    expect(mismatch(quoteAnswer, answer)).toBeUndefined();
    const input = BigInt(answer.details.currencyIn.amount);
    expect(BigInt(answer.fees.app.amount)).toBe((input * 37n) / 10_000n);
    // The other fees stay as they are, to a unit of rounding.
    const more = BigInt(answer.fees.relayer.amount) - BigInt(plain.fees.relayer.amount);
    expect(more === 0n || more === 1n).toBe(true);
    expect(BigInt(answer.details.currencyOut.amount)).toBeLessThan(BigInt(plain.details.currencyOut.amount));
    const [terms] = world.stored;
    expect(terms?.appFees).toMatchObject({
      chainId: ORIGIN,
      currency: usdcOn(ORIGIN),
      fees: [{ recipient: app, bps: 37 }],
    });
    expect(terms?.appFeesUsd).toBeGreaterThan(0n);
  },
);

test("an exact output costs more by the app fee, and delivers the same", async () => {
  const exact = { tradeType: "EXACT_OUTPUT", amount: "50000000" } as const;
  const plain = await createQuote(worldOf(), inputFor("evm", "svm", exact));
  const answer = await createQuote(
    withAppBalances(worldOf()),
    inputFor("evm", "svm", { ...exact, appFees: [{ recipient: app, fee: "100" }] }),
  );
  expect(answer.details.currencyOut.amount).toBe(plain.details.currencyOut.amount);
  const [paid, plainPaid] = [answer, plain].map(({ details }) => BigInt(details.currencyIn.amount));
  expect(paid! - plainPaid!).toBeGreaterThanOrEqual(BigInt(answer.fees.app.amount));
  expect(paid! - plainPaid!).toBeLessThanOrEqual(BigInt(answer.fees.app.amount) + 500n);
});

test.each([
  ["evm", "svm"],
  ["svm", "evm"],
  ["svm", "other"],
  ["evm", "spot"],
] as const)(
  "from %s to %s: a sponsor that pays all fees leaves the output equal to the input",
  async (from, to) => {
    const world = withAppBalances(worldOf());
    const key = aPayingAppKey();
    const all = ["execution", "relay", "app", "rent"];
    const input = inputFor(from, to, {
      subsidizeFees: true,
      sponsoredFeeComponents: all,
      appFees: [{ recipient: app, fee: "10" }],
    });
    const answer = await createQuote(world, input, key.id, key);
    const { details, fees } = answer;
    // Both currencies are USDC, with the decimals of their chains.
    expect(details.currencyOut.amountFormatted).toBe(details.currencyIn.amountFormatted);
    const total = BigInt(fees.relayer.amount) + BigInt(fees.app.amount);
    expect(BigInt(fees.subsidized.amount)).toBe(total);
    expect(world.stored[0]?.sponsorship).toMatchObject({ wallet: sponsor, amount: total });
  },
);

test("the cost of a token payment on Solana is rent, which sponsors do not pay by default", async () => {
  const key = aPayingAppKey();
  const sponsored = async (to: Place, more: Partial<QuoteInput> = {}) => {
    const world = withAppBalances(worldOf());
    const answer = await createQuote(
      world,
      inputFor("evm", to, { subsidizeFees: true, ...more }),
      key.id,
      key,
    );
    const [{ sponsorship } = {}] = world.stored;
    return { execution: BigInt(answer.fees.relayerGas.amount), components: sponsorship?.components };
  };
  const byDefault = await sponsored("svm");
  expect(byDefault.execution).toBeGreaterThan(0n);
  expect(byDefault.components).toMatchObject({
    execution: { totalUsd: 0n },
    rent: { selected: false, sponsoredUsd: 0n },
  });
  expect(byDefault.components?.rent.totalUsd).toBeGreaterThan(0n);
  const withRent = await sponsored("svm", { sponsoredFeeComponents: ["rent"] });
  expect(withRent.components?.rent.sponsoredUsd).toBe(withRent.components?.rent.totalUsd);
  expect((await sponsored("spot")).components?.execution.sponsoredUsd).toBeGreaterThan(0n);
});

test("refuses a sponsor that cannot pay, and app fees on a service without app balances", async () => {
  const key = aPayingAppKey();
  const poor = withAppBalances(worldOf(), { balance: 0n });
  await expect(
    createQuote(poor, inputFor("evm", "spot", { subsidizeFees: true }), key.id, key),
  ).rejects.toMatchObject({ code: "INSUFFICIENT_FUNDS" });
  expect(await refusalOf(inputFor("svm", "evm", { appFees: [{ recipient: app, fee: 1 }] }))).toEqual([
    "UNSUPPORTED_EXECUTION_TYPE",
    "appFees",
  ]);
});

test("accepts a fixed rate between stablecoins of any chains, and refuses it for other currencies", async () => {
  const key = aPayingAppKey();
  const fixed = { subsidizeFees: true, fixedRate: "1:1" };
  const world = withAppBalances(worldOf());
  const answer = await createQuote(world, inputFor("svm", "evm", fixed), key.id, key);
  expect(answer.details.isFixedRate).toBe(true);
  expect(answer.details.currencyOut.amount).toBe(answer.details.currencyIn.amount);
  await expect(
    createQuote(withAppBalances(worldOf()), inputFor("evm", "bvm", fixed), key.id, key),
  ).rejects.toMatchObject({ code: "UNSUPPORTED_ROUTE", facts: { field: "fixedRate" } });
});

test("a fixed rate to a token on Solana needs a sponsor that pays rent, which the recipient can claim", async () => {
  const key = aPayingAppKey();
  const fixed = { subsidizeFees: true, fixedRate: "1:1" };
  await expect(
    createQuote(withAppBalances(worldOf()), inputFor("evm", "svm", fixed), key.id, key),
  ).rejects.toMatchObject({ code: "INVALID_REQUEST", facts: { field: "fixedRate" } });
  const paying = { ...fixed, sponsoredFeeComponents: ["rent" as const] };
  const answer = await createQuote(withAppBalances(worldOf()), inputFor("evm", "svm", paying), key.id, key);
  expect(answer.details.isFixedRate).toBe(true);
});

test("refuses a fast fill on a non-EVM chain, and of a deposit on Hyperliquid", async () => {
  for (const [from, to] of [
    ["evm", "svm"],
    ["svm", "bvm"],
    ["perps", "evm"],
  ] as const) {
    const { terms, world } = await quote(from, to);
    const { appBalance } = noAppBalances;
    await expect(
      priceFastFill({ ...noAppBalances, ...world, appBalance }, terms, undefined),
    ).rejects.toMatchObject({
      code: "FAST_FILL_REFUSED",
      facts: { data: { rule: "slowChain" } },
    });
  }
});

test("refuses amounts below Bitcoin's dust limit, on either side", async () => {
  const tooLow = { code: "AMOUNT_TOO_LOW", facts: { field: "amount", data: { minimumAmount: "546" } } };
  const world = worldOf({ bvm: { paymentCost: 0n } });
  await expect(createQuote(world, inputFor("bvm", "evm", { amount: "545" }))).rejects.toMatchObject(tooLow);
  const output = { tradeType: "EXACT_OUTPUT", amount: "545" } as const;
  await expect(createQuote(worldOf(), inputFor("evm", "bvm", output))).rejects.toMatchObject(tooLow);
  expect((await quote("evm", "bvm", { ...output, amount: "546" })).terms.destination.expectedAmount).toBe(
    546n,
  );
});

test("refuses an amount below the cost of the payment and states the minimum", async () => {
  const world = worldOf({ bvm: { paymentCost: 200_000n } });
  await expect(createQuote(world, inputFor("evm", "bvm", { amount: "1000000" }))).rejects.toMatchObject({
    code: "AMOUNT_TOO_LOW",
    facts: { data: { minimumAmount: expect.stringMatching(/^\d{9}$/) as string } },
  });
});

test("distinguishes an account that needs more to be created from one that cannot be paid at all", async () => {
  const rent = async ({ amount }: { amount: bigint }) =>
    amount < 1_000_000_000n ? "the account does not exist, and rent is more" : undefined;
  expect(
    await refusalOf(inputFor("evm", "sol", { tradeType: "EXACT_OUTPUT", amount: "890879" }), {
      svm: { connection: { refusalOf: rent } },
    }),
  ).toEqual(["AMOUNT_TOO_LOW", "amount"]);
  expect(
    await refusalOf(inputFor("evm", "svm"), {
      svm: { connection: { refusalOf: async () => "the account is frozen" } },
    }),
  ).toEqual(["INVALID_RECIPIENT", "recipient"]);
  expect(
    await refusalOf(inputFor("evm", "svm"), {
      svm: { connection: { refusalOf: () => Promise.reject(new Error("connection refused")) } },
    }),
  ).toEqual(["RPC_HTTP_ERROR", "destinationChainId"]);
});

test("checks that the recipient can receive the minimum output after a swap before the deposit", async () => {
  const amounts: bigint[] = [];
  const connection = {
    refusalOf: async ({ amount }: { amount: bigint }): Promise<undefined> => {
      amounts.push(amount);
      return undefined;
    },
  };
  const swapChange = { originCurrency: lockedOn(ORIGIN), amount: (20n * 10n ** 18n).toString() };
  const { terms } = await quote("evm", "svm", swapChange, { pools: market(), svm: { connection } });
  expect(terms.destination.minimumAmount).toBeLessThan(terms.destination.expectedAmount);
  expect(amounts).toEqual([terms.destination.minimumAmount]);
});

test("quotes at most the solver's free balance on the destination, less the cost of the payment", async () => {
  const scenario = (balance: bigint): Scenario => ({ svm: { balance, paymentCost: 10_000n } });
  const exact = (amount: bigint) =>
    inputFor("evm", "sol", { tradeType: "EXACT_OUTPUT", amount: String(amount) });
  expect(await refusalOf(exact(999_990_001n), scenario(1_000_000_000n))).toEqual([
    "INSUFFICIENT_LIQUIDITY",
    "amount",
  ]);
  const world = worldOf(scenario(1_000_000_000n));
  await createQuote(world, exact(999_990_000n));
  expect(await refusalOf(exact(999_990_000n), { ...scenario(1_000_000_000n), reserved: 1n })).toEqual([
    "INSUFFICIENT_LIQUIDITY",
    "amount",
  ]);
  // A token payment is paid for in the native token.
  expect(
    await refusalOf(inputFor("evm", "svm", { tradeType: "EXACT_OUTPUT", amount: "1000" }), {
      svm: { paymentCost: 200_000n, balance: 150_000n },
    }),
  ).toEqual(["INSUFFICIENT_LIQUIDITY", "destinationChainId"]);
});

test("reports a chain that is disabled, restricted or closed", async () => {
  expect(await refusalOf(inputFor("evm", "svm"), { svm: { chain: { disabled: true } } })).toEqual([
    "CHAIN_DISABLED",
    "destinationChainId",
  ]);
  expect(await refusalOf(inputFor("svm", "evm"), { svm: { chain: { disabled: true } } })).toEqual([
    "CHAIN_DISABLED",
    "originChainId",
  ]);
  expect(await refusalOf(inputFor("evm", "svm"), { svm: { chain: { depositEnabled: false } } })).toEqual([
    "CHAIN_DISABLED",
    "destinationChainId",
  ]);
  expect(await refusalOf(inputFor("evm", "svm"), { svm: { chain: { partialDisableLimit: 1n } } })).toEqual([
    "ROUTE_TEMPORARILY_RESTRICTED",
    "destinationChainId",
  ]);
  expect(await refusalOf({ ...inputFor("evm", "svm"), originChainId: 5 })).toEqual([
    "UNSUPPORTED_CHAIN",
    "originChainId",
  ]);
});

test("a chain whose deposits this build cannot create is refused as the origin, not as the destination", async () => {
  const { users: _, ...bare } = aConnectedNonEvmChain("svm");
  const input = inputFor("svm", "evm");
  await expect(createQuote(quoteWorld({ nonEvmChains: [bare] }), input)).rejects.toMatchObject({
    code: "UNSUPPORTED_ROUTE",
    facts: { field: "originChainId" },
  });
  const answer = await createQuote(quoteWorld({ nonEvmChains: [bare] }), inputFor("evm", "svm"));
  expect(answer.details.recipient).toBe(solana.user);
});

test("stores nothing when the origin is unreachable, and the client may retry", async () => {
  const unreachableUsers: NonEvmUsers = {
    balance: () => Promise.reject(new Error("connection refused")),
    deposit: () => Promise.reject(new Error("connection refused")),
    token: () => Promise.reject(new Error("connection refused")),
  };
  for (const [from, scenario] of [
    ["svm", { svm: { users: unreachableUsers } }],
    ["bvm", { bvm: { users: unreachableUsers } }],
    ["perps", { hypevm: { users: unreachableUsers } }],
    ["evm", { readerFails: true }],
  ] as const)
    expect(await refusalOf(inputFor(from, from === "evm" ? "svm" : "evm"), scenario), from).toEqual([
      "RPC_HTTP_ERROR",
      "originChainId",
    ]);
});

test("requests between EVM chains are unchanged by configured non-EVM chains", async () => {
  const plain = quoteWorld();
  const withNonEvmChains = worldOf();
  expect(await createQuote(withNonEvmChains, aQuoteInput())).toEqual(await createQuote(plain, aQuoteInput()));
});

test("a configured currency that Hyperliquid does not list cannot be withdrawn", async () => {
  const unlisted: NonEvmUsers = { balance: async () => 0n, token: async () => undefined };
  expect(await refusalOf(inputFor("spot", "evm"), { hypevm: { users: unlisted } })).toEqual([
    "UNSUPPORTED_CURRENCY",
    "originCurrency",
  ]);
});
