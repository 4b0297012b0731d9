import {
  hubTokenId,
  initiationKey,
  ownerAuthorisationDigest,
  signatureToHex,
  withdrawalKey,
} from "@causeway/attest";
import type { Hex32, VmType } from "@causeway/domain";
import { describe, expect, test, beforeAll, afterAll } from "vitest";
import {
  createMappingBook,
  startFamilyOracles,
  type FamilyOracles,
} from "../integration/families/family-oracles.ts";
import { fieldsOf, withoutField, type Fault } from "../integration/families/faulty-front.ts";
import { aHub, owner, solver, type Answer } from "../integration/oracle-http/world.ts";
import { createJudge, FAR_DEADLINE, freshId, type Judge } from "./family-judge.ts";
import {
  isNotApplicable,
  ownCases,
  type FamilyWorld,
  type MappingBook,
  type NotApplicable,
  type Scene,
} from "./family-world.ts";

// The same list of behaviours and hostile cases for every chain family, each tried over the HTTP interface of a real oracle.

/** Starts one family's node or simulator. */
export type StartFamily = (mappings: MappingBook) => Promise<FamilyWorld>;

/** A row of the table. */
interface Row {
  /** Line of the list of adversarial cases, or letter of the invariant; empty for what simply must work. */
  readonly line: string;
  readonly name: string;
  /** Passes by returning nothing. */
  readonly run: (judge: Judge) => Promise<NotApplicable | undefined>;
}

/** A row that all families have. */
function row(line: string, name: string, run: (judge: Judge) => Promise<void>): Row {
  return {
    line,
    name,
    run: async (judge) => {
      await run(judge);
      return undefined;
    },
  };
}

/** A row that needs something that not every family has. */
function rowOf<Args extends readonly unknown[], Result>(
  line: string,
  name: string,
  sceneOf: (world: FamilyWorld) => Scene<Args, Result>,
  run: (judge: Judge, scene: (...args: Args) => Promise<Result>) => Promise<void>,
): Row {
  return {
    line,
    name,
    run: async (judge) => {
      const scene = sceneOf(judge.world);
      if (isNotApplicable(scene)) return scene;
      await run(judge, scene);
      return undefined;
    },
  };
}

/** Arranges, makes it final, and tells. */
async function final<T>({ world }: Judge, arrange: Promise<T>): Promise<T> {
  const arranged = await arrange;
  await world.finalize();
  return arranged;
}

