import type { ErrorCode, NonEvmVmType } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";

/** The capabilities of a chain at one end of a request. */
export interface Capabilities {
  /** The user pays the recipient directly, on one chain. */
  readonly sends: boolean;
  /** The user's transaction swaps before it deposits. */
  readonly swapsBefore: boolean;
  readonly swapsInFill: boolean;
  readonly depositAddresses: boolean;
  readonly permits: boolean;
  /** The service sends the deposit for the user. */
  readonly executions: boolean;
  readonly calls: boolean;
  readonly gasTopups: boolean;
  /** A fill can be made there before its deposit counts. */
  readonly fastFills: boolean;
  /** Deposits take time to be confirmed, so an app may guarantee them. */
  readonly guaranteedDeposits: boolean;
  /** Accounts can hold stablecoins there. */
  readonly stablecoins: boolean;
}

/** Capabilities of EVM chains. */
export const EVM_CAPABILITIES: Capabilities = {
  sends: true,
  swapsBefore: true,
  swapsInFill: true,
  depositAddresses: true,
  permits: true,
  executions: true,
  calls: true,
  gasTopups: true,
  fastFills: true,
  guaranteedDeposits: true,
  stablecoins: true,
};

/** Capabilities of chains whose deposits and payments are plain transfers. */
export const TRANSFER_CAPABILITIES: Capabilities = {
  sends: false,
  swapsBefore: false,
  swapsInFill: false,
  depositAddresses: false,
  permits: false,
  executions: false,
  calls: false,
  gasTopups: false,
  fastFills: false,
  guaranteedDeposits: true,
  stablecoins: true,
};

/**
 * Capabilities of Solana and Bitcoin, where every order can have a deposit address: from a program, or from
 * derived keys.
 */
const ADDRESS_CAPABILITIES: Capabilities = { ...TRANSFER_CAPABILITIES, depositAddresses: true };

/** Capabilities of Solana: a transaction has several instructions, so one can swap before the deposit. */
const SOLANA_CAPABILITIES: Capabilities = { ...ADDRESS_CAPABILITIES, swapsBefore: true };

/** The capabilities of each kind of chain. */
export const CAPABILITIES: Readonly<Record<"evm" | NonEvmVmType, Capabilities>> = {
  evm: EVM_CAPABILITIES,
  svm: SOLANA_CAPABILITIES,
  bvm: { ...ADDRESS_CAPABILITIES, stablecoins: false },
  // Blocks on Hyperliquid are final immediately, so a guarantee would save no time.
  hypevm: { ...TRANSFER_CAPABILITIES, guaranteedDeposits: false },
};

/** One end of a route. */
interface RouteEnd {
  readonly can: Capabilities;
  readonly displayName: string;
}

/** The origin and the destination of a request. */
interface RouteEnds {
  readonly origin: RouteEnd;
  readonly destination: RouteEnd;
}

/** The capability that a feature of requests requires. */
export interface Requirement {
  readonly capability: keyof Capabilities;
  /** The end that must have the capability. */
  readonly end: keyof RouteEnds | "both";
  /** Why some chains lack the capability, as the end of a sentence. */
  readonly why: string;
  /** The quote option that requests the feature. Absent: the feature's own code refuses it. */
  readonly option?: {
    readonly field: keyof QuoteInput;
    readonly code: ErrorCode;
    readonly isRequested: (input: QuoteInput) => boolean;
  };
}

type Feature =
  | "fixedRate"
  | "swapBefore"
  | "swapAfter"
  | "depositAddress"
  | "permit"
  | "originGas"
  | "calls"
  | "gasTopup"
  | "guaranteedDeposit"
  | "fastFill";

