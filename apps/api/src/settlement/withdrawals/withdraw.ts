import {
  depositoryWithdrawalId,
  hubAlias,
  hubTokenId,
  initiationExecution,
  initiationKey,
  messageDigest,
  ownerAuthorizationHash,
  signPersonalMessage,
  submitWithdrawRequestDigest,
  withdrawalAddress,
  withdrawalAuthorization,
  withdrawalExecution,
  withdrawalKey,
  withdrawRequestOf,
} from "@causeway/attest";
import type { SubmitWithdrawRequest, WithdrawalAccounts } from "@causeway/attest";
import {
  decodeEvmCallRequest,
  encodeEvmCallRequest,
  evmCallRequestId,
  NATIVE_CURRENCY,
} from "@causeway/domain";
import type { EvmCallRequest, Hex, Hex32, TxHash } from "@causeway/domain";
import {
  withdrawalAttestationAnswer,
  withdrawalInitiatedAnswer,
  withdrawalInitiationAnswer,
} from "@causeway/wire";
import { encodeFunctionData, erc20Abi } from "viem";
import type { SettlementServices } from "../settlement-services.port.ts";
import type { SignedExecution } from "../settlement.port.ts";
import { NodeUnavailable, PayoutReverted } from "./withdrawals.port.ts";
import type {
  Payouts,
  WithdrawalOrder,
  WithdrawalOutcome,
  WithdrawalRecord,
  WithdrawalStore,
} from "./withdrawals.port.ts";
import { familiesOf, judgeFor } from "../hub-facts.ts";
import type { Judge } from "../hub-facts.ts";
import { quorumSignature, signedExecution } from "../signed-execution.ts";
import { submitExecutions } from "../submit-executions.ts";
import { askOracles } from "./ask-oracles.ts";
import type { OracleResult, Waiting } from "./ask-oracles.ts";
import { optionsOf, readableAmount } from "./order-text.ts";

export interface WithdrawalServices extends SettlementServices {
  readonly withdrawals: WithdrawalStore;
  readonly payouts: Payouts;
  /** The chain that orders name as the solver's home: its hub balance belongs to its address there. */
  readonly solverChainName: string;
  /** How long a payload can be executed after its creation, seconds. */
  readonly payloadLifetimeSeconds: number;
}

/** Reports a completed step. */
export type ReportStep = (step: string, facts: Readonly<Record<string, string | bigint | undefined>>) => void;

export type Progress = { readonly kind: "done"; readonly outcome: WithdrawalOutcome } | Waiting;

/** The constants of one withdrawal. */
interface Case extends WithdrawalAccounts {
  readonly order: WithdrawalOrder;
  readonly judge: Judge;
  readonly signal: AbortSignal;
  readonly tell: ReportStep;
}

/** The withdrawal is not possible, now or later. */
export class WithdrawalRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "WithdrawalRefused";
  }
}

/**
 * Moves a withdrawal of the solver's hub balance as far as possible: initiate it to its own hub address;
 * create, record and sign its one payload; execute it at the depository; burn, or return the balance if the
 * payload expired. Repeating it with the same order resumes from the state of the chains.
 * An order gets one payload, stored before it is recorded and recorded beyond reorgs before it is signed. An
 * unavailable node or oracle makes it wait.
 * @throws WithdrawalRefused
 */
export async function withdraw(
  services: WithdrawalServices,
  order: WithdrawalOrder,
  tell: ReportStep,
  signal: AbortSignal,
): Promise<Progress> {
  try {
    return await proceed(services, order, tell, signal);
  } catch (error) {
    if (error instanceof NodeUnavailable) return { kind: "waits", reason: error.message };
    throw error;
  }
}

async function proceed(
  services: WithdrawalServices,
  order: WithdrawalOrder,
  tell: ReportStep,
  signal: AbortSignal,
): Promise<Progress> {
  const { hub, signer, chains } = services;
  const { signers: accepted, threshold } = await hub.signers();
  const judge = judgeFor(hub.hub, { accepted, threshold }, familiesOf(chains));
  const chain = judge.chainOf(order.chainName);
  const ownerAlias = hubAlias(judge.chainOf(services.solverChainName), signer.address);
  const address = withdrawalAddress(chain, { ...order, ownerAlias });
  const tokenId = hubTokenId(chain, order.currency);
  const it: Case = { order, address, ownerAlias, tokenId, judge, signal, tell };

  refuseAnother(services, await services.withdrawals.find(order.nonce), it);
  if (!(await isBegun(services, it))) await refuseImpossible(services, it);
  const record = await services.withdrawals.open(address, order, services.clock.nowMs());
  // Another withdrawal may have taken the nonce since.
  refuseAnother(services, record, it);
  tell("ordered", { withdrawalAddress: address, nonce: order.nonce, amount: order.amount });
  if (record.outcome !== undefined) return { kind: "done", outcome: record.outcome };

  const initiated = await initiate(services, it);
  if (initiated !== undefined) return initiated;
  const payload = await payloadOf(services, it, record.payload);
  const request = decodeEvmCallRequest(payload);
  if (request === undefined) throw new WithdrawalRefused("the stored payload cannot be read");
  const recorded = await recordPayload(services, it, request);
  if (recorded !== undefined) return recorded;
  await payOut(services, it, request);
  return await conclude(services, it, payload, evmCallRequestId(request));
}

