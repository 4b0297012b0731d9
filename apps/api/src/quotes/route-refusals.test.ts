import type { NonEvmUsers } from "@causeway/chains";
import { quotedState, type Hex, type NonEvmVmType, type RequestTerms } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { afterAll, expect, test } from "vitest";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { noAppBalances } from "../../../../test/fakes/no-app-balances.ts";
import {
  aConnectedNonEvmChain,
  aNonEvmChain,
  bitcoin,
  hyperliquid,
  solana,
} from "../../../../test/fakes/non-evm-chains.ts";
import {
  aChain,
  DESTINATION,
  market,
  ORIGIN,
  quoteWorld,
  usdcOn,
  user,
  type QuoteWorld,
} from "../../../../test/fakes/quote-world.ts";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import {
  cellName,
  type FeatureName,
  type Kind,
  type Route,
  tableCells,
} from "../../../../test/support/route-features.ts";
import { aServer } from "../../../../test/support/route-server.ts";
import { requestFastFill } from "../executions/request-fast-fill.ts";
import { createQuote } from "./create-quote.ts";

// Every "no" of the table in docs/NON-EVM.md, as a client receives it.

/** Enough to make a quote's steps. */
const wallets: Readonly<Record<NonEvmVmType, NonEvmUsers>> = {
  svm: {
    balance: async () => 0n,
    deposit: async () => ({ data: { instructions: [], addressLookupTableAddresses: [] }, fee: 5_000n }),
  },
  bvm: {
    balance: async () => 0n,
    deposit: async ({ amount, orderId }) => ({
      data: {
        payment: {
          address: bitcoin.depository,
          amount: String(amount),
          opReturn: orderId,
          opReturnHex: `0x${Buffer.from(orderId).toString("hex")}`,
        },
      },
      fee: 700n,
    }),
  },
  hypevm: {
    balance: async () => 0n,
    token: async () => ({ name: "USDC", tokenId: hyperliquid.spot as Hex }),
  },
};
const nonEvmFamilies = Object.keys(wallets) as NonEvmVmType[];

const world = (): QuoteWorld =>
  quoteWorld({
    nonEvmChains: nonEvmFamilies.map((kind) => aConnectedNonEvmChain(kind, { users: wallets[kind] })),
    pools: market(),
  });

/** About a hundred dollars of a currency that the solver holds, and a token that it does not. */
const places: Readonly<
  Record<
    Kind,
    { readonly currency: string; readonly amount: string; readonly unheld: string; readonly user: string }
  >
> = {
  evm: { currency: usdcOn(ORIGIN), amount: "100000000", unheld: `0x${"77".repeat(20)}`, user },
  svm: {
    currency: solana.usdc,
    amount: "100000000",
    unheld: "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263",
    user: solana.user,
  },
  bvm: { currency: bitcoin.native, amount: "200000", unheld: bitcoin.solver, user: bitcoin.user },
  hypevm: { currency: hyperliquid.perps, amount: "10000000000", unheld: `0x${"77".repeat(16)}`, user },
};

const chainOf = (kind: Kind, end: "origin" | "destination"): { id: number; displayName: string } =>
  kind === "evm" ? aChain(end === "origin" ? ORIGIN : DESTINATION) : aNonEvmChain(kind);

function inputFor({ from, to }: Route, change: Partial<QuoteInput> = {}): QuoteInput {
  return {
    user: places[from].user,
    recipient: places[to].user,
    originChainId: chainOf(from, "origin").id,
    destinationChainId: chainOf(to, "destination").id,
    originCurrency: places[from].currency,
    destinationCurrency: to === "evm" ? usdcOn(DESTINATION) : places[to].currency,
    amount: places[from].amount,
    tradeType: "EXACT_INPUT",
    ...(from === "hypevm" && { protocolVersion: "v2" }),
    ...change,
  };
}

/** The quote option that requests a feature. Absent: every quote or another endpoint requests it. */
const options: Readonly<Partial<Record<FeatureName, Partial<QuoteInput>>>> = {
  expectedOutput: { tradeType: "EXPECTED_OUTPUT" },
  exactOutput: { tradeType: "EXACT_OUTPUT" },
  appFees: { appFees: [{ recipient: user, fee: "10" }] },
  subsidizeFees: { subsidizeFees: true },
  fixedRate: { fixedRate: "1:1", subsidizeFees: true },
  openAddress: { useDepositAddress: true },
  strictAddress: { useDepositAddress: true, strict: true },
  permit: { usePermit: true },
  originGas: { originGasOverhead: "80000" },
  calls: { txs: [{ to: user, value: "0", data: "0x" }] },
  gasTopup: { topupGas: true },
};

