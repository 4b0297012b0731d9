import { expect, test } from "vitest";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import { reportUnrequestedLogs } from "./unrequested-logs.adapter.ts";

test("a node that keeps sending unrequested logs is reported once, and again at ten times as many", () => {
  const events = recordedEvents();
  const report = reportUnrequestedLogs(events, "local-a");
  for (let answer = 0; answer < 30; answer++) report(3);
  expect(events.of("logs_not_asked").map(({ facts }) => facts["total"])).toEqual([3, 12]);
});