/** A nonce identifies one withdrawal: another recipient, currency or amount would be a second one. */
function refuseAnother(
  { chains }: Pick<WithdrawalServices, "chains">,
  known: WithdrawalRecord | undefined,
  { address, order }: Case,
): void {
  if (known === undefined || (known.address === address && known.amount === order.amount)) return;
  throw new WithdrawalRefused(
    `--nonce belongs to another withdrawal: use its options (${optionsOf(chains, known)}), or another nonce`,
  );
}

/** Whether the amount has left the solver's hub account, or a quorum has signed that it may. */
async function isBegun({ hub, settlement }: WithdrawalServices, it: Case): Promise<boolean> {
  const key = initiationKey(hub.hub.name, it.tokenId, it.address);
  const known = await settlement.execution(key);
  if (known !== undefined && known.state !== "refused") return true;
  return (await hub.executed([key], "latest")).has(key);
}

/**
 * Checked before anything is stored or moved: an amount whose payload cannot be signed would be stuck between
 * the solver's account and the recipient.
 */
async function refuseImpossible({ hub, payouts, chains }: WithdrawalServices, it: Case): Promise<void> {
  const { account, mayRecord, depositoryAllocator } = await payouts.standing();
  if (depositoryAllocator !== account)
    throw new WithdrawalRefused(
      `ALLOCATOR_PRIVATE_KEY must be the key of ${depositoryAllocator}, the allocator of the depository on ${it.order.chainName}, got the key of ${account}`,
    );
  if (!mayRecord)
    throw new WithdrawalRefused(
      `ALLOCATOR_PRIVATE_KEY is the key of ${account}, which is not an allocator of the Allocator contract on ${hub.hub.name}`,
    );
  const owned = await hub.balance(it.ownerAlias, it.tokenId, "final");
  if (owned < it.order.amount) {
    const [asked, available] = [it.order.amount, owned].map((amount) =>
      readableAmount(chains, it.order, amount),
    );
    throw new WithdrawalRefused(
      `--amount ${asked} exceeds the solver's final balance on the hub, ${available}`,
    );
  }
}

/** The contracts act once: a revert may mean that an interrupted earlier run already did it. */
async function unlessAlreadyDone(
  act: () => Promise<TxHash>,
  isDone: () => Promise<boolean>,
): Promise<TxHash | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PayoutReverted && (await isDone())) return undefined;
    throw error;
  }
}

/** Moves the amount from the solver's hub account to the address of the withdrawal. */
async function initiate(services: WithdrawalServices, it: Case): Promise<Waiting | undefined> {
  const { hub, signer } = services;
  const expected = initiationExecution(hub.hub.name, it, it.order.amount);
  return await carriedOut(services, it, "initiated", expected.idempotencyKey, async () => {
    const words = orderToWire(services, it.order);
    const signature = await signPersonalMessage(
      signer,
      ownerAuthorizationHash(withdrawalAuthorization(hub.hub, it.order.depository, words)),
    );
    return attestedOrWaiting(
      await askOracles(
        services,
        "/attestations/withdrawal-initiation/v1",
        { ...words, signature },
        withdrawalInitiationAnswer,
        (answer) => signedExecution(it.judge, "initiation", expected, answer.execution, []),
        it.signal,
      ),
    );
  });
}

/** The order's stored payload, or else a new one, stored before it is used. */
async function payloadOf(
  { withdrawals, payouts, payloadLifetimeSeconds, clock }: WithdrawalServices,
  { order, address, tell }: Case,
  known: Hex | undefined,
): Promise<Hex> {
  if (known !== undefined) return known;
  const { currency, recipient, amount } = order;
  const call =
    currency === NATIVE_CURRENCY
      ? { to: recipient, data: "0x" as const, value: amount }
      : {
          to: currency,
          data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] }),
          value: 0n,
        };
  const payload = encodeEvmCallRequest({
    calls: [{ ...call, allowFailure: false }],
    nonce: BigInt(address),
    expiration: (await payouts.chainTime()) + BigInt(payloadLifetimeSeconds),
  });
  const chosen = await withdrawals.choosePayload(address, payload, clock.nowMs());
  tell("payload made", { payload: chosen });
  return chosen;
}

