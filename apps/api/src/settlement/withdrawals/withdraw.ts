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
import { quorumSignature, verifyExecution } from "../verify-execution.ts";
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
interface WithdrawalCase extends WithdrawalAccounts {
  readonly order: WithdrawalOrder;
  readonly judge: Judge;
  readonly signal: AbortSignal;
  readonly report: ReportStep;
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
  report: ReportStep,
  signal: AbortSignal,
): Promise<Progress> {
  try {
    return await proceed(services, order, report, signal);
  } catch (error) {
    if (error instanceof NodeUnavailable) return { kind: "waits", reason: error.message };
    throw error;
  }
}

async function proceed(
  services: WithdrawalServices,
  order: WithdrawalOrder,
  report: ReportStep,
  signal: AbortSignal,
): Promise<Progress> {
  const { hub, signer, chains } = services;
  const { signers: accepted, threshold } = await hub.signers();
  const judge = judgeFor(hub.hub, { accepted, threshold }, familiesOf(chains));
  const chain = judge.chainOf(order.chainName);
  const ownerAlias = hubAlias(judge.chainOf(services.solverChainName), signer.address);
  const address = withdrawalAddress(chain, { ...order, ownerAlias });
  const tokenId = hubTokenId(chain, order.currency);
  const withdrawal: WithdrawalCase = { order, address, ownerAlias, tokenId, judge, signal, report };

  refuseOtherWithdrawal(services, await services.withdrawals.find(order.nonce), withdrawal);
  if (!(await isBegun(services, withdrawal))) await refuseImpossible(services, withdrawal);
  const record = await services.withdrawals.open(address, order, services.clock.nowMs());
  // Another withdrawal may have taken the nonce since.
  refuseOtherWithdrawal(services, record, withdrawal);
  report("ordered", { withdrawalAddress: address, nonce: order.nonce, amount: order.amount });
  if (record.outcome !== undefined) return { kind: "done", outcome: record.outcome };

  const initiated = await initiate(services, withdrawal);
  if (initiated !== undefined) return initiated;
  const payload = await payloadOf(services, withdrawal, record.payload);
  const request = decodeEvmCallRequest(payload);
  if (request === undefined) throw new WithdrawalRefused("the stored payload cannot be read");
  const recorded = await recordPayload(services, withdrawal, request);
  if (recorded !== undefined) return recorded;
  await payOut(services, withdrawal, request);
  return await conclude(services, withdrawal, payload, evmCallRequestId(request));
}

/** A nonce identifies one withdrawal: another recipient, currency or amount would be a second one. */
function refuseOtherWithdrawal(
  { chains }: Pick<WithdrawalServices, "chains">,
  stored: WithdrawalRecord | undefined,
  { address, order }: WithdrawalCase,
): void {
  if (stored === undefined || (stored.address === address && stored.amount === order.amount)) return;
  throw new WithdrawalRefused(
    `--nonce belongs to another withdrawal: use its options (${optionsOf(chains, stored)}), or another nonce`,
  );
}

/** Whether the amount has left the solver's hub account, or a quorum has signed that it may. */
async function isBegun(
  { hub, settlement }: WithdrawalServices,
  withdrawal: WithdrawalCase,
): Promise<boolean> {
  const key = initiationKey(hub.hub.name, withdrawal.tokenId, withdrawal.address);
  const stored = await settlement.execution(key);
  if (stored !== undefined && stored.state !== "refused") return true;
  return (await hub.executed([key], "latest")).has(key);
}

/**
 * Checked before anything is stored or moved: an amount whose payload cannot be signed would be stuck between
 * the solver's account and the recipient.
 */
