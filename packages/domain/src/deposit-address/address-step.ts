import { NATIVE_CURRENCY } from "../ids/hex.ts";
import type { Address } from "../ids/hex.ts";
import type { StepPayment, TransactionStep } from "../quote/steps.ts";

/** The one step of a quote that is paid to a deposit address: the money is sent there, by whoever has it. */
export function addressStep(facts: StepPayment, depositAddress: Address): TransactionStep {
  const { requestId, user, currency, amount, amountFormatted, symbol, chainId } = facts;
  return {
    id: "deposit",
    action: "Send funds to the deposit address",
    description: `Send ${amountFormatted} ${symbol} to ${depositAddress} to start the request`,
    kind: "transaction",
    requestId,
    depositAddress,
    items: [
      {
        status: "incomplete",
        data: {
          from: user,
          to: depositAddress,
          data: "0x",
          // A token is sent by a transfer of its own, which the sender's wallet or exchange makes.
          value: currency === NATIVE_CURRENCY ? amount.toString() : "0",
          chainId,
          maxFeePerGas: facts.maxFeePerGas.toString(),
          maxPriorityFeePerGas: facts.maxPriorityFeePerGas.toString(),
        },
        check: { endpoint: `/intents/status/v3?requestId=${requestId}`, method: "GET" },
      },
    ],
  };
}
