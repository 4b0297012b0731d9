import {
  decodeHubAction,
  depositKey,
  depositoryDepositId,
  depositoryWithdrawalId,
  hubAlias,
  hubTokenId,
  messageDigest,
  onchainId,
  orderAddress,
  recoverSigner,
  signPersonalMessage,
  withdrawalAddress,
  type FamilyOf,
} from "@causeway/attest";
import { orderIdOf, type Hex, type Hex32 } from "@causeway/domain";
import { encodeOrder } from "@causeway/families";
import type { AttestedOrder } from "@causeway/wire";
import { expect } from "vitest";
import type { FamilyOracle, FamilyOracles } from "../support/family-oracles.ts";
import { executionSigners } from "../support/recovered-signers.ts";
import { owner, solver, USDC, USER, word, type Answer, type EditableOrder } from "../support/oracle-world.ts";
import type {
  ExpectedDeposits,
  SignedWithdrawal,
  NoDeposit,
  FamilyCaseTools,
  Payment,
  WithdrawalPlan,
} from "./family-world.ts";

/** Maximum time, in ms, until a node shows a final transaction as final. */
const PATIENCE_MS = 10_000;
/** Unix seconds. Later than every transaction of these tests, and fits into a uint32. */
export const FAR_DEADLINE = 4_000_000_000;
const HOME_DEPOSIT = 1_000n;
const NO_ID = word("00");

export type Code = NonNullable<Answer["body"]["code"]>;

/** Asks the oracles of one family, and checks their answers. */
export type Judge = ReturnType<typeof createJudge>;

let counter = 0;
/** A unique id without leading zeros. */
export function freshId(): Hex32 {
  counter += 1;
  return `0xc0ffee${counter.toString(16).padStart(58, "1")}`;
}

