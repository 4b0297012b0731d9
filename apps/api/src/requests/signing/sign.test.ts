import { rawKeySigner, SignerUnavailable, type Signer } from "@causeway/attest";
import { orderToJson, requestAttestationFacts, type Order } from "@causeway/domain";
import { createHttpServer, createLogger, createMetrics } from "@causeway/service-kit";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { aQuoteInput, quoteWorld } from "../../../../../test/fakes/quote-world.ts";
import { withTypes } from "../../http/typed.route.ts";
import { createQuote } from "../../quotes/create-quote.ts";
import { keyOrderSigner } from "./key-order-signer.ts";
import { orderSignerClient } from "./order-signer-client.adapter.ts";
import { signRoutes } from "./sign.route.ts";

const solver = rawKeySigner(`0x${"42".repeat(32)}`);
const stranger = rawKeySigner(`0x${"43".repeat(32)}`);
const token = "t".repeat(32);

const world = { ...quoteWorld(), solver: solver.address };
await createQuote(world, aQuoteInput({}));
const [terms] = world.stored;
if (terms === undefined) throw new Error("nothing was quoted");
const order: Order = terms.order;
const facts = requestAttestationFacts(terms);

async function signerProcess(signer: Signer = solver) {
  const services = { log: createLogger({ name: "test", level: "silent" }), metrics: createMetrics("test") };
  const description = { title: "", version: "1", description: "", tags: [] };
  const server = await createHttpServer(services, description, { interactiveDocumentation: false });
  signRoutes(withTypes(server), { orderSigner: keyOrderSigner(signer), solver: solver.address, token });
  return server;
}

/** The client over the routes of a signer process. */
async function client(signer?: Signer, withToken = token) {
  const server = await signerProcess(signer);
  const call = async ({
    method,
    path,
    headers,
    body,
  }: Parameters<Parameters<typeof orderSignerClient>[0]["call"]>[0]) => {
    const answer = await server.inject({
      method,
      url: path,
      headers: { ...headers },
      payload: body as object,
    });
    if (answer.statusCode !== 200) throw new SignerUnavailable("refused");
    return answer.json<unknown>();
  };
  return orderSignerClient({ call }, solver.address, withToken);
}

async function post(path: string, payload: object): Promise<{ code: number; message: string | undefined }> {
  const server = await signerProcess();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await server.inject({ method: "POST", url: path, headers, payload });
  return { code: answer.statusCode, message: answer.json<{ message?: string }>().message };
}

test("the signer process signs what the key itself would", async () => {
  const remote = await client();
  const local = keyOrderSigner(solver);
  expect(await remote.signOrder(order)).toEqual(await local.signOrder(order));
  for (const layout of ["v1", "v2"] as const)
    expect(await remote.signRequest(layout, facts)).toBe(await local.signRequest(layout, facts));
});

test("a signature by another key, and one over another order, is not passed on", async () => {
  const lying = await client({ address: solver.address, signDigest: stranger.signDigest });
  await expect(lying.signOrder(order)).rejects.toMatchObject({ fault: "bad-answer" });
  await expect(lying.signRequest("v1", facts)).rejects.toMatchObject({ fault: "bad-answer" });
  const otherSignatures = await keyOrderSigner(solver).signOrder({ ...order, salt: `0x${"01".repeat(32)}` });
  const replaying = orderSignerClient({ call: async () => otherSignatures }, solver.address, undefined);
  await expect(replaying.signOrder(order)).rejects.toMatchObject({ fault: "bad-answer" });
});

test("without the token nothing is signed", async () => {
  await expect((await client(solver, "wrong")).signOrder(order)).rejects.toThrow(SignerUnavailable);
});

test.each([
  "/v1/orders",
  "/v%31/orders",
  "/%76%31/%6frders",
  "/v1/orders?a=/health",
  "http://signer.test/v1/orders",
  "http://signer.test/v%31/orders",
])("an order is not signed without the token, however its path is written: %s", async (path) => {
  const server = await signerProcess();
  await server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const statusWith = async (headers: Record<string, string>): Promise<number | undefined> => {
    const options = { host: "127.0.0.1", port, method: "POST", path, agent: false };
    const sent = request({ ...options, headers: { ...headers, "content-type": "application/json" } });
    sent.end(JSON.stringify({ order: orderToJson(order) }));
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  expect([401, 404]).toContain(await statusWith({}));
  await server.close();
});

test("signs no order of another solver, no incomplete order and no bare hash", async () => {
  const json = orderToJson(order);
  expect(await post("/v1/orders", { order: json })).toMatchObject({ code: 200 });
  expect(await post("/v1/orders", { order: { ...json, solver: stranger.address } })).toMatchObject({
    code: 400,
    message: `solver must be ${solver.address}, got ${stranger.address}`,
  });
  expect(await post("/v1/orders", { order: { ...json, version: "v2" } })).toMatchObject({ code: 400 });
  expect(await post("/v1/orders", { order: { ...json, fees: undefined } })).toMatchObject({ code: 400 });
  for (const hash of [terms.orderId, { orderId: terms.orderId }, { digest: terms.orderId }])
    expect(await post("/v1/orders", { order: hash })).toMatchObject({ code: 400 });
  const factsJson = { ...facts, originAmount: facts.originAmount.toString() };
  expect(await post("/v1/requests", { layout: "v1", facts: factsJson })).toMatchObject({ code: 200 });
  expect(await post("/v1/requests", { layout: "v3", facts: factsJson })).toMatchObject({ code: 400 });
  expect(
    await post("/v1/requests", {
      layout: "v1",
      facts: { ...factsJson, originAmount: (2n ** 256n).toString() },
    }),
  ).toMatchObject({ code: 400 });
  for (const path of ["/v1/digests", "/v1/transactions", "/v1/messages"])
    expect(await post(path, { digest: terms.orderId })).toMatchObject({ code: 404 });
});
