import { RpcFault } from "@causeway/chains";
import type { ChainReader, RecipientStanding, TokenBehavior, TraceOutcome } from "@causeway/chains";
import type { Address, ErrorCode } from "@causeway/domain";
import { defaultSponsorshipRules, errorCodes, NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  aQuoteInput,
  DESTINATION,
  foreignOn,
  lockedOn,
  lonelyOn,
  market,
  ORIGIN,
  PAIRS,
  quoteWorld,
  rareOn,
  usdcOn,
  user,
  wethOn,
} from "../../../../test/fakes/quote-world.ts";
import type { QuoteWorldOptions } from "../../../../test/fakes/quote-world.ts";
import { aServer } from "../../../../test/support/route-server.ts";
import type { QuoteKey } from "../balances/sponsors.port.ts";
import { createQuote } from "./create-quote.ts";
import type { QuoteServices } from "./create-quote.ts";

// Every error code of a quote as a client receives it: status, message and data. docs/ERRORS.md documents the
// codes and is checked against this file.

const recipient: Address = "0x2222222222222222222222222222222222222222";
const callee: Address = "0x3333333333333333333333333333333333333333";
const call = { to: callee, value: "0", data: "0xabcdef01" };
const sameChain = { originChainId: ORIGIN, destinationChainId: ORIGIN };

interface Case {
  readonly code: ErrorCode;
  readonly when: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly world?: QuoteWorldOptions;
  readonly change?: (services: QuoteServices) => Partial<QuoteServices>;
  readonly key?: QuoteKey;
  readonly status?: number;
  readonly message: string;
  readonly data?: unknown;
  /** Further fields of the body. */
  readonly bodyFields?: Readonly<Record<string, unknown>>;
}

const fieldData = (name: string): { readonly field: string } => ({ field: name });
const malformedField = (name: string, reason: string): object => ({
  field: name,
  problems: [{ field: name, reason }],
});

/** A node that returns this trace for every call. */
const traces =
  (outcome: () => Promise<TraceOutcome>) =>
  (services: QuoteServices): Partial<QuoteServices> => {
    const connected = services.chains.get(DESTINATION);
    if (connected === undefined) throw new Error("the destination is missing");
    const reader: Partial<ChainReader> = { trace: outcome };
    Object.assign(connected.connection.reader, reader);
    return {};
  };

/** The destination's node can neither trace nor simulate. */
const withoutTracing = (services: QuoteServices): Partial<QuoteServices> => {
  const connected = services.chains.get(DESTINATION);
  if (connected === undefined) throw new Error("the destination is missing");
  Object.assign(connected.pulse, { effectsView: () => "unseen" });
  return {};
};

const frame = { type: "CALL", address: callee, selector: "0xabcdef01" };
const revert = { type: "errorString", label: "REVERTED", message: "the vault is closed" } as const;
const vaultIsClosed: TraceOutcome = {
  kind: "reverts",
  failure: { ...revert, details: { topLevel: frame, innermost: frame, path: [frame], revert } },
};

/** Defines how tokens that are not configured behave. */
const quirks =
  (behavior: TokenBehavior, standing: RecipientStanding = "open") =>
  (): Partial<QuoteServices> => ({
    quirks: { behavior: () => behavior, recipient: () => standing },
  });
const plain: TokenBehavior = { transfers: "exact", resetsApproval: false };

const appBalance = {
  chainId: ORIGIN,
  currencies: [],
  confirmations: 1,
  minTopUpUsd: 0n,
  claimLifetimeSeconds: 600,
};
const unfunded: QuoteKey = {
  id: "key-1",
  fundingAddress: undefined,
  origins: [],
  rules: defaultSponsorshipRules,
} as unknown as QuoteKey;

const approved: QuoteWorldOptions = { account: { allowance: 2n ** 255n } };