function optionOf(feature: FeatureName, { from, to }: Route): Partial<QuoteInput> {
  if (feature === "swapBefore") return { originCurrency: places[from].unheld };
  if (feature === "swapAfter") return { destinationCurrency: places[to].unheld };
  return options[feature] ?? {};
}

const apps: { close(): Promise<void> }[] = [];
afterAll(async () => void (await Promise.all(apps.map(async (app) => await app.close()))));

interface Refusal {
  readonly status: number;
  readonly message: string;
}

async function post(services: QuoteWorld, url: string, payload: object): Promise<Refusal> {
  const terms = services.stored.at(0);
  const { app } = await aServer({
    apiKeys: fakeApiKeys({ usual: anApiKey({ fundingAddress: user }) }),
    createQuote: async (input, serialize) => serialize(await createQuote(services, input)),
    requestFastFill: async (request) =>
      await requestFastFill(
        {
          ...noAppBalances,
          ...services,
          appBalance: noAppBalances.appBalance,
          events: recordedEvents(),
          reads: { request: async () => (terms === undefined ? undefined : recordOf(terms)) } as never,
          uow: { run: () => Promise.reject(new Error("nothing may be stored")) },
        },
        request,
      ),
  });
  apps.push(app);
  const answer = await app.inject({ method: "POST", url, payload, headers: { "x-api-key": "usual" } });
  return { status: answer.statusCode, message: answer.json<{ message: string }>().message };
}

const recordOf = (terms: RequestTerms) => ({
  terms,
  state: quotedState("bridge"),
  inTxHashes: [],
  txHashes: [],
  refundTxHashes: [],
  updatedAtMs: terms.createdAtMs,
});

/** The text of a refusal, which ends with the reason that the table states. */
function textOf(feature: FeatureName, route: Route, reason: string): string {
  const field = Object.keys(optionOf(feature, route))[0] ?? "";
  if (feature === "fastFill") return `The request cannot be fast filled: ${reason}`;
  const end = feature === "swapAfter" ? "destination" : "origin";
  const { displayName } = chainOf(end === "origin" ? route.from : route.to, end);
  if (feature === "swapBefore" || feature === "swapAfter")
    return `Invalid input or output currency: ${field} must be the address of a currency that GET /chains lists for ${displayName}: ${reason}`;
  const { from, to } = route;
  const lacking = from === "evm" ? `to ${chainOf(to, "destination").displayName}` : `from ${displayName}`;
  return `${field} is not supported ${lacking}: ${reason}`;
}

const refusedCells = tableCells().flatMap(({ reason, ...cell }) =>
  reason === undefined ? [] : [{ ...cell, reason, name: cellName(cell) }],
);

test.each(refusedCells)("refuses $name with the reason", async ({ feature, route, reason }) => {
  const services = world();
  const isFastFill = feature === "fastFill";
  if (isFastFill) await createQuote(services, inputFor(route));
  const stored = services.stored.length;
  const answer = isFastFill
    ? await post(services, "/fast-fill", { requestId: services.stored.at(0)?.requestId })
    : await post(services, "/quote/v2", inputFor(route, optionOf(feature, route)));
  expect(answer).toEqual({ status: 400, message: textOf(feature, route, reason) });
  expect(services.stored).toHaveLength(stored);
});

test("a listed token that the solver does not hold is refused with the same reason where nothing is swapped", async () => {
  const unheldTokens = aNonEvmChain("svm").tokens.map((token) => ({ ...token, supportsBridging: false }));
  const services = quoteWorld({
    nonEvmChains: [aConnectedNonEvmChain("svm", { users: wallets.svm, chain: { tokens: unheldTokens } })],
  });
  const answer = await post(services, "/quote/v2", inputFor({ from: "evm", to: "svm" }));
  expect(answer).toEqual({
    status: 400,
    message:
      "destinationCurrency USDC cannot be bridged from or to Solana: fills on non-EVM chains are plain transfers; use a currency that GET /chains lists with supportsBridging",
  });
});
