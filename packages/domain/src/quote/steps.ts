import type { Address, Hex, OrderId, RequestId } from "../ids/hex.ts";
import { NATIVE_CURRENCY } from "../ids/hex.ts";
import {
  approveCalldata,
  depositErc20Calldata,
  depositNativeCalldata,
  transferWithIdCalldata,
} from "./calldata.ts";

/** Gas of the user's transactions, measured on the contracts. */
export interface StepGas {
  readonly approve: number;
  readonly depositNative: number;
  readonly depositErc20: number;
  /** ERC-20 transfer with an id after its calldata. */
  readonly transferErc20: number;
  readonly transferNative: number;
}

/** What every step needs to know of the payment. */
export interface StepPayment {
  readonly requestId: RequestId;
  readonly chainId: number;
  readonly user: Address;
  /** Zero address = native. */
  readonly currency: Address;
  readonly symbol: string;
  /** Shown to the user, e.g. `1.5`. */
  readonly amountFormatted: string;
  readonly amount: bigint;
  readonly gas: StepGas;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A payment into the depository. */
export interface DepositFacts extends StepPayment {
  readonly orderId: OrderId;
  readonly depository: Address;
  /** False: an ERC-20 is paid by one plain transfer that carries the order id, without an approval. */
  readonly explicitDeposit: boolean;
  /** What the depository may take already. */
  readonly allowance: bigint;
  /** The token refuses to change one non-zero allowance into another. */
  readonly resetsApproval: boolean;
}

/** A direct payment to the recipient on one chain. */
export interface SendFacts extends StepPayment {
  readonly recipient: Address;
}

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
  /** Absent when it cannot be estimated before an earlier step was carried out. */
  readonly gas?: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
}

export interface StepItem {
  readonly status: "incomplete";
  readonly data: StepTransaction;
  /** An approval has none: a client that finds one waits there for the fill, before it ever deposited. */
  readonly check?: StepCheck;
}

/** A step in the shape of the wire. */
export interface QuoteStep {
  readonly id: "approve" | "deposit" | "send";
  readonly action: string;
  readonly description: string;
  readonly kind: "transaction";
  readonly requestId: RequestId;
  readonly depositAddress: string;
  readonly items: readonly StepItem[];
}

/** Steps of a payment into the depository: as many approvals as the allowance makes necessary, then the deposit. */
export function depositSteps(facts: DepositFacts): QuoteStep[] {
  const { user, currency, amount, orderId, depository, gas } = facts;
  if (currency === NATIVE_CURRENCY)
    return [deposit(facts, depository, depositNativeCalldata(user, orderId), amount, gas.depositNative)];
  if (!facts.explicitDeposit)
    return [
      deposit(facts, currency, transferWithIdCalldata(depository, amount, orderId), 0n, gas.transferErc20),
    ];
  const data = depositErc20Calldata(user, currency, amount, orderId);
  if (facts.allowance >= amount) return [deposit(facts, depository, data, 0n, gas.depositErc20)];
  const approvals = facts.resetsApproval && facts.allowance > 0n ? [approve(facts, 0n)] : [];
  // The deposit's gas is left out: before the approval is mined no wallet and no node can estimate it.
  return [...approvals, approve(facts, amount), deposit(facts, depository, data, 0n, undefined)];
}

/** The one step of a payment straight to the recipient. An ERC-20 transfer carries the request id after its calldata; a native one has no data, which any recipient accepts. */
export function sendSteps(facts: SendFacts): QuoteStep[] {
  const { recipient, currency, amount, gas } = facts;
  const native = currency === NATIVE_CURRENCY;
  const transaction = native
    ? transactionOf(facts, recipient, "0x", amount, gas.transferNative)
    : transactionOf(
        facts,
        currency,
        transferWithIdCalldata(recipient, amount, facts.requestId),
        0n,
        gas.transferErc20,
      );
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

function deposit(
  facts: DepositFacts,
  to: Address,
  data: Hex,
  value: bigint,
  gas: number | undefined,
): QuoteStep {
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

function approve(facts: DepositFacts, amount: bigint): QuoteStep {
  const reset = amount === 0n;
  return {
    id: "approve",
    action: "Confirm transaction in your wallet",
    description: reset
      ? `Reset the allowance of ${facts.symbol} before setting it anew`
      : `Approve ${facts.amountFormatted} ${facts.symbol} for the deposit`,
    kind: "transaction",
    requestId: facts.requestId,
    depositAddress: "",
    items: [
      {
        status: "incomplete",
        data: transactionOf(
          facts,
          facts.currency,
          approveCalldata(facts.depository, amount),
          0n,
          facts.gas.approve,
        ),
      },
    ],
  };
}

function transactionOf(
  facts: StepPayment,
  to: Address,
  data: Hex,
  value: bigint,
  gas: number | undefined,
): StepTransaction {
  return {
    from: facts.user,
    to,
    data,
    value: value.toString(),
    chainId: facts.chainId,
    ...(gas === undefined ? {} : { gas: gas.toString() }),
    maxFeePerGas: facts.maxFeePerGas.toString(),
    maxPriorityFeePerGas: facts.maxPriorityFeePerGas.toString(),
  };
}

function checkOf(requestId: RequestId): StepCheck {
  return { endpoint: `/intents/status/v3?requestId=${requestId}`, method: "GET" };
}
