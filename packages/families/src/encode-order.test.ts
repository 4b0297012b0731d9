import { expect, test } from "vitest";
import vector from "../../../test/fixtures/orders/order-04-calls-fees.json" with { type: "json" };
import { orderIdOf, ServiceError, type OrderJson, type VmType } from "@causeway/domain";
import { encodeAddress } from "./address.ts";
import { encodeOrder } from "./encode-order.ts";

const families: Record<string, VmType> = {
  ethereum: "ethereum-vm",
  base: "ethereum-vm",
  solana: "solana-vm",
  bitcoin: "bitcoin-vm",
  tron: "tron-vm",
};
const familyOf = (chain: string): VmType => {
  const vm = families[chain];
  if (vm === undefined) throw new ServiceError("UNSUPPORTED_CHAIN", `no chain ${chain}`);
  return vm;
};

const json = vector.input.order as OrderJson;
const solana = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const bitcoin = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq";
const tron = "TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN";

test("an order between EVM chains keeps its id", () => {
  expect(orderIdOf(encodeOrder(json, familyOf))).toBe(vector.output.orderId);
});

test("encodes every address by the family of its own chain", () => {
  const [input] = json.inputs;
  const [refund] = input!.refunds;
  const order = encodeOrder(
    {
      ...json,
      inputs: [
        {
          payment: { ...input!.payment, chainId: "solana", currency: solana },
          refunds: [{ ...refund!, chainId: "bitcoin", recipient: bitcoin, currency: bitcoin }],
        },
      ],
      output: {
        ...json.output,
        chainId: "tron",
        payments: [{ ...json.output.payments[0]!, recipient: tron, currency: tron }],
      },
      fees: [
        {
          ...json.fees[0]!,
          recipientChainId: "tron",
          recipient: tron,
          currencyChainId: "solana",
          currency: solana,
        },
      ],
    },
    familyOf,
  );
  const bytes = {
    solana: encodeAddress("solana-vm", solana),
    bitcoin: encodeAddress("bitcoin-vm", bitcoin),
    tron: encodeAddress("tron-vm", tron),
  };
  expect(order.inputs[0]?.payment.currency).toBe(bytes.solana);
  expect(order.inputs[0]?.refunds[0]).toMatchObject({ recipient: bytes.bitcoin, currency: bytes.bitcoin });
  expect(order.output.payments[0]).toMatchObject({ recipient: bytes.tron, currency: bytes.tron });
  expect(order.fees[0]).toMatchObject({ recipient: bytes.tron, currency: bytes.solana });
});

test("refuses an address of another family or an unknown chain, naming the field", () => {
  const refused = (order: OrderJson) => {
    try {
      encodeOrder(order, familyOf);
      return "accepted";
    } catch (error) {
      return error instanceof ServiceError ? `${error.code} ${error.facts.field}` : String(error);
    }
  };
  const [payment] = json.output.payments;
  const output = { ...json.output, payments: [payment!, { ...payment!, recipient: tron }] };
  expect(refused({ ...json, output })).toBe("INVALID_REQUEST output.payments[1].recipient");
  expect(refused({ ...json, fees: [{ ...json.fees[0]!, currency: "0x12" }] })).toBe(
    "INVALID_REQUEST fees[0].currency",
  );
  expect(refused({ ...json, output: { ...json.output, chainId: "moon" } })).toBe(
    "UNSUPPORTED_CHAIN undefined",
  );
});
