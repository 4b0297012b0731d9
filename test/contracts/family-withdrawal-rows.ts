import {
  hubTokenId,
  initiationKey,
  ownerAuthorizationDigest,
  signatureToHex,
  withdrawalKey,
} from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { expect } from "vitest";
import type { Fault } from "../support/faulty-front.ts";
import { aHub, owner, type Answer } from "../support/oracle-world.ts";
import type { Judge } from "./family-judge.ts";
import { row, rowOf, type Row } from "./family-row.ts";
import { isNotApplicable, type FamilyWorld } from "./family-world.ts";

/** Statuses of a withdrawal in an oracle's answer. */
const PENDING = 0;
const EXECUTED = 1;
const EXPIRED = 2;

export const withdrawalRows: readonly Row[] = [
  row("a payload that was not executed is pending, and nothing is signed", async (judge) => {
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(
      judge.onePayment(),
      judge.world.withdrawal,
    );
    await judge.world.finalize();
    const answer = await judge.mustSignNothing(judge.first, async () =>
      judge.askWithdrawal(hubWithdrawal, withdrawal.payload),
    );
    await judge.mustBeWithdrawal(answer, "pending", {
      hubWithdrawal,
      withdrawal,
      amount: judge.world.amount,
    });
  }),
  row("a final execution counts, and burns the reserved amount", async (judge) => {
    const { world } = judge;
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), world.withdrawal);
    const transactionId = await withdrawal.execute();
    if (world.finalAtOnce === undefined) {
      const before = judge.first.signatures();
      const early = await judge.first.post("depository-withdrawals", {
        chainId: judge.chain.name,
        withdrawal: withdrawal.payload,
        transactionId,
        withdrawalAddressRequest: hubWithdrawal.addressRequest,
      });
      expect([PENDING, undefined], early.text).toContain(statusOf(early));
      expect(judge.first.signatures()).toBe(before);
    }
    await world.finalize();
    const answer = await whenSettled(judge, async () =>
      judge.askWithdrawal(hubWithdrawal, withdrawal.payload, transactionId),
    );
    await judge.mustBeWithdrawal(answer, "executed", { hubWithdrawal, withdrawal, amount: world.amount });
    expect(answer.body.execution.idempotencyKey).toBe(withdrawalKey(withdrawal.withdrawalId, "executed"));
  }),
  row("an executed payload never expires", async (judge) => {
    const { world } = judge;
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), world.withdrawal);
    const transactionId = await withdrawal.execute();
    await world.finalize();
    if (!isNotApplicable(withdrawal.expire)) await withdrawal.expire();
    await world.finalize();
    for (const hint of [transactionId, undefined]) {
      const answer = await whenSettled(judge, async () =>
        judge.askWithdrawal(hubWithdrawal, withdrawal.payload, hint),
      );
      expect([EXECUTED, hint === undefined ? PENDING : EXECUTED], answer.text).toContain(statusOf(answer));
    }
  }),
  {
    name: "a payload that can never be executed again is released, and is not executed later",
    run: async (judge) => {
      const { world } = judge;
      const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), world.withdrawal);
      if (isNotApplicable(withdrawal.expire)) return withdrawal.expire;
      await withdrawal.expire();
      await world.finalize();
      const ask = async (): Promise<Answer> => await judge.askWithdrawal(hubWithdrawal, withdrawal.payload);
      const expired = await whenSettled(judge, ask);
      await judge.mustBeWithdrawal(expired, "expired", { hubWithdrawal, withdrawal, amount: world.amount });
      expect(expired.body.execution.idempotencyKey).toBe(withdrawalKey(withdrawal.withdrawalId, "expired"));
      // The chain either rejects the transaction or includes it as failed.
      const late = await withdrawal.execute().catch(() => undefined);
      await world.finalize();
      for (const hint of late === undefined ? [undefined] : [late, undefined]) {
        const after = await whenSettled(judge, async () =>
          judge.askWithdrawal(hubWithdrawal, withdrawal.payload, hint),
        );
        expect([EXPIRED], after.text).toContain(statusOf(after));
      }
      return undefined;
    },
  },
  rowOf(
    "an expiry by a block that is not final does not count",
    ({ withdrawals }) => withdrawals.expiryNotFinal,
    async (judge, scene) => {
      const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), scene);
      const answer = await judge.mustSignNothing(judge.first, async () =>
        judge.first.post("depository-withdrawals", {
          chainId: judge.chain.name,
          withdrawal: withdrawal.payload,
          withdrawalAddressRequest: hubWithdrawal.addressRequest,
        }),
      );
      if (answer.status === 200) expect(statusOf(answer)).toBe(PENDING);
      else judge.mustBeRefused(answer, "not_final");
    },
  ),
  row("whichever read fails, an executed payload is never reported as expired", async (judge) => {
    const { world } = judge;
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), world.withdrawal);
    const transactionId = await withdrawal.execute();
    await world.finalize();
    if (!isNotApplicable(withdrawal.expire)) await withdrawal.expire();
    await world.finalize();
    await mustNeverSay(judge, EXPIRED, hubWithdrawal, withdrawal.payload, [transactionId, undefined]);
  }),
  row("whichever read fails, a pending payload is never reported as executed", async (judge) => {
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(
      judge.onePayment(),
      judge.world.withdrawal,
    );
    await judge.world.finalize();
    await mustNeverSay(judge, EXECUTED, hubWithdrawal, withdrawal.payload, [undefined]);
  }),
  row("another payload for the same withdrawal settles nothing", async (judge) => {
    const { world } = judge;
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), world.withdrawal);
    const rebuilt = await world.withdrawal({
      ...judge.onePayment({ amount: world.amount + 1n }),
      address: hubWithdrawal.address,
    });
    expect(rebuilt.withdrawalId).not.toBe(withdrawal.withdrawalId);
    const transactionId = await rebuilt.execute();
    await world.finalize();
    const answer = await judge.mustSignNothing(judge.first, async () =>
      whenSettled(judge, async () => judge.askWithdrawal(hubWithdrawal, rebuilt.payload, transactionId)),
    );
    judge.mustBeRefused(answer, "rejected");
  }),
  row("a payment of the solver does not execute a payload", async (judge) => {
    const { world } = judge;
    const payments = [judge.onePayment()];
    const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), world.withdrawal);
    const hint = await judge.pay(judge.orderPaying(payments), payments);
    const answer = await judge.mustSignNothing(judge.first, async () =>
      judge.askWithdrawal(hubWithdrawal, withdrawal.payload, hint),
    );
    if (answer.status === 200) expect(statusOf(answer)).toBe(PENDING);
    else judge.mustBeRefused(answer, "rejected");
  }),
  row("a payload for another recipient or currency does not settle this withdrawal", async (judge) => {
    const { world } = judge;
    const otherPayments = [
      judge.onePayment({ recipient: world.recipients[1] }),
      ...(isNotApplicable(world.otherCurrency) ? [] : [judge.onePayment({ currency: world.otherCurrency })]),
    ];
    for (const payment of otherPayments) {
      const hubWithdrawal = judge.withdrawalOf(judge.onePayment());
      const withdrawal = await world.withdrawal({ ...payment, address: hubWithdrawal.address });
      judge.recordedWithdrawals.set(hubWithdrawal.address, withdrawal.withdrawalId);
      const transactionId = await withdrawal.execute();
      await world.finalize();
      const answer = await judge.mustSignNothing(judge.first, async () =>
        judge.askWithdrawal(hubWithdrawal, withdrawal.payload, transactionId),
      );
      judge.mustBeRefused(answer, "rejected");
    }
  }),
  rowOf(
    "an execution that failed inside does not count",
    ({ withdrawals }) => withdrawals.failedInside,
    async (judge, scene) => await mustNotBeExecuted(judge, scene),
  ),
  rowOf(
    "an execution with other outputs does not count",
    ({ withdrawals }) => withdrawals.otherOutputs,
    async (judge, scene) => await mustNotBeExecuted(judge, scene),
  ),
  rowOf(
    "a malformed payload is refused",
    ({ withdrawals }) => withdrawals.malformed,
    async (judge, scene) => {
      const hubWithdrawal = judge.withdrawalOf(judge.onePayment());
      const payloads = await scene({ ...judge.onePayment(), address: hubWithdrawal.address });
      expect(payloads.length).toBeGreaterThan(0);
      for (const payload of payloads) {
        const answer = await judge.mustSignNothing(judge.first, async () =>
          judge.askWithdrawal(hubWithdrawal, payload),
        );
        judge.mustBeRefused(answer, "rejected", "invalid_request");
      }
    },
  ),
  row("a balance is reserved for a withdrawal to this chain, and that is confirmed", async (judge) => {
    const { world, chain, balances } = judge;
    const hubWithdrawal = judge.withdrawalOf(judge.onePayment());
    balances.set(`${hubWithdrawal.ownerAlias}:${hubWithdrawal.tokenId}`, world.amount);
    const { request, answer } = await initiation(judge, hubWithdrawal);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.execution.idempotencyKey).toBe(
      initiationKey(aHub.name, hubWithdrawal.tokenId, hubWithdrawal.address),
    );
    const { signature: _, ...confirmationRequest } = request;
    judge.mustBeRefused(
      await judge.mustSignNothing(judge.first, async () =>
        judge.first.post("withdrawal-initiated", confirmationRequest),
      ),
      "rejected",
    );
    balances.set(`${hubWithdrawal.address}:${hubWithdrawal.tokenId}`, world.amount);
    const initiated = await judge.first.post("withdrawal-initiated", confirmationRequest);
    expect(initiated.status, initiated.text).toBe(200);
    expect(initiated.body.payloadParams.signatures.map(({ oracleSigner }) => oracleSigner)).toEqual([
      judge.first.signer.address,
    ]);
    expect(hubWithdrawal.tokenId).toBe(hubTokenId(chain, world.currency));
  }),
  row(
    "an owner's signature for another environment, depository, amount or recipient is rejected",
    async (judge) => {
      const { world, balances } = judge;
      const hubWithdrawal = judge.withdrawalOf(judge.onePayment());
      balances.set(`${hubWithdrawal.ownerAlias}:${hubWithdrawal.tokenId}`, 2n * world.amount);
      const changes: Record<string, string>[] = [
        { settlementChainId: "otherhub" },
        { settlementNetwork: "1" },
        { oracleContract: aHub.hubAddress },
        { depository: world.recipients[1] },
        { amount: (world.amount + 1n).toString() },
        { recipient: world.recipients[1] },
      ];
      for (const change of changes) {
        const { answer } = await initiation(judge, hubWithdrawal, change);
        judge.mustBeRefused(answer, "rejected");
      }
      const { answer } = await initiation(judge, hubWithdrawal, {}, { expectedAmount: `0${world.amount}` });
      judge.mustBeRefused(answer, "invalid_request");
    },
  ),
];