const depositRows: readonly Row[] = [
  row("", "a deposit for an order is attested", async (judge) => {
    await judge.attests(await judge.deposit(freshId()));
  }),
  row("", "a deposit without an id is its depositor's", async (judge) => {
    await judge.attests(await judge.deposit(undefined));
  }),
  rowOf(
    "7, 15",
    "two deposits of one transaction are two, in its order",
    ({ deposits }) => deposits.twoInOne,
    async (judge, scene) => {
      const made = await final(judge, scene([freshId(), freshId()]));
      expect(made.deposits).toHaveLength(2);
      await judge.attests(made);
    },
  ),
  row("15", "two deposits of one id stay two", async (judge) => {
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
  row("8.5 d", "two oracles sign the same bytes", async (judge) => {
    const made = await judge.deposit(freshId());
    const [mine, theirs] = await Promise.all(
      [judge.first, judge.second].map(async (oracle) => {
        const answer = await judge.askDeposit(made.transactionId, oracle);
        await judge.mustBeDeposits(answer, made, oracle);
        return answer;
      }),
    );
    expect(payloadOf(mine)).toBe(payloadOf(theirs));
  }),
  {
    line: "1, 3",
    name: "what may be taken back is not final, then it is",
    run: async (judge) => {
      const { world } = judge;
      if (world.finalAtOnce !== undefined) return world.finalAtOnce;
      const made = await world.deposit({
        depositId: freshId(),
        currency: world.currency,
        amount: world.amount,
      });
      await judge.refuses({ transactionId: made.transactionId, as: "not_final" });
      const { body, headers } = await judge.first.post("depository-deposits", {
        chainId: judge.chain.name,
        transactionId: made.transactionId,
      });
      expect(body.retryAfter).toBeGreaterThan(0);
      expect(headers.get("retry-after")).toBe(String(body.retryAfter));
      await world.finalize();
      await judge.attests(made);
      return undefined;
    },
  },
  rowOf(
    "",
    "a transaction without a deposit is answered with nothing",
    ({ deposits }) => deposits.none,
    async (judge, scene) => await judge.refuses(await final(judge, scene())),
  ),
  row("", "an unknown transaction is not found", async (judge) => {
    const { transactionId } = await judge.deposit(freshId());
    const unknown = otherId(transactionId);
    await judge.refuses({ transactionId: unknown, as: "not_found" });
  }),
  rowOf(
    "1",
    "a deposit in an orphaned block is not attested",
    ({ deposits }) => deposits.orphaned,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "2",
    "depth that another fork has is none",
    ({ deposits }) => deposits.splitNode,
    async (judge, scene) => await judge.refuses(await scene(freshId())),
  ),
  rowOf(
    "3",
    "a failed transaction deposited nothing",
    ({ deposits }) => deposits.failed,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "4",
    "a deposit into a look-alike is none",
    ({ deposits }) => deposits.lookAlike,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "5",
    "a token that lies is credited as itself at most",
    ({ deposits }) => deposits.lyingToken,
    async (judge, scene) => await judge.either(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "6",
    "of a token with a fee what arrived counts",
    ({ deposits }) => deposits.feeOnTransfer,
    async (judge, scene) => void (await judge.attests(await final(judge, scene(freshId())))),
  ),
  rowOf(
    "6",
    "what is claimed without having moved is no deposit of it",
    ({ deposits }) => deposits.withoutTransfer,
    async (judge, scene) => await judge.either(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "7",
    "one transfer said twice is one",
    ({ deposits }) => deposits.saidTwice,
    async (judge, scene) => await judge.either(await final(judge, scene([freshId(), freshId()]))),
  ),
  rowOf(
    "8",
    "through a forwarder the depositor is whom the deposit names",
    ({ deposits }) => deposits.throughForwarder,
    async (judge, scene) => void (await judge.attests(await final(judge, scene(freshId())))),
  ),
  rowOf(
    "9",
    "an id where none belongs is none",
    ({ deposits }) => deposits.idElsewhere,
    async (judge, scene) => {
      const id = freshId();
      const made = await final(judge, scene(id));
      if ("deposits" in made) expect(made.deposits.map(({ depositId }) => depositId)).not.toContain(id);
      await judge.either(made);
    },
  ),
  rowOf(
    "10",
    "ids of zeros or cut short are none",
    ({ deposits }) => deposits.idsThatAreNone,
    async (judge, scene) => {
      const all = await final(judge, scene());
      expect(all.length).toBeGreaterThan(0);
      for (const made of all) {
        expect(made.deposits.every(({ depositId }) => depositId === undefined)).toBe(true);
        await judge.attests(made);
      }
    },
  ),
  rowOf(
    "11",
    "money that came without a deposit is nobody's, or counted once",
    ({ deposits }) => deposits.arrivedSilently,
    async (judge, scene) => await judge.either(await final(judge, scene())),
  ),
  rowOf(
    "12",
    "a plain transfer with the id in its data",
    ({ deposits }) => deposits.plainWithId,
    async (judge, scene) => await judge.either(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "13",
    "what the depository sends itself is no user's",
    ({ deposits }) => deposits.ownTransfer,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  row("14", "a transaction id has one spelling", async (judge) => {
    const { world, chain } = judge;
    const { transactionId } = await judge.deposit(freshId());
    const others = [...world.otherSpellings(transactionId), ` ${transactionId}`, `${transactionId} `];
    for (const spelled of others) {
      expect(spelled).not.toBe(transactionId);
      const ask = async (): Promise<Answer> =>
        await judge.first.post("depository-deposits", { chainId: chain.name, transactionId: spelled });
      judge.refused(await judge.unsigned(judge.first, ask), "invalid_request");
    }
  }),
  rowOf(
    "17",
    "a deposit without a time is not attested",
    ({ deposits }) => deposits.withoutTime,
    async (judge, scene) => await judge.refuses(await final(judge, scene(freshId()))),
  ),
  rowOf(
    "33",
    "a node of another network is not believed",
    ({ deposits }) => deposits.otherNetwork,
    async (judge, scene) => await judge.refuses(await scene(freshId())),
  ),
  row("35", "a peer that says otherwise is not followed", async (judge) => {
    const made = await judge.deposit(freshId());
    await judge.attests(made);
    const answer = await judge.askWithLyingPeer("depository-deposits", {
      chainId: judge.chain.name,
      transactionId: made.transactionId,
    });
    await judge.mustBeDeposits(answer, made, judge.first);
  }),
];

/** Whatever fails, nothing else is signed than what honest nodes say. */
const nodeRows: readonly Row[] = [
  ...(["status500", "html", "cutOff", "endless", "closed"] as const).map((instead) =>
    row("33, 8.5 e", `a node that fails (${instead}) is the node's fault: 503`, async (judge) => {
      const made = await judge.deposit(freshId());
      await judge.attests(made);
      await eachExchange(judge, made.transactionId, instead === "endless" ? 1 : 12, { instead }, (answer) => {
        if (answer.body.execution !== undefined) return;
        expect({ status: answer.status, code: answer.body.code }, answer.text).toEqual({
          status: 503,
          code: "upstream_unavailable",
        });
      });
    }),
  ),
  row("33", "a null in place of any answer signs nothing else", async (judge) => {
    const made = await judge.deposit(freshId());
    await judge.attests(made);
    await eachExchange(judge, made.transactionId, 12, { answer: () => null }, () => undefined);
  }),
  row("33", "an answer about another transaction is not taken for this one", async (judge) => {
    const [made, other] = [await judge.deposit(freshId()), await judge.deposit(freshId())];
    await judge.attests(made);
    const [from, to] = [bare(made.transactionId), bare(other.transactionId)];
    const question = (text: string): string => text.replaceAll(from, to);
    await eachExchange(judge, made.transactionId, 12, { question }, () => undefined);
    const { answer } = await judge.askThrough(() => ({ question }), "depository-deposits", {
      chainId: judge.chain.name,
      transactionId: made.transactionId,
    });
    expect(answer.body.execution, answer.text).toBeUndefined();
    expect(answer.body.messages ?? [], answer.text).toEqual([]);
  }),
  row("33", "an answer that lacks any one field signs nothing else", async (judge) => {
    const made = await judge.deposit(freshId());
    await judge.attests(made);
    const { chain, world } = judge;
    const body = { chainId: chain.name, transactionId: made.transactionId };
    const { answer: whole, heard } = await judge.askThrough(() => undefined, "depository-deposits", body);
    expect(whole.status, whole.text).toBe(200);
    const cuts = heard.flatMap((answer, exchange) => {
      const fields = resultsIn(answer).reduce<number>(
        (sum, one) => sum + fieldsOf(one, world.omissibleFields),
        0,
      );
      return Array.from({ length: fields }, (_, n) => ({ exchange, n }));
    });
    expect(cuts.length).toBeGreaterThan(0);
    for (const { exchange, n } of sampled(cuts, MOST_CUTS)) {
      let skipped = 0;
      const answer = (json: unknown): unknown => {
        const cut = withoutField(json, n - skipped, world.omissibleFields);
        skipped += fieldsOf(json, world.omissibleFields);
        return cut;
      };
      const asked = await judge.askThrough(
        (at) => (at === exchange ? { answer } : undefined),
        "depository-deposits",
        body,
      );
      mustBeSameOrUnsigned(asked.answer, whole);
    }
  }),
];

const MOST_CUTS = 150;

const orderRows: readonly Row[] = [
  row("", "a fill on this chain is attested", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    await judge.mustFill(order, await judge.fill(order, await judge.pay(order, payments)));
  }),
  row("", "a deposit on this chain settles an order that was filled elsewhere", async (judge) => {
    const { world } = judge;
    const { answer } = await deposited(judge, judge.orderFrom(world.currency, world.amount));
    expect(answer.status, answer.text).toBe(200);
  }),
  row("", "a refund on this chain is attested", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const answer = await judge.refund(order, await judge.pay(order, payments));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.message.result).toMatchObject({ orderId: judge.orderIdFor(order), status: 1 });
  }),
  row("8.5 d", "two oracles sign the same fill", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const request = {
      ...(await judge.claim(order)),
      fill: { transactionId: await judge.pay(order, payments) },
    };
    const answers = [await judge.postFill(request), await judge.postFill(request, judge.second)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(payloadOf(answers[0])).toBe(payloadOf(answers[1]));
  }),
  {
    line: "16",
    name: "a deposit in another currency than the order's settles nothing",
    run: async (judge) => {
      const { otherCurrency, currency, amount } = judge.world;
      if (isNotApplicable(otherCurrency)) return otherCurrency;
      const { answer } = await deposited(judge, judge.orderFrom(otherCurrency, amount), currency);
      judge.refused(answer, "rejected");
      return undefined;
    },
  },
  row("16", "a deposit on another chain than the order's settles nothing", async (judge) => {
    const { world, home } = judge;
    const order = judge.orderFrom(world.currency, world.amount);
    const request = await judge.claim(order);
    home.paid(ELSEWHERE, [
      [order.output.payments[0]?.recipient ?? "", order.output.payments[0]?.currency ?? "", 990n],
    ]);
    const { transactionId } = await judge.deposit(freshId());
    const inputs = request.inputs.map((input) => ({ ...input, transactionId }));
    judge.refused(
      await judge.unsigned(judge.first, async () =>
        judge.postFill({ ...request, inputs, fill: { transactionId: ELSEWHERE } }),
      ),
      "rejected",
    );
  }),
  row("17", "a fill after the deadline is none", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (one) => {
      one.output.deadline = 1_000_000;
    });
    await judge.mustNotFill(order, await judge.pay(order, payments));
  }),
  row("17", "a fill long before its deposit is none", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const transactionId = await judge.pay(order, payments);
    const request = {
      ...(await judge.claim(order, { depositedAt: BigInt(FAR_DEADLINE) })),
      fill: { transactionId },
    };
    judge.refused(await judge.unsigned(judge.first, async () => judge.postFill(request)), "rejected");
  }),
  rowOf(
    "17",
    "a payment without a time is none",
    ({ payments }) => payments.withoutTime,
    async (judge, scene) => {
      const payments = [judge.onePayment()];
      const order = judge.orderPaying(payments);
      const { transactionId, urls } = await final(
        judge,
        scene({ orderId: judge.orderIdFor(order), payments }),
      );
      if (urls !== undefined) await judge.first.readAt(urls);
      try {
        const answer = await judge.unsigned(judge.first, async () => judge.fill(order, transactionId));
        judge.refused(answer, "upstream_unavailable", "rejected");
      } finally {
        await judge.first.readAt(judge.world.urls);
      }
    },
  ),
  rowOf(
    "3, 18",
    "a failed payment paid nobody",
    ({ payments }) => payments.failed,
    async (judge, scene) => await refusedPayment(judge, scene),
  ),
  rowOf(
    "18",
    "a payment undone within its transaction paid nobody",
    ({ payments }) => payments.innerUndone,
    async (judge, scene) => await refusedPayment(judge, scene),
  ),
  row("18", "a fill that names the order and pays somebody else is none", async (judge) => {
    const { recipients } = judge.world;
    const order = judge.orderPaying([judge.onePayment()]);
    await judge.mustNotFill(order, await judge.pay(order, [judge.onePayment({ recipient: recipients[1] })]));
  }),
  row("18", "one unit too little is too little", async (judge) => {
    const order = judge.orderPaying([judge.onePayment()]);
    const paid = [judge.onePayment({ amount: judge.world.amount - 1n })];
    await judge.mustNotFill(order, await judge.pay(order, paid));
  }),
  row("18", "a payment that names another order is none", async (judge) => {
    const payments = [judge.onePayment()];
    const [order, other] = [judge.orderPaying(payments), judge.orderPaying(payments)];
    await judge.mustNotFill(order, await judge.pay(other, payments));
  }),
  rowOf(
    "9, 18",
    "an order's id somewhere in a payment for another is no name",
    ({ payments }) => payments.idElsewhere,
    async (judge, scene) => await refusedPayment(judge, scene),
  ),
  rowOf(
    "19",
    "one payment fills one of two orders at most",
    ({ payments }) => payments.forTwoOrders,
    async (judge, scene) => {
      const payment = judge.onePayment();
      const orders = [judge.orderPaying([payment]), judge.orderPaying([payment])] as const;
      const ids = orders.map(judge.orderIdFor) as [Hex32, Hex32];
      const transactionId = await final(judge, scene(ids, payment));
      const answers = [
        await judge.fill(orders[0], transactionId),
        await judge.fill(orders[1], transactionId),
      ];
      const attested = answers.filter(({ status }) => status === 200);
      expect(attested.length).toBeLessThan(2);
      for (const answer of answers) if (answer.status !== 200) judge.refused(answer, "rejected");
    },
  ),
  row("19", "two payments of an order to one recipient need both sums", async (judge) => {
    const payment = judge.onePayment();
    const order = judge.orderPaying([payment, payment]);
    await judge.mustNotFill(order, await judge.pay(order, [payment]));
    const enough = [judge.onePayment({ amount: 2n * judge.world.amount })];
    await judge.mustFill(order, await judge.fill(order, await judge.pay(order, enough)));
  }),
  row("19", "one fill has one key, whichever deposit it is claimed for", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const transactionId = await judge.pay(order, payments);
    const answers = [await judge.fill(order, transactionId), await judge.fill(order, transactionId)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(answers.map(({ body }) => body.execution.idempotencyKey)).size).toBe(1);
  }),
  rowOf(
    "20",
    "what the recipient gives back was not paid",
    ({ payments }) => payments.takenBack,
    async (judge, scene) => await refusedPayment(judge, scene),
  ),
  rowOf(
    "21",
    "what a contract says that nobody configured is nothing",
    ({ payments }) => payments.saidByStranger,
    async (judge, scene) => {
      const payments = [judge.onePayment()];
      const { strangersExtraData } = judge.world.payments;
      const order = judge.orderPaying(payments, (one) => {
        one.output.extraData = strangersExtraData;
      });
      const transactionId = await final(judge, scene({ orderId: judge.orderIdFor(order), payments }));
      await judge.mustNotFill(order, transactionId, ["rejected", "invalid_request"]);
    },
  ),
  {
    line: "22",
    name: "an order's calls were all made, once and in order",
    run: async (judge) => {
      const { calls } = judge.world.payments;
      if (isNotApplicable(calls)) return calls;
      const payments = [judge.onePayment()];
      const tried = async (which: readonly number[]) => {
        const order = judge.orderPaying(payments, (one) => {
          one.output.calls = [...calls.encoded];
        });
        const transactionId = await final(
          judge,
          calls.pay({ orderId: judge.orderIdFor(order), payments }, which),
        );
        return { order, transactionId };
      };
      const good = await tried([0, 1]);
      await judge.mustFill(good.order, await judge.fill(good.order, good.transactionId));
      for (const which of [[1, 0], [0], [1], [0, 0]]) {
        const { order, transactionId } = await tried(which);
        await judge.mustNotFill(order, transactionId);
      }
      return undefined;
    },
  },
  {
    line: "22",
    name: "an order with calls that cannot be made here is not attested without them",
    run: async (judge) => {
      if (!isNotApplicable(judge.world.payments.calls)) return { notApplicable: "calls can be made here" };
      const payments = [judge.onePayment()];
      const order = judge.orderPaying(payments, (one) => {
        one.output.calls = ["0x01"];
      });
      await judge.mustNotFill(order, await judge.pay(order, payments), ["rejected", "invalid_request"]);
      return undefined;
    },
  },
  row("23", "a refund to somebody else is none", async (judge) => {
    const order = judge.orderPaying([judge.onePayment()]);
    const paid = [judge.onePayment({ recipient: judge.world.recipients[1] })];
    await mustNotRefund(judge, order, await judge.pay(order, paid), "rejected");
  }),
  row("23", "a refund for another order is none", async (judge) => {
    const payments = [judge.onePayment()];
    const [order, other] = [judge.orderPaying(payments), judge.orderPaying(payments)];
    await mustNotRefund(judge, order, await judge.pay(other, payments), "rejected");
  }),
  row("17, 23", "a late refund is none", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (one) => {
      for (const { refunds } of one.inputs) for (const option of refunds) option.deadline = 1_000_000;
    });
    await mustNotRefund(judge, order, await judge.pay(order, payments), "rejected");
  }),
  row("23", "one refund does not give two inputs back", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (one) => {
      one.inputs = [...one.inputs, ...structuredClone(one.inputs)];
      // The refund of several inputs must not look like the fill.
      one.output.payments = [
        {
          ...judge.onePayment({ recipient: judge.world.recipients[1] }),
          minimumAmount: "1",
          expectedAmount: "1",
        },
      ].map(({ recipient, currency, minimumAmount, expectedAmount }) => ({
        recipient,
        currency,
        minimumAmount,
        expectedAmount,
      }));
    });
    await mustNotRefund(judge, order, await judge.pay(order, payments), "rejected");
  }),
  row("23", "refund options that the order does not have are refused", async (judge) => {
    const order = judge.orderPaying([judge.onePayment()]);
    const transactionId = await judge.pay(order, [judge.onePayment()]);
    for (const index of [1, -1, 0.5])
      await mustNotRefund(judge, order, transactionId, "invalid_request", index);
  }),
  row("24", "an address of another family is none of this one", async (judge) => {
    const { world, home } = judge;
    for (const field of ["recipient", "currency"] as const) {
      const order = judge.orderPaying([judge.onePayment()]);
      const request = await judge.claim(order);
      const foreign = structuredClone(order) as {
        output: { payments: { recipient: string; currency: string }[] };
      };
      for (const payment of foreign.output.payments) payment[field] = world.foreignAddress;
      const answer = await judge.unsigned(judge.first, async () =>
        judge.postFill({ ...request, order: foreign, fill: { transactionId: otherId(ELSEWHERE) } }),
      );
      judge.refused(answer, "invalid_request");
    }
    expect(home.chain.vmType).toBe("ethereum-vm");
  }),
  row("24", "an order that asks for nothing is refused", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (one) => {
      for (const { payment } of one.inputs) payment.weight = "0";
    });
    await judge.mustNotFill(order, await judge.pay(order, payments), ["invalid_request"]);
  }),
  row("25", "an order that its solver did not sign is refused", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const transactionId = await judge.pay(order, payments);
    const request = { ...(await judge.claim(order)), fill: { transactionId } };
    const other = judge.orderPaying(payments);
    const answer = await judge.unsigned(judge.first, async () =>
      judge.postFill({ ...request, orderSignature: await judge.signOrder(other) }),
    );
    judge.refused(answer, "rejected");
  }),
];

