import { BPS, confirmationsFor, divUp, gasCostWei } from "@causeway/domain";
import type { Address, Currency, Hex, RailVm, RequestTerms } from "@causeway/domain";
import type { ConnectedChain, ConnectedRail, RequestEnd } from "../chains/chains.port.ts";
import { isNonEvm } from "../http/request-end.ts";
import { evmSteps, paymentFrom, withdrawalFrom } from "./non-evm/quote-steps.ts";
import type { RailSteps, StepsQuestion } from "./non-evm/quote-steps.ts";
import { trapsOf } from "./quote-question.ts";
import { gasOf } from "../markets/index.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";

/** What a quote needs to know about the chain at one end of its route, whatever its kind. */
export interface Side {
  readonly depository: Hex;
  /** Amounts have at most this many bits. */
  readonly amountBits: bigint;
  /** The smallest payment that the chain accepts, base units; 0: any. */
  readonly minPayment: bigint;
  /** A deposit is only identified by the nonce that the user's wallet signs (Hyperliquid). */
  readonly needsWalletNonce: boolean;
  /** This build can create what the user's wallet signs. */
  readonly makesSteps: boolean;
  /** Tokens that the solver does not hold can be swapped on other routes. */
  readonly swaps: boolean;
  /** A payment in the native token runs the recipient's code. */
  readonly runsRecipientCode: boolean;
  /** Families of chains on which the user surely has the key of their own address. */
  readonly walletFamilies: readonly string[];
  /** Asks the chain why it would refuse a payment. Absent: it refuses none. @throws RpcFault */
  readonly refusalOf?: ConnectedRail["rail"]["refusalOf"];
  /** @throws ServiceError RPC_HTTP_ERROR when no fresh value is known */
  solverBalance(currency: Hex): bigint;
  /**
   * The cost of a refund with the policy's margin, base units of the native token.
   * @param cost of a payment to this recipient; absent: the usual cost
   */
  refundCost(policy: QuotePolicy, currency: Currency, cost: bigint | undefined): bigint;
  /**
   * Accounts, besides currencies, from which a payment could never be moved again.
   * @param solver on EVM chains
   */
  traps(solver: Address): ReadonlyArray<Hex | undefined>;
  /**
   * What the user signs to deposit.
   * @throws ServiceError RPC_HTTP_ERROR when the chain does not report the user's balance or the parts of the
   * steps; UNSUPPORTED_CURRENCY
   */
  steps(policy: Pick<QuotePolicy, "gas">, question: StepsQuestion, terms: RequestTerms): Promise<RailSteps>;
  /** Blocks until the deposit counts, including its own. */
  confirmations(inputUsd: bigint): number;
}

/** Made once per end of a route. */
export function sideOf(end: RequestEnd): Side {
  return isNonEvm(end) ? transferSide(end) : evmSide(end);
}

function evmSide(end: ConnectedChain): Side {
  const { chain, pulse } = end;
  return {
    depository: chain.contracts.depository,
    amountBits: 256n,
    minPayment: 0n,
    needsWalletNonce: false,
    makesSteps: true,
    swaps: chain.liquidity !== undefined,
    runsRecipientCode: true,
    walletFamilies: [chain.vmType],
    solverBalance: (currency) => pulse.solverBalance(currency).amount,
    refundCost: ({ gas, refundGasMarginBps }, currency) =>
      gasCostWei(
        gasOf(gas.refund, currency, false),
        pulse.gasPrices(),
        chain.fees.minPriorityFeeWei,
        refundGasMarginBps,
      ),
    traps: (solver) => trapsOf(chain, solver),
    steps: async (policy, question, terms) => await evmSteps(policy, end, question, terms),
    confirmations: (inputUsd) => confirmationsFor(chain.confirmationTiers, inputUsd),
  };
}

/** Satoshis. Bitcoin nodes do not relay smaller outputs, even to the most expensive type of address. */
const BITCOIN_DUST = 546n;
const SOLANA_FINAL_BLOCKS = 32;

/** What chains that pay by transfers differ in. */
type OfFamily = Pick<
  Side,
  "needsWalletNonce" | "makesSteps" | "walletFamilies" | "steps" | "minPayment" | "confirmations"
>;

function transferSide(end: ConnectedRail): Side {
  const { chain, pulse, rail, users } = end;
  const byPayment: Omit<OfFamily, "confirmations"> = {
    minPayment: 0n,
    needsWalletNonce: false,
    makesSteps: users?.deposit !== undefined,
    walletFamilies: [chain.vmType],
    steps: async (_, question, terms) => await paymentFrom(end, question, terms),
  };
  const families: Readonly<Record<RailVm, OfFamily>> = {
    svm: { ...byPayment, confirmations: () => SOLANA_FINAL_BLOCKS },
    bvm: { ...byPayment, minPayment: BITCOIN_DUST, confirmations: () => chain.confirmations },
    hypevm: {
      needsWalletNonce: true,
      makesSteps: users?.token !== undefined,
      // A Hyperliquid user has an EVM wallet. An EVM address may be a contract's, without a key on
      // Hyperliquid.
      walletFamilies: [chain.vmType, "evm"],
      steps: async (_, question, terms) => await withdrawalFrom(end, question, terms),
      minPayment: 0n,
      confirmations: () => 1,
    },
  };
  return {
    ...families[chain.vmType],
    depository: chain.depository,
    amountBits: 63n,
    swaps: false,
    runsRecipientCode: false,
    refusalOf: (payment) => rail.refusalOf(payment),
    traps: () => [chain.depository, rail.solver],
    solverBalance: (currency) => pulse.solverBalance(currency).amount,
    refundCost: ({ refundGasMarginBps }, { address }, cost) =>
      divUp((cost ?? pulse.paymentCost(address)) * (BPS + BigInt(refundGasMarginBps)), BPS),
  };
}