/**
 * The hub must have recorded the payload beyond reorgs before it is signed: otherwise an expiry could be
 * attested while the payload can still pay.
 */
async function recordPayload(
  services: WithdrawalServices,
  it: Case,
  request: EvmCallRequest,
): Promise<Waiting | undefined> {
  const { payouts, hub } = services;
  const id = evmCallRequestId(request);
  const known = await payouts.recorded(it.address, "latest");
  if (known !== undefined && known !== id)
    throw new WithdrawalRefused(
      `the hub already recorded another payload (${known}), so no second one is signed`,
    );
  if (known === undefined) {
    const hubChainId = hubChainIdOf(services, it.order.chainName);
    const submit = withdrawRequestOf({ ...it.order, address: it.address, hubChainId });
    const confirmed = await confirm(services, it, submit);
    if (confirmed.kind === "waits") return confirmed;
    const txHash = await unlessAlreadyDone(
      () => payouts.record(it.address, id, submit, confirmed.value),
      async () => (await payouts.recorded(it.address, "latest")) === id,
    );
    it.tell("recorded on the hub", { withdrawalId: id, txHash });
  }
  const final = await until(
    services,
    it.signal,
    async () => (await payouts.recorded(it.address, "final")) === id,
  );
  return final ? undefined : { kind: "waits", reason: `the record is not final on ${hub.hub.name}` };
}

/** The quorum's attestation that the address holds the amount, in the multisig's signature format. */
async function confirm(
  services: WithdrawalServices,
  it: Case,
  submit: SubmitWithdrawRequest,
): Promise<{ readonly kind: "true"; readonly value: Hex } | Waiting> {
  const { hub } = services;
  const verifyingContract = hub.hub.allocatorAddress;
  if (verifyingContract === undefined) throw new WithdrawalRefused("hub.allocatorAddress is not configured");
  const digest = submitWithdrawRequestDigest({ chainId: hub.hub.chainId, verifyingContract }, submit);
  const asked = await askOracles(
    services,
    "/attestations/withdrawal-initiated/v1",
    orderToWire(services, it.order),
    withdrawalInitiatedAnswer,
    ({ payloadParams }) => {
      const signatures = (payloadParams?.signatures ?? []).map(({ signature }) => signature);
      return quorumSignature("request", { digest, signatures }, [], it.judge);
    },
    it.signal,
  );
  return attestedOrWaiting(asked);
}

/** Makes the depository pay, unless it has, or no longer can. */
async function payOut({ payouts }: WithdrawalServices, it: Case, request: EvmCallRequest): Promise<void> {
  const id = evmCallRequestId(request);
  if (await payouts.executed(id)) return;
  // The contract refuses from the next second on; a transaction sent now would be too late.
  if ((await payouts.chainTime()) >= request.expiration) {
    it.tell("expired before it was executed", { withdrawalId: id });
    return;
  }
  const signature = await payouts.sign(request);
  const txHash = await unlessAlreadyDone(
    () => payouts.execute(request, signature),
    () => payouts.executed(id),
  );
  it.tell("executed by the depository", { withdrawalId: id, txHash });
}

/** Burns the paid amount on the hub; returns an amount that can no longer be paid to the solver's account. */
async function conclude(
  services: WithdrawalServices,
  it: Case,
  payload: Hex,
  withdrawalId: Hex32,
): Promise<Progress> {
  const outcomes = ["executed", "expired"] as const;
  const keys = outcomes.map((outcome) => withdrawalKey(withdrawalId, outcome));
  const attested = await Promise.all(keys.map((key) => services.settlement.execution(key)));
  const chosen = attested.findIndex((execution) => execution !== undefined && execution.state !== "refused");
  let outcome = outcomes[chosen];
  let execution: SignedExecution | undefined = attested[chosen];
  if (outcome === undefined || execution === undefined) {
    const found = await attestOutcome(services, it, payload, withdrawalId);
    if (found.kind === "waits") return found;
    ({ outcome, execution } = found.value);
  }
  const signed = execution;
  const step = outcome === "executed" ? "burned" : "returned";
  const waits = await carriedOut(services, it, step, signed.idempotencyKey, async () => ({
    kind: "true",
    value: signed,
  }));
  if (waits !== undefined) return waits;
  await services.withdrawals.close(it.address, outcome, services.clock.nowMs());
  return { kind: "done", outcome };
}

async function attestOutcome(
  services: WithdrawalServices,
  it: Case,
  payload: Hex,
  withdrawalId: Hex32,
): Promise<
  | { readonly kind: "true"; readonly value: { outcome: WithdrawalOutcome; execution: SignedExecution } }
  | Waiting
