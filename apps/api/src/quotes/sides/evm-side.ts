import type { AccountState } from "@causeway/chains";
import {
  addressStep,
  confirmationsFor,
  depositAddressOf,
  depositGas,
  depositSteps,
  formatAmount,
  gasCostWei,
  NATIVE_CURRENCY,
  routedGas,
  routedSteps,
  sendGas,
  sendSteps,
  signatureGas,
  signatureSteps,
} from "@causeway/domain";
import type { Address, Chain, Hex } from "@causeway/domain";
import type { QuoteStep } from "@causeway/wire";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { sweepGasOf } from "../../deposits/index.ts";
import { balanceUnavailable } from "../../http/refusals.ts";
import { gasOf } from "../../markets/index.ts";
import { signatureFacts } from "../permits/signature-facts.ts";
import { hasPermit } from "../permits/typed-data.ts";
import { sidesOf } from "../routing/route-sides.ts";
import { CAPABILITIES } from "./capabilities.ts";
import { routedFacts } from "./routed-facts.ts";
import type { Side, StepsFacts, UserSteps } from "./side.ts";

export function evmSide(connected: ConnectedChain): Side {
  const { chain, pulse } = connected;
  const { depositAddressFactory: factory } = chain.contracts;
  return {
    can: CAPABILITIES[chain.vmType],
    evm: connected,
    depository: chain.contracts.depository,
    amountBits: 256n,
    minPayment: 0n,
    fillCostPhrase: "the gas of a fill",
    needsWalletNonce: false,
    makesSteps: true,
    runsRecipientCode: true,
    isCostRent: () => false,
    walletFamilies: [chain.vmType],
    unsafeAccounts: (solver) => unsafeAccountsOf(chain, solver),
    ...(factory !== undefined && { depositAddressOf: (key) => depositAddressOf(factory, key) }),
    hidesPayers: false,
    sweepGas: ({ address }) => sweepGasOf(address),
    originCost: (units) =>
      gasCostWei(units, pulse.gasPrices(), chain.fees.minPriorityFeeWei, chain.fees.gasMarginBps),
    refundCost: ({ gas, refundGasMarginBps }, currency, costs) =>
      gasCostWei(
        gasOf(gas.refund, currency, false) + costs.depositGas,
        pulse.gasPrices(),
        chain.fees.minPriorityFeeWei,
        refundGasMarginBps,
      ),
    steps: async (facts) => await evmSteps(connected, facts),
    confirmations: (inputUsd) => confirmationsFor(chain.confirmationTiers, inputUsd),
  };
}

function unsafeAccountsOf({ contracts, liquidity }: Chain, solver: Address): ReadonlyArray<Hex | undefined> {
  const {
    depository,
    formerDepositories = [],
    router,
    approvalProxy,
    serviceReceiver,
    multicall3,
  } = contracts;
  return [
    depository,
    ...formerDepositories,
    router,
    approvalProxy,
    serviceReceiver,
    multicall3,
    solver,
    liquidity?.wrappedNative,
  ];
}

async function evmSteps(connected: ConnectedChain, facts: StepsFacts): Promise<UserSteps> {
  const account = await accountOf(connected, facts);
  const { steps, gasUnits } = stepsOf(connected, facts, account);
  const { baseFeePerGas, maxPriorityFeePerGas } = connected.pulse.gasPrices();
  return { steps, gas: gasUnits * (baseFeePerGas + maxPriorityFeePerGas), balance: account.balance };
}

/** The user's balance of the input currency, and the allowance of the contract that pulls it. */
async function accountOf(
  { chain, connection }: ConnectedChain,
  { originCurrency, terms, route }: StepsFacts,
): Promise<AccountState> {
  const { depository, approvalProxy, permit2 } = chain.contracts;
  const isDirect = route.trade.origin === undefined || originCurrency.address === NATIVE_CURRENCY;
  const spender =
    terms.permit?.method === "permit2" && permit2 !== undefined
      ? permit2
      : isDirect
        ? depository
        : approvalProxy;
  try {
    return await connection.reader.accountState(terms.user, originCurrency.address, spender);
  } catch (cause) {
    throw balanceUnavailable(chain, cause);
  }
}

function stepsOf(
  { chain, pulse }: ConnectedChain,
  facts: StepsFacts,
  { allowance }: AccountState,
): { readonly steps: QuoteStep[]; readonly gasUnits: bigint } {
  const { originCurrency, resetsApproval, route, terms, guarantee } = facts;
  const { steps: gas } = facts.policy.gas;
  const { maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const amount = guarantee.maxInput;
  const payment = {
    requestId: terms.requestId,
    chainId: chain.id,
    user: terms.user,
    currency: originCurrency.address,
    symbol: originCurrency.symbol,
    amount,
    amountFormatted: formatAmount(amount, originCurrency.decimals),
    gas,
    includesGas: !chain.fees.gasCountsData,
    maxFeePerGas,
    maxPriorityFeePerGas,
  };
  if (terms.depositAddress !== undefined)
    return {
      steps: [addressStep(payment, terms.depositAddress.address)],
      gasUnits: originCurrency.address === NATIVE_CURRENCY ? gas.transferNative : gas.transferErc20,
    };
  if (route.kind === "send") {
    const { router } = chain.contracts;
    const toContract = route.toContract === true;
    const send = { ...payment, recipient: terms.recipient, toContract, router };
    return { steps: sendSteps(send), gasUnits: sendGas(send) };
  }
  if (hasPermit(terms)) {
    const signature = { ...payment, ...signatureFacts(terms, { allowance, resetsApproval }) };
    return { steps: signatureSteps(signature), gasUnits: signatureGas(signature) };
  }
  const { originSwap } = sidesOf(route);
  if (originSwap !== undefined) {
    const routed = routedFacts(chain, facts, originSwap);
    const routedPayment = { ...payment, ...routed, allowance, resetsApproval };
    return { steps: routedSteps(routedPayment), gasUnits: routedGas(routedPayment) };
  }
  const deposit = {
    ...payment,
    orderId: terms.orderId,
    depository: chain.contracts.depository,
    explicitDeposit: terms.explicitDeposit,
    allowance,
    resetsApproval,
  };
  return { steps: depositSteps(deposit), gasUnits: depositGas(deposit) };
}
