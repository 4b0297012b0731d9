import { RpcFault } from "@causeway/chains";
import { expect, test } from "vitest";
import { createFaultPauses } from "./fault-pause.job.ts";

const limited = new RpcFault({ kind: "http", method: "txDetails", reason: "HTTP status 429: " });
const broken = new RpcFault({ kind: "network", method: "txDetails", reason: "connection refused" });

test("doubles the pause after repeated HTTP errors up to a minute, and starts again after a success", () => {
  const pauses = createFaultPauses(() => 0);
  expect(Array.from({ length: 9 }, () => pauses.after(limited))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
  pauses.reset();
  expect(pauses.after(limited)).toBe(500);
});

test("doubles the pause when an HTTP error is only the cause of the fault", () => {
  const pauses = createFaultPauses(() => 0);
  const round = new Error("maintenance failed for 2 payments", { cause: limited });
  expect([pauses.after(round), pauses.after(round)]).toEqual([500, 1_000]);
});

test("retries after any other fault at the first pause", () => {
  const pauses = createFaultPauses(() => 0);
  for (const fault of [broken, broken, new Error("the database is unreachable"), undefined])
    expect(pauses.after(fault)).toBe(500);
});

test("shortens a doubled pause by up to a fifth, never below the first one", () => {
  const pauses = createFaultPauses(() => 0.999_999);
  expect([pauses.after(limited), pauses.after(limited), pauses.after(limited)]).toEqual([500, 800, 1_600]);
});
