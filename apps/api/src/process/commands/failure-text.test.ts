import { RpcFault } from "@causeway/chains";
import { expect, test } from "vitest";
import { failureText } from "./failure-text.ts";

const withFacts = (error: Error, facts: object): Error => Object.assign(error, facts);

test.for([
  [
    "one address",
    withFacts(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" }),
    "ECONNREFUSED",
  ],
  ["two addresses", withFacts(new AggregateError([], ""), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
  ["an unknown host", withFacts(new Error("getaddrinfo ENOTFOUND db"), { code: "ENOTFOUND" }), "ENOTFOUND"],
  [
    "a missing socket",
    withFacts(new Error("connect ENOENT"), { code: "ENOENT", address: "/run/pg" }),
    "ENOENT",
  ],
  [
    "a full pool",
    new Error("timeout exceeded when trying to connect"),
    "timeout exceeded when trying to connect",
  ],
] as const)("reports an unreachable database with the reason: %s", ([, error, why]) => {
  expect(failureText(error)).toBe(`the database could not be reached: ${why}`);
  expect(failureText(error, "the database could not be read: ")).toBe(
    `the database could not be reached: ${why}`,
  );
});

test("does not report a missing file or an unreachable node as a database error", () => {
  const file = withFacts(new Error("ENOENT: no such file"), { code: "ENOENT", path: "/archive" });
  expect(failureText(file)).toBe("ENOENT: no such file");
  const cause = withFacts(new Error("connect"), { code: "ECONNREFUSED" });
  const node = new RpcFault({ kind: "network", method: "eth_call", reason: "request failed", cause });
  expect(failureText(node)).toBe("eth_call: request failed");
  expect(failureText("odd", "the database could not be read: ")).toBe("the database could not be read: odd");
});
