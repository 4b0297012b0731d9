import { expect, test } from "vitest";
import { unsentBytes } from "./unsent-bytes.route.ts";

function testBytes(bounds: Partial<Parameters<typeof unsentBytes>[0]> = {}) {
  let nowMs = 0;
  const bytes = unsentBytes<string>(
    { perSocket: 65_536, total: 200_000, stalledMs: 30_000, ...bounds },
    () => nowMs,
  );
  return { ...bytes, forward: (ms: number) => void (nowMs += ms) };
}

test("ends a socket with more than 64 kB unsent", () => {
  const { note } = testBytes();
  expect(note("a", 65_536)).toEqual([]);
  expect(note("a", 65_537)).toEqual(["a"]);
});

test("above the limit of all sockets together, ends the fullest ones first", () => {
  const { note, forget } = testBytes();
  for (const [socket, bytes] of [
    ["a", 60_000],
    ["b", 65_000],
    ["c", 50_000],
    ["d", 25_000],
  ] as const)
    expect(note(socket, bytes)).toEqual([]);
  expect(note("e", 1)).toEqual(["b"]);
  expect(note("e", 60_001)).toEqual([]);
  expect(note("f", 10_000)).toEqual(["e"]);
  // Sent or dropped bytes no longer count.
  expect(note("a", 0)).toEqual([]);
  forget("c");
  expect(note("g", 65_536)).toEqual([]);
  expect(note("h", 65_536)).toEqual([]);
  expect(note("i", 33_928)).toEqual([]);
  expect(note("j", 1)).toEqual(["g"]);
});

test("a socket that reads nothing for 30 s while bytes are buffered is stalled; a socket that reads some is not", () => {
  const { note, forget, findStalled, forward } = testBytes();
  note("silent", 100);
  note("slow", 100);
  note("gone", 100);
  forward(20_000);
  note("silent", 200);
  note("slow", 50);
  forget("gone");
  forward(9_999);
  expect(findStalled()).toEqual([]);
  forward(1);
  expect(findStalled()).toEqual(["silent"]);
  note("silent", 0);
  note("silent", 10);
  forward(20_000);
  expect(findStalled()).toEqual(["slow"]);
});