/** The features that need a capability; all other features work on all routes. docs/NON-EVM.md lists them. */
export const requirements: Readonly<Record<Feature, Requirement>> = {
  fixedRate: {
    capability: "stablecoins",
    end: "both",
    why: "a fixed rate needs stablecoins on both chains",
    option: {
      field: "fixedRate",
      code: "UNSUPPORTED_ROUTE",
      isRequested: ({ fixedRate }) => fixedRate !== undefined,
    },
  },
  swapBefore: {
    capability: "swapsBefore",
    end: "origin",
    why: "swaps before the deposit are supported only on EVM chains and Solana",
  },
  swapAfter: {
    capability: "swapsInFill",
    end: "destination",
    why: "fills on non-EVM chains are plain transfers",
  },
  depositAddress: {
    capability: "depositAddresses",
    end: "origin",
    why: "deposit addresses exist on EVM chains, Solana and Bitcoin only",
    option: {
      field: "useDepositAddress",
      code: "UNSUPPORTED_EXECUTION_TYPE",
      isRequested: ({ useDepositAddress }) => useDepositAddress === true,
    },
  },
  permit: {
    capability: "permits",
    end: "origin",
    why: "only tokens on EVM chains can be deposited by signature",
    option: {
      field: "usePermit",
      code: "UNSUPPORTED_EXECUTION_TYPE",
      isRequested: ({ usePermit }) => usePermit === true,
    },
  },
  originGas: {
    capability: "executions",
    end: "origin",
    why: "the service sends a user's deposit on EVM chains only",
    option: {
      field: "originGasOverhead",
      code: "UNSUPPORTED_EXECUTION_TYPE",
      isRequested: ({ originGasOverhead }) =>
        originGasOverhead !== undefined && Number(originGasOverhead) > 0,
    },
  },
  calls: {
    capability: "calls",
    end: "destination",
    why: "fills can make calls only on EVM chains",
    option: {
      field: "txs",
      code: "EXTRA_TXS_NOT_SUPPORTED",
      isRequested: ({ txs }) => txs !== undefined && txs.length > 0,
    },
  },
  gasTopup: {
    capability: "gasTopups",
    end: "destination",
    why: "gas top-ups are supported only on EVM chains",
    option: {
      field: "topupGas",
      code: "UNSUPPORTED_EXECUTION_TYPE",
      isRequested: ({ topupGas }) => topupGas === true,
    },
  },
  guaranteedDeposit: {
    capability: "guaranteedDeposits",
    end: "origin",
    why: "deposits on Hyperliquid count at once",
  },
  fastFill: {
    capability: "fastFills",
    end: "destination",
    why: "fast fills are supported only on EVM chains",
  },
};

/** The end of a route that lacks what a feature needs; undefined: the route supports the feature. */
export function unsupportedEnd(
  { capability, end }: Pick<Requirement, "capability" | "end">,
  ends: Readonly<Record<keyof RouteEnds, Pick<RouteEnd, "can">>>,
): keyof RouteEnds | undefined {
  const endsToCheck = end === "both" ? (["origin", "destination"] as const) : [end];
  return endsToCheck.find((side) => !ends[side].can[capability]);
}

/** The needs of features that a quote option requests. */
const optionRequirements = Object.values(requirements).flatMap(({ option, ...need }) =>
  option === undefined ? [] : [{ ...need, option }],
);

/**
 * Refuses options that the route cannot honor: ignoring them could cost the user money.
 * @throws ServiceError naming the first such field
 */
export function refuseIncapable(ends: RouteEnds, input: QuoteInput): void {
  for (const need of optionRequirements) {
    const { option, why } = need;
    if (!option.isRequested(input)) continue;
    const lacking = unsupportedEnd(need, ends);
    if (lacking === undefined) continue;
    const chain = `${lacking === "origin" ? "from" : "to"} ${ends[lacking].displayName}`;
    throw new ServiceError(option.code, `${option.field} is not supported ${chain}: ${why}`, {
      field: option.field,
    });
  }
}

/** The error for a payment that the user can send to the recipient without the service. */
export function noSends(): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_ROUTE",
    "destinationCurrency must differ from originCurrency on the same chain: send a plain transfer instead",
    { field: "destinationCurrency" },
  );
}