const cases: readonly Case[] = [
  {
    code: "INVALID_REQUEST",
    when: "a field is missing",
    input: { user: undefined },
    message: "user is required",
    data: malformedField("user", "is required"),
  },
  {
    code: "INVALID_REQUEST",
    when: "an option contradicts another",
    input: { strict: true },
    message: "strict requires useDepositAddress to be true",
    data: fieldData("strict"),
  },
  {
    code: "AMOUNT_TOO_LOW",
    when: "the input does not cover the fees",
    input: { amount: "1000" },
    message: "amount must be at least 73964 (0.073964 USDC) to cover the fees, got 1000",
    data: { field: "amount", amount: "1000", minimumAmount: expect.stringMatching(/^\d+$/) as unknown },
  },
  {
    code: "AMOUNT_TOO_LOW",
    when: "a swap on one chain is worth less than $0.05",
    input: {
      ...sameChain,
      originCurrency: lockedOn(ORIGIN),
      destinationCurrency: usdcOn(ORIGIN),
      amount: "9000000000000000",
    },
    world: { pools: market() },
    message:
      "amount: the input of a swap on one chain must be worth at least $0.05, which is 10000000000000000 (0.01 LOCKED), got $0.045000",
    data: fieldData("amount"),
  },
  {
    code: "CHAIN_DISABLED",
    when: "a chain is disabled",
    input: {},
    world: { origin: { disabled: true } },
    message: `Chain ${ORIGIN} is disabled; use another chain`,
    data: fieldData("originChainId"),
  },
  {
    code: "EXTRA_TXS_NOT_SUPPORTED",
    when: "calls are requested with an output that is only expected",
    input: { txs: [call], tradeType: "EXPECTED_OUTPUT", amount: "1000000" },
    message: "tradeType must be EXACT_INPUT or EXACT_OUTPUT with txs: calls need a known amount",
    data: fieldData("tradeType"),
  },
  {
    code: "INSUFFICIENT_LIQUIDITY",
    when: "the solver does not hold the output",
    input: { destinationCurrency: usdcOn(DESTINATION) },
    world: { inventory: 5n, nativeInventory: 10n ** 20n },
    message: "Insufficient liquidity: 5 base units (0.000005 USDC) available",
    data: { field: "amount", available: "5" },
  },
  {
    code: "INVALID_ADDRESS",
    when: "an address is malformed",
    input: { recipient: "nobody" },
    message: "recipient must be a 20-byte address",
    data: fieldData("recipient"),
  },
  {
    code: "INVALID_EXTRA_TXS",
    when: "calls carry more than the output",
    input: {
      txs: [{ ...call, value: "11" }],
      tradeType: "EXACT_OUTPUT",
      amount: "10",
    },
    message: "txs may carry at most 10 wei of value, which is the output of the quote; got 11",
    data: { field: "txs", value: "11", output: "10" },
  },
  {
    code: "INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS",
    when: "the gas limit is negative",
    input: { gasLimitForDepositSpecifiedTxs: -1 },
    message: "gasLimitForDepositSpecifiedTxs must not be negative",
    data: malformedField("gasLimitForDepositSpecifiedTxs", "must not be negative"),
  },
  {
    code: "INVALID_INPUT_CURRENCY",
    when: "the address is not a token contract",
    input: { originCurrency: user },
    message: `Invalid input or output currency: originCurrency ${user} is not a token contract on Chain ${ORIGIN}`,
    data: fieldData("originCurrency"),
  },
  {
    code: "INVALID_OUTPUT_CURRENCY",
    when: "the address is not a token contract",
    input: { destinationCurrency: user },
    message: `Invalid input or output currency: destinationCurrency ${user} is not a token contract on Chain ${DESTINATION}`,
    data: fieldData("destinationCurrency"),
  },
  {
    code: "INVALID_RECIPIENT",
    when: "the recipient is a configured token",
    input: { recipient: wethOn(DESTINATION) },
    message: "recipient must be a wallet, not a token or a contract of this service",
    data: fieldData("recipient"),
  },
  {
    code: "INVALID_RECIPIENT",
    when: "the recipient is the zero address",
    input: { recipient: NATIVE_CURRENCY },
    message: "recipient must be a wallet, not the zero address",
    data: fieldData("recipient"),
  },
  {
    code: "INVALID_RECIPIENT",
    when: "the recipient is a token that is not configured",
    input: { recipient: foreignOn(DESTINATION) },
    world: { recipientHasCode: true },
    message: "recipient must be a wallet, not a token contract",
    data: fieldData("recipient"),
  },
  {
    code: "INVALID_RECIPIENT",
    when: "the token blocks the recipient",
    input: { recipient, destinationCurrency: foreignOn(DESTINATION) },
    world: { pools: market() },
    change: quirks(plain, "blocked"),
    message: "recipient is blocked by the token FOR; use another recipient",
    data: fieldData("recipient"),
  },
  {
    code: "INVALID_SLIPPAGE_TOLERANCE",
    when: "the tolerance is above 10000 bps",
    input: { slippageTolerance: "10001" },
    message: "slippageTolerance must be a whole number of bps from 0 to 10000",
    data: malformedField("slippageTolerance", "must be a whole number of bps from 0 to 10000"),
  },
  {
    code: "NO_INTERNAL_SWAP_ROUTES_FOUND",
    when: "only external sources could have a route, and the client excludes them",
    input: { originCurrency: lockedOn(ORIGIN), amount: "200000000000000000000", useExternalLiquidity: false },
    world: { pools: market(), external: [PAIRS] },
    message: "No routes found in the liquidity of this service; try useExternalLiquidity",
    data: fieldData("useExternalLiquidity"),
  },
  {
    code: "NO_SWAP_ROUTES_FOUND",
    when: "no pool has the token",
    input: { originCurrency: lonelyOn(ORIGIN) },
    world: { pools: market() },
    message: "No routes found",
  },
  {
    code: "NO_SWAP_ROUTES_FOUND",
    when: "the fields of the request exclude every route",
    input: {
      originCurrency: lockedOn(ORIGIN),
      amount: "200000000000000000000",
      disableOriginSwaps: true,
      maxRouteLength: "3",
    },
    world: { pools: market() },
    message: "No routes found with disableOriginSwaps, maxRouteLength; try without these fields",
    data: fieldData("disableOriginSwaps"),
  },
  {
    code: "INVALID_INPUT_CURRENCY",
    when: "the currency is a symbol",
    input: { originCurrency: "usdc" },
    message:
      "Invalid input or output currency: originCurrency must be a token address, not a symbol or name; find it with GET /currencies/v2",
    data: fieldData("originCurrency"),
  },
  {
    code: "NO_SWAP_ROUTES_FOUND",
    when: "the fill would swap, and the destination's node cannot trace calls",
    input: { destinationCurrency: lockedOn(DESTINATION) },
    world: { pools: market() },
    change: withoutTracing,
    message: `No routes found: this quote needs a swap on the destination chain: the node of Chain ${DESTINATION} cannot trace calls`,
    data: fieldData("destinationCurrency"),
  },
  {
    code: "SERVICE_UNAVAILABLE",
    when: "the quote has calls, and the destination's node cannot trace them",
    input: { destinationCurrency: usdcOn(DESTINATION), txs: [call] },
    world: approved,
    change: (services) => ({ ...withoutTracing(services), ...traces(async () => vaultIsClosed)(services) }),
    status: 503,
    message: `txs is not available: the node of Chain ${DESTINATION} cannot trace calls`,
    data: fieldData("txs"),
  },
  {
    code: "ROUTE_TEMPORARILY_RESTRICTED",
    when: "the amount exceeds the cap of a restricted chain",
    input: {},
    world: { origin: { partialDisableLimit: 1n } },
    message: `Chain ${ORIGIN} is temporarily restricted to requests worth at most 1 base units of its native token; lower amount`,
    data: { field: "originChainId", partialDisableLimit: "1" },
  },
  {
    code: "SWAP_IMPACT_TOO_HIGH",
    when: "the swaps cost too much",
    input: {
      originCurrency: lockedOn(ORIGIN),
      amount: (500_000n * 10n ** 18n).toString(),
      destinationCurrency: usdcOn(DESTINATION),
    },
    world: { pools: market() },
    message: "Swap impact is 3346 bps (maximum 1500); lower amount, or set overridePriceImpact",
    data: { field: "amount", swapImpactBps: 3_346, maxSwapImpactBps: 1_500 },
  },
  {
    code: "UNSUPPORTED_CHAIN",
    when: "a chain is not configured",
    input: { originChainId: 999 },
    message: "Chain 999 is not supported; GET /chains lists the supported chains",
    data: fieldData("originChainId"),
  },
  {
    code: "UNSUPPORTED_CURRENCY",
    when: "the solver does not hold the currency, and its chain has no swaps",
    input: { originCurrency: lockedOn(ORIGIN) },
    message:
      "originCurrency LOCKED cannot be bridged from or to Chain 72001; use a currency that GET /chains lists with supportsBridging",
    data: fieldData("originCurrency"),
  },
  {
    code: "UNSUPPORTED_CURRENCY",
    when: "the token charges a fee on transfers",
    input: { originCurrency: foreignOn(ORIGIN), amount: "1000000000000" },
    world: { pools: market() },
    change: quirks({ transfers: "charges", resetsApproval: false }),
    message: "originCurrency FOR charges a fee on transfers, which is not supported",
    data: fieldData("originCurrency"),
  },
  {
    code: "UNSUPPORTED_CURRENCY",
    when: "the token cannot be transferred by its buyer",
    input: { destinationCurrency: foreignOn(DESTINATION) },
    world: { pools: market() },
    change: quirks({ transfers: "refuses", resetsApproval: false }),
    message: "destinationCurrency FOR cannot be transferred after it was bought",
    data: fieldData("destinationCurrency"),
  },
  {
    code: "UNSUPPORTED_EXECUTION_TYPE",
    when: "calls are requested for a direct payment by the user",
    input: { ...sameChain, destinationCurrency: usdcOn(ORIGIN), recipient, txs: [call] },
    message: "txs is not supported when the user pays the recipient directly",
    data: fieldData("txs"),
  },
  {
    code: "UNSUPPORTED_EXECUTION_TYPE",
    when: "authorizations come without calls",
    input: {
      authorizationList: [{ chainId: 1, address: callee, nonce: 0, yParity: 0, r: "0x1", s: "0x1" }],
    },
    message: "authorizationList requires txs: authorizations are sent together with calls",
    data: fieldData("authorizationList"),
  },
  {
    code: "UNSUPPORTED_ROUTE",
    when: "nothing would move",
    input: { ...sameChain, destinationCurrency: usdcOn(ORIGIN) },
    message:
      "destinationCurrency must differ from originCurrency, or recipient must differ from user; otherwise nothing would move",
    data: fieldData("destinationCurrency"),
  },
  {
    code: "DESTINATION_TX_FAILED",
    when: "a call reverts",
    input: { destinationCurrency: usdcOn(DESTINATION), txs: [call] },
    world: approved,
    change: traces(async () => vaultIsClosed),
    message: `The fill on Chain ${DESTINATION} would fail: REVERTED: the vault is closed`,
    data: "the vault is closed",
    bodyFields: {
      failedCallData: {
        from: expect.stringMatching(/^0x[0-9a-f]{40}$/) as unknown,
        to: callee,
        data: call.data,
        value: "0",
      },
    },
  },
  {
    code: "ERC20_ROUTER_ADDRESS_NOT_FOUND",
    when: "the solver's tokens cannot be routed to calls",
    input: { destinationCurrency: usdcOn(DESTINATION), txs: [call] },
    message: `txs is not supported on Chain ${DESTINATION}: the solver pays with USDC and has not approved the approval proxy to spend enough of it`,
    data: fieldData("destinationCurrency"),
  },
  {
    code: "RPC_HTTP_ERROR",
    when: "a node fails while pools are read",
    input: { originCurrency: lockedOn(ORIGIN), amount: "200000000000000000000" },
    world: {
      pools: market(),
      poolBehavior: { fails: () => new ServiceError("RPC_HTTP_ERROR", "Pools could not be read") },
    },
    status: 503,
    message: "Pools could not be read",
  },
  {
    code: "UNAUTHORIZED",
    when: "sponsored fees are requested without an API key",
    input: { subsidizeFees: true },
    status: 401,
    message: "subsidizeFees requires an API key: its app balance pays",
    data: fieldData("subsidizeFees"),
  },
  {
    code: "FORBIDDEN",
    when: "the API key has no funding address",
    input: { subsidizeFees: true },
    key: unfunded,
    status: 403,
    message: "subsidizeFees requires an API key with a funding address",
    data: fieldData("subsidizeFees"),
  },
  {
    code: "PRICE_FETCH_FAILED",
    when: "a price is not fresh",
    input: { originCurrency: rareOn(ORIGIN) },
    change: () => ({
      prices: {
        usd: () => {
          throw new ServiceError("PRICE_FETCH_FAILED", "No fresh price of RARE");
        },
      },
    }),
    status: 503,
    message: "No fresh price of RARE",
  },
  {
    code: "SERVICE_UNAVAILABLE",
    when: "calls cannot be simulated at the moment",
    input: { destinationCurrency: usdcOn(DESTINATION), txs: [call] },
    world: approved,
    change: traces(async () => ({ kind: "insufficientFunds" })),
    status: 503,
    message: "txs could not be simulated; try again",
    data: { field: "txs", why: "the solver lacks the funds for the fill" },
  },
  {
    code: "RPC_HTTP_ERROR",
    when: "a node does not return the user's balance",
    input: {},
    world: { readerFails: true },
    status: 503,
    message: `The node of Chain ${ORIGIN} did not return the user's balance; try again`,
    data: fieldData("originChainId"),
  },
  {
    code: "RPC_HTTP_ERROR",
    when: "a node fails while calls are simulated",
    input: { destinationCurrency: usdcOn(DESTINATION), txs: [call] },
    world: approved,
    change: traces(() =>
      Promise.reject(new RpcFault({ kind: "network", method: "eth_call", reason: "secret url" })),
    ),
    status: 503,
    message: "a chain node returned no usable response; try again",
  },
  {
    code: "UNKNOWN_ERROR",
    when: "the service is at fault",
    input: {},
    change: () => ({ requests: { insertQuoted: () => Promise.reject(new Error("the database is gone")) } }),
    status: 500,
    message: "internal error",
  },
];

