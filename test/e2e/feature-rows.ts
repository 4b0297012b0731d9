import { kindNames, type FeatureName, type Kind, type Route } from "../support/route-features.ts";

/** A request that the end-to-end tests make, and the features of its route that it uses. */
interface FeatureRow {
  readonly from: string;
  readonly to: string;
  readonly features: readonly FeatureName[];
  readonly isRefunded?: boolean;
}

/** Chains of the local system. */
const [a, b, solana, bitcoin, hyperliquid] = [
  "local-a",
  "local-b",
  "local-solana",
  "local-bitcoin",
  "exchange",
] as const;
const kinds: Readonly<Record<string, Kind>> = { [solana]: "svm", [bitcoin]: "bvm", [hyperliquid]: "hypevm" };

/** The kind of a chain of the local system, by its name. */
export const kindOf = (chain: string): Kind => kinds[chain] ?? "evm";

const row = (from: string, to: string, ...features: readonly FeatureName[]): FeatureRow => ({
  from,
  to,
  features,
});

/** The rows of features.test.ts, which run concurrently. */
export const featureRows: readonly FeatureRow[] = [
  row(a, b, "expectedOutput", "appFees"),
  row(b, a, "exactOutput", "subsidizeFees"),
  row(a, b, "exactInput", "fixedRate"),
  row(b, a, "exactInput", "gasTopup"),
  row(a, b, "exactInput", "calls"),
  row(b, a, "exactInput", "strictAddress"),

  row(a, solana, "expectedOutput", "appFees"),
  row(b, solana, "exactOutput", "subsidizeFees"),
  row(a, solana, "exactInput", "fixedRate"),
  row(b, solana, "exactInput", "swapBefore", "appFees"),
  { ...row(a, solana, "exactInput", "subsidizeFees", "appFees"), isRefunded: true },

  row(a, bitcoin, "expectedOutput", "appFees"),
  row(b, bitcoin, "exactOutput", "subsidizeFees"),
  row(a, bitcoin, "exactInput", "swapBefore", "appFees"),

  row(a, hyperliquid, "expectedOutput", "appFees"),
  row(b, hyperliquid, "exactOutput", "subsidizeFees"),
  row(b, hyperliquid, "exactInput", "fixedRate"),

  row(solana, a, "expectedOutput", "appFees"),
  row(solana, b, "exactOutput", "subsidizeFees"),
  row(solana, a, "exactInput", "fixedRate"),
  row(solana, b, "exactInput", "swapAfter", "appFees"),
  row(solana, a, "exactInput", "fastFill"),
  row(solana, b, "exactInput", "strictAddress"),

  row(bitcoin, a, "expectedOutput", "appFees"),
  row(bitcoin, b, "exactOutput", "subsidizeFees"),
  row(bitcoin, a, "exactInput", "swapAfter", "appFees"),
  row(bitcoin, b, "exactInput", "fastFill"),

  row(hyperliquid, a, "expectedOutput", "appFees"),
  row(hyperliquid, b, "exactOutput", "subsidizeFees"),
  row(hyperliquid, a, "exactInput", "fixedRate"),
  row(hyperliquid, b, "exactInput", "swapAfter", "appFees"),
];

export const routeOf = ({ from, to }: Pick<FeatureRow, "from" | "to">): Route => ({
  from: kindOf(from),
  to: kindOf(to),
});

/** A test of another file, and the cells of the feature table that the test covers. */
interface CoveringTest {
  readonly file: string;
  readonly test: string;
  readonly features: readonly FeatureName[];
  readonly routes: readonly Route[];
}

const evmToEvm: readonly Route[] = [{ from: "evm", to: "evm" }];
const each = (kinds: readonly Kind[], routeWith: (kind: Kind) => Route): readonly Route[] =>
  kinds.map(routeWith);
