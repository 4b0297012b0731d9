import { expect, onTestFinished, test, vi } from "vitest";
import { converse } from "./socket-conversation.route.ts";

function aConversation() {
  const sent: string[] = [];
  const closed: string[] = [];
  const followed: string[] = [];
  const { receive } = converse(
    {
      policy: {
        maxConnections: 1,
        maxPerAddress: 1,
        maxSubscriptions: 50,
        heartbeatMs: 1_000,
        trustProxy: false,
      },
      sockets: { sockets: 0, streams: 0, subscriptions: 0, messages: 0, closed: 0 },
      clock: { nowMs: () => Date.now() },
      follow: async (requestId) => {
        followed.push(requestId);
        return () => undefined;
      },
      followKey: () => () => undefined,
    },
    {
      takeFrame: () => true,
      send: (frame) => void sent.push(frame),
      close: ({ reason }) => void closed.push(reason),
    },
    undefined,
  );
  const subscribe = (byte: string) =>
    receive(
      JSON.stringify({
        type: "subscribe",
        event: "request.status.updated",
        filters: { id: `0x${byte.repeat(32)}` },
      }),
    );
  return { sent, closed, followed, receive, subscribe };
}

function controlledTime() {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: 10_000_000 });
  onTestFinished(() => void vi.useRealTimers());
}

test("answers the same subscription at most ten times in ten seconds, without limiting other subscriptions", () => {
  controlledTime();
  const { sent, followed, subscribe } = aConversation();
  for (let n = 0; n < 15; n++) subscribe("a1");
  expect(followed).toHaveLength(10);
  expect(sent).toHaveLength(5);
  expect(sent[0]).toContain("RATE_LIMITED");
  subscribe("b2");
  expect(followed).toHaveLength(11);
  vi.advanceTimersByTime(10_001);
  subscribe("a1");
  expect(followed).toHaveLength(12);
});

test("answers only the unsubscribe if it arrives before the subscription is answered", async () => {
  const { sent, closed, receive, subscribe } = aConversation();
  subscribe("a1");
  const filters = { id: `0x${"a1".repeat(32)}` };
  receive(JSON.stringify({ type: "unsubscribe", event: "request.status.updated", filters }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent.map((frame) => JSON.parse(frame) as unknown)).toEqual([
    { type: "unsubscribe", status: "success", data: { event: "request.status.updated", filters } },
  ]);
  expect(closed).toEqual([]);
});

test("a wall clock that is set back does not merge frames of different windows", () => {
  controlledTime();
  const { closed, receive } = aConversation();
  for (let n = 0; n < 400; n++) receive("{");
  vi.setSystemTime(1_000_000);
  vi.advanceTimersByTime(10_001);
  for (let n = 0; n < 400; n++) receive("{");
  expect(closed).toEqual([]);
  for (let n = 0; n < 101; n++) receive("{");
  expect(closed).toEqual(["too many frames"]);
});
