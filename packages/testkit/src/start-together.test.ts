import { expect, test } from "vitest";
import { startTogether, stopTogether } from "./start-together.ts";

test("if one part fails, stops the others before it throws the error", async () => {
  const stopped: string[] = [];
  const slow = new Promise<{ stop(): Promise<void> }>((resolve) =>
    setTimeout(() => resolve({ stop: async () => void stopped.push("slow") }), 20),
  );
  const quick = Promise.resolve({ stop: async () => void stopped.push("quick") });
  const broken = Promise.reject(new Error("no port left"));
  await expect(startTogether([slow, broken, quick])).rejects.toThrow("no port left");
  expect(stopped.toSorted()).toEqual(["quick", "slow"]);
});

test("stops the others if one part cannot be stopped", async () => {
  let isStopped = false;
  const stubborn = { stop: async () => await Promise.reject(new Error("stubborn")) };
  const other = { stop: async () => void (isStopped = true) };
  await expect(stopTogether([stubborn, other])).rejects.toThrow("stubborn");
  expect(isStopped).toBe(true);
});