const withdrawalRows: readonly Row[] = [
  row("", "a payload that was not carried out is pending, and nothing is signed", async (judge) => {
    const { asked, made } = await judge.withdraws(judge.onePayment(), judge.world.withdrawal);
    await judge.world.finalize();
    const answer = await judge.unsigned(judge.first, async () => judge.askWithdrawal(asked, made.payload));
    await judge.mustBeWithdrawal(answer, "pending", { asked, made, amount: judge.world.amount });
  }),
  row("26", "an execution counts once it is final, and burns what was set aside", async (judge) => {
    const { world } = judge;
    const { asked, made } = await judge.withdraws(judge.onePayment(), world.withdrawal);
    const transactionId = await made.execute();
    if (world.finalAtOnce === undefined) {
      const before = judge.first.signatures();
      const early = await judge.first.post("depository-withdrawals", {
        chainId: judge.chain.name,
        withdrawal: made.payload,
        transactionId,
        withdrawalAddressRequest: asked.words,
      });
      expect([0, undefined], early.text).toContain(early.body.message?.result["status"]);
      expect(judge.first.signatures()).toBe(before);
    }
    await world.finalize();
    const answer = await whenSettled(judge, async () =>
      judge.askWithdrawal(asked, made.payload, transactionId),
    );
    await judge.mustBeWithdrawal(answer, "executed", { asked, made, amount: world.amount });
    expect(answer.body.execution.idempotencyKey).toBe(withdrawalKey(made.withdrawalId, "executed"));
  }),
  row("27, 8.5 c", "what was executed never expires", async (judge) => {
    const { world } = judge;
    const { asked, made } = await judge.withdraws(judge.onePayment(), world.withdrawal);
    const transactionId = await made.execute();
    await world.finalize();
    if (!isNotApplicable(made.expire)) await made.expire();
    await world.finalize();
    for (const hint of [transactionId, undefined]) {
      const answer = await whenSettled(judge, async () => judge.askWithdrawal(asked, made.payload, hint));
      expect([1, hint === undefined ? 0 : 1], answer.text).toContain(answer.body.message.result["status"]);
    }
  }),
  {
    line: "27, 8.5 c",
    name: "what can never be executed any more is given back, and is not executed after",
    run: async (judge) => {
      const { world } = judge;
      const { asked, made } = await judge.withdraws(judge.onePayment(), world.withdrawal);
      if (isNotApplicable(made.expire)) return made.expire;
      await made.expire();
      await world.finalize();
      const ask = async (): Promise<Answer> => await judge.askWithdrawal(asked, made.payload);
      const expired = await whenSettled(judge, ask);
      await judge.mustBeWithdrawal(expired, "expired", { asked, made, amount: world.amount });
      expect(expired.body.execution.idempotencyKey).toBe(withdrawalKey(made.withdrawalId, "expired"));
      // The chain refuses it, or takes it and lets it fail.
      const late = await made.execute().catch(() => undefined);
      await world.finalize();
      for (const hint of late === undefined ? [undefined] : [late, undefined]) {
        const after = await whenSettled(judge, async () => judge.askWithdrawal(asked, made.payload, hint));
        expect([2], after.text).toContain(after.body.message.result["status"]);
      }
      return undefined;
    },
  },
  rowOf(
    "27",
    "an expiry by a block that is not final is none yet",
    ({ withdrawals }) => withdrawals.expiryNotFinal,
    async (judge, scene) => {
      const { asked, made } = await judge.withdraws(judge.onePayment(), scene);
      const answer = await judge.unsigned(judge.first, async () =>
        judge.first.post("depository-withdrawals", {
          chainId: judge.chain.name,
          withdrawal: made.payload,
          withdrawalAddressRequest: asked.words,
        }),
      );
      if (answer.status === 200) expect(answer.body.message.result["status"]).toBe(0);
      else judge.refused(answer, "not_final");
    },
  ),
  row("27, 8.5 c e", "whatever read fails, what was executed is never called expired", async (judge) => {
    const { world } = judge;
    const { asked, made } = await judge.withdraws(judge.onePayment(), world.withdrawal);
    const transactionId = await made.execute();
    await world.finalize();
    if (!isNotApplicable(made.expire)) await made.expire();
    await world.finalize();
    await mustNeverSay(judge, 2, asked, made.payload, [transactionId, undefined]);
  }),
  row("27, 28", "whatever read fails, what was not executed is never called executed", async (judge) => {
    const { asked, made } = await judge.withdraws(judge.onePayment(), judge.world.withdrawal);
    await judge.world.finalize();
    await mustNeverSay(judge, 1, asked, made.payload, [undefined]);
  }),
  row("27", "another payload for the same withdrawal settles nothing", async (judge) => {
    const { world } = judge;
    const { asked, made } = await judge.withdraws(judge.onePayment(), world.withdrawal);
    const rebuilt = await world.withdrawal({
      ...judge.onePayment({ amount: world.amount + 1n }),
      address: asked.address,
    });
    expect(rebuilt.withdrawalId).not.toBe(made.withdrawalId);
    const transactionId = await rebuilt.execute();
    await world.finalize();
    const answer = await judge.unsigned(judge.first, async () =>
      whenSettled(judge, async () => judge.askWithdrawal(asked, rebuilt.payload, transactionId)),
    );
    judge.refused(answer, "rejected");
  }),
  row("28", "a payment of the solver is not the execution of a payload", async (judge) => {
    const { world } = judge;
    const payments = [judge.onePayment()];
    const { asked, made } = await judge.withdraws(judge.onePayment(), world.withdrawal);
    const hint = await judge.pay(judge.orderPaying(payments), payments);
    const answer = await judge.unsigned(judge.first, async () =>
      judge.askWithdrawal(asked, made.payload, hint),
    );
    if (answer.status === 200) expect(answer.body.message.result["status"]).toBe(0);
    else judge.refused(answer, "rejected");
  }),
  row(
    "28, 34",
    "a payload for another recipient or currency settles nothing of this withdrawal",
    async (judge) => {
      const { world } = judge;
      const others = [
        judge.onePayment({ recipient: world.recipients[1] }),
        ...(isNotApplicable(world.otherCurrency)
          ? []
          : [judge.onePayment({ currency: world.otherCurrency })]),
      ];
      for (const payment of others) {
        const asked = judge.withdrawalOf(judge.onePayment());
        const made = await world.withdrawal({ ...payment, address: asked.address });
        judge.recorded.set(asked.address, made.withdrawalId);
        const transactionId = await made.execute();
        await world.finalize();
        const answer = await judge.unsigned(judge.first, async () =>
          judge.askWithdrawal(asked, made.payload, transactionId),
        );
        judge.refused(answer, "rejected");
      }
    },
  ),
  rowOf(
    "28",
    "an execution that failed inside is none",
    ({ withdrawals }) => withdrawals.failedInside,
    async (judge, scene) => await mustNotBeExecuted(judge, scene),
  ),
  rowOf(
    "28",
    "an execution with other outputs is none",
    ({ withdrawals }) => withdrawals.otherOutputs,
    async (judge, scene) => await mustNotBeExecuted(judge, scene),
  ),
  rowOf(
    "",
    "what is no payload is refused",
    ({ withdrawals }) => withdrawals.malformed,
    async (judge, scene) => {
      const asked = judge.withdrawalOf(judge.onePayment());
      const payloads = await scene({ ...judge.onePayment(), address: asked.address });
      expect(payloads.length).toBeGreaterThan(0);
      for (const payload of payloads) {
        const answer = await judge.unsigned(judge.first, async () => judge.askWithdrawal(asked, payload));
        judge.refused(answer, "rejected", "invalid_request");
      }
    },
  ),
  row("", "a balance is set aside for a withdrawal to this chain, and that is confirmed", async (judge) => {
    const { world, chain, balances } = judge;
    const asked = judge.withdrawalOf(judge.onePayment());
    balances.set(`${asked.ownerAlias}:${asked.tokenId}`, world.amount);
    const { request, body } = await initiation(judge, asked);
    expect(body.status, body.text).toBe(200);
    expect(body.body.execution.idempotencyKey).toBe(initiationKey(aHub.name, asked.tokenId, asked.address));
    const { signature: _, ...confirmed } = request;
    judge.refused(
      await judge.unsigned(judge.first, async () => judge.first.post("withdrawal-initiated", confirmed)),
      "rejected",
    );
    balances.set(`${asked.address}:${asked.tokenId}`, world.amount);
    const initiated = await judge.first.post("withdrawal-initiated", confirmed);
    expect(initiated.status, initiated.text).toBe(200);
    expect(initiated.body.payloadParams.signatures.map(({ oracleSigner }) => oracleSigner)).toEqual([
      judge.first.signer.address,
    ]);
    expect(asked.tokenId).toBe(hubTokenId(chain, world.currency));
  }),
  row(
    "34",
    "an owner's word for another environment, depository, amount or recipient is none",
    async (judge) => {
      const { world, balances } = judge;
      const asked = judge.withdrawalOf(judge.onePayment());
      balances.set(`${asked.ownerAlias}:${asked.tokenId}`, 2n * world.amount);
      const changes: Record<string, string>[] = [
        { settlementChainId: "otherhub" },
        { settlementNetwork: "1" },
        { oracleContract: aHub.hubAddress },
        { depository: world.recipients[1] },
        { amount: (world.amount + 1n).toString() },
        { recipient: world.recipients[1] },
      ];
      for (const change of changes) {
        const { body } = await initiation(judge, asked, change);
        judge.refused(body, "rejected");
      }
      const { body } = await initiation(judge, asked, {}, { expectedAmount: `0${world.amount}` });
      judge.refused(body, "invalid_request");
    },
  ),
];

