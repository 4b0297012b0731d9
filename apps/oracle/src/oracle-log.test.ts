import { RpcFault } from "@causeway/chains";
import { expect, test } from "vitest";
import { redactedErrorFacts } from "./oracle-log.ts";

test("logs an error's type, codes and messages, but no stack or secret at any depth", () => {
  const secrets = ["hunter2-key", "http://node.test/v3/hunter2-path"];
  const fault = new RpcFault({
    kind: "network",
    method: "eth_call",
    reason: "no answer from http://node.test/v3/hunter2-path with hunter2-key",
    cause: new Error("connect to https://user:hunter3@other.test/hunter4?apikey=hunter5"),
  });
  const facts = redactedErrorFacts(secrets)(new Error("failed", { cause: fault }));
  const text = JSON.stringify(facts);
  expect(text).not.toMatch(/hunter|    at |\.ts:/);
  expect(facts).toMatchObject({
    type: "Error",
    message: "failed",
    cause: { type: "RpcFault", kind: "network", method: "eth_call", cause: { type: "Error" } },
  });
});
