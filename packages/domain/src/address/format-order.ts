import type { VmType } from "../chain/family.ts";
import type { Hex } from "../ids/hex.ts";
import { orderToJson } from "../order/order-json.ts";
import type { OrderJson } from "../order/order-json.ts";
import type { Order } from "../order/order.ts";
import { decodeAddress } from "./codec.ts";

/**
 * The JSON of an order with addresses and currencies in the formats of their chains, as clients and oracles
 * read it; the inverse of `encodeOrder`.
 * @param familyOf family of a chain by its name; throws the caller's error for an unknown chain
 * @throws ServiceError INVALID_REQUEST for bytes that are not an address of their chain's family
 */
export function formatOrder(order: Order, familyOf: (chain: string) => VmType): OrderJson {
  const json = orderToJson(order);
  const formatText = (chain: string, bytes: string, field: string) => {
    const family = familyOf(chain);
    // On EVM chains the bytes are the text.
    return family === "ethereum-vm" ? bytes : decodeAddress(family, bytes as Hex, field);
  };
  const { chainId } = json.output;
  return {
    ...json,
    inputs: json.inputs.map(({ payment, refunds }, i) => ({
      payment: {
        ...payment,
        currency: formatText(payment.chainId, payment.currency, `inputs[${i}].payment.currency`),
      },
      refunds: refunds.map((refund, j) => ({
        ...refund,
        recipient: formatText(refund.chainId, refund.recipient, `inputs[${i}].refunds[${j}].recipient`),
        currency: formatText(refund.chainId, refund.currency, `inputs[${i}].refunds[${j}].currency`),
      })),
    })),
    output: {
      ...json.output,
      payments: json.output.payments.map((payment, i) => ({
        ...payment,
        recipient: formatText(chainId, payment.recipient, `output.payments[${i}].recipient`),
        currency: formatText(chainId, payment.currency, `output.payments[${i}].currency`),
      })),
    },
    fees: json.fees.map((fee, i) => ({
      ...fee,
      recipient: formatText(fee.recipientChainId, fee.recipient, `fees[${i}].recipient`),
      currency: formatText(fee.currencyChainId, fee.currency, `fees[${i}].currency`),
    })),
  };
}