> {
  const {
    expectedAmount: _,
    settlementChainId: __,
    ...withdrawalAddressRequest
  } = orderToWire(services, it.order);
  const data = { chainId: it.order.chainName, withdrawal: payload };
  return await untilTrue(services, it.signal, () =>
    askOracles(
      services,
      "/attestations/depository-withdrawals/v1",
      { ...data, withdrawalAddressRequest },
      withdrawalAttestationAnswer,
      ({ message, execution }) => {
        const { status } = message.result;
        if (status === 0 || execution === undefined)
          return { kind: "waits", reason: "neither executed nor expired in a final block" };
        const outcome = status === 1 ? "executed" : "expired";
        const digest = messageDigest(
          depositoryWithdrawalId(it.judge.familyOf, {
            data,
            result: { withdrawalId, depository: it.order.depository, status },
          }),
        );
        const verdict = signedExecution(
          it.judge,
          "withdrawal",
          withdrawalExecution(withdrawalId, outcome, it, it.order.amount),
          execution,
          [{ digest, signatures: message.signatures.map(({ signature }) => signature) }],
        );
        return verdict.kind === "lie"
          ? verdict
          : { kind: "true", value: { outcome, execution: verdict.value } };
      },
      it.signal,
    ),
  );
}

/** Ensures that an execution is final on the hub; returns why it still waits. */
async function carriedOut(
  services: WithdrawalServices,
  it: Case,
  step: string,
  key: Hex32,
  attest: () => Promise<{ readonly kind: "true"; readonly value: SignedExecution } | Waiting>,
): Promise<Waiting | undefined> {
  const { hub, settlement, uow, clock } = services;
  const isDone = async (): Promise<boolean> => (await hub.executed([key], "final")).has(key);
  if (!(await isDone())) {
    const known = await settlement.execution(key);
    if (known === undefined || known.state === "refused") {
      const attested = await attest();
      if (attested.kind === "waits")
        return { ...attested, reason: `not yet ${step} on the hub: ${attested.reason}` };
      await uow.run((tx) => tx.settlement.addExecutions([attested.value], clock.nowMs()));
      it.tell(`${step}: signed by ${it.judge.threshold} oracles`, { idempotencyKey: key });
    }
    const done = await until(services, it.signal, async () => {
      // The worker does the same; whichever is first carries it.
      await submitExecutions(services);
      return await isDone();
    });
    if (!done) {
      const reason = (await settlement.execution(key))?.reason ?? "not final on the hub";
      return { kind: "waits", reason: `not yet ${step} on the hub: ${reason}` };
    }
  }
  it.tell(`${step} on the hub`, { idempotencyKey: key });
  return undefined;
}

/** False if the time ran out first. */
async function until(
  { settlementPolicy }: WithdrawalServices,
  signal: AbortSignal,
  isSo: () => Promise<boolean>,
): Promise<boolean> {
  for (;;) {
    if (await isSo()) return true;
    if (signal.aborted) return false;
    await new Promise((resolve) => setTimeout(resolve, settlementPolicy.intervalMs));
  }
}

/**
 * Retries until the answer is valid, the oracles refuse permanently, or the time is up; then returns the last
 * answer.
 */
async function untilTrue<T>(
  services: WithdrawalServices,
  signal: AbortSignal,
  ask: () => Promise<OracleResult<T>>,
): Promise<{ readonly kind: "true"; readonly value: T } | Waiting> {
  let last: OracleResult<T> = { kind: "timeUp" };
  await until(services, signal, async () => {
    const asked = await ask();
    if (asked.kind !== "timeUp") last = asked;
    return asked.kind === "true" || asked.kind === "rejected";
  });
  return attestedOrWaiting(last);
}

/** @throws WithdrawalRefused if the oracles refuse permanently */
function attestedOrWaiting<T>(
  asked: OracleResult<T>,
): { readonly kind: "true"; readonly value: T } | Waiting {
  if (asked.kind === "rejected")
    throw new WithdrawalRefused(`the oracles reject the withdrawal: ${asked.reason}`);
  if (asked.kind === "timeUp")
    return { kind: "waits", reason: "the wait time ended before an oracle responded" };
  return asked;
}

/** The order in the format of the oracles. */
function orderToWire({ hub, signer, solverChainName }: WithdrawalServices, order: WithdrawalOrder) {
  return {
    settlementChainId: hub.hub.name,
    expectedAmount: order.amount.toString(),
    chainId: order.chainName,
    currency: order.currency,
    withdrawer: signer.address,
    withdrawerChainId: solverChainName,
    recipient: order.recipient,
    withdrawalNonce: order.nonce,
  };
}

/** The hub uses an EVM chain's own id. */
function hubChainIdOf({ chains }: WithdrawalServices, name: string): number {
  const found = chains.evmChains.find(({ chain }) => chain.name === name);
  if (found === undefined) throw new WithdrawalRefused(`chain ${name} is not configured or not enabled`);
  return found.chain.id;
}
