import type { System } from "@causeway/localnet";
import type { UnexpectedExit } from "@causeway/testkit";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anAddress, startBridging, type Bridging } from "./bridging.ts";
import type { Chain, Client } from "./client.ts";
import { portBaseOf } from "./port-bases.ts";

let system: System;
let api: Client;
let chains: readonly Chain[];
let requestQuote: Bridging["quote"];
let walletOf: Bridging["walletOf"];
let arrived: Bridging["arrived"];
const exits: UnexpectedExit[] = [];

beforeAll(async () => {
  ({
    system,
    api,
    chains,
    quote: requestQuote,
    walletOf,
    arrived,
  } = await startBridging({
    portBase: portBaseOf("shutdown"),
    users: 12,
    onUnexpectedExit: (facts) => void exits.push(facts),
  }));
});
afterAll(async () => await system.stop());

/** Waits until a process exits, and returns its exit code or signal. */
async function endOf(name: string): Promise<UnexpectedExit> {
  await expect.poll(() => exits.find((exit) => exit.name === name), { timeout: 15_000 }).toBeDefined();
  const at = exits.findIndex((exit) => exit.name === name);
  return exits.splice(at, 1)[0] as UnexpectedExit;
}

test("an API that is stopped answers the calls that it accepted, keeps its quotes, and exits with code 0", async () => {
  const [apiProcess] = system.apis;
  if (apiProcess === undefined) throw new Error("the system has no API");
  const recipient = anAddress();
  // Opens as many connections as the test uses.
  await Promise.all(Array.from({ length: 20 }, async (_, at) => await requestQuote(at % 10, recipient)));
  const pendingQuotes = Promise.allSettled(
    Array.from({ length: 20 }, async (_, at) => await requestQuote(at % 10, recipient)),
  );
  await sleep(5);
  process.kill(apiProcess.pid, "SIGTERM");
  const answers = await pendingQuotes;
  const { exit } = await endOf(apiProcess.name);
  expect(exit).toMatchObject({ code: 0, signal: null });
  // After SIGTERM the API may refuse calls, but must completely answer those that it accepts.
  const quotes = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  for (const answer of answers)
    if (answer.status === "rejected") expect(String(answer.reason)).toMatch(/fetch failed|: 503 /);
  expect(quotes.length).toBeGreaterThan(0);

  await apiProcess.restart();
  for (const { requestId } of quotes) expect((await api.status(requestId)).status).toBe("waiting");
}, 60_000);

test("a worker that is stopped finishes its current work and exits with code 0; its successor continues, and every recipient is paid once", async () => {
  const [worker] = system.workers;
  if (worker === undefined) throw new Error("the system has no worker");
  const recipients = Array.from({ length: 10 }, anAddress);
  const quotes = await Promise.all(
    recipients.map(async (recipient, at) => await requestQuote(at, recipient)),
  );
  const deposits = quotes.map(async (quote, at) => await walletOf(at).execute(quote));
  await Promise.race(deposits);
  process.kill(worker.pid, "SIGTERM");
  const { exit, logTail } = await endOf(worker.name);
  expect(exit, logTail).toMatchObject({ code: 0, signal: null });
  await Promise.all(deposits);
  await worker.restart();
  for (const [at, quote] of quotes.entries()) {
    expect((await api.follow(quote.requestId, 40_000)).at(-1)?.status).toBe("success");
    expect(await arrived(recipients[at] as Address)).toEqual({
      amount: BigInt(quote.details.currencyOut.amount),
      payments: 1,
    });
  }
}, 90_000);

test("a worker that is killed during fills leaves no request unfinished and pays no one twice", async () => {
  const [worker] = system.workers;
  if (worker === undefined) throw new Error("the system has no worker");
  for (const afterMs of [0, 30, 80]) {
    const recipients = Array.from({ length: 4 }, anAddress);
    const quotes = await Promise.all(
      recipients.map(async (recipient, at) => await requestQuote(at, recipient)),
    );
    await Promise.all(quotes.map(async (quote, at) => await walletOf(at).execute(quote)));
    await sleep(afterMs);
    worker.kill("SIGKILL");
    await worker.restart();
    for (const [at, quote] of quotes.entries()) {
      const seen = await api.follow(quote.requestId, 40_000);
      expect(seen.at(-1)?.status, `killed after ${afterMs} ms`).toBe("success");
      expect(seen.map(({ status }) => status)).not.toContain("failure");
      expect(await arrived(recipients[at] as Address), `killed after ${afterMs} ms`).toEqual({
        amount: BigInt(quote.details.currencyOut.amount),
        payments: 1,
      });
    }
  }
}, 120_000);

test("while the worker is down, the status still reports that the funds are in the depository", async () => {
  const [worker] = system.workers;
  if (worker === undefined) throw new Error("the system has no worker");
  worker.kill("SIGKILL");
  const recipient = anAddress();
  const quote = await requestQuote(10, recipient);
  const { hash } = await walletOf(10).execute(quote);
  const report = { chainId: chains[0]?.id ?? 0, txHash: hash as Hex };
  await api.index(report);
  expect(await api.status(quote.requestId)).toMatchObject({
    status: "pending",
    fundsAt: "depository",
    inTxHashes: [hash],
    final: false,
  });
  await worker.restart();
  expect((await api.follow(quote.requestId, 40_000)).at(-1)?.status).toBe("success");
  expect((await arrived(recipient)).payments).toBe(1);
}, 60_000);