const ELSEWHERE = `0x${"e1".repeat(32)}`;

/** The row of each case of one family; for the others it does not apply. */
const ownRows: readonly Row[] = Object.entries(ownCases).flatMap(([family, { line, cases }]) =>
  cases.map((name): Row => ({
    line,
    name,
    run: async (judge) => {
      if (judge.world.family !== family) return { notApplicable: `a case of ${family}` };
      const scene = judge.world.own[name];
      if (scene === undefined) throw new Error(`${family} does not say what becomes of: ${name}`);
      if (isNotApplicable(scene)) return scene;
      await scene(judge.own);
      return undefined;
    },
  })),
);

export const familyRows: readonly Row[] = [
  ...depositRows,
  ...nodeRows,
  ...orderRows,
  ...withdrawalRows,
  ...ownRows,
];

type Cell = { readonly passed: true } | NotApplicable | { readonly failed: true };

/** Runs the list for every family, prints the table, and fails for a cell that is empty without a reason. */
export function describeFamilies(
  families: Readonly<Partial<Record<VmType, StartFamily>>>,
  all: readonly VmType[],
): void {
  const cells = new Map<string, Cell>();
  const keyOf = (family: string, { line, name }: Row): string => `${family}\n${line}\n${name}`;
  let wholeList = true;

  for (const family of all) {
    const start = families[family];
    if (start === undefined) continue;
    describe(family, () => {
      let oracles: FamilyOracles | undefined;
      let judge: Judge | undefined;
      beforeAll(async () => {
        const mappings = createMappingBook();
        oracles = await startFamilyOracles(await start(mappings), mappings);
        judge = createJudge(oracles);
      });
      afterAll(async () => {
        await oracles?.close();
        await oracles?.world.close();
      });
      for (const one of familyRows)
        test(`${one.line === "" ? "" : `(${one.line}) `}${one.name}`, async ({ annotate }) => {
          if (judge === undefined) throw new Error(`${family} did not start`);
          cells.set(keyOf(family, one), { failed: true });
          const outcome = await one.run(judge);
          if (outcome !== undefined && outcome.notApplicable.trim() === "")
            throw new Error("no reason is given");
          cells.set(keyOf(family, one), outcome ?? { passed: true });
          if (outcome !== undefined) await annotate(outcome.notApplicable);
        });
    });
  }

  // Also when single families are run alone: then it shows those.
  afterAll(() => {
    const shown = all.filter((family) => familyRows.some((one) => cells.has(keyOf(family, one))));
    wholeList = shown.length === all.length;
    process.stdout.write(`${tableOf(shown, (family, one) => cells.get(keyOf(family, one)))}\n`);
  });

  test("every family has every case, or a reason", () => {
    const empty = all.flatMap((family) =>
      familyRows.filter((one) => !cells.has(keyOf(family, one))).map(({ name }) => `${family}: ${name}`),
    );
    expect(empty).toEqual([]);
    expect(wholeList).toBe(true);
  });
}

