import { startLighter, STATUS, type LighterWallet, type RunningLighter } from "@causeway/simulators/lighter";
import {
  encodeLighterTransfer,
  lighterTransferText,
  type Hex,
  type Hex32,
  type LighterTransfer,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { keccak256, stringToBytes } from "viem";
import type {
  FamilyWorld,
  ExpectedDeposits,
  SignedWithdrawal,
  NoDeposit,
  NotApplicable,
  PaymentPlan,
  WithdrawalPlan,
} from "../../contracts/family-world.ts";

const DEPOSITORY = 460_491n;
const FORMER_DEPOSITORY = 460_492n;
const USER = 123_456n;
const SOLVER = 500_000n;
const [FIRST, SECOND] = [462_196n, 281_474_976_710_640n] as const;
const [DOLLARS, ETHER] = ["0", "1"] as const;
const AMOUNT = 5_000_000n;
const RICH = 1_000_000_000_000n;
const NO_MEMO: Hex32 = `0x${"00".repeat(32)}`;

/** The Lighter family: a simulator. */
export async function startLighterFamily(): Promise<FamilyWorld> {
  const lighter = await startLighter();
  const { exchange } = lighter;
  exchange.pace = "committed";
  const wallet = (index: bigint, owner: number): LighterWallet => {
    const opened = lighter.openWallet(index, `0x${owner.toString(16).padStart(64, "0")}`, RICH);
    exchange.ledger.credit(index, 1n, 1n, RICH);
    return opened;
  };
  const depository = wallet(DEPOSITORY, 1);
  const former = wallet(FORMER_DEPOSITORY, 2);
  const [user, solver] = [wallet(USER, 3), wallet(SOLVER, 4)];
  const first = wallet(FIRST, 5);
  wallet(SECOND, 6);
  exchange.ledger.credit(FIRST, 3n, 1n, RICH);
  const payouts = createPayouts(depository);
  const others: RunningLighter[] = [];

  const depositOf = async (depositId: Hex32 | undefined, currency: string, amount: bigint, usdcFee = 0n) =>
    await user.send({
      ...arrivingIn(currency),
      toAccountIndex: DEPOSITORY,
      amount,
      usdcFee,
      memo: depositId ?? NO_MEMO,
    });
  const made = (
    transactionId: string,
    deposit: { currency?: string; depositId: Hex32 | undefined; amount?: bigint },
  ): ExpectedDeposits => ({
    transactionId,
    deposits: [{ index: "0", depositor: `${USER}`, currency: DOLLARS, amount: AMOUNT, ...deposit }],
  });
  const queued = async (send: () => Promise<string>, then: (hash: string) => void): Promise<string> => {
    exchange.pace = "queued";
    try {
      const hash = await send();
      then(hash);
      return hash;
    } finally {
      exchange.pace = "committed";
    }
  };
  const pay = async ({ orderId, payments }: PaymentPlan, payer = solver): Promise<string> => {
    const [payment, ...others] = payments;
    if (payment === undefined || others.length > 0) throw new Error("expected one recipient of the transfer");
    return await payer.send({
      ...arrivingIn(payment.currency),
      toAccountIndex: BigInt(payment.recipient),
      amount: payment.amount,
      memo: orderId,
    });
  };
  /** The URL of an endpoint that omits this field from each record. */
  const without = async (field: string): Promise<readonly string[]> => {
    const endpoint = await lighter.openEndpoint();
    endpoint.faults.rewrite = (_path, body) => body.replace(new RegExp(`"${field}":\\d+,`), "");
    return [endpoint.url, lighter.explorerUrl];
  };

  return {
    family: "lighter-vm",
    urls: [lighter.url, lighter.explorerUrl],
    chainAt: (urls) => chainAt(lighter, urls),
    recipients: [`${FIRST}`, `${SECOND}`],
    currency: DOLLARS,
    otherCurrency: ETHER,
    amount: AMOUNT,
    extraData: "0x",
    foreignAddress: `0x${"12".repeat(20)}`,
    otherFormats: (id) => [id.toUpperCase(), `0x${id}`, id.slice(0, -1), `${id}00`],
    omissibleFields: [],
    deposit: async ({ depositId, currency, amount }) =>
      made(await depositOf(depositId, currency, amount), { depositId, currency, amount }),
    pay,
    withdrawal: async (plan) => await payouts.make(plan),
    finalize: async () => {
      for (const { hash, status } of exchange.records) if (status === STATUS.committed) exchange.settle(hash);
    },

    deposits: {
      twoInOne: ONE_TRANSFER,
      none: async () => empty(await solver.send({ toAccountIndex: FIRST, amount: AMOUNT })),
      orphaned: async (id) => {
        const transactionId = await depositOf(id, DOLLARS, AMOUNT);
        exchange.orphan(transactionId);
        return { transactionId, as: "rejected" };
      },
      splitNode: notApplicable("Lighter reports whether each transaction is settled, without confirmations"),
      failed: async (id) => ({
        transactionId: await queued(
          async () => await depositOf(id, DOLLARS, AMOUNT),
          (hash) => exchange.fail(hash),
        ),
        as: "rejected",
      }),
      lookAlike: async (id) => empty(await user.send({ toAccountIndex: FIRST, amount: AMOUNT, memo: id })),
      lyingToken: notApplicable("assets belong to Lighter: no one can add a token"),
      feeOnTransfer: async (id) => made(await depositOf(id, DOLLARS, AMOUNT, 3_000_000n), { depositId: id }),
      withoutTransfer: notApplicable("the transfer itself is the deposit: there are no events"),
      reportedTwice: ONE_TRANSFER,
      throughForwarder: notApplicable("the sender signs the transfer: no account transfers for another"),
      idElsewhere: notApplicable("a transfer has one memo, and no other bytes of the sender"),
      invalidIds: async () => {
        const memos: readonly Hex32[] = [NO_MEMO, `0x${"ab".repeat(20)}${"00".repeat(12)}`];
        const all: ExpectedDeposits[] = [];
        for (const memo of memos)
          all.push(made(await depositOf(memo, DOLLARS, AMOUNT), { depositId: undefined }));
        return all;
      },
      withoutDeposit: notApplicable("money reaches an account only by transfers, and each is a deposit"),
      plainWithId: notApplicable("a plain transfer with the id in its memo is the deposit"),
      ownTransfer: async (id) =>
        empty(await former.send({ toAccountIndex: DEPOSITORY, amount: AMOUNT, memo: id })),
      otherNetwork: async (id): Promise<NoDeposit> => {
        const other = await startLighter({ contract: `0x${"99".repeat(20)}` });
        others.push(other);
        other.openWallet(DEPOSITORY, `0x${"01".repeat(32)}`);
        const stranger = other.openWallet(USER, `0x${"02".repeat(32)}`, RICH);
        const transactionId = await stranger.send({ toAccountIndex: DEPOSITORY, amount: AMOUNT, memo: id });
        return { transactionId, urls: [other.url, other.explorerUrl], as: "upstream_unavailable" };
      },
      withoutTime: async (id) => ({
        transactionId: await depositOf(id, DOLLARS, AMOUNT),
        urls: await without("queued_at"),
        as: "upstream_unavailable",
      }),
    },

    payments: {
      failed: async (plan) =>
        await queued(
          async () => await pay(plan),
          (hash) => exchange.fail(hash),
        ),
      innerReverted: ONE_TRANSFER,
      forTwoOrders: notApplicable("a memo is one id"),
      returnedByRecipient: async ({ orderId }) =>
        // The recipient transfers to itself, from one balance to the other.
        await first.send({
          toAccountIndex: FIRST,
          amount: AMOUNT,
          memo: orderId,
          assetIndex: 3n,
          fromRouteType: 1n,
          toRouteType: 0n,
        }),
      reportedByStranger: notApplicable("there are no contracts"),
      strangersExtraData: "0x",
      calls: notApplicable("there are no contracts"),
      withoutTime: async (plan) => ({ transactionId: await pay(plan), urls: await without("executed_at") }),
      idElsewhere: async ({ orderId, payments }) =>
        await pay({ orderId: `0x${orderId.slice(4)}${orderId.slice(2, 4)}`, payments }),
    },

    withdrawals: {
      failedInside: async (plan) => {
        const payout = await payouts.make(plan);
        await queued(payout.execute, (hash) => exchange.fail(hash));
        return payout;
      },
      otherOutputs: async (plan) => {
        const payout = await payouts.make(plan);
        await payout.instead({ toAccountIndex: BigInt(plan.recipient), amount: plan.amount - 1n });
        return payout;
      },
      expiryNotFinal: async (plan) => {
        const payout = await payouts.make(plan);
        await payout.instead({ toAccountIndex: SECOND, amount: 1n });
        return payout;
      },
      malformed: async (plan) => {
        const { payload, transfer } = await payouts.make(plan);
        return [
          payload.slice(0, -2) as Hex,
          `${payload}00`,
          "0x",
          encodeLighterTransfer({ ...transfer, amount: 0n }),
          encodeLighterTransfer({ ...transfer, lighterChainId: 300n }),
          encodeLighterTransfer({ ...transfer, fromAccountIndex: USER }),
          encodeLighterTransfer({ ...transfer, toAccountIndex: FORMER_DEPOSITORY }),
          encodeLighterTransfer({ ...transfer, toRouteType: 2n }),
        ];
      },
    },

    familyCases: {},
    close: async () => {
      for (const server of [lighter, ...others]) await server.close();
    },
  };
}

function chainAt(lighter: RunningLighter, urls: readonly string[]): ConfiguredChain {
  const [url = "", explorerApiUrl] = urls;
  return {
    name: "lighter",
    vmType: "lighter-vm",
    rpcUrls: [url],
    rpcQuorum: 1,
    depository: `${DEPOSITORY}`,
    additionalDepositories: [`${FORMER_DEPOSITORY}`],
    hubChainId: "4004",
    evm: undefined,
    lighter: { explorerApiUrl, exchangeChainId: 304n, exchangeContract: lighter.exchange.contract },
  };
}

/** Signs payloads for a depository. Each payload has its own key, so that none waits for another's nonce. */
function createPayouts(depository: LighterWallet) {
  let lastKey = 2n;
  const make = async (plan: WithdrawalPlan): Promise<SignedWithdrawal & Payout> => {
    const apiKeyIndex = (lastKey += 1n);
    depository.addKey(apiKeyIndex);
    const transfer: LighterTransfer = {
      ...arrivingIn(plan.currency),
      nonce: 0n,
      fromAccountIndex: depository.index,
      apiKeyIndex,
      toAccountIndex: BigInt(plan.recipient),
      amount: plan.amount,
      usdcFee: 0n,
      lighterChainId: 304n,
      memo: plan.address.slice(2).padStart(64, "0").replace(/^/, "0x") as Hex32,
    };
    const instead: Payout["instead"] = async (other) =>
      await depository.send({ ...arrivingIn(DOLLARS), apiKeyIndex, ...other });
    return {
      payload: encodeLighterTransfer(transfer),
      withdrawalId: keccak256(stringToBytes(lighterTransferText(transfer))),
      transfer,
      instead,
      execute: async () => await depository.send(transfer),
      expire: async () => void (await instead({ toAccountIndex: SECOND, amount: 1n })),
    };
  };
  return { make };
}

interface Payout {
  readonly transfer: LighterTransfer;
  /** Uses the key's next nonce for another transfer. */
  instead(other: { toAccountIndex: bigint; amount: bigint }): Promise<string>;
}

/**
 * The fields of a transfer of this currency: USDC is in the perps balance, all other currencies are in the
 * spot balance.
 */
function arrivingIn(currency: string): Pick<LighterTransfer, "assetIndex" | "fromRouteType" | "toRouteType"> {
  return currency === DOLLARS
    ? { assetIndex: 3n, fromRouteType: 0n, toRouteType: 0n }
    : { assetIndex: BigInt(currency), fromRouteType: 1n, toRouteType: 1n };
}

const empty = (transactionId: string): NoDeposit => ({ transactionId, as: "empty" });
const notApplicable = (reason: string): NotApplicable => ({ notApplicable: reason });
const ONE_TRANSFER = notApplicable("a Lighter transaction is one transfer");
