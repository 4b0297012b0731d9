import { raisedByBps } from "@causeway/domain";
import type { NonEvmVmType } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import { transferSweepCost } from "../../deposits/index.ts";
import { CAPABILITIES } from "./capabilities.ts";
import type { Side } from "./side.ts";
import { paymentFrom, withdrawalFrom } from "./transfer-steps.ts";

/** Satoshis. Bitcoin nodes do not relay smaller outputs, even to the most expensive type of address. */
const BITCOIN_DUST = 546n;
const SOLANA_FINAL_BLOCKS = 32;

/** The differences between chains that pay by transfers. */
type FamilyTraits = Pick<
  Side,
  | "needsWalletNonce"
  | "makesSteps"
  | "walletFamilies"
  | "steps"
  | "minPayment"
  | "isCostRent"
  | "confirmations"
>;

export function transferSide(connected: ConnectedNonEvmChain): Side {
  const { chain, pulse, connection, users } = connected;
  const { depositAddresses: addresses } = connection;
  const paymentTraits: Omit<FamilyTraits, "confirmations"> = {
    minPayment: 0n,
    isCostRent: () => false,
    needsWalletNonce: false,
    makesSteps: users?.deposit !== undefined,
    walletFamilies: [chain.vmType],
    steps: async (facts) => await paymentFrom(connected, facts),
  };
  const families: Readonly<Record<NonEvmVmType, FamilyTraits>> = {
    svm: {
      ...paymentTraits,
      // Rent of a new token account, which its owner can reclaim by closing it.
      isCostRent: ({ address }) => address !== chain.native.address,
      confirmations: () => SOLANA_FINAL_BLOCKS,
    },
    bvm: {
      ...paymentTraits,
      minPayment: BITCOIN_DUST,
      confirmations: () => chain.confirmations,
    },
    hypevm: {
      needsWalletNonce: true,
      makesSteps: users?.token !== undefined,
      // A Hyperliquid user has the key of the same EVM address. The reverse is not certain: an EVM address
      // may be a contract, which has no key.
      walletFamilies: [chain.vmType, "evm"],
      steps: async (facts) => await withdrawalFrom(connected, facts),
      minPayment: 0n,
      isCostRent: () => false,
      confirmations: () => 1,
    },
  };
  return {
    ...families[chain.vmType],
    can: CAPABILITIES[chain.vmType],
    depository: chain.depository,
    amountBits: 63n,
    fillCostPhrase: "the fee of a payment",
    runsRecipientCode: false,
    refusalOf: (payment) => connection.refusalOf(payment),
    unsafeAccounts: () => [chain.depository, connection.solver],
    ...(addresses !== undefined && { depositAddressOf: (key) => addresses.addressOf(key) }),
    ...(addresses?.refusalOf !== undefined && { addressRefusalOf: addresses.refusalOf }),
    hidesPayers: true,
    sweepGas: () => transferSweepCost(connected),
    originCost: (units) => raisedByBps(units, chain.fees.gasMarginBps),
    refundCost: ({ refundGasMarginBps }, { address }, { payment, depositGas }) =>
      raisedByBps((payment ?? pulse.paymentCost(address)) + depositGas, refundGasMarginBps),
  };
}
