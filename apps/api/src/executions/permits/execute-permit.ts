import type { TraceOutcome } from "@causeway/chains";
import { executionCost, formatUsd, isFirmAt, ServiceError, sha256Text, unreachable } from "@causeway/domain";
import type { Hex, RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { AnswerToStore } from "../../balances/index.ts";
import { PERMIT_KEY_ID } from "../../chains/permits.port.ts";
import type { PermitPolicy, PermitSignatures } from "../../chains/permits.port.ts";
import type { Services } from "../../db/services.port.ts";
import { judgeSimulatedDeposit } from "../judge-simulated-deposit.ts";
import { findQuoted } from "../find-quoted.ts";
import {
  dataFeeCap,
  GAS_HEADROOM_BPS,
  priceCap,
  refusePaused,
  type KnownPauses,
  simulateExecution,
  withHeadroom,
} from "../../payments/index.ts";
import { ownAccounts } from "../../chains/index.ts";
import { acceptPermit } from "./accept-permit.ts";
import { hasPermit, permitCall, type TermsWithPermit, typedDataOf } from "../../quotes/index.ts";
import { disabledChain, requestNotFound } from "../../http/refusals.ts";

export interface ExecutePermitServices
  extends
    KnownPauses,
    Pick<
      Services,
      | "chains"
      | "clock"
      | "enginePolicy"
      | "events"
      | "depositAddressOperator"
      | "executor"
      | "appBalance"
      | "prices"
      | "quotePolicy"
      | "reads"
      | "signer"
      | "uow"
    > {
  readonly permitSignatures: PermitSignatures;
  readonly permitPolicy: PermitPolicy;
}

/** A signed step, as posted by a client. */
export interface PostedPermit {
  /** The `kind` in the step's request body: the permit method. */
  readonly kind: string;
  readonly requestId: RequestId;
  readonly signature: Hex;
}

/** Deadline for the simulation (ms). */
const SIMULATION_DEADLINE_MS = 5_000;
/**
 * Minimum remaining lifetime of a signature (seconds). Below it, the signature may expire before its
 * transaction is mined.
 */
const MIN_LIFE_SECONDS = 15;
/**
 * A contract wallet may use gas to verify its signature; the simulation stops at this multiple of the priced
 * gas.
 */
const MAX_GAS_FACTOR = 4n;
/** Within the firm time of a quote, gas may cost this multiple of the included amount. */
const FIRM_GAS_FACTOR = 2n;

/**
 * Accepts the signature for a quote that is paid by permit. If the signature is the user's and the simulated
 * deposit succeeds, the executor submits it. The output pays for the gas; no balance is charged. Idempotent
 * per signature.
 * @throws ServiceError PERMIT_FAILED (the signature is wrong, or the payment would fail), INVALID_REQUEST,
 * SERVICE_UNAVAILABLE, PRICE_FETCH_FAILED, RPC_HTTP_ERROR; RpcFault
 */
export async function executePermit(
  services: ExecutePermitServices,
  posted: PostedPermit,
  keep?: AnswerToStore,
): Promise<void> {
  const { requestId, signature } = posted;
  const terms = await signedTermsOf(services, posted);
  const { permit } = terms;
  const origin = services.chains.get(terms.origin.chainId);
  const { executor } = services;
  if (origin === undefined || executor === undefined)
    throw permitFailed(requestId, "Signatures are no longer submitted on this chain; pay by transaction");
  // Checked before anything about the request is revealed: only its user may learn more.
  const isSignedByUser = await services.permitSignatures.isPermitSignedBy(
    terms.user,
    { method: permit.method, typedData: typedDataOf(terms) },
    signature,
  );
  if (!isSignedByUser)
    throw permitFailed(
      requestId,
      "signature is not the user's signature over the message of the step",
      { reason: "INVALID_SIGNATURE" },
      "signature",
    );
  if (origin.chain.disabled) throw disabledChain(origin.chain, undefined, requestId);
  const hash = hashOf(signature);
  const caller = { id: PERMIT_KEY_ID, fundingAddress: undefined };
  const quoted = await findQuoted(services, caller, requestId, { origin, hash, destination: undefined });
  if (quoted.kind === "alreadyAccepted") return;
  refusePaused(services, terms.origin.chainId, terms.destination.chainId);
  refuseExpired(services, terms);
  await refuseUncoveredUser(origin, terms);

  const { chain, pulse, connection } = origin;
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const prices = pulse.gasPrices();
  const call = permitCall(terms, chain, signature);
  const [simulated, dataFeeWei] = await Promise.all([
    simulateExecution(
      origin,
      { from: executor.address, call, fees: prices, ours: ownAccounts(services) },
      {
        signal: AbortSignal.timeout(SIMULATION_DEADLINE_MS),
        maxGas: permit.gasUnits * MAX_GAS_FACTOR,
        roomBps: GAS_HEADROOM_BPS,
        senderBalanceWei: pulse.gasBalance(executor.address).amount,
      },
    ),
    connection.reader.dataFee(call),
  ]);
  switch (simulated.kind) {
    case "reverts": {
      const { label, message, details } = simulated.failure;
      throw permitFailed(requestId, `Submitting the signature would revert: ${message}`, {
        reason: label,
        details,
      });
    }
    case "forbidden":
      throw permitFailed(requestId, simulated.message);
    case "insufficientFunds":
      services.events.alarm("execution_waits", {
        chain: chain.name,
        why: "the executor lacks the native token for a call",
      });
      throw unavailable("The executor cannot pay for submitting the signature at the moment; try again");
    case "unseen":
      services.events.alarm("execution_unseen", { chain: chain.name });
      throw unavailable("The node could not trace the submission of the signature; try again");
    case "ok":
      break;
    default:
      return unreachable(simulated);
  }
  const { outcome } = simulated;
  requireQuotedDeposit(origin, terms, outcome);
  const costOf = (gas: bigint, weiPerGas: bigint, dataWei: bigint): bigint =>
    executionCost({ gas, weiPerGas, dataFeeWei: dataWei, valueWei: 0n, flatUsd: 0n }, native).totalUsd;
  const currentGasPrice = prices.baseFeePerGas + prices.maxPriorityFeePerGas;
  refuseUnpaid(services, terms, costOf(outcome.gasUsed, currentGasPrice, dataFeeWei));
  const gasLimit = withHeadroom(outcome.gas);
  const maxFeePerGas = priceCap(prices, chain);
  await acceptPermit(
    services,
    {
      requestId,
      keyId: PERMIT_KEY_ID,
      wallet: undefined,
      bodyHash: hash,
      chainId: chain.id,
      call,
      gasLimit,
      maxFeePerGas,
      nativePriceUsd: native.priceUsd,
      flatUsd: 0n,
      destination: undefined,
      user: terms.user,
      target: call.to,
      costUsd: costOf(gasLimit, maxFeePerGas, dataFeeCap(dataFeeWei)),
    },
    keep,
  );
  services.events.happened("execution_accepted", {
    requestId,
    chain: chain.name,
    keyId: PERMIT_KEY_ID,
    method: permit.method,
  });
}

async function signedTermsOf(
  { reads }: Pick<Services, "reads">,
  { requestId, kind }: PostedPermit,
): Promise<TermsWithPermit> {
  const record = await reads.request(requestId);
  if (record === undefined) throw invalidRequest(requestId, requestNotFound(requestId).message, "requestId");
  const { terms } = record;
  if (!hasPermit(terms))
    throw invalidRequest(
      requestId,
      `Request ${requestId} must be paid by a transaction: it was quoted without usePermit`,
      "requestId",
    );
  if (terms.permit.method !== kind)
    throw invalidRequest(
      requestId,
      `kind must be ${terms.permit.method} for this quote, got ${kind}`,
      "kind",
    );
  return terms;
}

function refuseExpired({ clock }: Pick<Services, "clock">, { requestId, permit }: TermsWithPermit): void {
  const leftSeconds = permit.deadline - Math.floor(clock.nowMs() / 1000);
  if (leftSeconds < MIN_LIFE_SECONDS)
    throw permitFailed(requestId, "Signature expired; request a new quote", { reason: "SIGNATURE_EXPIRED" });
}

/**
 * Refuses a user with too low a balance or Permit2 allowance: these most common failures get messages of
 * their own.
 */
async function refuseUncoveredUser(
  { chain, connection }: ConnectedChain,
  { requestId, user, permit }: TermsWithPermit,
): Promise<void> {
  const { permit2 = permit.spender } = chain.contracts;
  const { balance, allowance } = await connection.reader.accountState(user, permit.token, permit2);
  const amounts = { token: permit.token, required: permit.amount.toString() };
  if (balance < permit.amount)
    throw permitFailed(
      requestId,
      `The user must hold ${permit.amount} base units of ${permit.token}, got ${balance}`,
      {
        reason: "GASLESS_PERMIT_BALANCE_TOO_LOW",
        balance: balance.toString(),
        ...amounts,
      },
    );
  if (permit.method === "permit2" && allowance < permit.amount)
    throw permitFailed(
      requestId,
      `Permit2 must be approved for ${permit.amount} base units of ${permit.token}, got ${allowance}; execute the approval step first`,
      {
        reason: "PERMIT2_ALLOWANCE_TOO_LOW",
        allowance: allowance.toString(),
        ...amounts,
      },
    );
}

/**
 * Requires that the signature makes the quote's deposit, because any other deposit would not be filled.
 * @throws ServiceError
 */
function requireQuotedDeposit(
  { chain }: ConnectedChain,
  terms: TermsWithPermit,
  { effects }: Extract<TraceOutcome, { kind: "ok" }>,
): void {
  const verdict = effects.kind === "seen" ? judgeSimulatedDeposit(effects.logs, chain, terms) : undefined;
  if (verdict?.kind === "made") return;
  const why = verdict?.kind === "mismatch" ? `: ${verdict.message}` : "";
  throw permitFailed(terms.requestId, `The signature does not make the deposit of the quote${why}`);
}

/**
 * Refuses a submission that costs more than the quote allows: the included gas, and up to twice as much while
 * the quote is firm.
 * @throws ServiceError
 */
function refuseUnpaid({ clock }: Pick<Services, "clock">, terms: TermsWithPermit, costUsd: bigint): void {
  const { requestId, originGasUsd = 0n } = terms;
  const coveredUsd = isFirmAt(terms, clock.nowMs()) ? originGasUsd * FIRM_GAS_FACTOR : originGasUsd;
  if (costUsd > coveredUsd)
    throw permitFailed(
      requestId,
      `Submitting the signature costs $${formatUsd(costUsd)}, but the quote allows $${formatUsd(originGasUsd)}; request a new quote, with originGasOverhead if the wallet is a contract`,
      { reason: "GAS_TOO_DEAR" },
    );
}

function hashOf(signature: Hex): Hex {
  return `0x${Buffer.from(sha256Text(signature)).toString("hex")}`;
}

function permitFailed(
  requestId: RequestId,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
  field?: string,
): ServiceError {
  return new ServiceError("PERMIT_FAILED", message, {
    requestId,
    data,
    ...(field !== undefined && { field }),
  });
}

function invalidRequest(requestId: RequestId, message: string, field: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", message, { requestId, field });
}

function unavailable(message: string): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", message);
}
