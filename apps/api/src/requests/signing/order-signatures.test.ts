import { rawKeySigner } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { quoteAnswer } from "@causeway/wire";
import { hashTypedData, recoverTypedDataAddress, verifyMessage, verifyTypedData } from "viem";
import type { Address, TypedDataDefinition } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { expect, test } from "vitest";
import { aQuoteInput, quoteWorld } from "../../../../../test/fakes/quote-world.ts";
import { keyOrderSigner } from "./key-order-signer.ts";
import { createQuote } from "../../quotes/create-quote.ts";

/** The response as a client reads it: JSON, with amounts as strings. */
async function quotedProtocol(includeProtocolData: boolean) {
  const signer = rawKeySigner(generatePrivateKey());
  const services = {
    ...quoteWorld(),
    solver: signer.address,
    ...keyOrderSigner(signer),
  };
  const answer = await createQuote(services, aQuoteInput({ includeProtocolData }));
  return quoteAnswer.parse(JSON.parse(JSON.stringify(answer))).protocol.v2;
}

/** Built from the response only. */
function typedData({ orderData, orderTypedSignature }: Awaited<ReturnType<typeof quotedProtocol>>) {
  if (orderTypedSignature === undefined) throw new Error("the order is not signed");
  const { signature, ...fields } = orderTypedSignature;
  return {
    ...fields,
    message: orderData,
    signature: signature as Hex32,
  } as unknown as TypedDataDefinition & {
    signature: Hex32;
  };
}

test("a client can verify the solver's EIP-712 signature over an order with the response alone", async () => {
  const response = await quotedProtocol(true);
  const { signature, ...data } = typedData(response);
  const solver = response.orderData.solver as Address;
  expect(await verifyTypedData({ ...data, signature, address: solver })).toBe(true);
  const message = { ...response.orderData, salt: `0x${"11".repeat(32)}` };
  expect(await verifyTypedData({ ...data, message, signature, address: solver } as never)).toBe(false);
  expect((await recoverTypedDataAddress({ ...data, signature } as never)).toLowerCase()).toBe(solver);
  expect(hashTypedData(data)).not.toBe(response.orderId);
});

test("the response also contains the oracle form, a signature over the raw bytes of the order id", async () => {
  const { orderSignature, orderData, orderId } = await quotedProtocol(true);
  const message = { raw: orderId as Hex32 };
  const address = orderData.solver as Address;
  expect(await verifyMessage({ address, message, signature: orderSignature as Hex32 })).toBe(true);
});

test("an order is signed only on request", async () => {
  const { orderSignature, orderTypedSignature } = await quotedProtocol(false);
  expect([orderSignature, orderTypedSignature]).toEqual([undefined, undefined]);
});
