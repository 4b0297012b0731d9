import { BPS, confirmationsFor, divUp, gasCostWei } from "@causeway/domain";
import type { Currency, Hex } from "@causeway/domain";
import type { ConnectedChain, ConnectedRail, RequestEnd } from "../chains/chains.port.ts";
import { isNonEvm } from "../http/request-end.ts";
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
  /** Blocks until the deposit counts, including its own. */
  confirmations(inputUsd: bigint): number;
}

/** Made once per end of a route. */
export function sideOf(end: RequestEnd): Side {
  return isNonEvm(end) ? transferSide(end) : evmSide(end);
}

function evmSide({ chain, pulse }: ConnectedChain): Side {
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
    confirmations: (inputUsd) => confirmationsFor(chain.confirmationTiers, inputUsd),
  };
}

/** Satoshis. Bitcoin nodes do not relay smaller outputs, even to the most expensive type of address. */
const BITCOIN_DUST = 546n;
const SOLANA_FINAL_BLOCKS = 32;

function transferSide({ chain, pulse, rail, users }: ConnectedRail): Side {
  const isExchange = chain.exchange !== undefined;
  const { confirmations, minPayment } = {
    svm: { confirmations: SOLANA_FINAL_BLOCKS, minPayment: 0n },
    bvm: { confirmations: chain.confirmations, minPayment: BITCOIN_DUST },
    hypevm: { confirmations: 1, minPayment: 0n },
  }[chain.vmType];
  return {
    depository: chain.depository,
    amountBits: 63n,
    minPayment,
    needsWalletNonce: isExchange,
    swaps: false,
    runsRecipientCode: false,
    // A Hyperliquid user has an EVM wallet. An EVM address may be a contract's, without a key on Hyperliquid.
    walletFamilies: isExchange ? [chain.vmType, "evm"] : [chain.vmType],
    refusalOf: (payment) => rail.refusalOf(payment),
    makesSteps: (isExchange ? users?.token : users?.deposit) !== undefined,
    solverBalance: (currency) => pulse.solverBalance(currency).amount,
    refundCost: ({ refundGasMarginBps }, { address }, cost) =>
      divUp((cost ?? pulse.paymentCost(address)) * (BPS + BigInt(refundGasMarginBps)), BPS),
    confirmations: () => confirmations,
  };
}