export function createJudge(oracles: FamilyOracles) {
  const { world, chain, home, first, second, balances, recordedWithdrawals } = oracles;
  const familyOf: FamilyOf = (name) => (name === chain.name ? chain.vmType : home.chain.vmType);

  /** Repeats the request until the answer is final. */
  async function untilFinal(ask: () => Promise<Answer>): Promise<Answer> {
    const endMs = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask();
      if (answer.body.code !== "not_final" || Date.now() > endMs) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function readingAt<T>(urls: readonly string[] | undefined, ask: () => Promise<T>): Promise<T> {
    if (urls === undefined) return await ask();
    await first.readAt(urls);
    try {
      return await ask();
    } finally {
      await first.readAt(world.urls);
    }
  }

  /** Sends the request, and checks that the oracle signs nothing for it. */
  async function mustSignNothing(oracle: FamilyOracle, ask: () => Promise<Answer>): Promise<Answer> {
    const before = oracle.signatures();
    const answer = await ask();
    expect(answer.body.execution, answer.text).toBeUndefined();
    expect(oracle.signatures()).toBe(before);
    return answer;
  }

  function mustBeRefused(answer: Answer, ...codes: readonly Code[]): void {
    expect({ status: answer.status, code: answer.body.code }, answer.text).toEqual({
      status: codes.includes("upstream_unavailable") && answer.status === 503 ? 503 : 400,
      code: answer.body.code,
    });
    expect(codes, answer.text).toContain(answer.body.code);
  }

  async function signedBy(answer: Answer, oracle: FamilyOracle): Promise<void> {
    expect(await executionSigners(answer.body.execution)).toEqual([oracle.signer.address]);
  }

  const deposit = (transactionId: string) => ({ chainId: chain.name, transactionId });
  const askDeposit = async (transactionId: string, oracle = first): Promise<Answer> =>
    await untilFinal(async () => await oracle.post("depository-deposits", deposit(transactionId)));

  async function mustAttest(expected: ExpectedDeposits): Promise<Answer> {
    const { deposits, transactionId, urls } = expected;
    const answer = await readingAt(urls, async () => await askDeposit(transactionId));
    await mustBeDeposits(answer, expected, first);
    if (deposits.length > 0) return answer;
    throw new Error("the case has no deposits");
  }

  async function mustBeDeposits(
    answer: Answer,
    { transactionId, deposits }: ExpectedDeposits,
    oracle: FamilyOracle,
  ): Promise<void> {
    const { body } = answer;
    expect(answer.status, answer.text).toBe(200);
    const results = deposits.map(({ index, depositId, amount, ...fields }) => ({
      ...fields,
      onchainId: onchainId(chain.name, transactionId, index),
      depositId: depositId ?? NO_ID,
      amount: amount.toString(),
    }));
    expect(body.messages.map(({ result: { depository: _, ...result } }) => result)).toEqual(results);
    const depositories = [chain.depository, ...chain.additionalDepositories];
    for (const { result } of body.messages) expect(depositories).toContain(result["depository"]);
    expect(body.execution.idempotencyKey).toBe(depositKey(chain.name, transactionId));
    expect(body.execution.actions.map((action) => decodeHubAction(action))).toEqual(
      deposits.map(({ depositor, depositId, currency, amount }, at) => ({
        kind: "mint",
        to:
          depositId === undefined
            ? hubAlias(chain, depositor)
            : orderAddress(chain, { depositor, depositId, timestamp: timeOf(body.messages[at]) }),
        tokenId: hubTokenId(chain, currency),
        amount,
      })),
    );
    await signedBy(answer, oracle);
    for (const message of body.messages) {
      const { result } = message as unknown as {
        result: Parameters<typeof depositoryDepositId>[1]["result"] & { amount: string };
      };
      const id = depositoryDepositId(familyOf, {
        data: { chainId: chain.name, transactionId },
        result: { ...result, amount: BigInt(result.amount) },
      });
      const [signature, ...others] = message.signatures;
      expect(others).toEqual([]);
      expect(recoverSigner(messageDigest(id), signature?.signature ?? "0x")).toBe(oracle.signer.address);
    }
  }

  async function mustRefuse({ transactionId, urls, as }: NoDeposit): Promise<void> {
    const ask = async (): Promise<Answer> => await first.post("depository-deposits", deposit(transactionId));
    const answer = await readingAt(
      urls,
      async () => await mustSignNothing(first, as === "not_final" ? ask : async () => await untilFinal(ask)),
    );
    if (as !== "empty") return mustBeRefused(answer, as);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.messages).toEqual([]);
  }

  const mustAttestOrRefuse = async (expected: ExpectedDeposits | NoDeposit): Promise<void> => {
    if ("deposits" in expected) await mustAttest(expected);
    else await mustRefuse(expected);
  };

  /** An order with a deposit on the other chain and payments on this chain. */
  function orderPaying(
    payments: readonly Payment[],
    edit: (order: EditableOrder) => void = () => undefined,
  ): AttestedOrder {
    const order: EditableOrder = {
      version: "v1",
      solverChainId: home.chain.name,
      solver: solver.address,
      salt: freshId(),
      inputs: [
        {
          payment: {
            chainId: home.chain.name,
            currency: USDC,
            amount: HOME_DEPOSIT.toString(),
            weight: "1",
          },
          refunds: payments.map(({ recipient, currency, amount }) => ({
            chainId: chain.name,
            recipient,
            currency,
            minimumAmount: amount.toString(),
            deadline: FAR_DEADLINE,
            extraData: world.extraData,
          })),
        },
      ],
      output: {
        chainId: chain.name,
        payments: payments.map(({ recipient, currency, amount }) => ({
          recipient,
          currency,
          minimumAmount: amount.toString(),
          expectedAmount: amount.toString(),
        })),
        calls: [],
        deadline: FAR_DEADLINE,
        extraData: world.extraData,
      },
      fees: [],
    };
    edit(order);
    return order;
  }

  /** An order with a deposit on this chain and a payment on the other chain. */
  function orderFrom(currency: string, amount: bigint): AttestedOrder {
    return orderPaying([], (order) => {
      order.inputs = [
        {
          payment: { chainId: chain.name, currency, amount: amount.toString(), weight: "1" },
          refunds: [],
        },
      ];
      order.output = {
        ...order.output,
        chainId: home.chain.name,
        payments: [{ recipient: USER, currency: USDC, minimumAmount: "990", expectedAmount: "990" }],
        extraData: "0x",
      };
    });
  }

  const orderIdFor = (order: AttestedOrder): Hex32 => orderIdOf(encodeOrder(order, familyOf));
  const signOrder = async (order: AttestedOrder): Promise<Hex> =>
    await signPersonalMessage(solver, orderIdFor(order));

  /**
   * Makes the order's deposits on the other chain. Returns the fields of an attestation request other than
   * the payment.
   */
  async function depositAndBuildRequest(
    order: AttestedOrder,
    { depositedAt = 1_000n, amount = HOME_DEPOSIT }: { depositedAt?: bigint; amount?: bigint } = {},
  ) {
    const depositId = orderIdFor(order);
    const inputs = order.inputs.map((_, inputIndex) => {
      const transactionId = freshId();
      home.addDeposits(transactionId, [{ depositId, amount }], depositedAt);
      return { transactionId, onchainId: onchainId(home.chain.name, transactionId, "0"), inputIndex };
    });
    return { order, orderSignature: await signOrder(order), inputs };
  }

  const postFill = async (request: object, oracle = first): Promise<Answer> =>
    await untilFinal(async () => await oracle.post("solver-fills", request));

  async function fill(order: AttestedOrder, transactionId: string): Promise<Answer> {
    return await postFill({ ...(await depositAndBuildRequest(order)), fill: { transactionId } });
  }

  async function mustFill(order: AttestedOrder, answer: Answer): Promise<void> {
    expect(answer.status, answer.text).toBe(200);
    const depositId = orderIdFor(order);
    expect(answer.body.message.result).toMatchObject({ orderId: depositId, status: 1 });
    const tokenId = hubTokenId(home.chain, USDC);
    expect(answer.body.execution.actions.map((action) => decodeHubAction(action))).toEqual([
      {
        kind: "transfer",
        from: orderAddress(home.chain, { depositor: USER, timestamp: 1_000n, depositId }),
        to: hubAlias(home.chain, solver.address),
        tokenId,
        amount: HOME_DEPOSIT,
      },
    ]);
    await signedBy(answer, first);
  }

  async function mustNotFill(
    order: AttestedOrder,
    transactionId: string,
    codes: readonly Code[] = ["rejected"],
  ): Promise<void> {
    mustBeRefused(await mustSignNothing(first, async () => await fill(order, transactionId)), ...codes);
  }

  async function refund(order: AttestedOrder, transactionId: string, refundIndex = 0): Promise<Answer> {
    const request = {
      ...(await depositAndBuildRequest(order)),
      refunds: order.inputs.map((_, inputIndex) => ({ transactionId, inputIndex, refundIndex })),
    };
    return await untilFinal(async () => await first.post("solver-refunds", request));
  }

  /** A withdrawal that a user of the other chain owns and this chain pays. */
  function withdrawalOf(payment: Pick<Payment, "recipient" | "currency">, nonce = freshId()) {
    const { depository } = chain;
    if (depository === undefined) throw new Error("the family's chain has no depository");
    const addressRequest = {
      chainId: chain.name,
      currency: payment.currency,
      withdrawer: owner.address,
      withdrawerChainId: home.chain.name,
      recipient: payment.recipient,
      withdrawalNonce: nonce,
    };
    const ownerAlias = hubAlias(home.chain, owner.address);
    const address = withdrawalAddress(chain, { ...payment, depository, ownerAlias, nonce });
    const tokenId = hubTokenId(chain, payment.currency);
    return { addressRequest, address, ownerAlias, tokenId, depository };
  }
  type HubWithdrawal = ReturnType<typeof withdrawalOf>;

  const askWithdrawal = async (
    { addressRequest }: Pick<HubWithdrawal, "addressRequest">,
    payload: Hex,
    transactionId?: string,
    oracle = first,
  ): Promise<Answer> =>
    await untilFinal(
      async () =>
        await oracle.post("depository-withdrawals", {
          chainId: chain.name,
          withdrawal: payload,
          ...(transactionId !== undefined && { transactionId }),
          withdrawalAddressRequest: addressRequest,
        }),
    );

  /** A withdrawal that the allocator signed and recorded on the hub. */
  async function signWithdrawal<Signed extends Pick<SignedWithdrawal, "payload" | "withdrawalId">>(
    payment: Payment,
    make: (plan: WithdrawalPlan) => Promise<Signed>,
  ): Promise<{ readonly hubWithdrawal: HubWithdrawal; readonly withdrawal: Signed }> {
    const hubWithdrawal = withdrawalOf(payment);
    const withdrawal = await make({ ...payment, address: hubWithdrawal.address });
    recordedWithdrawals.set(hubWithdrawal.address, withdrawal.withdrawalId);
    return { hubWithdrawal, withdrawal };
  }

  async function mustBeWithdrawal(
    answer: Answer,
    status: "pending" | "executed" | "expired",
    {
      hubWithdrawal,
      withdrawal,
      amount,
    }: {
      readonly hubWithdrawal: HubWithdrawal;
      readonly withdrawal: Pick<SignedWithdrawal, "payload" | "withdrawalId">;
      readonly amount: bigint;
    },
  ): Promise<void> {
    expect(answer.status, answer.text).toBe(200);
    const { message, execution } = answer.body;
    expect(message.result).toMatchObject({
      withdrawalId: withdrawal.withdrawalId,
      depository: hubWithdrawal.depository,
      status: { pending: 0, executed: 1, expired: 2 }[status],
    });
    if (status === "pending") {
      expect(execution).toBeUndefined();
      expect(message.signatures).toEqual([]);
      return;
    }
    const { address: from, tokenId, ownerAlias: to } = hubWithdrawal;
    expect(execution.actions.map((action) => decodeHubAction(action))).toEqual([
      status === "executed"
        ? { kind: "burn", from, tokenId, amount }
        : { kind: "transfer", from, to, tokenId, amount },
    ]);
    await signedBy(answer, first);
    const id = depositoryWithdrawalId(familyOf, {
      data: { chainId: chain.name, withdrawal: withdrawal.payload },
      result: {
        withdrawalId: withdrawal.withdrawalId,
        depository: hubWithdrawal.depository,
        status: status === "executed" ? 1 : 2,
      },
    });
    expect(recoverSigner(messageDigest(id), message.signatures[0]?.signature ?? "0x")).toBe(
      first.signer.address,
    );
  }

  const caseTools: FamilyCaseTools = {
    attests: async (expected) => void (await mustAttest(expected)),
    refuses: mustRefuse,
    newId: freshId,
    async fills(payments, pay) {
      const order = orderPaying(payments);
      await mustFill(order, await fill(order, await pay(orderIdFor(order))));
    },
    async refusesFill(payments, pay) {
      const order = orderPaying(payments);
      await mustNotFill(order, await pay(orderIdFor(order)));
    },
    async withdrawal(plan, make, status, transactionId) {
      const { hubWithdrawal, withdrawal } = await signWithdrawal(plan, make);
      const ask = async (): Promise<Answer> =>
        await askWithdrawal(hubWithdrawal, withdrawal.payload, transactionId);
      if (status === "refused")
        mustBeRefused(await mustSignNothing(first, ask), "rejected", "invalid_request");
      else await mustBeWithdrawal(await ask(), status, { hubWithdrawal, withdrawal, amount: plan.amount });
    },
  };

  return {
    ...oracles,
    first,
    second,
    balances,
    recordedWithdrawals,
    familyOf,
    caseTools,
    untilFinal,
    mustSignNothing,
    mustBeRefused,
    askDeposit,
    mustAttest,
    mustBeDeposits,
    mustRefuse,
    mustAttestOrRefuse,
    orderPaying,
    orderFrom,
    orderIdFor,
    signOrder,
    depositAndBuildRequest,
    postFill,
    fill,
    mustFill,
    mustNotFill,
    refund,
    withdrawalOf,
    askWithdrawal,
    signWithdrawal,
    mustBeWithdrawal,
    /** The payment of a usual order, with `changes`. */
    onePayment: (changes: Partial<Payment> = {}): Payment => ({
      recipient: world.recipients[0],
      currency: world.currency,
      amount: world.amount,
      ...changes,
    }),
    /** Makes one usual payment for an order, and waits until it is final. */
    async pay(order: AttestedOrder, payments: readonly Payment[]): Promise<string> {
      const transactionId = await world.pay({ orderId: orderIdFor(order), payments });
      await world.finalize();
      return transactionId;
    },
    /** Makes one usual deposit, and waits until it is final. */
    async deposit(depositId: Hex32 | undefined, amount = world.amount, currency = world.currency) {
      const expected = await world.deposit({ depositId, currency, amount });
      await world.finalize();
      return expected;
    },
  };
}

function timeOf(message: unknown): bigint {
  const { extraData } = message as { readonly extraData?: { readonly timestamp: string } };
  return BigInt(extraData?.timestamp ?? 0);
}
