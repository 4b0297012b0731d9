import type { Order, RequestTerms } from "@causeway/domain";
import { jsonText } from "@causeway/service-kit";
import type { NothingLeft } from "@causeway/service-kit";

// A field that orders get later must find its place below.
true satisfies NothingLeft<
  Order,
  "version" | "solverChainId" | "solver" | "salt" | "inputs" | "output" | "fees"
>;
true satisfies NothingLeft<Order["inputs"][number], "payment" | "refunds">;
true satisfies NothingLeft<Order["inputs"][number]["payment"], "chainId" | "currency" | "amount" | "weight">;
true satisfies NothingLeft<
  Order["inputs"][number]["refunds"][number],
  "chainId" | "recipient" | "currency" | "minimumAmount" | "deadline" | "extraData"
>;
true satisfies NothingLeft<Order["output"], "chainId" | "payments" | "calls" | "deadline" | "extraData">;
true satisfies NothingLeft<
  Order["output"]["payments"][number],
  "recipient" | "currency" | "minimumAmount" | "expectedAmount"
>;

/**
 * What an order adds to the terms it stands in, when it is one payment for one payment: all that quotes make.
 */
interface ShortOrder {
  readonly solverChainId: string;
  readonly solver: Order["solver"];
  readonly salt: Order["salt"];
  /** Names of the two chains. */
  readonly from: string;
  readonly to: string;
  readonly deadline: number;
  readonly data: Order["output"]["extraData"];
  readonly refund: {
    readonly minimumAmount: string;
    readonly deadline: number;
    readonly data: Order["output"]["extraData"];
  };
}

type Agreed = Pick<RequestTerms, "origin" | "destination" | "recipient" | "refundTo">;

/**
 * The order of these terms as JSON text without what the terms tell already: written whole, a row is twice as
 * long, too long for the database to keep uncompressed. Undefined when it says anything that the terms do
 * not; {@link wholeOrder} makes the same order of the text again.
 */
export function shortOrderJson(order: Order, agreed: Agreed): string | undefined {
  const { output, inputs, fees } = order;
  const [input] = inputs;
  const [payment] = output.payments;
  const [refund] = input?.refunds ?? [];
  if (
    input === undefined ||
    payment === undefined ||
    refund === undefined ||
    inputs.length > 1 ||
    output.payments.length > 1 ||
    input.refunds.length > 1 ||
    output.calls.length > 0 ||
    fees.length > 0 ||
    order.version !== "v1" ||
    input.payment.weight !== 1n ||
    input.payment.currency !== agreed.origin.currency ||
    input.payment.amount !== agreed.origin.amount ||
    refund.chainId !== input.payment.chainId ||
    refund.currency !== agreed.origin.currency ||
    refund.recipient !== agreed.refundTo ||
    payment.currency !== agreed.destination.currency ||
    payment.recipient !== agreed.recipient ||
    payment.minimumAmount !== agreed.destination.minimumAmount ||
    payment.expectedAmount !== agreed.destination.expectedAmount
  )
    return undefined;
  return (
    `{"solverChainId":${jsonText(order.solverChainId)},"solver":"${order.solver}","salt":"${order.salt}",` +
    `"from":${jsonText(refund.chainId)},"to":${jsonText(output.chainId)},"deadline":${output.deadline},"data":"${output.extraData}",` +
    `"refund":{"minimumAmount":"${refund.minimumAmount}","deadline":${refund.deadline},"data":"${refund.extraData}"}}`
  );
}

/** The order that a stored one stands for: itself when it was stored whole. */
export function wholeOrder(stored: Order | ShortOrder, agreed: Agreed): Order {
  if ("inputs" in stored) return stored;
  const { solverChainId, solver, salt, from, to, deadline, data, refund } = stored;
  const { origin, destination, recipient, refundTo } = agreed;
  return {
    version: "v1",
    solverChainId,
    solver,
    salt,
    inputs: [
      {
        payment: { chainId: from, currency: origin.currency, amount: origin.amount, weight: 1n },
        refunds: [
          {
            chainId: from,
            recipient: refundTo,
            currency: origin.currency,
            minimumAmount: BigInt(refund.minimumAmount),
            deadline: refund.deadline,
            extraData: refund.data,
          },
        ],
      },
    ],
    output: {
      chainId: to,
      payments: [
        {
          recipient,
          currency: destination.currency,
          minimumAmount: destination.minimumAmount,
          expectedAmount: destination.expectedAmount,
        },
      ],
      calls: [],
      deadline,
      extraData: data,
    },
    fees: [],
  };
}
