/** An order with its amounts in any notation: bigints inside, decimal texts on the wire. */
export interface OrderIn<Amount> {
  readonly version: string;
  readonly solverChainId: string;
  readonly solver: string;
  readonly salt: string;
  readonly inputs: readonly {
    readonly payment: {
      readonly chainId: string;
      readonly currency: string;
      readonly amount: Amount;
      readonly weight: Amount;
    };
    readonly refunds: readonly {
      readonly chainId: string;
      readonly recipient: string;
      readonly currency: string;
      readonly minimumAmount: Amount;
      readonly deadline: number;
      readonly extraData: string;
    }[];
  }[];
  readonly output: {
    readonly chainId: string;
    readonly payments: readonly {
      readonly recipient: string;
      readonly currency: string;
      readonly minimumAmount: Amount;
      readonly expectedAmount: Amount;
    }[];
    readonly calls: readonly string[];
    readonly deadline: number;
    readonly extraData: string;
  };
  readonly fees: readonly {
    readonly recipientChainId: string;
    readonly recipient: string;
    readonly currencyChainId: string;
    readonly currency: string;
    readonly amount: Amount;
  }[];
}

/**
 * How the two kinds of values that differ become JSON: names of chains, which may hold anything, and amounts.
 */
export interface OrderWords<Amount> {
  readonly name: (name: string) => string;
  readonly amount: (amount: Amount) => string;
}

/**
 * An order as JSON text, in the field order of {@link orderToJson}. Written out by hand: every quote writes
 * its order twice, for the client and for the database, and `JSON.stringify` takes several times as long. Hex
 * holds nothing to escape.
 */
export function orderText<Amount>(order: OrderIn<Amount>, words: OrderWords<Amount>): string {
  const { name } = words;
  const { output } = order;
  return (
    `{"version":${name(order.version)},"solverChainId":${name(order.solverChainId)},"solver":"${order.solver}",` +
    `"salt":"${order.salt}","inputs":${list(order.inputs, (input) => inputText(input, words))},` +
    `"output":{"chainId":${name(output.chainId)},"payments":${list(output.payments, (payment) => paymentText(payment, words))},` +
    `"calls":${list(output.calls, (call) => `"${call}"`)},"deadline":${output.deadline},"extraData":"${output.extraData}"},` +
    `"fees":${list(order.fees, (fee) => feeText(fee, words))}}`
  );
}

function inputText<Amount>(
  { payment, refunds }: OrderIn<Amount>["inputs"][number],
  words: OrderWords<Amount>,
): string {
  const { name, amount } = words;
  return (
    `{"payment":{"chainId":${name(payment.chainId)},"currency":"${payment.currency}","amount":${amount(payment.amount)},` +
    `"weight":${amount(payment.weight)}},"refunds":${list(refunds, (refund) => refundText(refund, words))}}`
  );
}

function refundText<Amount>(
  refund: OrderIn<Amount>["inputs"][number]["refunds"][number],
  { name, amount }: OrderWords<Amount>,
): string {
  return (
    `{"chainId":${name(refund.chainId)},"recipient":"${refund.recipient}","currency":"${refund.currency}",` +
    `"minimumAmount":${amount(refund.minimumAmount)},"deadline":${refund.deadline},"extraData":"${refund.extraData}"}`
  );
}

function paymentText<Amount>(
  payment: OrderIn<Amount>["output"]["payments"][number],
  { amount }: OrderWords<Amount>,
): string {
  return (
    `{"recipient":"${payment.recipient}","currency":"${payment.currency}",` +
    `"minimumAmount":${amount(payment.minimumAmount)},"expectedAmount":${amount(payment.expectedAmount)}}`
  );
}

function feeText<Amount>(fee: OrderIn<Amount>["fees"][number], { name, amount }: OrderWords<Amount>): string {
  return (
    `{"recipientChainId":${name(fee.recipientChainId)},"recipient":"${fee.recipient}",` +
    `"currencyChainId":${name(fee.currencyChainId)},"currency":"${fee.currency}","amount":${amount(fee.amount)}}`
  );
}

function list<Item>(items: readonly Item[], write: (item: Item) => string): string {
  let text = "";
  for (const item of items) text += text === "" ? write(item) : `,${write(item)}`;
  return `[${text}]`;
}
