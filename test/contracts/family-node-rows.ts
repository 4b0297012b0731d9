import type { VmType } from "@causeway/domain";
import type { OracleStatus } from "@causeway/wire";
import { expect, vi } from "vitest";
import { countFields, withoutField, type Fault } from "../support/faulty-front.ts";
import type { Answer } from "../support/oracle-world.ts";
import { freshId, type Judge } from "./family-judge.ts";
import { row, type Row } from "./family-row.ts";
import { payloadOf } from "./family-steps.ts";

const MAX_CUTS = 100;
const FAMILIES_WITHOUT_FINAL_BLOCK: readonly VmType[] = ["hyperliquid-vm", "lighter-vm"];

/** Whatever fails, the oracle signs only what honest nodes report. */
export const nodeRows: readonly Row[] = [
  row("the status reports the final block, and a failing node as unreachable", async (judge) => {
    const { chain, first, world } = judge;
    const reported = async (): Promise<OracleStatus["chains"][number] | undefined> =>
      (await first.status()).chains.find(({ id }) => id === chain.name);
    const before = await reported();
    if (FAMILIES_WITHOUT_FINAL_BLOCK.includes(chain.vmType)) {
      // This family can only be asked about named transactions.
      expect(before).toMatchObject({ status: "unknown" });
      expect(before).not.toHaveProperty("finalBlock");
      return;
    }
    const { height = 0 } = before?.finalBlock ?? {};
    await judge.deposit(freshId());
    await world.finalize();
    await vi.waitUntil(async () => ((await reported())?.finalBlock?.height ?? 0) > height, {
      timeout: 10_000,
      interval: 100,
    });
    await first.readAt(world.urls.map(() => "http://127.0.0.1:9/jsonrpc"));
    try {
      expect(await reported()).toMatchObject({ status: "unreachable" });
    } finally {
      await first.readAt(world.urls);
    }
  }),
  ...(["status500", "html", "cutOff", "endless", "closed"] as const).map((instead) =>
    row(`a node that fails (${instead}) is the node's fault: 503`, async (judge) => {
      const deposit = await judge.deposit(freshId());
      await judge.mustAttest(deposit);
      await eachExchange(
        judge,
        deposit.transactionId,
        instead === "endless" ? 1 : 12,
        { instead },
        (answer) => {
          if (answer.body.execution !== undefined) return;
          expect({ status: answer.status, code: answer.body.code }, answer.text).toEqual({
            status: 503,
            code: "upstream_unavailable",
          });
        },
      );
    }),
  ),
  row("a null in place of any answer causes no wrong signature", async (judge) => {
    const deposit = await judge.deposit(freshId());
    await judge.mustAttest(deposit);
    await eachExchange(judge, deposit.transactionId, 12, { answer: () => null }, () => undefined);
  }),
  row("an answer about another transaction is not used for this one", async (judge) => {
    const [deposit, other] = [await judge.deposit(freshId()), await judge.deposit(freshId())];
    await judge.mustAttest(deposit);
    const [from, to] = [bare(deposit.transactionId), bare(other.transactionId)];
    const question = (text: string): string => text.replaceAll(from, to);
    await eachExchange(judge, deposit.transactionId, 12, { question }, () => undefined);
    const { answer } = await judge.askWithFaults(() => ({ question }), "depository-deposits", {
      chainId: judge.chain.name,
      transactionId: deposit.transactionId,
    });
    expect(answer.body.execution, answer.text).toBeUndefined();
    expect(answer.body.messages ?? [], answer.text).toEqual([]);
  }),
  row("an answer without any one field causes no wrong signature", async (judge) => {
    const deposit = await judge.deposit(freshId());
    await judge.mustAttest(deposit);
    const { chain, world } = judge;
    const body = { chainId: chain.name, transactionId: deposit.transactionId };
    const { answer: whole, nodeAnswers } = await judge.askWithFaults(
      () => undefined,
      "depository-deposits",
      body,
    );
    expect(whole.status, whole.text).toBe(200);
    const cuts = nodeAnswers.flatMap((answer, readIndex) => {
      const fields = resultsIn(answer).reduce<number>(
        (sum, result) => sum + countFields(result, world.omissibleFields),
        0,
      );
      return Array.from({ length: fields }, (_, n) => ({ readIndex, n }));
    });
    expect(cuts.length).toBeGreaterThan(0);
    for (const { readIndex, n } of sampled(cuts, MAX_CUTS)) {
      let skipped = 0;
      const answer = (json: unknown): unknown => {
        const cut = withoutField(json, n - skipped, world.omissibleFields);
        skipped += countFields(json, world.omissibleFields);
        return cut;
      };
      const faulty = await judge.askWithFaults(
        (index) => (index === readIndex ? { answer } : undefined),
        "depository-deposits",
        body,
      );
      mustBeSameOrUnsigned(faulty.answer, whole);
    }
  }),
];

/** Either the oracle signed the same messages, or it signed nothing. */
function mustBeSameOrUnsigned(answer: Answer, whole: Answer): void {
  if (answer.body.execution === undefined) expect(answer.body.messages ?? [], answer.text).toEqual([]);
  else expect(payloadOf(answer)).toBe(payloadOf(whole));
}

/**
 * Repeats a request about a deposit: with the fault in one HTTP exchange after another, at most `max` times,
 * and finally in every exchange.
 */
async function eachExchange(
  judge: Judge,
  transactionId: string,
  max: number,
  fault: Fault,
  checkAnswer: (answer: Answer) => void,
): Promise<void> {
  const body = { chainId: judge.chain.name, transactionId };
  const { answer: whole, nodeAnswers } = await judge.askWithFaults(
    () => undefined,
    "depository-deposits",
    body,
  );
  expect(whole.status, whole.text).toBe(200);
  expect(nodeAnswers.length).toBeGreaterThan(0);
  for (let readIndex = 0; readIndex < Math.min(max, nodeAnswers.length); readIndex++) {
    const faulty = await judge.askWithFaults(
      (index) => (index === readIndex ? fault : undefined),
      "depository-deposits",
      body,
    );
    mustBeSameOrUnsigned(faulty.answer, whole);
    checkAnswer(faulty.answer);
  }
  const { answer } = await judge.askWithFaults(() => fault, "depository-deposits", body);
  expect(answer.body.execution, answer.text).toBeUndefined();
  checkAnswer(answer);
}

function resultsIn(answer: unknown): unknown[] {
  const parts: unknown[] = Array.isArray(answer) ? answer : [answer];
  return parts.map((part) =>
    typeof part === "object" && part !== null && "jsonrpc" in part && "result" in part ? part.result : part,
  );
}

/** At most `max` entries of the list, spread evenly. */
function sampled<T>(all: readonly T[], max: number): readonly T[] {
  if (all.length <= max) return all;
  return Array.from({ length: max }, (_, n) => all[Math.floor((n * all.length) / max)]).filter(
    (entry) => entry !== undefined,
  );
}

/** A transaction id without the prefix that only some node interfaces use. */
function bare(transactionId: string): string {
  return transactionId.replace(/^0x/, "");
}
