import { errorCodes, ServiceError } from "@causeway/domain";
import { errorBody } from "@causeway/wire";
import { expect, test } from "vitest";
import { answerFor } from "./error-map.ts";

test("every code has a complete body whose statusCode repeats the HTTP status", () => {
  for (const code of errorCodes) {
    const { status, body } = answerFor(new ServiceError(code, "why"));
    expect(errorBody.safeParse(body).success).toBe(true);
    expect(body).toMatchObject({ errorCode: code, statusCode: status });
    expect(status).toBeGreaterThanOrEqual(400);
  }
});

test("marks every 429, every 5xx and only some 409s as retryable, and sends Retry-After with all of them except 500", () => {
  for (const code of errorCodes) {
    const error = new ServiceError(code, "why");
    const { status, headers } = answerFor(error);
    // A conflict may be temporary, like a call in progress, or permanent.
    if (status !== 409) expect([code, error.retryable]).toEqual([code, status === 429 || status >= 500]);
    expect([code, headers["retry-after"] !== undefined]).toEqual([code, error.retryable && status !== 500]);
  }
});

test("reports when a retry may succeed, if known", () => {
  const error = new ServiceError("RATE_LIMITED", "too many", { retryAfterSeconds: 42 });
  expect(answerFor(error).headers).toEqual({ "retry-after": "42" });
});

test.for([
  ["an error", new Error("secret")],
  ["a string", "secret"],
  ["nothing", undefined],
  ["a look-alike", { code: "FORBIDDEN", statusCode: 403, message: "secret" }],
])("an unexpected %s is a 500 without its message", ([, thrown]) => {
  expect(answerFor(thrown)).toMatchObject({
    status: 500,
    unexpected: true,
    body: { message: "internal error", errorCode: "UNKNOWN_ERROR", statusCode: 500 },
  });
});

test("ignores a status that a library puts on its error", () => {
  const error = Object.assign(new Error("secret"), { statusCode: 404, code: "ENOENT" });
  expect(answerFor(error).status).toBe(500);
});