const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

describe("a refused quote", () => {
  test.each(cases)(
    "$code: $when",
    async ({ code, input, world, change, key, message, data, bodyFields, ...row }) => {
      const services: QuoteServices = { ...quoteWorld(world), appBalance };
      const changedServices = { ...services, ...change?.(services) };
      const { app } = await aServer({
        createQuote: async (input, serialize) =>
          serialize(await createQuote(changedServices, input, key?.id, key)),
      });
      const payload = { ...aQuoteInput({ destinationCurrency: NATIVE_CURRENCY }), ...input };
      const answer = await app.inject({ method: "POST", url: "/quote/v2", payload });
      const status = row.status ?? 400;
      expect(answer.statusCode).toBe(status);
      expect(answer.json()).toEqual({
        message,
        errorCode: code,
        statusCode: status,
        error: statusTexts[status],
        ...(data === undefined ? {} : { errorData: data }),
        ...bodyFields,
      });
      expect(answer.headers["retry-after"]).toBe(status === 503 ? "1" : undefined);
      await app.close();
    },
  );
});

/** Rows of a table of docs/ERRORS.md: the code, and the other columns. */
function rowsOf(heading: string): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(resolve(import.meta.dirname, "../../../../docs/ERRORS.md"), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith(heading));
  const rows = [...(section ?? "").matchAll(/^\| `([A-Z0-9_]+)` +\|(.*)\|$/gm)];
  return new Map(
    rows.map(([, code = "", columns = ""]) => [code, columns.split("|").map((cell) => cell.trim())]),
  );
}