async function refuseImpossible(
  { hub, payouts, chains }: WithdrawalServices,
  withdrawal: WithdrawalCase,
): Promise<void> {
  const { account, mayRecord, depositoryAllocator } = await payouts.readAccess();
  if (depositoryAllocator !== account)
    throw new WithdrawalRefused(
      `ALLOCATOR_PRIVATE_KEY must be the key of ${depositoryAllocator}, the allocator of the depository on ${withdrawal.order.chainName}, got the key of ${account}`,
    );
  if (!mayRecord)
    throw new WithdrawalRefused(
      `ALLOCATOR_PRIVATE_KEY is the key of ${account}, which is not an allocator of the Allocator contract on ${hub.hub.name}`,
    );
  const owned = await hub.balance(withdrawal.ownerAlias, withdrawal.tokenId, "final");
  if (owned < withdrawal.order.amount) {
    const [requested, available] = [withdrawal.order.amount, owned].map((amount) =>
      readableAmount(chains, withdrawal.order, amount),
    );
    throw new WithdrawalRefused(
      `--amount ${requested} exceeds the solver's final balance on the hub, ${available}`,
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
async function initiate(
  services: WithdrawalServices,
  withdrawal: WithdrawalCase,
): Promise<Waiting | undefined> {
  const { hub, signer } = services;
  const expected = initiationExecution(hub.hub.name, withdrawal, withdrawal.order.amount);
  return await ensureExecuted(services, withdrawal, "initiated", expected.idempotencyKey, async () => {
    const wireOrder = orderToWire(services, withdrawal.order);
    const signature = await signPersonalMessage(
      signer,
      ownerAuthorizationHash(withdrawalAuthorization(hub.hub, withdrawal.order.depository, wireOrder)),
    );
    return attestedOrWaiting(
      await askOracles(
        services,
        "/attestations/withdrawal-initiation/v1",
        { ...wireOrder, signature },
        withdrawalInitiationAnswer,
        (answer) => verifyExecution(withdrawal.judge, "initiation", expected, answer.execution, []),
        withdrawal.signal,
      ),
    );
  });
}

/** The order's stored payload, or else a new one, stored before it is used. */
async function payloadOf(
  { withdrawals, payouts, payloadLifetimeSeconds, clock }: WithdrawalServices,
  { order, address, report }: WithdrawalCase,
  stored: Hex | undefined,
): Promise<Hex> {
  if (stored !== undefined) return stored;
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
  const storedPayload = await withdrawals.choosePayload(address, payload, clock.nowMs());
  report("payload made", { payload: storedPayload });
  return storedPayload;
}

/**
 * The hub must have recorded the payload beyond reorgs before it is signed: otherwise an expiry could be
 * attested while the payload can still pay.
 */
async function recordPayload(
  services: WithdrawalServices,
  withdrawal: WithdrawalCase,
  request: EvmCallRequest,
): Promise<Waiting | undefined> {
  const { payouts, hub } = services;
  const id = evmCallRequestId(request);
  const recordedId = await payouts.recordedWithdrawal(withdrawal.address, "latest");
  if (recordedId !== undefined && recordedId !== id)
    throw new WithdrawalRefused(
      `the hub already recorded another payload (${recordedId}), so no second one is signed`,
    );
  if (recordedId === undefined) {
    const hubChainId = hubChainIdOf(services, withdrawal.order.chainName);
    const submitRequest = withdrawRequestOf({ ...withdrawal.order, address: withdrawal.address, hubChainId });
    const attestation = await attestBalance(services, withdrawal, submitRequest);
    if (attestation.kind === "waits") return attestation;
    const txHash = await unlessAlreadyDone(
      () => payouts.record(withdrawal.address, id, submitRequest, attestation.value),
      async () => (await payouts.recordedWithdrawal(withdrawal.address, "latest")) === id,
    );
    withdrawal.report("recorded on the hub", { withdrawalId: id, txHash });
  }
  const isFinal = await until(
    services,
    withdrawal.signal,
    async () => (await payouts.recordedWithdrawal(withdrawal.address, "final")) === id,
  );
  return isFinal ? undefined : { kind: "waits", reason: `the record is not final on ${hub.hub.name}` };
}

/** The quorum's attestation that the address holds the amount, in the multisig's signature format. */
async function attestBalance(
  services: WithdrawalServices,
  withdrawal: WithdrawalCase,
  submitRequest: SubmitWithdrawRequest,
): Promise<{ readonly kind: "true"; readonly value: Hex } | Waiting> {
  const { hub } = services;
  const verifyingContract = hub.hub.allocatorAddress;
  if (verifyingContract === undefined) throw new WithdrawalRefused("hub.allocatorAddress is not configured");
  const digest = submitWithdrawRequestDigest({ chainId: hub.hub.chainId, verifyingContract }, submitRequest);
  const result = await askOracles(
    services,
    "/attestations/withdrawal-initiated/v1",
    orderToWire(services, withdrawal.order),
    withdrawalInitiatedAnswer,
    ({ payloadParams }) => {
      const signatures = (payloadParams?.signatures ?? []).map(({ signature }) => signature);
      return quorumSignature("request", { digest, signatures }, [], withdrawal.judge);
    },
    withdrawal.signal,
  );
  return attestedOrWaiting(result);
}

/** Makes the depository pay, unless it has, or no longer can. */
async function payOut(
  { payouts }: WithdrawalServices,
  withdrawal: WithdrawalCase,
  request: EvmCallRequest,
): Promise<void> {
  const id = evmCallRequestId(request);
  if (await payouts.isExecuted(id)) return;
  // The contract refuses from the next second on; a transaction sent now would be too late.
  if ((await payouts.chainTime()) >= request.expiration) {
    withdrawal.report("expired before it was executed", { withdrawalId: id });
    return;
  }
  const signature = await payouts.sign(request);
  const txHash = await unlessAlreadyDone(
    () => payouts.execute(request, signature),
    () => payouts.isExecuted(id),
  );
  withdrawal.report("executed by the depository", { withdrawalId: id, txHash });
}

/** Burns the paid amount on the hub; returns an amount that can no longer be paid to the solver's account. */
async function conclude(
  services: WithdrawalServices,
  withdrawal: WithdrawalCase,
  payload: Hex,
  withdrawalId: Hex32,
): Promise<Progress> {
  const outcomes = ["executed", "expired"] as const;
  const keys = outcomes.map((outcome) => withdrawalKey(withdrawalId, outcome));
  const executions = await Promise.all(keys.map((key) => services.settlement.execution(key)));
  const index = executions.findIndex((execution) => execution !== undefined && execution.state !== "refused");
  let outcome = outcomes[index];
  let execution: SignedExecution | undefined = executions[index];
  if (outcome === undefined || execution === undefined) {
    const result = await attestOutcome(services, withdrawal, payload, withdrawalId);
    if (result.kind === "waits") return result;
    ({ outcome, execution } = result.value);
  }
  const signed = execution;
  const step = outcome === "executed" ? "burned" : "returned";
  const waiting = await ensureExecuted(services, withdrawal, step, signed.idempotencyKey, async () => ({
    kind: "true",
    value: signed,
  }));
  if (waiting !== undefined) return waiting;
  await services.withdrawals.close(withdrawal.address, outcome, services.clock.nowMs());
  return { kind: "done", outcome };
}

async function attestOutcome(
  services: WithdrawalServices,
  withdrawal: WithdrawalCase,
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
  } = orderToWire(services, withdrawal.order);
  const data = { chainId: withdrawal.order.chainName, withdrawal: payload };
  return await untilTrue(services, withdrawal.signal, () =>
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
          depositoryWithdrawalId(withdrawal.judge.familyOf, {
            data,
            result: { withdrawalId, depository: withdrawal.order.depository, status },
          }),
        );
        const verdict = verifyExecution(
          withdrawal.judge,
          "withdrawal",
          withdrawalExecution(withdrawalId, outcome, withdrawal, withdrawal.order.amount),
          execution,
          [{ digest, signatures: message.signatures.map(({ signature }) => signature) }],
        );
        return verdict.kind === "lie"
          ? verdict
          : { kind: "true", value: { outcome, execution: verdict.value } };
      },
      withdrawal.signal,
    ),
  );
}

