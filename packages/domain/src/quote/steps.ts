import type { Address, Hex, OrderId, RequestId } from "../ids/hex.ts";
import { NATIVE_CURRENCY } from "../ids/hex.ts";
import {
  approveCalldata,
  depositErc20Calldata,
  depositNativeCalldata,
  nativeTransferWithIdCalldata,
  transferWithIdCalldata,
} from "./calldata.ts";

/** Gas units that the user's transactions use, measured on the contracts. */
export interface StepGas {
  readonly approve: bigint;
  readonly depositNative: bigint;
  readonly depositErc20: bigint;
  /** ERC-20 transfer with an id after its calldata. */
  readonly transferErc20: bigint;
  readonly transferNative: bigint;
  /** Native transfer with an id as its calldata. */
  readonly sendNative: bigint;
  /** Native transfer through the router. */
  readonly sendNativeToContract: bigint;
}

/** The facts of the payment that every step needs. */
export interface StepPayment {
  readonly requestId: RequestId;
  readonly chainId: number;
  readonly user: Address;
  /** Zero address = native token. */
  readonly currency: Address;
  readonly symbol: string;
  /** Shown to the user, e.g. `1.5`. */
  readonly amountFormatted: string;
  readonly amount: bigint;
  readonly gas: StepGas;
  /** False if gas on this chain cannot be estimated beforehand: then steps set no gas limit. */
  readonly includesGas: boolean;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A payment into the depository. */
export interface DepositFacts extends StepPayment {
  readonly orderId: OrderId;
  readonly depository: Address;
  /** False if an ERC-20 is paid by a plain transfer with the order id, which needs no approval. */
  readonly explicitDeposit: boolean;
  /** The current allowance of the depository. */
  readonly allowance: bigint;
  /** The token reverts when a non-zero allowance is changed to another non-zero one. */
  readonly resetsApproval: boolean;
}

/**
 * A transaction through the router: a swap whose output is deposited or paid to the recipient. The user pays
 * `amount` of `currency`.
 */
export interface RoutedFacts extends StepPayment {
  readonly id: "deposit" | "swap";
  /** Its description for the user. */
  readonly description: string;
  readonly to: Address;
  readonly data: Hex;
  /** Gas units of the transaction. */
  readonly gasUnits: bigint;
  /** The contract that pulls tokens from the user, and its current allowance. */
  readonly approvalProxy: Address;
  readonly allowance: bigint;
  readonly resetsApproval: boolean;
}

/** A direct payment to the recipient on one chain. */
export interface SendFacts extends StepPayment {
  readonly recipient: Address;
  /** The recipient has code, which may refuse calldata. */
  readonly toContract: boolean;
  readonly router: Address;
}

/**
 * Wallets use a step's gas as the limit, and real tokens (proxies, hooks) and contract recipients use more
 * than measured. A limit that is too high costs nothing; a limit that is too low wastes the whole fee.
 */
const LIMIT_FACTOR = 2n;

export interface StepCheck {
  readonly endpoint: string;
  readonly method: "GET";
}

/** A transaction for the user's wallet; numbers are decimal texts. */
export interface StepTransaction {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: string;
  readonly chainId: number;
  /** Limit for the wallet. Absent if it cannot be estimated before an earlier step is done. */
  readonly gas?: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
}

export interface TransactionItem {
  readonly status: "incomplete";
  readonly data: StepTransaction;
  /**
   * Absent for an approval: with a check, a client would wait for the fill before making the deposit.
   */
  readonly check?: StepCheck;
}

interface StepText {
  readonly action: string;
  readonly description: string;
  readonly requestId: RequestId;
  readonly depositAddress: string;
}

/** Transactions for the user's wallet, in API format. */
export interface TransactionStep extends StepText {
  readonly id: "approve" | "deposit" | "swap" | "send";
  readonly kind: "transaction";
  readonly items: TransactionItem[];
}

/** Data that the user signs and posts; the service submits the transaction. */
export interface SignatureStep extends StepText {
  /** `authorize1` across chains, `authorize2` on one chain. */
  readonly id: "authorize1" | "authorize2";
  readonly kind: "signature";
  readonly items: SignatureItem[];
}

export type QuoteStep = TransactionStep | SignatureStep;

/** EIP-712 data as wallets accept it: numbers are decimal texts. */
export interface TypedDataToSign {
  readonly signatureKind: "eip712";
  readonly domain: {
    readonly name: string;
    readonly version?: string;
    readonly chainId: number;
    readonly verifyingContract: Address;
  };
  /** Without the domain's own type. */
  readonly types: Record<string, { name: string; type: string }[]>;
  readonly value: Record<string, unknown>;
  readonly primaryType: string;
}

export interface SignatureItem {
  readonly status: "incomplete";
  readonly data: {
    readonly sign: TypedDataToSign;
    readonly post: {
      readonly endpoint: string;
      readonly method: "POST";
      readonly body: {
        readonly kind: string;
        readonly requestId: RequestId;
        readonly api: "bridge" | "swap";
      };
    };
  };
  readonly check: StepCheck;
}

/** Steps of a payment into the depository: the approvals that the allowance requires, then the deposit. */
export function depositSteps(facts: DepositFacts): TransactionStep[] {
  const { user, currency, amount, orderId, depository, gas } = facts;
  if (currency === NATIVE_CURRENCY)
    return [deposit(facts, depository, depositNativeCalldata(user, orderId), amount, gas.depositNative)];
  if (!facts.explicitDeposit)
    return [
      deposit(facts, currency, transferWithIdCalldata(depository, amount, orderId), 0n, gas.transferErc20),
    ];
  const data = depositErc20Calldata(user, currency, amount, orderId);
  const approvals = approvalsOf(facts).map((requiredApproval) =>
    approve(facts, depository, requiredApproval),
  );
  // Omit the deposit's gas after an approval: no wallet or node can estimate it before the approval is mined.
  return [
    ...approvals,
    deposit(facts, depository, data, 0n, approvals.length === 0 ? gas.depositErc20 : undefined),
  ];
}

/**
 * Steps of a transaction through the router: the approvals of the proxy that the allowance requires, then the
 * transaction.
 */
export function routedSteps(facts: RoutedFacts): TransactionStep[] {
  const isNative = facts.currency === NATIVE_CURRENCY;
  const approvals = isNative
    ? []
    : approvalsOf(facts).map((approved) => approve(facts, facts.approvalProxy, approved));
  const gas = approvals.length === 0 ? facts.gasUnits : undefined;
  return [
    ...approvals,
    {
      id: facts.id,
      action: "Confirm transaction in your wallet",
      description: facts.description,
      kind: "transaction",
      requestId: facts.requestId,
      depositAddress: "",
      items: [
        {
          status: "incomplete",
          data: transactionOf(facts, facts.to, facts.data, isNative ? facts.amount : 0n, gas),
          check: checkOf(facts.requestId),
        },
      ],
    },
  ];
}

/**
 * The only step of a payment directly to the recipient. It carries the request id, so that the payment counts
 * for one request only: after a token's calldata, as the calldata of a native transfer or, for contract
 * recipients, after the calldata of the router, which pays them without calldata.
 */
export function sendSteps(facts: SendFacts): TransactionStep[] {
  const { recipient, currency, amount, requestId, toContract, router } = facts;
  const isNative = currency === NATIVE_CURRENCY;
  const [to, data] = !isNative
    ? [currency, transferWithIdCalldata(recipient, amount, requestId)]
    : toContract
      ? [router, nativeTransferWithIdCalldata(recipient, amount, requestId)]
      : [recipient, requestId];
  const transaction = transactionOf(facts, to, data, isNative ? amount : 0n, sendGas(facts));
  return [
    {
      id: "send",
      action: "Confirm transaction in your wallet",
      description: `Send ${facts.amountFormatted} ${facts.symbol} to ${recipient}`,
      kind: "transaction",
      requestId: facts.requestId,
      depositAddress: "",
      items: [{ status: "incomplete", data: transaction, check: checkOf(facts.requestId) }],
    },
  ];
}

/** Gas units of a {@link sendSteps} transaction. */
export function sendGas({
  currency,
  gas,
  toContract,
}: Pick<SendFacts, "currency" | "gas" | "toContract">): bigint {
  if (currency !== NATIVE_CURRENCY) return gas.transferErc20;
  return toContract ? gas.sendNativeToContract : gas.sendNative;
}

/** What is signed, and which approval it needs. */
export interface SignatureFacts extends StepPayment {
  readonly id: SignatureStep["id"];
  readonly kind: string;
  readonly sign: TypedDataToSign;
  /** The contract that needs an approval once before such signatures work, if any. */
  readonly approved:
    | { readonly spender: Address; readonly allowance: bigint; readonly resetsApproval: boolean }
    | undefined;
}

const UNBOUNDED = 2n ** 256n - 1n;

/**
 * Steps of a payment by signature: the missing approvals, which also serve later signatures, then what is
 * signed and posted.
 */
export function signatureSteps(facts: SignatureFacts): QuoteStep[] {
  const { id, kind, requestId, sign, approved } = facts;
  const api = id === "authorize1" ? "bridge" : "swap";
  return [
    ...oneTimeApprovals(facts).map((amount) => approve(facts, approved?.spender ?? facts.currency, amount)),
    {
      id,
      action: "Sign in your wallet",
      description: `Sign the payment of ${facts.amountFormatted} ${facts.symbol}`,
      kind: "signature",
      requestId,
      depositAddress: "",
      items: [
        {
          status: "incomplete",
          data: {
            sign,
            post: { endpoint: "/execute/permits", method: "POST", body: { kind, requestId, api } },
          },
          check: checkOf(requestId),
        },
      ],
    },
  ];
}

/** Gas units of the transactions before the signature. */
export function signatureGas(facts: Pick<SignatureFacts, "amount" | "approved" | "gas">): bigint {
  return facts.gas.approve * BigInt(oneTimeApprovals(facts).length);
}

function oneTimeApprovals({ amount, approved }: Pick<SignatureFacts, "amount" | "approved">): bigint[] {
  if (approved === undefined) return [];
  return approvalsOf({ ...approved, amount }).map((approval) => (approval === 0n ? 0n : UNBOUNDED));
}

function deposit(
  facts: DepositFacts,
  to: Address,
  data: Hex,
  value: bigint,
  gas: bigint | undefined,
): TransactionStep {
  return {
    id: "deposit",
    action: "Confirm transaction in your wallet",
    description: `Deposit ${facts.amountFormatted} ${facts.symbol} to start the request`,
    kind: "transaction",
    requestId: facts.requestId,
    depositAddress: "",
    items: [
      {
        status: "incomplete",
        data: transactionOf(facts, to, data, value, gas),
        check: checkOf(facts.requestId),
      },
    ],
  };
}

function approve(facts: StepPayment, spender: Address, amount: bigint): TransactionStep {
  const isReset = amount === 0n;
  return {
    id: "approve",
    action: "Confirm transaction in your wallet",
    description: isReset
      ? `Reset the allowance of ${facts.symbol} before the new approval`
      : amount === UNBOUNDED
        ? `Approve ${facts.symbol} once, so that payments need only a signature`
        : `Approve ${facts.amountFormatted} ${facts.symbol} for the payment`,
    kind: "transaction",
    requestId: facts.requestId,
    depositAddress: "",
    items: [
      {
        status: "incomplete",
        data: transactionOf(facts, facts.currency, approveCalldata(spender, amount), 0n, facts.gas.approve),
      },
    ],
  };
}

function transactionOf(
  facts: StepPayment,
  to: Address,
  data: Hex,
  value: bigint,
  gas: bigint | undefined,
): StepTransaction {
  return {
    from: facts.user,
    to,
    data,
    value: value.toString(),
    chainId: facts.chainId,
    ...(gas === undefined || !facts.includesGas ? {} : { gas: (gas * LIMIT_FACTOR).toString() }),
    maxFeePerGas: facts.maxFeePerGas.toString(),
    maxPriorityFeePerGas: facts.maxPriorityFeePerGas.toString(),
  };
}

function checkOf(requestId: RequestId): StepCheck {
  return { endpoint: `/intents/status/v3?requestId=${requestId}`, method: "GET" };
}

/** Total gas units of the transactions of {@link depositSteps}. */
export function depositGas(
  facts: Pick<
    DepositFacts,
    "currency" | "amount" | "explicitDeposit" | "allowance" | "resetsApproval" | "gas"
  >,
): bigint {
  const { gas } = facts;
  if (facts.currency === NATIVE_CURRENCY) return gas.depositNative;
  if (!facts.explicitDeposit) return gas.transferErc20;
  return gas.depositErc20 + gas.approve * BigInt(approvalsOf(facts).length);
}

/** Total gas units of the transactions of {@link routedSteps}. */
export function routedGas(
  facts: Pick<RoutedFacts, "currency" | "amount" | "allowance" | "resetsApproval" | "gas" | "gasUnits">,
): bigint {
  if (facts.currency === NATIVE_CURRENCY) return facts.gasUnits;
  return facts.gasUnits + facts.gas.approve * BigInt(approvalsOf(facts).length);
}

/** The amounts to approve, in order. */
function approvalsOf(facts: Pick<DepositFacts, "amount" | "allowance" | "resetsApproval">): bigint[] {
  if (facts.allowance >= facts.amount) return [];
  return facts.resetsApproval && facts.allowance > 0n ? [0n, facts.amount] : [facts.amount];
}
