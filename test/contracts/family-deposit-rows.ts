import { expect } from "vitest";
import type { Answer } from "../support/oracle-world.ts";
import { freshId } from "./family-judge.ts";
import { final, row, rowOf, type Row } from "./family-row.ts";
import { otherId, payloadOf } from "./family-steps.ts";
import { isNotApplicable } from "./family-world.ts";

export const depositRows: readonly Row[] = [
  row("a deposit for an order is attested", async (judge) => {
    await judge.attests(await judge.deposit(freshId()));
  }),
  row("a deposit without an id belongs to its depositor", async (judge) => {
    await judge.attests(await judge.deposit(undefined));
  }),
  rowOf(
    "two deposits of one transaction are listed in its order",
    ({ deposits }) => deposits.twoInOne,
    async (judge, scene) => {
      const expected = await final(judge, scene([freshId(), freshId()]));
      expect(expected.deposits).toHaveLength(2);
      await judge.attests(expected);
    },
  ),
  row("two deposits with one id stay two deposits", async (judge) => {
    const id = freshId();
    const { world } = judge;
    const currency = isNotApplicable(world.otherCurrency) ? world.currency : world.otherCurrency;
    const answers = [
      await judge.attests(await judge.deposit(id)),
      await judge.attests(await judge.deposit(id, world.amount, currency)),
    ];
    const ids = answers.map(({ body }) => body.messages[0]?.result["onchainId"]);
    expect(new Set(ids).size).toBe(2);
    expect(new Set(answers.map(({ body }) => body.execution.idempotencyKey)).size).toBe(2);
  }),
  row("two oracles sign the same bytes", async (judge) => {
    const expected = await judge.deposit(freshId());
    const [firstAnswer, secondAnswer] = await Promise.all(
      [judge.first, judge.second].map(async (oracle) => {
        const answer = await judge.askDeposit(expected.transactionId, oracle);
        await judge.mustBeDeposits(answer, expected, oracle);
        return answer;
      }),
    );
    expect(payloadOf(firstAnswer)).toBe(payloadOf(secondAnswer));
  }),
  {
    name: "a deposit is not final before its block is, then it is",
    run: async (judge) => {
      const { world } = judge;
      if (world.finalAtOnce !== undefined) return world.finalAtOnce;
      const expected = await world.deposit({
        depositId: freshId(),
        currency: world.currency,
        amount: world.amount,
      });
      await judge.refuses({ transactionId: expected.transactionId, as: "not_final" });
      const { body, headers } = await judge.first.post("depository-deposits", {
        chainId: judge.chain.name,
        transactionId: expected.transactionId,
      });
      expect(body.retryAfter).toBeGreaterThan(0);
      expect(headers.get("retry-after")).toBe(String(body.retryAfter));
      await world.finalize();
      await judge.attests(expected);
      return undefined;
    },
  },
  rowOf(
    "a transaction without a deposit returns no messages",
    ({ deposits }) => deposits.none,
    async (judge, scene) => await judge.refuses(await final(judge, scene())),
  ),
  row("an unknown transaction is not found", async (judge) => {
    const { transactionId } = await judge.deposit(freshId());
    const unknown = otherId(transactionId);
    await judge.refuses({ transactionId: unknown, as: "not_found" });
  }),
  rowOf(
    "a deposit in an orphaned block is not attested",
    ({ deposits }) => deposits.orphaned,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "confirmations of another fork do not count",
    ({ deposits }) => deposits.splitNode,
    async (judge, scene) => await judge.refuses(await scene(freshId())),
  ),
  rowOf(
    "a failed transaction deposited nothing",
    ({ deposits }) => deposits.failed,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "a deposit into a look-alike is not attested",
    ({ deposits }) => deposits.lookAlike,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "a token that reports a wrong amount is credited only as that token, or not at all",
    ({ deposits }) => deposits.lyingToken,
    async (judge, scene) => await judge.either(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "a token with a transfer fee is credited with what arrived",
    ({ deposits }) => deposits.feeOnTransfer,
    async (judge, scene) => void (await judge.attests(await final(judge, scene(freshId())))),
  ),
  rowOf(
    "a claimed deposit without a transfer is not attested",
    ({ deposits }) => deposits.withoutTransfer,
    async (judge, scene) => await judge.either(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "one transfer that is reported twice counts once",
    ({ deposits }) => deposits.reportedTwice,
    async (judge, scene) => await judge.either(await final(judge, scene([freshId(), freshId()]))),
  ),
  rowOf(
    "through a forwarder, the depositor is the one that the deposit names",
    ({ deposits }) => deposits.throughForwarder,
    async (judge, scene) => void (await judge.attests(await final(judge, scene(freshId())))),
  ),
  rowOf(
    "an id in the wrong place is ignored",
    ({ deposits }) => deposits.idElsewhere,
    async (judge, scene) => {
      const id = freshId();
      const expected = await final(judge, scene(id));
      if ("deposits" in expected)
        expect(expected.deposits.map(({ depositId }) => depositId)).not.toContain(id);
      await judge.either(expected);
    },
  ),
  rowOf(
    "ids of zeros or cut short are not accepted",
    ({ deposits }) => deposits.invalidIds,
    async (judge, scene) => {
      const all = await final(judge, scene());
      expect(all.length).toBeGreaterThan(0);
      for (const expected of all) {
        expect(expected.deposits.every(({ depositId }) => depositId === undefined)).toBe(true);
        await judge.attests(expected);
      }
    },
  ),
  rowOf(
    "funds that arrive without a deposit are not attested, or are attested once",
    ({ deposits }) => deposits.withoutDeposit,
    async (judge, scene) => await judge.either(await final(judge, scene())),
  ),
  rowOf(
    "a plain transfer with the id in its data is attested only if the family defines it as a deposit",
    ({ deposits }) => deposits.plainWithId,
    async (judge, scene) => await judge.either(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "a transfer of the depository to itself is no deposit",
    ({ deposits }) => deposits.ownTransfer,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  row("a transaction id has one format", async (judge) => {
    const { world, chain } = judge;
    const { transactionId } = await judge.deposit(freshId());
    const others = [...world.otherFormats(transactionId), ` ${transactionId}`, `${transactionId} `];
    for (const other of others) {
      expect(other).not.toBe(transactionId);
      const ask = async (): Promise<Answer> =>
        await judge.first.post("depository-deposits", { chainId: chain.name, transactionId: other });
      // Such an id may also be valid for another transaction, which does not exist here.
      judge.refused(await judge.unsigned(judge.first, ask), "invalid_request", "not_found");
    }
  }),
  rowOf(
    "a deposit without a time is not attested",
    ({ deposits }) => deposits.withoutTime,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "a node of another network is not trusted",
    ({ deposits }) => deposits.otherNetwork,
    async (judge, scene) => await judge.refuses(await scene(freshId())),
  ),
  row("an oracle does not adopt the answer of a peer that disagrees", async (judge) => {
    const expected = await judge.deposit(freshId());
    await judge.attests(expected);
    const answer = await judge.askWithLyingPeer("depository-deposits", {
      chainId: judge.chain.name,
      transactionId: expected.transactionId,
    });
    await judge.mustBeDeposits(answer, expected, judge.first);
  }),
];
