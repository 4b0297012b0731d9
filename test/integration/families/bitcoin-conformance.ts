import { sha256 } from "viem";
import type { Transaction } from "@scure/btc-signer";
import type { Hex, Hex32 } from "@causeway/domain";
import { nativeCurrency, type ConfiguredChain } from "@causeway/families";
import { startBitcoin } from "@causeway/simulators/bitcoin";
import {
  anAttestationChain,
  anOwner,
  CONFIRMATIONS,
  utxoOf,
  FEE,
  spend,
  type Owner,
  type PaymentOutput,
} from "../../support/bitcoin-world.ts";
import type {
  FamilyWorld,
  ExpectedDeposits,
  SignedWithdrawal,
  NoDeposit,
  NotApplicable,
  PaymentPlan,
  WithdrawalPlan,
} from "../../contracts/family-world.ts";
import { startFaultyFronts, type ChooseFault, type FaultyFronts } from "../../support/faulty-front.ts";

const AMOUNT = 50_000n;
const BTC = nativeCurrency("bitcoin-vm");

/** The Bitcoin family: a regtest node with an explorer. */
export async function startBitcoinFamily(): Promise<FamilyWorld> {
  const bitcoin = await startBitcoin();
  const { controls } = bitcoin;
  const [depository, former, user, solver] = [anOwner(), anOwner(), anOwner(), anOwner()];
  const recipients: readonly [Owner, Owner] = [anOwner(), anOwner()];
  const fronts: FaultyFronts[] = [];

  const ownerOf = (canonical: string): Owner => {
    const owner = [...recipients, depository, former].find((candidate) => candidate.canonical === canonical);
    if (owner === undefined) throw new Error(`unknown account ${canonical}`);
    return owner;
  };
  /** Mines a transaction. The newest block then contains only this transaction. */
  const mined = async (tx: Transaction): Promise<string> => {
    await controls.mineExactly([tx.hex]);
    return tx.id;
  };
  const utxo = async (owner: Owner, amount = 4n * AMOUNT) => await utxoOf(controls, owner, amount);
  const transfer = async (from: Owner, outputs: readonly PaymentOutput[]): Promise<string> =>
    await mined(spend([await utxo(from)], outputs));
  const deposited = async (
    texts: readonly string[],
    {
      depositId,
      index = "1",
      depositor = user.canonical,
      amount = AMOUNT,
    }: {
      depositId: Hex32 | undefined;
      index?: string;
      depositor?: string;
      amount?: bigint;
    },
  ): Promise<ExpectedDeposits> => ({
    transactionId: await transfer(user, [{ to: depository, amount }, ...texts.map((text) => ({ text }))]),
    deposits: [{ index, depositor, currency: BTC, amount, depositId }],
  });
  const withoutId = async (...texts: readonly string[]): Promise<ExpectedDeposits> =>
    await deposited(texts, { depositId: undefined, index: "0" });
  const pay = async ({ orderId, payments }: PaymentPlan): Promise<string> =>
    await transfer(solver, [...paidBy(payments), { text: orderId }]);
  const paidBy = (payments: PaymentPlan["payments"]): readonly PaymentOutput[] =>
    payments.map(({ recipient, amount }) => ({ to: ownerOf(recipient), amount }));
  /** URLs of the honest node behind a front that always has this fault. */
  const behind = async (fault: ChooseFault): Promise<readonly string[]> => {
    const front = await startFaultyFronts([bitcoin.rpcUrl]);
    front.begin(fault);
    fronts.push(front);
    return [front.urls[0] ?? "", bitcoin.esploraUrl];
  };
  const withoutTime = async () => await behind(() => ({ answer: (json) => (isHeader(json) ? null : json) }));
  const orphaned = async (id: Hex32): Promise<string> => {
    const held = await utxo(user);
    const transactionId = await mined(spend([held], [{ to: depository, amount: AMOUNT }, { text: id }]));
    await controls.reorganize(1, [spend([held], [{ to: user, amount: AMOUNT }]).hex]);
    return transactionId;
  };
  /** A coinbase transaction, whose outputs have no sender. */
  const coinbase = async (): Promise<NoDeposit> => {
    const [hash] = (await controls.call("generatetoaddress", 1, depository.address)) as string[];
    const { tx } = (await controls.call("getblock", hash, 1)) as { tx: string[] };
    return { transactionId: tx[0] ?? "", as: "empty" };
  };

  /**
   * The allocator's payload of a withdrawal. Another account pays the fee, so the depository loses exactly
   * what the recipient gets.
   */
  const payout = async ({ recipient, amount }: WithdrawalPlan) => {
    const held = await utxo(depository, amount + AMOUNT);
    const feeUtxo = await utxo(solver);
    const outputs: readonly PaymentOutput[] = [
      { to: ownerOf(recipient), amount },
      { to: depository, amount: AMOUNT },
    ];
    const change = solver;
    const plan = spend([held, feeUtxo], outputs, { signed: false, change });
    const payload: Hex = `0x${Buffer.from(plan.toPSBT()).toString("hex")}`;
    const send = async (tx: Transaction): Promise<string> => {
      await controls.send(tx.hex);
      return await mined(tx);
    };
    /** Spends the depository's output in another transaction. */
    const instead = async (paid: readonly PaymentOutput[]): Promise<string> =>
      await send(spend([held], paid));
    const made = {
      payload,
      withdrawalId: sha256(Buffer.from(payload)),
      execute: async () => await send(spend([held, feeUtxo], outputs, { change })),
      expire: async () => {
        // After an execution, the output is already spent.
        await instead([{ to: user, amount }]).catch(() => undefined);
      },
    } satisfies SignedWithdrawal;
    return { ...made, instead };
  };

  return {
    family: "bitcoin-vm",
    urls: [bitcoin.rpcUrl, bitcoin.esploraUrl],
    chainAt: (urls) => chainAt(urls, bitcoin.rpcUrl, depository, former),
    recipients: [recipients[0].canonical, recipients[1].canonical],
    currency: BTC,
    otherCurrency: not("the native token is the only currency"),
    amount: AMOUNT,
    extraData: "0x",
    foreignAddress: `0x${"12".repeat(20)}`,
    otherFormats: (id) => [id.toUpperCase(), `0x${id}`, id.slice(0, -1), `${id}00`],
    omissibleFields: [],
    deposit: async ({ depositId, amount }) =>
      depositId === undefined
        ? await deposited([], { depositId, amount, index: "0" })
        : await deposited([depositId], { depositId, amount }),
    pay,
    withdrawal: payout,
    finalize: async () => void (await controls.mine(CONFIRMATIONS)),

    deposits: {
      twoInOne: not("all outputs of a transaction to a depository are one deposit"),
      none: async () => empty(await transfer(solver, [{ to: recipients[0], amount: AMOUNT }])),
      orphaned: async (id) => ({ transactionId: await orphaned(id), as: "not_final" }),
      splitNode: async (id) => {
        const transactionId = await orphaned(id);
        await controls.mine(CONFIRMATIONS);
        // The two nodes are on different branches.
        const deep = (json: unknown) =>
          isObject(json) && "height" in json ? { ...json, confirmations: 100 } : json;
        return { transactionId, urls: await behind(() => ({ answer: deep })), as: "upstream_unavailable" };
      },
      failed: not("a transaction in a block cannot fail"),
      lookAlike: async (id) =>
        empty(await transfer(user, [{ to: recipients[1], amount: AMOUNT }, { text: id }])),
      lyingToken: NO_TOKENS,
      feeOnTransfer: NO_TOKENS,
      withoutTransfer: not("the output itself is the deposit: there are no events"),
      reportedTwice: async (ids) => await withoutId(...ids),
      throughForwarder: async (id) =>
        await deposited([`${id}|depositor=${recipients[0].address}|`], {
          depositId: id,
          depositor: recipients[0].canonical,
        }),
      idElsewhere: async (id) => await withoutId(` ${id}`, `${id}ab`),
      invalidIds: async () => {
        const all: ExpectedDeposits[] = [];
        for (const text of [
          `0x${"00".repeat(32)}`,
          `0x${"00".repeat(16)}${"ab".repeat(16)}`,
          `0x${"ab".repeat(31)}`,
        ])
          all.push(await withoutId(text));
        return all;
      },
      withoutDeposit: coinbase,
      plainWithId: not("a plain transfer with the id is the deposit"),
      ownTransfer: async (id) =>
        empty(await transfer(former, [{ to: depository, amount: AMOUNT }, { text: id }])),
      otherNetwork: async (id) => ({
        transactionId: (await deposited([id], { depositId: id })).transactionId,
        // A front reports another first block.
        urls: await behind(() => ({
          question: (text) => text.replace('"getblockhash","params":[0]', '"getblockhash","params":[1]'),
        })),
        as: "upstream_unavailable",
      }),
      withoutTime: async (id) => ({
        transactionId: (await deposited([id], { depositId: id })).transactionId,
        urls: await withoutTime(),
        as: "upstream_unavailable",
      }),
    },

    payments: {
      failed: not("a transaction in a block cannot fail"),
      innerReverted: not("there are no calls within a transaction"),
      forTwoOrders: async ([first, second], payment) =>
        await transfer(solver, [...paidBy([payment]), { text: first }, { text: second }]),
      returnedByRecipient: async ({ orderId, payments }) => {
        const [payment] = payments;
        if (payment === undefined) throw new Error("no payment to return");
        // The recipient contributes as much as it receives, and the solver receives the rest.
        const inputs = [await utxo(solver), await utxo(ownerOf(payment.recipient), payment.amount)];
        return await mined(spend(inputs, [...paidBy(payments), { text: orderId }]));
      },
      reportedByStranger: not("there are no contracts"),
      strangersExtraData: "0x",
      calls: not("there are no contracts"),
      withoutTime: async (request) => ({ transactionId: await pay(request), urls: await withoutTime() }),
      idElsewhere: async ({ orderId, payments }) =>
        await transfer(solver, [...paidBy(payments), { text: `${orderId}|` }]),
    },

    withdrawals: {
      failedInside: not("a transaction in a block cannot fail"),
      otherOutputs: async (request) => {
        const made = await payout(request);
        await made.instead([
          { to: ownerOf(request.recipient), amount: request.amount - 1n },
          { to: depository, amount: AMOUNT - FEE },
        ]);
        return made;
      },
      expiryNotFinal: async (request) => {
        const made = await payout(request);
        await made.expire();
        return made;
      },
      malformed: async (request) => {
        const { payload } = await payout(request);
        const paysOther = spend(
          [await utxo(depository)],
          [...paidBy([request]), { to: recipients[1], amount: AMOUNT / 2n }],
          { signed: false, change: depository },
        );
        const ofOthers = spend([await utxo(user)], paidBy([request]), { signed: false });
        return [
          payload.slice(0, -40) as Hex,
          `${payload}00`,
          "0x",
          `0x${payload.slice(4)}`,
          psbtOf(paysOther),
          psbtOf(ofOthers),
        ];
      },
    },

    familyCases: {
      "unconfirmed and replaced with a higher fee": async (tools) => {
        const held = await utxo(user);
        const paid: readonly PaymentOutput[] = [{ to: depository, amount: AMOUNT }, { text: tools.newId() }];
        const first = spend([held], paid);
        await controls.send(first.hex);
        await tools.refuses({ transactionId: first.id, as: "not_final" });
        await controls.send(spend([held], [{ to: user, amount: AMOUNT }], { fee: 5n * FEE }).hex);
        await controls.mine(CONFIRMATIONS);
        await tools.refuses({ transactionId: first.id, as: "not_found" });
      },
      "two OP_RETURNs with ids": async (tools) => {
        const id = tools.newId();
        for (const made of [await withoutId(id, tools.newId()), await withoutId(id, id)]) {
          await controls.mine(CONFIRMATIONS);
          await tools.attests(made);
        }
      },
      "an id in capitals": async (tools) => {
        const made = await withoutId(tools.newId().toUpperCase().replace("X", "x"));
        await controls.mine(CONFIRMATIONS);
        await tools.attests(made);
      },
      "a depositor named by another account": async (tools) => {
        // A named depositor is credited. Without a name, or with two names, the name is ignored.
        const id = tools.newId();
        const named = await deposited([id, `|depositor=${recipients[1].address}|`], {
          depositId: id,
          depositor: recipients[1].canonical,
        });
        const unclear = await deposited(
          [id, `|depositor=${recipients[0].address}|`, `|depositor=${recipients[1].address}|`],
          { depositId: id },
        );
        await controls.mine(CONFIRMATIONS);
        await tools.attests(named);
        await tools.attests(unclear);
      },
      "a coinbase input": async (tools) => {
        const made = await coinbase();
        await controls.mine(CONFIRMATIONS);
        await tools.refuses(made);
      },
      "two depositories paid": async (tools) => {
        const transactionId = await transfer(user, [
          { to: depository, amount: AMOUNT },
          { to: former, amount: AMOUNT },
          { text: tools.newId() },
        ]);
        await controls.mine(CONFIRMATIONS);
        await tools.refuses({ transactionId, as: "rejected" });
      },
      "spent with only one confirmation": async (tools) => {
        const request = { recipient: recipients[0].canonical, currency: BTC, amount: AMOUNT };
        for (const what of ["execute", "expire"] as const) {
          const made = async (plan: WithdrawalPlan) => {
            const payment = await payout(plan);
            if (what === "execute") await payment.execute();
            else await payment.expire();
            return payment;
          };
          await tools.withdrawal(request, made, "pending");
        }
      },
    },
    close: async () => {
      await Promise.all(fronts.map((front) => front.close()));
      await bitcoin.stop();
    },
  };
}

/** The attestation chain at a front. Requests use the honest node's user and password. */
function chainAt(
  [rpc = "", esploraUrl]: readonly string[],
  honest: string,
  depository: Owner,
  former: Owner,
): ConfiguredChain {
  const [url, { username, password }] = [new URL(rpc), new URL(honest)];
  Object.assign(url, { username, password });
  return anAttestationChain({ rpcUrls: [url.href], esploraUrl }, depository, {
    additionalDepositories: [former.canonical],
  });
}

function psbtOf(tx: Transaction): Hex {
  return `0x${Buffer.from(tx.toPSBT()).toString("hex")}`;
}

function isHeader(json: unknown): boolean {
  return typeof json === "string" && json.length === 160;
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

const empty = (transactionId: string): NoDeposit => ({ transactionId, as: "empty" });
const not = (notApplicable: string): NotApplicable => ({ notApplicable });
const NO_TOKENS = not("there are no tokens");
