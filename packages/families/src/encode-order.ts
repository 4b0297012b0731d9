import { orderFromJson, type Order, type OrderJson, type VmType } from "@causeway/domain";
import { encodeAddress } from "./address.ts";

/**
 * Encodes an order from JSON: addresses and currencies in the formats of their chains become the bytes that
 * the order's id hashes.
 * @param familyOf family of a chain by its name; throws the caller's error for an unknown chain
 * @throws ServiceError INVALID_REQUEST naming the field, as `encodeAddress` and `orderFromJson`
 */
export function encodeOrder(json: OrderJson, familyOf: (chain: string) => VmType): Order {
  const encode = (chain: string, text: string, field: string) => encodeAddress(familyOf(chain), text, field);
  const { chainId } = json.output;
  return orderFromJson({
    ...json,
    inputs: json.inputs.map(({ payment, refunds }, i) => ({
      payment: {
        ...payment,
        currency: encode(payment.chainId, payment.currency, `inputs[${i}].payment.currency`),
      },
      refunds: refunds.map((refund, j) => ({
        ...refund,
        recipient: encode(refund.chainId, refund.recipient, `inputs[${i}].refunds[${j}].recipient`),
        currency: encode(refund.chainId, refund.currency, `inputs[${i}].refunds[${j}].currency`),
      })),
    })),
    output: {
      ...json.output,
      payments: json.output.payments.map((payment, i) => ({
        ...payment,
        recipient: encode(chainId, payment.recipient, `output.payments[${i}].recipient`),
        currency: encode(chainId, payment.currency, `output.payments[${i}].currency`),
      })),
    },
    fees: json.fees.map((fee, i) => ({
      ...fee,
      recipient: encode(fee.recipientChainId, fee.recipient, `fees[${i}].recipient`),
      currency: encode(fee.currencyChainId, fee.currency, `fees[${i}].currency`),
    })),
  });
}
