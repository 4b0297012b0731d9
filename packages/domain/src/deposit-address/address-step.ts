import { NATIVE_CURRENCY } from "../ids/hex.ts";
import type { Address } from "../ids/hex.ts";
import type { StepPayment, TransactionStep } from "../quote/steps.ts";

/** The only step of a quote with a deposit address: a transfer to that address, by anyone. */
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
          // A token is sent by an ordinary transfer from the sender's wallet or exchange.
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