function tableOf(
  families: readonly VmType[],
  cellOf: (family: VmType, one: Row) => Cell | undefined,
): string {
  const reasons: string[] = [];
  const texts = familyRows.map((one) => [
    one.line,
    one.name,
    ...families.map((family) => {
      const cell = cellOf(family, one);
      if (cell === undefined) return "EMPTY";
      if ("passed" in cell) return "ok";
      if ("failed" in cell) return "FAILED";
      if (cell.notApplicable.startsWith("a case of ")) return "-";
      if (!reasons.includes(cell.notApplicable)) reasons.push(cell.notApplicable);
      return `- ${reasons.indexOf(cell.notApplicable) + 1}`;
    }),
  ]);
  const lines = [["8.4", "case", ...families], ...texts];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const printed = lines.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return ["", ...printed, "", ...reasons.map((reason, at) => `- ${at + 1}: ${reason}`)].join("\n");
}

// Shared steps.

function payloadOf(answer: Answer | undefined): string {
  if (answer === undefined) throw new Error("nobody was asked");
  const { messages, message, execution } = answer.body;
  return JSON.stringify([
    (messages ?? [message]).map(({ data, result }) => [data, result]),
    execution?.idempotencyKey,
    execution?.actions,
  ]);
}

/** The same, or nothing at all was signed. */
function mustBeSameOrUnsigned(answer: Answer, whole: Answer): void {
  if (answer.body.execution === undefined) expect(answer.body.messages ?? [], answer.text).toEqual([]);
  else expect(payloadOf(answer)).toBe(payloadOf(whole));
}

