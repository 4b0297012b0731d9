import { expect, test } from "vitest";
import { noticeBody } from "./notice-body.ts";
import { subjectOf, textOf } from "./notice-text.ts";

const message = {
  rule: "fill_waits",
  subject: "requestId 0x01",
  status: "raised",
  severity: "warning",
  text: "fill_waits: why <!channel> & more",
  count: 3,
  atMs: 5,
} as const;

test("JSON has the fields that a receiver needs to deduplicate and route", () => {
  expect(JSON.parse(noticeBody(7, message, { format: "json", environment: "prod" }))).toEqual({
    event: "causeway.notice",
    id: 7,
    environment: "prod",
    status: "raised",
    severity: "warning",
    rule: "fill_waits",
    subject: "requestId 0x01",
    text: "fill_waits: why <!channel> & more",
    count: 3,
    timestamp: 5,
  });
});

test("Slack gets one line, in which facts cannot mention anyone", () => {
  const body = JSON.parse(noticeBody(7, message, { format: "slack", environment: "prod" })) as object;
  expect(body).toEqual({ text: "[prod] *warning*: fill_waits: why &lt;!channel&gt; &amp; more (×3)" });
});

test("the subject identifies the request, and the text has no credential", () => {
  const facts = {
    requestId: "0x01",
    chain: "base",
    waitedMs: 500,
    why: "https://rpc.example/v2/secret-key failed",
    amount: 5n,
  };
  expect(subjectOf(facts)).toBe("requestId 0x01, chain base");
  expect(subjectOf({ ...facts, waitedMs: 900, why: "other" })).toBe(subjectOf(facts));
  expect(textOf("fill_waits", facts)).toBe(
    "fill_waits: requestId 0x01, chain base, waitedMs 500, why https://rpc.example/[secret] failed, amount 5",
  );
});
