import { orderToJson, type Hex, type Order, type OrderJson, type VmType } from "@causeway/domain";
import { decodeWith } from "./address-codec.ts";
import { familyOfVm } from "./families.ts";

/**
 * The JSON of an order with addresses and currencies in the formats of their chains, as clients and oracles
 * read it; the inverse of `encodeOrder`.
 * @param familyOf family of a chain by its name; throws the caller's error for an unknown chain
 * @throws ServiceError INVALID_REQUEST for bytes that are not an address of their chain's family
 */
export function formatOrder(order: Order, familyOf: (chain: string) => VmType): OrderJson {
  const json = orderToJson(order);
  const isPlain = (chain: string): boolean => familyOfVm(familyOf(chain)).codec.isPlain === true;
  if (chainsIn(order).every(isPlain)) return json;
  const formatText = (chain: string, bytes: string, field: string) => {
    const { codec } = familyOfVm(familyOf(chain));
    return codec.isPlain === true ? bytes : decodeWith(codec, bytes as Hex, field);
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

/** The names of the chains that an order's addresses are on. */
function chainsIn({ inputs, output, fees }: Order): string[] {
  return [
    output.chainId,
    ...inputs.flatMap(({ payment, refunds }) => [payment.chainId, ...refunds.map(({ chainId }) => chainId)]),
    ...fees.flatMap(({ recipientChainId, currencyChainId }) => [recipientChainId, currencyChainId]),
  ];
}