// Listed by hand, so that a new kind of chain or a new "yes" stays uncovered until its test is written.
const toAll = each(["svm", "bvm", "hypevm"], (to) => ({ from: "evm", to }));
const fromAll = each(["svm", "bvm", "hypevm"], (from) => ({ from, to: "evm" }));
const options = "non-evm-options.test.ts";

/** The tests of all cells that no row of {@link featureRows} covers. */
export const coveringTests: readonly CoveringTest[] = [
  {
    file: "solana-swaps.test.ts",
    test: "a token that is in no chain file is swapped, deposited, filled on the EVM chain and settled on the hub",
    features: ["swapBefore"],
    routes: [{ from: "svm", to: "evm" }],
  },
  {
    file: "routes.test.ts",
    test: "every pair from ${origin} to ${destination} is quoted correctly, with the minimal input, and delivers the quoted output",
    features: ["exactInput", "expectedOutput", "exactOutput", "swapBefore", "swapAfter"],
    routes: evmToEvm,
  },
  {
    file: "bridges.test.ts",
    test: "fills native tokens that an unmodified client sends to a deposit address",
    features: ["openAddress"],
    routes: evmToEvm,
  },
  {
    file: "gasless.test.ts",
    test: "a new account without native tokens bridges ${symbol} with one signature (${method}), and its output pays the gas",
    features: ["permit"],
    routes: evmToEvm,
  },
  {
    file: "gasless.test.ts",
    test: "without a sponsor, gas is paid from the quoted output: the recipient gets less, and the app pays nothing",
    features: ["originGas"],
    routes: evmToEvm,
  },
  {
    file: "fast-fill.test.ts",
    test: "the recipient is paid before the deposit is mined; once mined, the deposit releases the hold and settles on the hub",
    features: ["fastFill"],
    routes: evmToEvm,
  },
  {
    file: options,
    test: "from Solana, Bitcoin and Hyperliquid, the deposit pays for the output and for the recipient's gas top-up",
    features: ["exactInput", "gasTopup"],
    routes: fromAll,
  },
  {
    file: options,
    test: "from Solana, Bitcoin and Hyperliquid, the fill makes calls with the output, and the recipient gets the rest",
    features: ["calls"],
    routes: fromAll,
  },
  {
    file: options,
    test: "a new account without native tokens bridges to Solana, Bitcoin and Hyperliquid with one signature",
    features: ["exactInput", "permit"],
    routes: toAll,
  },
  {
    file: options,
    // The last of its three accounts pays in WETH, which is swapped.
    test: "a new account without native tokens bridges to Solana, Bitcoin and Hyperliquid with one signature",
    features: ["swapBefore"],
    routes: [{ from: "evm", to: "hypevm" }],
  },
  {
    file: options,
    test: "when the service sends an account's calls, the output on Solana, Bitcoin or Hyperliquid pays the gas",
    features: ["originGas"],
    routes: toAll,
  },
  {
    file: options,
    test: "an open deposit address forwards every payment to Solana, Bitcoin and Hyperliquid",
    features: ["openAddress"],
    routes: toAll,
  },
  {
    file: options,
    test: "a strict deposit address fills its quote to Solana, Bitcoin or Hyperliquid, and refunds the excess and any other amount",
    features: ["strictAddress"],
    routes: toAll,
  },
  {
    file: options,
    test: "a payment to a deposit address on Bitcoin is filled on the EVM chain, or refunded minus the fees of its sweep and refund",
    features: ["openAddress", "strictAddress"],
    routes: [{ from: "bvm", to: "evm" }],
  },
  {
    file: options,
    test: "a payment to a deposit address on Solana is filled on the EVM chain, or refunded minus the fees of its sweep and refund",
    features: ["openAddress"],
    routes: [{ from: "svm", to: "evm" }],
  },
];

/** The title of the test of a row. */
export const rowName = ({ from, to, features, isRefunded }: FeatureRow): string =>
  `${kindNames[kindOf(from)]} to ${kindNames[kindOf(to)]}: ${features.join(", ")}${isRefunded === true ? ", refunded" : ""}`;