/** Ensures that an execution is final on the hub; returns why it still waits. */
async function ensureExecuted(
  services: WithdrawalServices,
  withdrawal: WithdrawalCase,
  step: string,
  key: Hex32,
  attest: () => Promise<{ readonly kind: "true"; readonly value: SignedExecution } | Waiting>,
): Promise<Waiting | undefined> {
  const { hub, settlement, uow, clock } = services;
  const isDone = async (): Promise<boolean> => (await hub.executed([key], "final")).has(key);
  if (!(await isDone())) {
    const stored = await settlement.execution(key);
    if (stored === undefined || stored.state === "refused") {
      const attested = await attest();
      if (attested.kind === "waits")
        return { ...attested, reason: `not yet ${step} on the hub: ${attested.reason}` };
      await uow.run((tx) => tx.settlement.addExecutions([attested.value], clock.nowMs()));
      withdrawal.report(`${step}: signed by ${withdrawal.judge.threshold} oracles`, { idempotencyKey: key });
    }
    const isExecuted = await until(services, withdrawal.signal, async () => {
      // The worker does the same; whichever is first submits the execution.
      await submitExecutions(services);
      return await isDone();
    });
    if (!isExecuted) {
      const reason = (await settlement.execution(key))?.reason ?? "not final on the hub";
      return { kind: "waits", reason: `not yet ${step} on the hub: ${reason}` };
    }
  }
  withdrawal.report(`${step} on the hub`, { idempotencyKey: key });
  return undefined;
}

/** False if the time ran out first. */
async function until(
  { settlementPolicy }: WithdrawalServices,
  signal: AbortSignal,
  condition: () => Promise<boolean>,
): Promise<boolean> {
  for (;;) {
    if (await condition()) return true;
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
  request: () => Promise<OracleResult<T>>,
): Promise<{ readonly kind: "true"; readonly value: T } | Waiting> {
  let last: OracleResult<T> = { kind: "timeUp" };
  await until(services, signal, async () => {
    const result = await request();
    if (result.kind !== "timeUp") last = result;
    return result.kind === "true" || result.kind === "rejected";
  });
  return attestedOrWaiting(last);
}

/** @throws WithdrawalRefused if the oracles refuse permanently */
function attestedOrWaiting<T>(
  result: OracleResult<T>,
): { readonly kind: "true"; readonly value: T } | Waiting {
  if (result.kind === "rejected")
    throw new WithdrawalRefused(`the oracles reject the withdrawal: ${result.reason}`);
  if (result.kind === "timeUp")
    return { kind: "waits", reason: "the wait time ended before an oracle responded" };
  return result;
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
  const entry = chains.evmChains.find(({ chain }) => chain.name === name);
  if (entry === undefined) throw new WithdrawalRefused(`chain ${name} is not configured or not enabled`);
  return entry.chain.id;
}