/** All codes of the public contract. */
const contractCodes =
  "AMOUNT_TOO_LOW CHAIN_DISABLED EXTRA_TXS_NOT_SUPPORTED INSUFFICIENT_FUNDS INSUFFICIENT_LIQUIDITY INVALID_ADDRESS INVALID_EXTRA_TXS INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS INVALID_INPUT_CURRENCY INVALID_OUTPUT_CURRENCY INVALID_RECIPIENT INVALID_SLIPPAGE_TOLERANCE NO_INTERNAL_SWAP_ROUTES_FOUND NO_QUOTES NO_SWAP_ROUTES_FOUND ROUTE_TEMPORARILY_RESTRICTED SANCTIONED_CURRENCY SANCTIONED_WALLET_ADDRESS SOLANA_TX_TOO_LARGE SWAP_IMPACT_TOO_HIGH UNSUPPORTED_CHAIN UNSUPPORTED_CURRENCY UNSUPPORTED_EXECUTION_TYPE UNSUPPORTED_ROUTE USER_RECIPIENT_MISMATCH DESTINATION_TX_FAILED ERC20_ROUTER_ADDRESS_NOT_FOUND SWAP_QUOTE_FAILED PERMIT_FAILED UNAUTHORIZED FORBIDDEN PRICE_FETCH_FAILED SERVICE_UNAVAILABLE REQUEST_TIMED_OUT RPC_HTTP_ERROR UNKNOWN_ERROR INVALID_REQUEST".split(
    " ",
  );

