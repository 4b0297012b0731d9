import { ServiceError } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { KNOWN_REQUEST_ID } from "../../../../test/fakes/route-services.ts";
import { aServer } from "../../../../test/support/route-server.ts";

type Overrides = NonNullable<Parameters<typeof aServer>[0]>;
const servers: { close(): Promise<void> }[] = [];
afterAll(async () => void (await Promise.all(servers.map(async (app) => await app.close()))));

const requestId = KNOWN_REQUEST_ID;
const signature = `0x${"ab".repeat(65)}`;

async function post(body: unknown, overrides: Overrides = {}, query = `signature=${signature}`) {
  const { app } = await aServer(overrides);
  servers.push(app);
  return await app.inject({ method: "POST", url: `/execute/permits?${query}`, payload: body as object });
}

test("passes the signature of a quote to the use case without an API key, and answers with its request", async () => {
  const posted: unknown[] = [];
  const executePermit: Overrides["executePermit"] = async (permit) => void posted.push(permit);
  for (const kind of ["eip3009", "eip2612", "permit2"]) {
    const body = {
      kind,
      requestId: requestId.toUpperCase().replace("0X", "0x"),
      api: "bridge",
      referrer: "a",
    };
    const answer = await post(
      body,
      { executePermit },
      `signature=${signature.toUpperCase().replace("0X", "0x")}`,
    );
    expect([answer.statusCode, answer.json()]).toEqual([200, { message: "Signature accepted", requestId }]);
    expect(posted.at(-1)).toEqual({ kind, requestId, signature });
  }
});

test("never uses a claim's signature for a quote, or a quote's signature for a claim", async () => {
  const reached: string[] = [];
  const overrides: Overrides = {
    executePermit: async () => void reached.push("quote"),
    acceptClaim: async () => void reached.push("claim"),
  };
  for (const kind of ["claim", "request", "eip3009"]) await post({ kind, requestId }, overrides);
  expect(reached).toEqual(["claim", "claim", "quote"]);
  const unknown = await post({ kind: "typed", requestId }, overrides);
  expect(unknown.json()).toMatchObject({ statusCode: 400, errorCode: "UNSUPPORTED_EXECUTION_TYPE" });
  expect(reached).toHaveLength(3);
});

test("answers a failure with its status, code and data", async () => {
  const failing = (error: ServiceError): Overrides => ({
    executePermit: async () => {
      throw error;
    },
  });
  const low = new ServiceError("PERMIT_FAILED", "the user has 1 of the token", {
    requestId,
    data: { reason: "GASLESS_PERMIT_BALANCE_TOO_LOW", balance: "1", required: "2" },
  });
  const answer = await post({ kind: "permit2", requestId }, failing(low));
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toEqual({
    message: "the user has 1 of the token",
    errorCode: "PERMIT_FAILED",
    errorData: { reason: "GASLESS_PERMIT_BALANCE_TOO_LOW", balance: "1", required: "2" },
    requestId,
    statusCode: 400,
    error: "Bad Request",
  });
  const spent = new ServiceError(
    "SERVICE_UNAVAILABLE",
    "The daily budget for submitting signatures is used up",
  );
  expect((await post({ kind: "permit2", requestId }, failing(spent))).statusCode).toBe(503);
});

test("refuses a missing signature or an invalid body before calling the use case", async () => {
  const executePermit: Overrides["executePermit"] = () =>
    Promise.reject(new Error("the use case was called"));
  for (const [body, query] of [
    [{ kind: "permit2", requestId }, ""],
    [{ kind: "permit2", requestId }, "signature=zz"],
    [{ kind: "permit2", requestId: "0x12" }, undefined],
    [{ requestId }, undefined],
    [[], undefined],
  ] as const)
    expect((await post(body, { executePermit }, query)).statusCode).toBe(400);
});