/** Waits until the answer is final: a family whose nodes lag answers "pending" or "not found" before. */
async function whenSettled({ untilFinal }: Judge, ask: () => Promise<Answer>): Promise<Answer> {
  const endMs = Date.now() + 3_000;
  for (;;) {
    const answer = await untilFinal(ask);
    const waits = answer.body.code === "not_found" || statusOf(answer) === PENDING;
    if (!waits || Date.now() > endMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The status of a withdrawal. Undefined if the oracle refused. */
function statusOf({ status, body }: Answer): unknown {
  return status === 200 ? body.message.result["status"] : undefined;
}

async function mustNotBeExecuted(
  judge: Judge,
  scene: (
    plan: Parameters<FamilyWorld["withdrawal"]>[0],
  ) => Promise<{ payload: `0x${string}`; withdrawalId: Hex32 }>,
): Promise<void> {
  const { hubWithdrawal, withdrawal } = await judge.signWithdrawal(judge.onePayment(), scene);
  await judge.world.finalize();
  const answer = await judge.askWithdrawal(hubWithdrawal, withdrawal.payload);
  // "Expired" is correct only if the attempt made an execution impossible.
  if (answer.status === 200) expect([PENDING, EXPIRED], answer.text).toContain(statusOf(answer));
  else judge.mustBeRefused(answer, "rejected");
}

const READ_FAULTS: readonly Fault[] = [
  { instead: "status500" },
  { instead: "closed" },
  { instead: "html" },
  { answer: () => null },
  { answer: () => [] },
  { answer: () => ({}) },
];

/** Checks the answers while each single read fails in each way, and while all reads fail. */
async function mustNeverSay(
  judge: Judge,
  status: typeof EXECUTED | typeof EXPIRED,
  hubWithdrawal: ReturnType<Judge["withdrawalOf"]>,
  payload: `0x${string}`,
  hints: readonly (string | undefined)[],
): Promise<void> {
  for (const hint of hints) {
    const body = {
      chainId: judge.chain.name,
      withdrawal: payload,
      ...(hint !== undefined && { transactionId: hint }),
      withdrawalAddressRequest: hubWithdrawal.addressRequest,
    };
    const ask = async (choose: (readIndex: number) => Fault | undefined) =>
      await judge.askWithFaults(choose, "depository-withdrawals", body);
    const { nodeAnswers } = await ask(() => undefined);
    expect(nodeAnswers.length).toBeGreaterThan(0);
    for (const fault of READ_FAULTS)
      for (let failingRead = 0; failingRead <= nodeAnswers.length; failingRead++) {
        const { answer } = await ask((readIndex) =>
          failingRead === nodeAnswers.length || readIndex === failingRead ? fault : undefined,
        );
        expect(statusOf(answer), answer.text).not.toBe(status);
      }
  }
}

async function initiation(
  judge: Judge,
  hubWithdrawal: ReturnType<Judge["withdrawalOf"]>,
  signedAs: Readonly<Record<string, string>> = {},
  sent: Readonly<Record<string, string>> = {},
) {
  const { addressRequest, depository } = hubWithdrawal;
  const amount = judge.world.amount.toString();
  const digest = ownerAuthorizationDigest({
    operation: "withdrawal",
    chainId: addressRequest.chainId,
    currency: addressRequest.currency,
    amount,
    ownerChainId: addressRequest.withdrawerChainId,
    owner: addressRequest.withdrawer,
    recipient: addressRequest.recipient,
    nonce: addressRequest.withdrawalNonce,
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
    ...addressRequest,
    ...sent,
  };
  return { request, answer: await judge.first.post("withdrawal-initiation", request) };
}
