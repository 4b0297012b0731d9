import type { NonEvmDepositAddresses } from "@causeway/chains";
import type { Currency, DepositAddressKey, Hex, RequestTerms, TradeType } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { QuoteStep } from "@causeway/wire";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { ChosenRoute, RouteGuarantee } from "../routing/chosen-route.ts";
import type { Capabilities } from "./capabilities.ts";

/** What a quote needs to know about the chain at one end of its route, whatever its kind. */
export interface Side {
  readonly can: Capabilities;
  /** The chain, for what only EVM chains can do; absent on others. See {@link evmOf}. */
  readonly evm?: ConnectedChain;
  readonly depository: Hex;
  /** Amounts have at most this many bits. */
  readonly amountBits: bigint;
  /** The smallest payment that the chain accepts, base units; 0: any. */
  readonly minPayment: bigint;
  /** The recipient can collect most of what a payment in this currency costs, so its cost is `rent`. */
  isCostRent(currency: Currency): boolean;
  /** The cost of a payment besides its amount, for errors. */
  readonly costOfFill: string;
  /** A deposit is only identified by the nonce that the user's wallet signs (Hyperliquid). */
  readonly needsWalletNonce: boolean;
  /** This build can create what the user's wallet signs. */
  readonly makesSteps: boolean;
  /** A payment in the native token runs the recipient's code. */
  readonly runsRecipientCode: boolean;
  /** Families of chains on which the user surely has the key of their own address. */
  readonly walletFamilies: readonly string[];
  /** Asks the chain why it would refuse a payment. Absent: it refuses none. @throws RpcFault */
  readonly refusalOf?: ConnectedNonEvmChain["connection"]["refusalOf"];
  /**
   * Accounts, besides currencies, from which a payment could never be moved again.
   * @param solver on EVM chains
   */
  unsafeAccounts(solver: Address): ReadonlyArray<Hex | undefined>;
  /** A payment to a deposit address does not show who owns the money, so refunds need `refundTo`. */
  readonly hidesPayers: boolean;
  /** The deposit address of a key. Absent: this instance issues none on the chain. */
  readonly depositAddressOf?: ((key: DepositAddressKey) => Hex) | undefined;
  /**
   * Asks the chain why a payment could not arrive at an address or be swept. Absent: any can.
   * @throws RpcFault
   */
  readonly addressRefusalOf?: NonNullable<NonEvmDepositAddresses["refusalOf"]> | undefined;
  /**
   * What the sweep of a deposit address uses: gas units, or base units of the native token on chains without
   * gas.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  sweepGas(currency: Currency): bigint;
  /**
   * The cost of this many units for the quote, with the chain's margin, base units of the native token.
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
  /** Blocks until the deposit counts, including its own. */
  confirmations(inputUsd: bigint): number;
}

export interface RefundCosts {
  /** The cost of paying this very account. Absent: the usual cost. */
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

/** The user's steps and their cost in addition to the payment. */
export interface UserSteps {
  readonly steps: QuoteStep[];
  /** Base units of the origin's native currency. */
  readonly gas: bigint;
  /** The user's balance of the input currency. */
  readonly balance: bigint;
}

/** The EVM chain of a side whose {@link Capabilities} were checked. */
export function evmOf({ evm }: Pick<Side, "evm">): ConnectedChain {
  if (evm === undefined)
    throw new Error("invariant violated: a non-EVM side was asked for what its capabilities exclude");
  return evm;
}