/** Asks about a deposit with a fault in one exchange after the other, until there is no such exchange. */
async function eachExchange(
  judge: Judge,
  transactionId: string,
  most: number,
  fault: Fault,
  also: (answer: Answer) => void,
): Promise<void> {
  const body = { chainId: judge.chain.name, transactionId };
  const { answer: whole, heard } = await judge.askThrough(() => undefined, "depository-deposits", body);
  expect(whole.status, whole.text).toBe(200);
  expect(heard.length).toBeGreaterThan(0);
  for (let exchange = 0; exchange < Math.min(most, heard.length); exchange++) {
    const asked = await judge.askThrough(
      (at) => (at === exchange ? fault : undefined),
      "depository-deposits",
      body,
    );
    mustBeSameOrUnsigned(asked.answer, whole);
    also(asked.answer);
  }
  const { answer } = await judge.askThrough(() => fault, "depository-deposits", body);
  expect(answer.body.execution, answer.text).toBeUndefined();
  also(answer);
}

function resultsIn(answer: unknown): unknown[] {
  const parts: unknown[] = Array.isArray(answer) ? answer : [answer];
  return parts.map((part) =>
    typeof part === "object" && part !== null && "jsonrpc" in part && "result" in part ? part.result : part,
  );
}

/** At most so many, spread over all. */
function sampled<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, n) => all[Math.floor((n * all.length) / most)]).filter(
    (one) => one !== undefined,
  );
}

