import { setTimeout as sleep } from "node:timers/promises";
import { parseEther, parseUnits, zeroAddress, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createWallet, type Chain, type Client, type Quote, type Wallet } from "./client.ts";

// The flows that must work on every node, as a client sees them. Each pays from its own account to a new
// address.

export interface FlowWorld {
  readonly api: Client;
  /** In the system's order. Wallets use the URLs of these chains. */
  readonly chains: readonly Chain[];
  /** Keys of funded accounts: at least one for each flow. */
  readonly keys: readonly Hex[];
  /** The time limit in ms for a flow's quote, and again for its completion. */
  readonly withinMs: number;
}

/** Where a flow's funds are after its request completed. */
export interface Outcome {
  /**
   * The outcome according to the service. `unquoted`: no quote in time. `open`: the request did not complete
   * in time.
   */
  readonly end: "success" | "refund" | "failure" | "unquoted" | "open";
  /** Where the funds are according to the chains. */
  readonly money: "paid" | "refunded" | "with the user" | "missing" | "paid too much";
}

interface Flow {
  readonly name: string;
  readonly expected: Outcome;
  /** Whether the bridge goes from the second chain to the first. */
  readonly isBack?: boolean;
  readonly pay: string;
  readonly receive: string;
  readonly amount: bigint;
  /** Whether the user pays half of the quoted amount. */
  readonly paysHalf?: boolean;
  /** Whether the user reports the deposit's transaction to the service. */
  readonly isReported?: boolean;
}

const paid: Outcome = { end: "success", money: "paid" };
const refunded: Outcome = { end: "refund", money: "refunded" };
const usdc = parseUnits("20", 6);
const eth = parseEther("0.01");

/**
 * A bridge in each direction, a swap in a fill, a reported deposit, and a refund of a deposit that is too
 * small.
 */
export const mainFlows: readonly Flow[] = [
  { name: "bridge", expected: paid, pay: "USDC", receive: "USDC", amount: usdc },
  { name: "bridge back", expected: paid, isBack: true, pay: "ETH", receive: "ETH", amount: eth },
  { name: "swap", expected: paid, pay: "USDC", receive: "WETH", amount: usdc },
  { name: "reported deposit", expected: paid, pay: "ETH", receive: "USDC", amount: eth, isReported: true },
  { name: "refund", expected: refunded, pay: "ETH", receive: "USDC", amount: eth, paysHalf: true },
];

export const expectedOutcomes: Readonly<Record<string, Outcome>> = Object.fromEntries(
  mainFlows.map(({ name, expected }) => [name, expected]),
);

/**
 * Runs all flows concurrently. The returned function reads the outcomes from the chains; it may be called
 * repeatedly.
 */
export async function runMainFlows(
  world: FlowWorld,
): Promise<{ readOutcomes: () => Promise<Readonly<Record<string, Outcome>>> }> {
  // Waits for every flow even if one fails, because later runs use the same accounts.
  const settled = await Promise.allSettled(
    mainFlows.map(async (flow, at) => {
      const key = world.keys[at];
      if (key === undefined) throw new Error("there are fewer accounts than flows");
      const readOutcome = await runFlow(flow, createWallet(key, world.chains), world);
      return async () => [flow.name, await readOutcome()] as const;
    }),
  );
  const readers = settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
  return {
    readOutcomes: async () =>
      Object.fromEntries(await Promise.all(readers.map(async (readOutcome) => await readOutcome()))),
  };
}

