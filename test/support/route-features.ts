import {
  CAPABILITIES,
  unsupportedEnd,
  type Requirement,
  requirements,
} from "../../apps/api/src/quotes/sides/capabilities.ts";

/** A kind of chain, as named by `GET /chains`. */
export type Kind = keyof typeof CAPABILITIES;

export const kindNames: Readonly<Record<Kind, string>> = {
  evm: "EVM",
  svm: "Solana",
  bvm: "Bitcoin",
  hypevm: "Hyperliquid",
};

/** A feature of requests. A feature without needs works on every route. */
interface RouteFeature {
  /** The name in docs/NON-EVM.md. */
  readonly name: string;
  readonly needs?: readonly Requirement[];
}

/** The features in the table of docs/NON-EVM.md. */
export const routeFeatures = {
  exactInput: { name: "`EXACT_INPUT`" },
  expectedOutput: { name: "`EXPECTED_OUTPUT`" },
  exactOutput: { name: "`EXACT_OUTPUT`" },
  appFees: { name: "`appFees`" },
  subsidizeFees: { name: "`subsidizeFees`" },
  fixedRate: { name: "`fixedRate`", needs: [requirements.fixedRate] },
  swapBefore: { name: "swap before the deposit", needs: [requirements.swapBefore] },
  swapAfter: { name: "swap in the fill", needs: [requirements.swapAfter] },
  openAddress: { name: "`useDepositAddress`, open", needs: [requirements.depositAddress] },
  strictAddress: { name: "`useDepositAddress`, `strict`", needs: [requirements.depositAddress] },
  permit: { name: "`usePermit`", needs: [requirements.permit] },
  originGas: { name: "`originGasOverhead`", needs: [requirements.originGas] },
  calls: { name: "`txs`", needs: [requirements.calls] },
  gasTopup: { name: "`topupGas`", needs: [requirements.gasTopup] },
  fastFill: { name: "fast fill", needs: [requirements.guaranteedDeposit, requirements.fastFill] },
} satisfies Readonly<Record<string, RouteFeature>>;

export type FeatureName = keyof typeof routeFeatures;
export const featureNames = Object.keys(routeFeatures) as FeatureName[];

export interface Route {
  readonly from: Kind;
  readonly to: Kind;
}

const nonEvmKinds = (Object.keys(kindNames) as Kind[]).filter((kind) => kind !== "evm");
export const fromEvm: readonly Route[] = nonEvmKinds.map((to) => ({ from: "evm", to }));
export const toEvm: readonly Route[] = nonEvmKinds.map((from) => ({ from, to: "evm" }));
/** Routes between EVM chains, and from and to each other kind. */
const tableRoutes: readonly Route[] = [{ from: "evm", to: "evm" }, ...fromEvm, ...toEvm];

export const routeName = ({ from, to }: Route): string => `${kindNames[from]} to ${kindNames[to]}`;

/** Why a route lacks a feature. Undefined if the route has it. */
export function reasonAgainst(feature: FeatureName, { from, to }: Route): string | undefined {
  const { needs = [] }: RouteFeature = routeFeatures[feature];
  const ends = { origin: { can: CAPABILITIES[from] }, destination: { can: CAPABILITIES[to] } };
  return needs.find((need) => unsupportedEnd(need, ends) !== undefined)?.why;
}

/** A feature on a route, and whether the route has it. */
export interface RouteCell {
  readonly feature: FeatureName;
  readonly route: Route;
  /** Why the route lacks the feature. Absent if the route has it. */
  readonly reason?: string;
}

export const cellName = ({ feature, route }: RouteCell): string => `${feature}, ${routeName(route)}`;

/** All cells of the table. They follow from the capabilities that quotes are checked against. */
export function tableCells(): readonly RouteCell[] {
  return featureNames.flatMap((feature) =>
    tableRoutes.map((route) => {
      const reason = reasonAgainst(feature, route);
      return { feature, route, ...(reason !== undefined && { reason }) };
    }),
  );
}