/** Without the prefix that only some interfaces of a node use. */
function bare(transactionId: string): string {
  return transactionId.replace(/^0x/, "");
}

/** An id of the same form that nothing has. */
function otherId(transactionId: string): string {
  const at = transactionId.length - 10;
  const old = transactionId[at] ?? "";
  return `${transactionId.slice(0, at)}${old === "2" ? "3" : "2"}${transactionId.slice(at + 1)}`;
}

/** A family that sees things some moments late says "pending" or "not found" until then. */
async function whenSettled({ settled }: Judge, ask: () => Promise<Answer>): Promise<Answer> {
  const endMs = Date.now() + 3_000;
  for (;;) {
    const answer = await settled(ask);
    const waits = answer.body.code === "not_found" || answer.body.message?.result["status"] === 0;
    if (!waits || Date.now() > endMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** An order whose deposit is on this chain; its fill, elsewhere, is as it should be. */
async function deposited(
  judge: Judge,
  order: ReturnType<Judge["orderFrom"]>,
  currency = order.inputs[0]?.payment.currency,
) {
  const { world, home, chain } = judge;
  const made = await judge.deposit(judge.orderIdFor(order), world.amount, currency);
  const answered = await judge.attests(made);
  const onchainId = String(answered.body.messages[0]?.result["onchainId"]);
  const fillId = freshId();
  home.paid(
    fillId,
    order.output.payments.map((one) => [one.recipient, one.currency, BigInt(one.minimumAmount)]),
    BigInt(FAR_DEADLINE - 1),
  );
  expect(order.inputs[0]?.payment.chainId).toBe(chain.name);
  const answer = await judge.postFill({
    order,
    orderSignature: await judge.signOrder(order),
    inputs: [{ transactionId: made.transactionId, onchainId, inputIndex: 0 }],
    fill: { transactionId: fillId },
  });
  return { answer, made };
}

async function refusedPayment(
  judge: Judge,
  scene: (wish: { orderId: Hex32; payments: ReturnType<Judge["onePayment"]>[] }) => Promise<string>,
): Promise<void> {
  const payments = [judge.onePayment()];
  const order = judge.orderPaying(payments);
  const transactionId = await final(judge, scene({ orderId: judge.orderIdFor(order), payments }));
  await judge.mustNotFill(order, transactionId, ["rejected", "not_found"]);
}

async function mustNotRefund(
  judge: Judge,
  order: ReturnType<Judge["orderPaying"]>,
  transactionId: string,
  code: "rejected" | "invalid_request",
  refundIndex = 0,
): Promise<void> {
  const answer = await judge.unsigned(judge.first, async () =>
    judge.refund(order, transactionId, refundIndex),
  );
  judge.refused(answer, code);
}

async function mustNotBeExecuted(
  judge: Judge,
  scene: (
    wish: Parameters<FamilyWorld["withdrawal"]>[0],
  ) => Promise<{ payload: `0x${string}`; withdrawalId: Hex32 }>,
): Promise<void> {
  const { asked, made } = await judge.withdraws(judge.onePayment(), scene);
  await judge.world.finalize();
  const answer = await judge.askWithdrawal(asked, made.payload);
  // Given back for good is right where the attempt made it impossible for ever.
  if (answer.status === 200) expect([0, 2], answer.text).toContain(answer.body.message.result["status"]);
  else judge.refused(answer, "rejected");
}

const READ_FAULTS: readonly Fault[] = [
  { instead: "status500" },
  { instead: "closed" },
  { instead: "html" },
  { answer: () => null },
  { answer: () => [] },
  { answer: () => ({}) },
];

/** With each single read failing in each way, and with all. */
async function mustNeverSay(
  judge: Judge,
  status: 1 | 2,
  asked: ReturnType<Judge["withdrawalOf"]>,
  payload: `0x${string}`,
  hints: readonly (string | undefined)[],
): Promise<void> {
  for (const hint of hints) {
    const body = {
      chainId: judge.chain.name,
      withdrawal: payload,
      ...(hint !== undefined && { transactionId: hint }),
      withdrawalAddressRequest: asked.words,
    };
    const ask = async (choose: (exchange: number) => Fault | undefined) =>
      await judge.askThrough(choose, "depository-withdrawals", body);
    const { heard } = await ask(() => undefined);
    expect(heard.length).toBeGreaterThan(0);
    for (const fault of READ_FAULTS)
      for (let exchange = 0; exchange <= heard.length; exchange++) {
        const { answer } = await ask((at) =>
          exchange === heard.length || at === exchange ? fault : undefined,
        );
        expect(answer.body.message?.result["status"], answer.text).not.toBe(status);
      }
  }
}

async function initiation(
  judge: Judge,
  asked: ReturnType<Judge["withdrawalOf"]>,
  signedAs: Readonly<Record<string, string>> = {},
  sent: Readonly<Record<string, string>> = {},
) {
  const { words, depository } = asked;
  const amount = judge.world.amount.toString();
  const digest = ownerAuthorisationDigest({
    operation: "withdrawal",
    chainId: words.chainId,
    currency: words.currency,
    amount,
    ownerChainId: words.withdrawerChainId,
    owner: words.withdrawer,
    recipient: words.recipient,
    nonce: words.withdrawalNonce,
    settlementChainId: aHub.name,
    settlementNetwork: String(aHub.chainId),
    depository,
    oracleContract: aHub.oracleAddress,
    ...signedAs,
  });
  const request = {
    settlementChainId: aHub.name,
    expectedAmount: amount,
    signature: signatureToHex(await owner.signDigest(digest)),
    ...words,
    ...sent,
  };
  return { request, body: await judge.first.post("withdrawal-initiation", request) };
}

export { solver };
