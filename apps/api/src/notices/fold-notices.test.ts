import { expect, test } from "vitest";
import { foldNotices, MAX_MESSAGES, REPEAT_MS } from "./fold-notices.ts";
import type { Finding, NoticeState, StoredAlarm } from "./notices.port.ts";

const NOW_MS = 10_000_000;
let ids = 0;
const alarm = (subject: string, facts: Partial<StoredAlarm> = {}): StoredAlarm => ({
  id: ++ids,
  rule: "fill_waits",
  subject,
  severity: "warning",
  text: `fill_waits: ${subject}`,
  atMs: NOW_MS,
  ...facts,
});
const nodeFinding = (isOpen: boolean): Finding => ({
  rule: "node_away",
  subject: "base",
  severity: "critical",
  isOpen,
  text: isOpen ? "unreachable" : "recovered",
});

interface Input {
  readonly alarms?: readonly StoredAlarm[];
  readonly findings?: readonly Finding[];
  readonly states?: readonly NoticeState[];
  readonly sent?: number;
}
const fold = (input: Input, nowMs = NOW_MS) =>
  foldNotices({ alarms: [], findings: [], states: [], sent: 0, ...input }, nowMs);
const summaries = (input: Input, nowMs = NOW_MS) =>
  fold(input, nowMs)?.messages.map(({ subject, status, count }) => [subject, status, count]);

test("an alarm about one request does not hide the same alarm about another", () => {
  const states = fold({ alarms: [alarm("requestId 0x01")] })?.states ?? [];
  const alarms = [alarm("requestId 0x01"), alarm("requestId 0x02")];
  expect(summaries({ alarms, states }, NOW_MS + 1_000)).toEqual([["requestId 0x02", "raised", 1]]);
});

test("the same alarm is one message an hour, with the number of occurrences in between", () => {
  const first = fold({ alarms: [alarm("a"), alarm("a")] });
  expect(first?.messages).toMatchObject([{ count: 2, status: "raised" }]);
  const second = fold({ alarms: [alarm("a")], states: first?.states ?? [] }, NOW_MS + 1_000);
  expect(second?.messages).toEqual([]);
  expect(summaries({ alarms: [alarm("a")], states: second?.states ?? [] }, NOW_MS + REPEAT_MS)).toEqual([
    ["a", "raised", 2],
  ]);
});

test("a condition is one message when it begins and one when it has ended", () => {
  const begun = fold({ findings: [nodeFinding(true)] });
  expect(begun?.messages).toMatchObject([{ status: "raised", severity: "critical" }]);
  const lasting = fold({ findings: [nodeFinding(true)], states: begun?.states ?? [] }, NOW_MS + 5_000);
  expect(lasting?.messages).toEqual([]);
  const states = lasting?.states ?? [];
  // Another process may still see it.
  expect(summaries({ findings: [nodeFinding(false)], states }, NOW_MS + 10_000)).toEqual([]);
  const ended = fold({ findings: [nodeFinding(false)], states }, NOW_MS + 65_000);
  expect(ended?.messages).toMatchObject([{ status: "resolved", text: "recovered" }]);
  expect(ended?.ended).toEqual([{ rule: "node_away", subject: "base" }]);
});

test("a condition that no process can check any longer does not end", () => {
  const states = fold({ findings: [nodeFinding(true)] })?.states ?? [];
  expect(fold({ states }, NOW_MS + REPEAT_MS)).toEqual({ messages: [], states: [], ended: [] });
});

test("a condition that never began causes no message", () => {
  expect(summaries({ findings: [nodeFinding(false)] })).toEqual([]);
});

test("beyond the limit, critical messages come first, and one digest names the rest", () => {
  const alarms = [
    ...Array.from({ length: 30 }, (_, index) => alarm(`request ${index}`)),
    alarm("lost", { rule: "payment_unrecorded", severity: "critical" }),
  ];
  const messages = fold({ alarms })?.messages ?? [];
  expect(messages).toHaveLength(MAX_MESSAGES);
  expect(messages[0]).toMatchObject({ rule: "payment_unrecorded" });
  expect(messages.at(-1)).toMatchObject({ status: "digest", count: 12 });
  expect(messages.at(-1)?.text).toContain(
    "12 more notices: fill_waits ×12. The first of them: fill_waits: request",
  );
});

test("with one message left everything is in the digest, and with none everything waits", () => {
  const alarms = [alarm("a"), alarm("b", { severity: "critical" })];
  expect(fold({ alarms, sent: MAX_MESSAGES - 1 })?.messages).toMatchObject([
    { status: "digest", severity: "critical", count: 2 },
  ]);
  expect(fold({ alarms, sent: MAX_MESSAGES })).toBeUndefined();
});
