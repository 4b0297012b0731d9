import { orderIdOf, totalWeight, type Hex, type Hex32, type Order } from "@causeway/domain";
import { decodeAddress, encodeAddress, type ConfiguredChain } from "@causeway/families";
import { messageDigest, recoverSigner } from "@causeway/attest";
import type { AttestedOrder } from "@causeway/wire";
import { invalid, rejected } from "../ports/attestation-error.ts";
import type { AttestedChains } from "../ports/attested-chains.ts";
import { requireChain } from "./require-chain.ts";

/** An order signed by its solver, with every address in canonical format. */
export interface SignedOrder {
  readonly orderId: Hex32;
  /** For hashing: addresses as bytes. */
  readonly order: Order;
  /** For answers: addresses as canonical text. */
  readonly json: AttestedOrder;
  readonly signature: Hex;
  readonly solverChain: ConfiguredChain;
}

/**
 * Maximum number of refund options across all inputs; the schema limits the other lists. An order is parsed
 * before its solver's signature is verified.
 */
const MAX_REFUND_OPTIONS = 64;

/**
 * Parses an order and checks everything that needs no node: its chains are known, it has inputs and payments,
 * and its solver's EOA signed it canonically. Contract signatures cannot be verified here.
 * @throws ServiceError INVALID_REQUEST; AttestationError not_found for a chain, otherwise invalid_request or
 * rejected
 */
export function readSignedOrder(
  chains: AttestedChains,
  orderJson: AttestedOrder,
  orderSignature: string,
): SignedOrder {
  if (orderJson.inputs.length === 0) throw invalid("order.inputs", "order.inputs must not be empty");
  if (orderJson.output.payments.length === 0)
    throw invalid("order.output.payments", "order.output.payments must not be empty");
  if (orderJson.inputs.reduce((sum, { refunds }) => sum + refunds.length, 0) > MAX_REFUND_OPTIONS)
    throw invalid("order.inputs", `order must have at most ${MAX_REFUND_OPTIONS} refund options in total`);
  const solverChain = requireChain(chains, orderJson.solverChainId, "order.solverChainId").chain;
  const { order, json } = encodeAddresses(chains, orderJson);
  if (totalWeight(order) === 0n)
    throw invalid("order.inputs", "order.inputs: the sum of amounts times weights must not be zero");
  const orderId = orderIdOf(order);
  const signature = orderSignature.toLowerCase() as Hex;
  if (recoverSigner(messageDigest(orderId), signature) !== order.solver)
    throw rejected("orderSignature", "orderSignature is not the solver's signature over the order id");
  return { orderId, order, json, signature, solverChain };
}

/**
 * The order twice: with addresses as bytes and as canonical text. Every chain must be known, because the
 * chain defines the address format.
 */
function encodeAddresses(
  chains: AttestedChains,
  orderJson: AttestedOrder,
): { order: Order; json: AttestedOrder } {
  const familyOfChain = (name: string, field: string) => requireChain(chains, name, field).chain.vmType;
  const hex = (text: string): Hex => text.toLowerCase() as Hex;
  const bytesAndText = (
    chain: string,
    chainField: string,
    text: string,
    field: string,
  ): readonly [Hex, string] => {
    const vm = familyOfChain(chain, chainField);
    const bytes = encodeAddress(vm, text, field);
    return [bytes, decodeAddress(vm, bytes, field)];
  };

  const inputs = orderJson.inputs.map(({ payment, refunds }, i) => {
    const field = `order.inputs[${i}]`;
    const [currency, currencyText] = bytesAndText(
      payment.chainId,
      `${field}.payment.chainId`,
      payment.currency,
      `${field}.payment.currency`,
    );
    const options = refunds.map((refund, j) => {
      const refundField = `${field}.refunds[${j}]`;
      const [recipient, recipientText] = bytesAndText(
        refund.chainId,
        `${refundField}.chainId`,
        refund.recipient,
        `${refundField}.recipient`,
      );
      const [token, tokenText] = bytesAndText(
        refund.chainId,
        `${refundField}.chainId`,
        refund.currency,
        `${refundField}.currency`,
      );
      const extraData = hex(refund.extraData);
      return {
        order: {
          ...refund,
          recipient,
          currency: token,
          minimumAmount: BigInt(refund.minimumAmount),
          extraData,
        },
        json: { ...refund, recipient: recipientText, currency: tokenText, extraData },
      };
    });
    return {
      order: {
        payment: {
          chainId: payment.chainId,
          currency,
          amount: BigInt(payment.amount),
          weight: BigInt(payment.weight),
        },
        refunds: options.map((option) => option.order),
      },
      json: {
        payment: { ...payment, currency: currencyText },
        refunds: options.map((option) => option.json),
      },
    };
  });

  const { output } = orderJson;
  const payments = output.payments.map((payment, i) => {
    const field = `order.output.payments[${i}]`;
    const chainField = "order.output.chainId";
    const [recipient, recipientText] = bytesAndText(
      output.chainId,
      chainField,
      payment.recipient,
      `${field}.recipient`,
    );
    const [currency, currencyText] = bytesAndText(
      output.chainId,
      chainField,
      payment.currency,
      `${field}.currency`,
    );
    return {
      order: {
        recipient,
        currency,
        minimumAmount: BigInt(payment.minimumAmount),
        expectedAmount: BigInt(payment.expectedAmount),
      },
      json: { ...payment, recipient: recipientText, currency: currencyText },
    };
  });

  const fees = orderJson.fees.map((fee, i) => {
    const field = `order.fees[${i}]`;
    const [recipient, recipientText] = bytesAndText(
      fee.recipientChainId,
      `${field}.recipientChainId`,
      fee.recipient,
      `${field}.recipient`,
    );
    const [currency, currencyText] = bytesAndText(
      fee.currencyChainId,
      `${field}.currencyChainId`,
      fee.currency,
      `${field}.currency`,
    );
    return {
      order: { ...fee, recipient, currency, amount: BigInt(fee.amount) },
      json: { ...fee, recipient: recipientText, currency: currencyText },
    };
  });

  const shared = {
    version: orderJson.version,
    solverChainId: orderJson.solverChainId,
    solver: hex(orderJson.solver),
    salt: hex(orderJson.salt),
  };
  const outputFields = {
    chainId: output.chainId,
    calls: output.calls.map(hex),
    deadline: output.deadline,
    extraData: hex(output.extraData),
  };
  return {
    order: {
      ...shared,
      inputs: inputs.map((input) => input.order),
      output: { ...outputFields, payments: payments.map((payment) => payment.order) },
      fees: fees.map((fee) => fee.order),
    },
    json: {
      ...shared,
      inputs: inputs.map((input) => input.json),
      output: { ...outputFields, payments: payments.map((payment) => payment.json) },
      fees: fees.map((fee) => fee.json),
    },
  };
}
