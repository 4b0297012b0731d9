import { ServiceError, type ErrorCode } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { KNOWN_REQUEST_ID } from "../../../../../test/fakes/route-services.ts";
import { aServer } from "../../../../../test/support/route-server.ts";
import type { NonceAuthorization } from "../../chains/nonce-mappings.port.ts";

type Overrides = NonNullable<Parameters<typeof aServer>[0]>;
const servers: { close(): Promise<void> }[] = [];
afterAll(async () => void (await Promise.all(servers.map(async (app) => await app.close()))));

const signature = `0x${"ab".repeat(65)}`;
const body = {
  type: "nonce-mapping",
  walletChainId: 1337,
  wallet: `0x${"Ab".repeat(20)}`,
  depositor: `0x${"aB".repeat(20)}`,
  nonce: 1_763_000_000_123,
  id: `0x${"0D".repeat(32)}`,
  signatureChainId: 42161,
};

async function post(payload: unknown, overrides: Overrides = {}, query = `signature=${signature}`) {
  const { app } = await aServer(overrides);
  servers.push(app);
  return await app.inject({ method: "POST", url: `/authorize?${query}`, payload: payload as object });
}

async function authorizationFrom(payload: unknown, query?: string): Promise<NonceAuthorization | undefined> {
  let authorization: NonceAuthorization | undefined;
  const authorizeNonce: Overrides["authorizeNonce"] = async (received) => {
    authorization = received;
    return KNOWN_REQUEST_ID;
  };
  const answer = await post(payload, { authorizeNonce }, query);
  if (answer.statusCode === 200)
    expect(answer.json()).toEqual({ message: "Authorization accepted", requestId: KNOWN_REQUEST_ID });
  return authorization;
}

test("normalizes the signed mapping, requires no API key, and returns the id of its request", async () => {
  const authorization = {
    walletChainId: 1337,
    wallet: `0x${"ab".repeat(20)}`,
    depositor: `0x${"ab".repeat(20)}`,
    nonce: 1_763_000_000_123n,
    id: `0x${"0d".repeat(32)}`,
    signatureChainId: 42161,
    signature,
  };
  expect(await authorizationFrom(body)).toEqual(authorization);
  const upper = `signature=${signature.toUpperCase().replace("0X", "0x")}`;
  const asText = { ...body, nonce: "1763000000123", signatureChainId: "42161", referrer: "app" };
  expect(await authorizationFrom(asText, upper)).toEqual(authorization);
  const { signatureChainId: _, ...without } = body;
  expect((await authorizationFrom(without))?.signatureChainId).toBe(1);
});

test.each<[string, unknown, string]>([
  ["another type", { ...body, type: "transfer" }, "type"],
  ["a chain id as text", { ...body, walletChainId: "1337" }, "walletChainId"],
  ["a wallet cut short", { ...body, wallet: "0xab" }, "wallet"],
  ["no depositor", { ...body, depositor: undefined }, "depositor"],
  ["a fractional nonce", { ...body, nonce: 1.5 }, "nonce"],
  ["a negative nonce", { ...body, nonce: -1 }, "nonce"],
  ["a nonce in hex", { ...body, nonce: "0x12" }, "nonce"],
  ["a nonce that a number cannot hold", { ...body, nonce: 2 ** 60 }, "nonce"],
  ["an id cut short", { ...body, id: "0x0d" }, "id"],
  ["no chain of the signature", { ...body, signatureChainId: 0 }, "signatureChainId"],
  ["a fractional chain id of the signature", { ...body, signatureChainId: "1.5" }, "signatureChainId"],
  ["a list", [], "body"],
])("refuses %s with 400", async (_what, payload, field) => {
  const answer = await post(payload);
  expect(answer.json()).toMatchObject({ statusCode: 400, errorCode: "INVALID_REQUEST" });
  expect(answer.json().message).toContain(field);
});

test.each(["", "signature=0x", `signature=${signature}00`, `signature=${signature}&signature=${signature}`])(
  "refuses the query %j with 400",
  async (query) => {
    const answer = await post(body, {}, query);
    expect(answer.json()).toMatchObject({ statusCode: 400, errorCode: "INVALID_REQUEST" });
    expect(answer.json().message).toContain("signature");
  },
);

test.each<[ErrorCode, number]>([
  ["INVALID_REQUEST", 400],
  ["UNSUPPORTED_CHAIN", 400],
  ["NONCE_TAKEN", 409],
])("reports %s with %d and a message for the client", async (code, status) => {
  const answer = await post(body, {
    authorizeNonce: async () => {
      throw new ServiceError(code, "wallet is not the user of the quote with this id", { field: "wallet" });
    },
  });
  expect(answer.json()).toMatchObject({
    statusCode: status,
    errorCode: code,
    message: "wallet is not the user of the quote with this id",
  });
});
