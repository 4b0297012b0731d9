import { expect, test } from "vitest";
import { countAlarms } from "./log-events.ts";

test("warnings and faults are counted by their event, with the reason of a fault but not its ids", () => {
  const log = [
    '{"level":30,"event":"deposit_seen"}',
    '{"level":40,"event":"slot_unmined","nonce":1}',
    '{"level":40,"event":"slot_unmined","nonce":2}',
    '{"level":50,"event":"chain_fault","err":{"message":"block 123456 0xabc is gone"}}',
    '{"level":50,"event":"chain_fault","err":{"message":"block 123457 0xabd is gone"}}',
    '{"level":50,"event":"half a li',
    "Error: plain text",
  ].join("\n");
  expect([...countAlarms(log)]).toEqual([
    ["slot_unmined", 2],
    ["chain_fault: block … … is gone", 2],
  ]);
});