async function runFlow(flow: Flow, wallet: Wallet, world: FlowWorld): Promise<() => Promise<Outcome>> {
  const [first, second] = world.chains;
  const [origin, destination] = flow.isBack === true ? [second, first] : [first, second];
  if (origin === undefined || destination === undefined)
    throw new Error("the system has fewer than two chains");
  const [recipient, refundTo] = [anAddress(), anAddress()];
  const [paying, receiving] = [currencyOf(origin, flow.pay), currencyOf(destination, flow.receive)];
  const quote = await quoteWithin(world, {
    user: wallet.address,
    recipient,
    refundTo,
    originChainId: origin.id,
    originCurrency: paying,
    destinationChainId: destination.id,
    destinationCurrency: receiving,
    amount: flow.amount.toString(),
    tradeType: "EXACT_INPUT",
  });
  if (quote === undefined)
    return async () => await Promise.resolve({ end: "unquoted", money: "with the user" });
  const { hash } = await wallet.execute(flow.paysHalf === true ? halved(quote) : quote);
  // The report is optional: without it, the service finds the deposit by scanning.
  if (flow.isReported === true)
    await world.api.index({ chainId: origin.id, txHash: hash }).catch((error: unknown) => {
      if (!/: (?:503|404) /.test(String(error))) rethrowUnlessTimeout(error);
    });
  const end = await endWithin(world, quote.requestId);
  return async () => {
    const [received, back] = await Promise.all([
      wallet.balance(destination.id, receiving, recipient),
      wallet.balance(origin.id, paying, refundTo),
    ]);
    return {
      end,
      money: moneyOf(quote, received, back, flow.paysHalf === true ? flow.amount / 2n : flow.amount),
    };
  };
}

function moneyOf({ details }: Quote, received: bigint, back: bigint, deposited: bigint): Outcome["money"] {
  const { amount, minimumAmount } = details.currencyOut;
  const maxPaid = (BigInt(amount) * 101n) / 100n;
  if (received > maxPaid || back > deposited || (received > 0n && back > 0n)) return "paid too much";
  if (received >= BigInt(minimumAmount)) return "paid";
  return back > (deposited * 8n) / 10n ? "refunded" : "missing";
}

/** The quote with half of its native deposit, which is too small for the order. */
function halved(quote: Quote): Quote {
  const half = (value: string): string => (BigInt(value) / 2n).toString();
  return {
    ...quote,
    steps: quote.steps.map((step) => ({
      ...step,
      items: step.items.map((item) => ({ ...item, data: { ...item.data, value: half(item.data.value) } })),
    })),
  };
}

/** Requests a quote, and retries while the service reports that it cannot price the route. */
async function quoteWithin({ api, withinMs }: FlowWorld, body: object): Promise<Quote | undefined> {
  for (const endMs = Date.now() + withinMs; Date.now() < endMs; await sleep(500)) {
    const response = await api.call<Quote>("/quote/v2", body).catch(rethrowUnlessTimeout);
    if (response === undefined) continue;
    const { code, body: answer } = response;
    if (code === 200) return answer;
    const { errorCode } = answer as { readonly errorCode?: string };
    if (errorCode === "NO_SWAP_ROUTES_FOUND") return undefined;
    if (code !== 503) throw new Error(`/quote/v2: ${code} ${JSON.stringify(answer)}`);
  }
  return undefined;
}

async function endWithin({ api, withinMs }: FlowWorld, requestId: Hex): Promise<Outcome["end"]> {
  for (const endMs = Date.now() + withinMs; Date.now() < endMs; await sleep(100)) {
    const status = (await api.status(requestId).catch(rethrowUnlessTimeout))?.status;
    if (status === "success" || status === "refund" || status === "failure") return status;
  }
  return "open";
}

/**
 * Returns undefined if the client's deadline passed while the service waited for its node. Throws any other
 * error.
 */
function rethrowUnlessTimeout(error: unknown): undefined {
  if (error instanceof Error && error.name === "TimeoutError") return undefined;
  throw error;
}

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

function currencyOf({ name, currency, erc20Currencies }: Chain, symbol: string): Address {
  if (symbol === "ETH") return zeroAddress;
  const found = [currency, ...erc20Currencies].find((candidate) => candidate.symbol === symbol);
  if (found === undefined) throw new Error(`no ${symbol} on ${name}`);
  return found.address;
}
