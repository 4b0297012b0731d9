import { expect, test } from "vitest";
import { limitWrongKeys } from "./wrong-keys.ts";

test("blocks only the address that sent 30 wrong keys, until the minute is over", () => {
  let nowMs = 0;
  const wrong = limitWrongKeys(() => nowMs);
  for (let n = 0; n < 30; n++) {
    expect(() => wrong.check("198.51.100.7")).not.toThrow();
    wrong.count("198.51.100.7");
  }
  nowMs = 20_000;
  expect(() => wrong.check("198.51.100.7")).toThrow(
    expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 40 }),
  );
  expect(() => wrong.check("198.51.100.8")).not.toThrow();
  nowMs = 60_000;
  expect(() => wrong.check("198.51.100.7")).not.toThrow();
});

test("counts the addresses of one IPv6 /64 together", () => {
  const wrong = limitWrongKeys(() => 0);
  for (let n = 1; n <= 30; n++) wrong.count(`2001:db8:0:1::${n.toString(16)}`);
  expect(() => wrong.check("2001:DB8:0:1:ffff:ffff:ffff:ffff")).toThrow("wrong keys");
  expect(() => wrong.check("2001:db8:0:2::1")).not.toThrow();
  expect(() => wrong.check("2001:db8::1")).not.toThrow();
});
