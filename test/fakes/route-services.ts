import { type ErrorCode, NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { AmountObject, ChainsAnswer, QuoteAnswer } from "@causeway/wire";
import {
  reportSingleTransaction,
  reportTransaction,
} from "../../apps/api/src/deposits/report-transaction.ts";
import { lookUpAddress } from "../../apps/api/src/deposits/addresses/look-up-address.ts";
import { reindexAddress } from "../../apps/api/src/deposits/addresses/reindex-address.ts";
import { swapSources } from "../../apps/api/src/discovery/swap-sources.ts";
import { executeCalls } from "../../apps/api/src/executions/execute-calls.ts";
import { executePermit } from "../../apps/api/src/executions/permits/execute-permit.ts";
import { requestFastFill } from "../../apps/api/src/executions/request-fast-fill.ts";
import type { StoredAnswer } from "../../apps/api/src/http/idempotency.port.ts";
import type { UseCases } from "../../apps/api/src/http/use-cases.port.ts";
import type { RouteContext } from "../../apps/api/src/process/index.route.ts";
import { quoteAs } from "../../apps/api/src/quotes/create-quote.ts";
import { priceIntent } from "../../apps/api/src/quotes/price-intent.ts";
import { listRequests } from "../../apps/api/src/requests/history/list-requests.ts";
import { requestTrace } from "../../apps/api/src/requests/history/request-trace.ts";
import type { SignedRequest } from "../../apps/api/src/requests/request-signature.ts";
import { statusByIdOrDeposit } from "../../apps/api/src/requests/request-status.ts";
import { authorizeNonce } from "../../apps/api/src/settlement/nonce-mappings/authorize-nonce.ts";
import type { StatusView } from "../../apps/api/src/requests/status-view.port.ts";
import { hexAddressFormat } from "./hex-address-format.ts";
import { fakeApiKeys, fakeKeyAdmin } from "./api-keys.ts";
import { appBalanceUseCases, fakeAppBalance } from "./app-balance.ts";
import { discoveryUseCases, fakeDiscovery } from "./discovery.ts";
import { fakeIdempotency } from "./idempotency.ts";
import { fakePush } from "./push.ts";
import type { Bound } from "./use-cases.ts";
import { fakeWebhooks } from "./webhooks.ts";

/** The one request id that the fake knows. */
export const KNOWN_REQUEST_ID = `0x${"a1".repeat(32)}` as const;
export const A_TX_HASH = `0x${"b2".repeat(32)}` as const;

const ACCOUNT = `0x${"c3".repeat(20)}` as const;
const HASH = `0x${"d4".repeat(32)}`;

/** The use cases that routes call, by the names under which tests replace them. */
const useCases = {
  ...appBalanceUseCases,
  ...discoveryUseCases,
  swapSources,
  createQuote: quoteAs<StoredAnswer>,
  priceIntent,
  executeCalls,
  executePermit,
  authorizeNonce,
  requestFastFill,
  requestStatus: statusByIdOrDeposit,
  indexTransaction: reportTransaction,
  recordSingleTransaction: reportSingleTransaction,
  reindexAddress,
  lookUpAddress,
  listRequests,
  requestTrace,
};

type FakeUseCases = Bound<typeof useCases>;

/** What a test can replace: use cases, and services that routes use directly. */
export type RouteFakes = FakeUseCases & Omit<RouteContext, "call">;

const notPaused = async (): Promise<never> => {
  throw new ServiceError("NOT_FOUND", "all is not paused");
};

/** Calls the fakes instead of the use cases. Throws for a use case that no test replaces. */
function callOf(fakes: FakeUseCases): UseCases<never>["call"] {
  const names = new Map<unknown, keyof FakeUseCases>(
    Object.entries(useCases).map(([name, useCase]) => [useCase, name as keyof FakeUseCases]),
  );
  return (useCase, ...args) => {
    const name = names.get(useCase);
    if (name === undefined) throw new Error(`test/fakes has no fake of the use case ${useCase.name}`);
    const fake: unknown = fakes[name];
    return (fake as (...fakeArgs: typeof args) => ReturnType<typeof useCase>)(...args);
  };
}

/**
 * Stateless use cases that answer with complete, well-formed examples, for tests and benchmarks of the
 * routes.
 */
export function fakeRouteServices(overrides: Partial<RouteFakes> = {}): RouteContext {
  const chains: ChainsAnswer = { chains: [] };
  const fakes: RouteFakes = {
    ...fakeAppBalance(),
    ...fakeDiscovery(),
    listChains: () => chains,
    swapSources: () => ({ sources: ["uniswap-v3"] }),
    createQuote: async (_input, tell) => tell(anAnswer),
    countQuote: async (quote) => await quote,
    traceQuote: () => undefined,
    priceIntent: async () => ({ fees: anAnswer.fees, details: anAnswer.details }),
    requestFastFill: async () => "queued",
    executeCalls: async () => ({
      kind: "accepted",
      answer: { message: "Transaction submitted", requestId: KNOWN_REQUEST_ID },
    }),
    executePermit: async () => undefined,
    authorizeNonce: async () => KNOWN_REQUEST_ID,
    requestStatus: async (requestId) => (requestId === KNOWN_REQUEST_ID ? aView : undefined),
    requestSignature: async (requestId) => (requestId === KNOWN_REQUEST_ID ? aSignedRequest : undefined),
    indexTransaction: async () => ({ message: "Transaction received" }),
    recordSingleTransaction: async () => ({ message: "Transaction received" }),
    reindexAddress: failing("NOT_FOUND", "Deposit address not found: this service did not issue it"),
    lookUpAddress: async () => undefined,
    readiness: async () => ({ ready: true, chains: {}, checks: { database: "ok" } }),
    listRequests: async () => ({ requests: [], next: undefined, total: undefined, unattributed: [] }),
    requestTrace: async () => undefined,
    addressFormat: hexAddressFormat,
    apiKeys: fakeApiKeys({}),
    keyAdmin: fakeKeyAdmin(),
    pauseAdmin: { list: async () => [], pause: notPaused, resume: notPaused },
    operatorToken: undefined,
    idempotency: fakeIdempotency(),
    limits: undefined,
    push: fakePush(),
    webhooks: fakeWebhooks(),
    usage: { note: () => undefined, read: async () => [] },
    clock: { nowMs: () => 1_790_000_000_000 },
    ...overrides,
  };
  return { ...fakes, call: callOf(fakes) };
}

export const aSignedRequest: SignedRequest = {
  facts: {
    requestId: KNOWN_REQUEST_ID,
    originChainId: 11,
    originUser: ACCOUNT,
    originCurrency: NATIVE_CURRENCY,
    originAmount: 10n ** 18n,
    destinationChainId: 12,
    destinationUser: ACCOUNT,
    destinationCurrency: NATIVE_CURRENCY,
  },
  formatted: {
    originUser: ACCOUNT,
    originCurrency: NATIVE_CURRENCY,
    destinationUser: ACCOUNT,
    destinationCurrency: NATIVE_CURRENCY,
  },
  signature: `0x${"e5".repeat(65)}`,
};

/** A use case that fails with `code`. */
export function failing(code: ErrorCode, message: string, facts = {}): () => Promise<never> {
  return () => Promise.reject(new ServiceError(code, message, facts));
}

const anAmount: AmountObject = {
  currency: {
    id: "eth",
    chainId: 11,
    address: NATIVE_CURRENCY,
    symbol: "ETH",
    name: "Ether",
    decimals: 18,
    supportsBridging: true,
    metadata: { logoURI: "https://example.org/eth.png", verified: true },
  },
  amount: "1000000000000000000",
  amountFormatted: "1.0",
  amountUsd: "3000.000000",
  minimumAmount: "1000000000000000000",
};

const aSide = { inputCurrency: anAmount, outputCurrency: anAmount, router: "causeway" };
const aSlippage = { usd: "0.000000", value: "0", percent: "0.00" };
const aCost = { usd: "-0.020000" };

export const anAnswer: QuoteAnswer = {
  requestId: KNOWN_REQUEST_ID,
  steps: [
    {
      id: "deposit",
      action: "Confirm transaction in your wallet",
      description: "Depositing funds to the depository",
      kind: "transaction",
      requestId: KNOWN_REQUEST_ID,
      depositAddress: "",
      items: [
        {
          status: "incomplete",
          data: {
            from: ACCOUNT,
            to: ACCOUNT,
            data: `0x49290c1c${"00".repeat(64)}`,
            value: "1000000000000000000",
            chainId: 11,
            gas: "60000",
            maxFeePerGas: "2000000000",
            maxPriorityFeePerGas: "1000000000",
          },
          check: { endpoint: `/intents/status/v3?requestId=${KNOWN_REQUEST_ID}`, method: "GET" },
        },
      ],
    },
  ],
  fees: {
    gas: anAmount,
    relayer: anAmount,
    relayerGas: anAmount,
    relayerService: { ...anAmount, amount: "-5" },
    app: anAmount,
    subsidized: anAmount,
  },
  details: {
    operation: "bridge",
    sender: ACCOUNT,
    recipient: ACCOUNT,
    currencyIn: anAmount,
    currencyOut: anAmount,
    refundCurrency: anAmount,
    totalImpact: { usd: "-0.020000", percent: "-0.01" },
    swapImpact: { usd: "0.000000", percent: "0.00" },
    expandedPriceImpact: { swap: aCost, execution: aCost, service: aCost, relay: aCost, app: aCost },
    rate: "0.999",
    slippageTolerance: { origin: aSlippage, destination: aSlippage },
    timeEstimate: 2,
    userBalance: "0",
    isFixedRate: false,
    route: { origin: aSide, destination: aSide },
  },
  expiresAt: 1_790_000_030_000,
  fillDeadline: 1_790_000_600_000,
  protocol: {
    v2: {
      orderId: HASH,
      hubType: "onchain",
      orderData: {
        version: "v1",
        solverChainId: "base",
        solver: ACCOUNT,
        salt: HASH,
        inputs: [
          {
            payment: { chainId: "base", currency: NATIVE_CURRENCY, amount: "1", weight: "1" },
            refunds: [
              {
                chainId: "base",
                recipient: ACCOUNT,
                currency: NATIVE_CURRENCY,
                minimumAmount: "0",
                deadline: 1_790_600_000,
                extraData: "0x",
              },
            ],
          },
        ],
        output: {
          chainId: "arbitrum",
          payments: [
            { recipient: ACCOUNT, currency: NATIVE_CURRENCY, minimumAmount: "1", expectedAmount: "1" },
          ],
          calls: [],
          deadline: 1_790_600_000,
          extraData: "0x",
        },
        fees: [],
      },
      paymentDetails: { chainId: "base", depository: ACCOUNT, currency: NATIVE_CURRENCY, amount: "1" },
    },
  },
};

export const aView: StatusView = {
  requestId: KNOWN_REQUEST_ID,
  status: "success",
  inTxHashes: [A_TX_HASH],
  txHashes: [A_TX_HASH],
  refundTxHashes: [],
  updatedAtMs: 1_790_000_002_000,
  quoteCreatedAtMs: 1_790_000_000_000,
  originChainId: 11,
  destinationChainId: 12,
  failReason: "N/A",
  refundFailReason: "N/A",
  final: true,
  fundsAt: "recipient",
  nextAction: "none",
  pollAfterMs: 0,
};
