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
  const [depository, formerDepository, user, solver] = [anOwner(), anOwner(), anOwner(), anOwner()];
  const recipients: readonly [Owner, Owner] = [anOwner(), anOwner()];
  const fronts: FaultyFronts[] = [];

  const ownerOf = (canonical: string): Owner => {
    const owner = [...recipients, depository, formerDepository].find(
      (candidate) => candidate.canonical === canonical,
    );
    if (owner === undefined) throw new Error(`unknown account ${canonical}`);
    return owner;
  };
  /** Mines a block with only this transaction. Returns the transaction's id. */
  const mineAlone = async (tx: Transaction): Promise<string> => {
    await controls.mineExactly([tx.hex]);
    return tx.id;
  };
  const utxo = async (owner: Owner, amount = 4n * AMOUNT) => await utxoOf(controls, owner, amount);
  const transfer = async (from: Owner, outputs: readonly PaymentOutput[]): Promise<string> =>
    await mineAlone(spend([await utxo(from)], outputs));
  const makeDeposit = async (
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
  const depositWithoutId = async (...texts: readonly string[]): Promise<ExpectedDeposits> =>
    await makeDeposit(texts, { depositId: undefined, index: "0" });
  const pay = async ({ orderId, payments }: PaymentPlan): Promise<string> =>
    await transfer(solver, [...outputsOf(payments), { text: orderId }]);
  const outputsOf = (payments: PaymentPlan["payments"]): readonly PaymentOutput[] =>
    payments.map(({ recipient, amount }) => ({ to: ownerOf(recipient), amount }));
  /** URLs of a front that always injects this fault into the honest node's answers. */
  const urlsBehindFault = async (fault: ChooseFault): Promise<readonly string[]> => {
    const front = await startFaultyFronts([bitcoin.rpcUrl]);
    front.begin(fault);
    fronts.push(front);
    return [front.urls[0] ?? "", bitcoin.esploraUrl];
  };
  const urlsWithoutTime = async () =>
    await urlsBehindFault(() => ({ answer: (json) => (isHeader(json) ? null : json) }));
  const orphanDeposit = async (id: Hex32): Promise<string> => {
    const userUtxo = await utxo(user);
    const transactionId = await mineAlone(
      spend([userUtxo], [{ to: depository, amount: AMOUNT }, { text: id }]),
    );
    await controls.reorganize(1, [spend([userUtxo], [{ to: user, amount: AMOUNT }]).hex]);
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
    const depositoryUtxo = await utxo(depository, amount + AMOUNT);
    const feeUtxo = await utxo(solver);
    const outputs: readonly PaymentOutput[] = [
      { to: ownerOf(recipient), amount },
      { to: depository, amount: AMOUNT },
    ];
    const change = solver;
    const plan = spend([depositoryUtxo, feeUtxo], outputs, { signed: false, change });
    const payload: Hex = `0x${Buffer.from(plan.toPSBT()).toString("hex")}`;
    const send = async (tx: Transaction): Promise<string> => {
      await controls.send(tx.hex);
      return await mineAlone(tx);
    };
    /** Spends the depository's output in another transaction. */
    const spendInstead = async (otherOutputs: readonly PaymentOutput[]): Promise<string> =>
      await send(spend([depositoryUtxo], otherOutputs));
    const withdrawal = {
      payload,
      withdrawalId: sha256(Buffer.from(payload)),
      execute: async () => await send(spend([depositoryUtxo, feeUtxo], outputs, { change })),
      expire: async () => {
        // After an execution, the output is already spent.
        await spendInstead([{ to: user, amount }]).catch(() => undefined);
      },
    } satisfies SignedWithdrawal;
    return { ...withdrawal, instead: spendInstead };
  };

  return {
    family: "bitcoin-vm",
    urls: [bitcoin.rpcUrl, bitcoin.esploraUrl],
    chainAt: (urls) => chainAt(urls, bitcoin.rpcUrl, depository, formerDepository),
    recipients: [recipients[0].canonical, recipients[1].canonical],
    currency: BTC,
    otherCurrency: notApplicable("the native token is the only currency"),
    amount: AMOUNT,
    extraData: "0x",
    foreignAddress: `0x${"12".repeat(20)}`,
    otherFormats: (id) => [id.toUpperCase(), `0x${id}`, id.slice(0, -1), `${id}00`],
    omissibleFields: [],
    deposit: async ({ depositId, amount }) =>
      depositId === undefined
        ? await makeDeposit([], { depositId, amount, index: "0" })
        : await makeDeposit([depositId], { depositId, amount }),
    pay,
    withdrawal: payout,
    finalize: async () => void (await controls.mine(CONFIRMATIONS)),

    deposits: {
      twoInOne: notApplicable("all outputs of a transaction to a depository are one deposit"),
      none: async () => empty(await transfer(solver, [{ to: recipients[0], amount: AMOUNT }])),
      orphaned: async (id) => ({ transactionId: await orphanDeposit(id), as: "not_final" }),
      splitNode: async (id) => {
        const transactionId = await orphanDeposit(id);
        await controls.mine(CONFIRMATIONS);
        // The two nodes are on different branches.
        const deep = (json: unknown) =>
          isObject(json) && "height" in json ? { ...json, confirmations: 100 } : json;
        return {
          transactionId,
          urls: await urlsBehindFault(() => ({ answer: deep })),
          as: "upstream_unavailable",
        };
      },
      failed: notApplicable("a transaction in a block cannot fail"),
      lookAlike: async (id) =>
        empty(await transfer(user, [{ to: recipients[1], amount: AMOUNT }, { text: id }])),
      lyingToken: NO_TOKENS,
      feeOnTransfer: NO_TOKENS,
      withoutTransfer: notApplicable("the output itself is the deposit: there are no events"),
      reportedTwice: async (ids) => await depositWithoutId(...ids),
      throughForwarder: async (id) =>
        await makeDeposit([`${id}|depositor=${recipients[0].address}|`], {
          depositId: id,
          depositor: recipients[0].canonical,
        }),
      idElsewhere: async (id) => await depositWithoutId(` ${id}`, `${id}ab`),
      invalidIds: async () => {
        const deposits: ExpectedDeposits[] = [];
        for (const text of [
          `0x${"00".repeat(32)}`,
          `0x${"00".repeat(16)}${"ab".repeat(16)}`,
          `0x${"ab".repeat(31)}`,
        ])
          deposits.push(await depositWithoutId(text));
        return deposits;
      },
      withoutDeposit: coinbase,
      plainWithId: notApplicable("a plain transfer with the id is the deposit"),
      ownTransfer: async (id) =>
        empty(await transfer(formerDepository, [{ to: depository, amount: AMOUNT }, { text: id }])),
      otherNetwork: async (id) => ({
        transactionId: (await makeDeposit([id], { depositId: id })).transactionId,
        // A front reports another first block.
        urls: await urlsBehindFault(() => ({
          question: (text) => text.replace('"getblockhash","params":[0]', '"getblockhash","params":[1]'),
        })),
        as: "upstream_unavailable",
      }),
      withoutTime: async (id) => ({
        transactionId: (await makeDeposit([id], { depositId: id })).transactionId,
        urls: await urlsWithoutTime(),
        as: "upstream_unavailable",
      }),
    },

    payments: {
      failed: notApplicable("a transaction in a block cannot fail"),
      innerReverted: notApplicable("there are no calls within a transaction"),
      forTwoOrders: async ([first, second], payment) =>
        await transfer(solver, [...outputsOf([payment]), { text: first }, { text: second }]),
      returnedByRecipient: async ({ orderId, payments }) => {
        const [payment] = payments;
        if (payment === undefined) throw new Error("no payment to return");
        // The recipient contributes as much as it receives, and the solver receives the rest.
        const inputs = [await utxo(solver), await utxo(ownerOf(payment.recipient), payment.amount)];
        return await mineAlone(spend(inputs, [...outputsOf(payments), { text: orderId }]));
      },
      reportedByStranger: notApplicable("there are no contracts"),
      strangersExtraData: "0x",
      calls: notApplicable("there are no contracts"),
      withoutTime: async (request) => ({ transactionId: await pay(request), urls: await urlsWithoutTime() }),
      idElsewhere: async ({ orderId, payments }) =>
        await transfer(solver, [...outputsOf(payments), { text: `${orderId}|` }]),
    },

    withdrawals: {
      failedInside: notApplicable("a transaction in a block cannot fail"),
      otherOutputs: async (request) => {
        const withdrawal = await payout(request);
        await withdrawal.instead([
          { to: ownerOf(request.recipient), amount: request.amount - 1n },
          { to: depository, amount: AMOUNT - FEE },
        ]);
        return withdrawal;
      },
      expiryNotFinal: async (request) => {
        const withdrawal = await payout(request);
        await withdrawal.expire();
        return withdrawal;
      },
      malformed: async (request) => {
        const { payload } = await payout(request);
        const paysOther = spend(
          [await utxo(depository)],
          [...outputsOf([request]), { to: recipients[1], amount: AMOUNT / 2n }],
          { signed: false, change: depository },
        );
        const spendsUserUtxo = spend([await utxo(user)], outputsOf([request]), { signed: false });
        return [
          payload.slice(0, -40) as Hex,
          `${payload}00`,
          "0x",
          `0x${payload.slice(4)}`,
          psbtOf(paysOther),
          psbtOf(spendsUserUtxo),
        ];
      },
    },

    familyCases: {
      "unconfirmed and replaced with a higher fee": async (tools) => {
        const userUtxo = await utxo(user);
        const outputs: readonly PaymentOutput[] = [
          { to: depository, amount: AMOUNT },
          { text: tools.newId() },
        ];
        const first = spend([userUtxo], outputs);
        await controls.send(first.hex);
        await tools.refuses({ transactionId: first.id, as: "not_final" });
        await controls.send(spend([userUtxo], [{ to: user, amount: AMOUNT }], { fee: 5n * FEE }).hex);
        await controls.mine(CONFIRMATIONS);
        await tools.refuses({ transactionId: first.id, as: "not_found" });
      },
      "two OP_RETURNs with ids": async (tools) => {
        const id = tools.newId();
        for (const deposit of [await depositWithoutId(id, tools.newId()), await depositWithoutId(id, id)]) {
          await controls.mine(CONFIRMATIONS);
          await tools.attests(deposit);
        }
      },
      "an id in capitals": async (tools) => {
        const deposit = await depositWithoutId(tools.newId().toUpperCase().replace("X", "x"));
        await controls.mine(CONFIRMATIONS);
        await tools.attests(deposit);
      },
      "a depositor named by another account": async (tools) => {
        // A named depositor is credited. Without a name, or with two names, the name is ignored.
        const id = tools.newId();
        const named = await makeDeposit([id, `|depositor=${recipients[1].address}|`], {
          depositId: id,
          depositor: recipients[1].canonical,
        });
        const unclear = await makeDeposit(
          [id, `|depositor=${recipients[0].address}|`, `|depositor=${recipients[1].address}|`],
          { depositId: id },
        );
        await controls.mine(CONFIRMATIONS);
        await tools.attests(named);
        await tools.attests(unclear);
      },
      "a coinbase input": async (tools) => {
        const deposit = await coinbase();
        await controls.mine(CONFIRMATIONS);
        await tools.refuses(deposit);
      },
      "two depositories paid": async (tools) => {
        const transactionId = await transfer(user, [
          { to: depository, amount: AMOUNT },
          { to: formerDepository, amount: AMOUNT },
          { text: tools.newId() },
        ]);
        await controls.mine(CONFIRMATIONS);
        await tools.refuses({ transactionId, as: "rejected" });
      },
      "spent with only one confirmation": async (tools) => {
        const request = { recipient: recipients[0].canonical, currency: BTC, amount: AMOUNT };
        for (const outcome of ["execute", "expire"] as const) {
          const makeWithdrawal = async (plan: WithdrawalPlan) => {
            const withdrawal = await payout(plan);
            if (outcome === "execute") await withdrawal.execute();
            else await withdrawal.expire();
            return withdrawal;
          };
          await tools.withdrawal(request, makeWithdrawal, "pending");
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
  formerDepository: Owner,
): ConfiguredChain {
  const [url, { username, password }] = [new URL(rpc), new URL(honest)];
  Object.assign(url, { username, password });
  return anAttestationChain({ rpcUrls: [url.href], esploraUrl }, depository, {
    additionalDepositories: [formerDepository.canonical],
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
const notApplicable = (reason: string): NotApplicable => ({ notApplicable: reason });
const NO_TOKENS = notApplicable("there are no tokens");
