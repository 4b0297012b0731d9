import type { NonEvmDepositAddresses } from "@causeway/chains";
import type { Currency, DepositAddressKey, Hex, RequestTerms, TradeType } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { QuoteStep } from "@causeway/wire";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { ChosenRoute, RouteGuarantee } from "../routing/chosen-route.ts";
import type { Capabilities } from "./capabilities.ts";

/** The facts that a quote needs about the chain at one end of its route, of any kind. */
export interface Side {
  readonly can: Capabilities;
  /** The EVM chain, for features that only EVM chains have. Absent on non-EVM chains. See {@link evmOf}. */
  readonly evm?: ConnectedChain;
  readonly depository: Hex;
  /** Amounts have at most this many bits. */
  readonly amountBits: bigint;
  /** The smallest payment that the chain accepts, in base units. 0: no minimum. */
  readonly minPayment: bigint;
  /** Whether the cost of a payment is `rent`: the recipient can get most of it back. */
  isCostRent(currency: Currency): boolean;
  /** What a payment costs in addition to its amount, as a phrase for error messages. */
  readonly fillCostPhrase: string;
  /** Deposits are identified only by the nonce that the user's wallet signs (Hyperliquid). */
  readonly needsWalletNonce: boolean;
  /** This build can create the transaction that the user's wallet signs. */
  readonly makesSteps: boolean;
  /** A payment in the native token runs the recipient's code. */
  readonly runsRecipientCode: boolean;
  /** Chain families on which the user certainly has the key of their own address. */
  readonly walletFamilies: readonly string[];
  /** Asks the chain why it would refuse a payment. Absent: the chain refuses no payment. @throws RpcFault */
  readonly refusalOf?: ConnectedNonEvmChain["connection"]["refusalOf"];
  /**
   * Accounts, other than tokens, from which a payment could never be moved again.
   * @param solver the solver's address, used on EVM chains
   */
  unsafeAccounts(solver: Address): ReadonlyArray<Hex | undefined>;
  /** A payment to a deposit address does not show who paid, so refunds need `refundTo`. */
  readonly hidesPayers: boolean;
  /** Derives the deposit address of a key. Absent: this instance has no deposit addresses on the chain. */
  readonly depositAddressOf?: ((key: DepositAddressKey) => Hex) | undefined;
  /**
   * Asks the chain why a payment could not arrive at a deposit address or be swept. Absent: the chain refuses
   * no payment.
   * @throws RpcFault
   */
  readonly addressRefusalOf?: NonNullable<NonEvmDepositAddresses["refusalOf"]> | undefined;
  /**
   * The cost of sweeping a deposit address: gas units, or base units of the native token on chains without
   * gas.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  sweepGas(currency: Currency): bigint;
  /**
   * The quoted cost of this many units of {@link sweepGas}, with the chain's margin, in base units of the
   * native token.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  originCost(units: bigint): bigint;
  /**
   * The cost of a refund with the policy's margin, base units of the native token.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  refundCost(policy: QuotePolicy, currency: Currency, costs: RefundCosts): bigint;
  /**
   * The steps that the user signs to deposit.
   * @throws ServiceError RPC_HTTP_ERROR when the chain does not report the user's balance or the parts of the
   * steps; UNSUPPORTED_CURRENCY
   */
  steps(facts: StepsFacts): Promise<UserSteps>;
  /** Blocks until the deposit is confirmed, including its own block. */
  confirmations(inputUsd: bigint): number;
}

export interface RefundCosts {
  /**
   * The cost of paying the account of the refund, in base units of the native token. Undefined: the usual
   * cost.
   */
  readonly payment: bigint | undefined;
  /** The cost of the service's deposit transaction, as in {@link Side.sweepGas}. */
  readonly depositGas: bigint;
}

/** The facts on which the steps of a quote depend. */
export interface StepsFacts {
  readonly policy: Pick<QuotePolicy, "gas">;
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
  readonly tradeType: TradeType;
  /** The allowance of the input currency must be set to zero before it is changed. */
  readonly resetsApproval: boolean;
  /** The public key of the user's Bitcoin address, if the client sent it. */
  readonly publicKey: string | undefined;
  readonly route: ChosenRoute;
  readonly terms: RequestTerms;
  readonly guarantee: RouteGuarantee;
}

/** The user's steps, and their cost in addition to the payment. */
export interface UserSteps {
  readonly steps: QuoteStep[];
  /** Base units of the origin's native currency. */
  readonly gas: bigint;
  /** The user's balance of the input currency. */
  readonly balance: bigint;
}

/** The EVM chain of a side. Check its {@link Capabilities} first: throws for a non-EVM side. */
export function evmOf({ evm }: Pick<Side, "evm">): ConnectedChain {
  if (evm === undefined)
    throw new Error("invariant violated: non-EVM side used for a feature that only EVM chains support");
  return evm;
}
