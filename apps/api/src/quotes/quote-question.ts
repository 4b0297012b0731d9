import type { Currency, Hex, TradeType } from "@causeway/domain";
import type { AnyConnectedChain } from "../chains/chains.port.ts";
import type { ChosenPermit } from "./permits/chosen-permit.ts";
import type { FeeOptions } from "./routing/fee-options.ts";
import type { RequestedCalls, TokenFacts } from "./routing/fill-options.ts";
import type { SwapChoice } from "./routing/swap-choice.ts";
import type { Side } from "./sides/side.ts";

/** A validated quote request. */
export interface QuoteQuestion {
  /** The user pays the recipient directly, in one currency on one chain. */
  readonly isSend: boolean;
  readonly origin: AnyConnectedChain;
  readonly destination: AnyConnectedChain;
  readonly from: Side;
  readonly to: Side;
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
  readonly user: Hex;
  readonly recipient: Hex;
  readonly refundTo: Hex;
  readonly amount: bigint;
  readonly tradeType: TradeType;
  /** Slippage tolerance. Undefined: the service chooses. */
  readonly slippageBps: number | undefined;
  /** Absent: the policy's order lifetime. */
  readonly ttlSeconds: number | undefined;
  readonly explicitDeposit: boolean;
  /** The solver keeps the surplus of a deposit above the quoted amount of an exact output. */
  readonly surplusToSolver: boolean;
  readonly swaps: SwapChoice;
  readonly referrer: string | undefined;
  /** The public key of the user's Bitcoin address, if the client sent it. */
  readonly publicKey: string | undefined;
  /**
   * Gas units that the origin transaction needs beyond a plain deposit. Absent: the user sends that
   * transaction.
   */
  readonly originGasOverhead: number | undefined;
  /** How the user signs a payment that the service sends. Absent: the user sends the payment. */
  readonly permit: ChosenPermit | undefined;
  /** Fees that apps take and pay. */
  readonly fees: FeeOptions | undefined;
  /** Facts from the chains about the two currencies and the recipient. */
  readonly tokens: TokenFacts;
  /** Calls that the fill makes with the output. Absent: the output is paid to the recipient. */
  readonly calls: RequestedCalls | undefined;
  /**
   * The cost of sweeping the deposit address, in the units of `Side.sweepGas`. Absent: the quote uses no
   * deposit address.
   */
  readonly sweepGas: bigint | undefined;
}

/** The content of the request, before chains are queried about its tokens and accounts. */
export type PlainQuestion = Omit<QuoteQuestion, "permit" | "fees" | "tokens" | "calls" | "sweepGas">;