describe("docs/ERRORS.md", () => {
  const occurring = rowsOf("Quote errors");
  const neverReturned = rowsOf("Codes that never occur");

  test("marks every code of the public contract as returned or not returned here", () => {
    expect([...occurring.keys(), ...neverReturned.keys()].toSorted()).toEqual(contractCodes.toSorted());
  });

  test("documents the HTTP status, and whether to retry", () => {
    for (const { code, status = 400 } of cases)
      expect(occurring.get(code)?.slice(0, 2), code).toEqual([
        String(status),
        new ServiceError(code, "").retryable ? "yes" : "no",
      ]);
  });

  test("links to a test for each code that this file does not produce", () => {
    const produced = new Set<string>(cases.map(({ code }) => code));
    for (const [code, cells] of occurring) {
      if (produced.has(code)) continue;
      const path = /`([^`]+\.test\.ts)`/.exec(cells.join(" "))?.[1];
      expect(path, `${code} names a test`).toBeDefined();
      const text = readFileSync(resolve(import.meta.dirname, "../../../..", path ?? ""), "utf8");
      expect(text, `${path} produces ${code}`).toContain(`"${code}"`);
    }
  });

  test("lists no unknown code", () => {
    for (const code of occurring.keys()) expect(errorCodes).toContain(code);
  });
});
