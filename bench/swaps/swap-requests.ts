import { NATIVE_CURRENCY, type Chain } from "@causeway/domain";
import type { QuoteBody } from "@causeway/localnet";
import { getAddress, keccak256, parseUnits, stringToBytes, type Address } from "viem";

/** Where a quote's route has swaps. */
export const swapKinds = ["before the deposit", "in the fill", "on both sides", "on one chain"] as const;
export type SwapKind = (typeof swapKinds)[number];

interface Pair {
  readonly pay: string;
  readonly receive: string;
}

/** The solver holds ETH, USDC and TST; ODD is reached through one shallow pool, and two more. */
const pairs: Readonly<Record<SwapKind, readonly Pair[]>> = {
  "before the deposit": [
    { pay: "WETH", receive: "USDC" },
    { pay: "ODD", receive: "ETH" },
  ],
  "in the fill": [
    { pay: "USDC", receive: "WETH" },
    { pay: "ETH", receive: "ODD" },
  ],
  "on both sides": [
    { pay: "WETH", receive: "ODD" },
    { pay: "ODD", receive: "WETH" },
  ],
  "on one chain": [
    { pay: "ETH", receive: "ODD" },
    { pay: "WETH", receive: "USDC" },
  ],
};

const tradeTypes = ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const;

/** Amounts worth about twenty dollars. */
const amounts: Readonly<Record<string, string>> = {
  ETH: "0.008",
  USDC: "20",
  TST: "40",
  WETH: "0.008",
  ODD: "5",
};

/**
 * Quotes of one kind: both of its pairs with all trade types, each for a different user; every second user
 * bridges in the other direction. The users have no funds.
 */
export function swapBodies(kind: SwapKind, chains: readonly [Chain, Chain], users: number): QuoteBody[] {
  const forms = pairs[kind].flatMap((pair) => tradeTypes.map((tradeType) => ({ pair, tradeType })));
  return Array.from({ length: users }, (_, index) => {
    const { pair, tradeType } = forms[index % forms.length] ?? fail("invariant violated: kind without forms");
    const isReversed = Math.floor(index / forms.length) % 2 === 1;
    const origin = chains[isReversed ? 1 : 0];
    const destination = kind === "on one chain" ? origin : chains[isReversed ? 0 : 1];
    return {
      user: getAddress(`0x${keccak256(stringToBytes(`bench user ${index}`)).slice(-40)}`),
      originChainId: origin.id,
      destinationChainId: destination.id,
      originCurrency: addressOf(origin, pair.pay),
      destinationCurrency: addressOf(destination, pair.receive),
      amount: amountOf(origin, tradeType === "EXACT_INPUT" ? pair.pay : pair.receive).toString(),
      tradeType,
    };
  });
}

function addressOf(chain: Chain, symbol: string): Address {
  return symbol === chain.native.symbol ? NATIVE_CURRENCY : tokenOf(chain, symbol).address;
}

function amountOf(chain: Chain, symbol: string): bigint {
  const { decimals } = symbol === chain.native.symbol ? chain.native : tokenOf(chain, symbol);
  return parseUnits(amounts[symbol] ?? fail(`no amount configured for ${symbol}`), decimals);
}

function tokenOf(chain: Chain, symbol: string): Chain["tokens"][number] {
  return (
    chain.tokens.find((token) => token.symbol === symbol) ?? fail(`${chain.displayName} has no ${symbol}`)
  );
}

function fail(problem: string): never {
  throw new Error(problem);
}
