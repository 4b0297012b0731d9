import { gasCostWei, serviceContracts } from "@causeway/domain";
import type { Address, Chain, Currency, PricedUnit } from "@causeway/domain";
import type { ConnectedChain, TransferChain } from "../../chains/chains.port.ts";
import { ownAccounts } from "../../chains/index.ts";
import type { DepositRecord, RequestRecord, SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { sweepGasOf, transferSweepCost } from "../../deposits/index.ts";
import { gasOf } from "../../markets/index.ts";
import type { Stopped } from "../legs/leg-kind.ts";
import {
  gasAllowance,
  isNativeToContract,
  type PaymentPlan,
  planPayment,
  planTransfer,
  type TransferInput,
} from "../payment-plan.ts";
import { whyFillHeld, whyHeld } from "../held-lanes.ts";
import { paymentOfLostOrder, whyMaybePaid, whyMaybeReturned } from "../unexplained-nonces.ts";

/** A deposit to refund. */
export interface RefundInput {
  readonly deposit: DepositRecord;
  /** Undefined: the deposit belongs to no request and is refunded to its depositor. */
  readonly request: RequestRecord | undefined;
  readonly currency: Currency;
  readonly recipient: Address;
  readonly native: PricedUnit;
}

/** The cost of a refund, in base units of the native token, and how it is paid. */
export interface PricedRefund {
  readonly cost: bigint;
  /** The service's cost of depositing these funds, in base units of the native token. */
  readonly sweepCost: bigint;
  /** The router that makes the payment; undefined: a plain transfer. */
  readonly router: Address | undefined;
  plan(
    amount: bigint,
    cancelAfterMs: number,
  ): Promise<{ readonly kind: "ready"; readonly plan: SlotPlan } | Exclude<PaymentPlan, { kind: "ready" }>>;
}

/** Refunds deposits of one chain. */
export interface RefundPlanner {
  /** Why this deposit is not refunded yet; undefined: it may be. */
  whyEarly(deposit: DepositRecord): Promise<Blocked | undefined>;
  /** @throws RpcFault */
  price(input: RefundInput): Promise<PricedRefund | Blocked>;
}

/** `giveUp`: only the operator can refund it. */
export type Blocked = Stopped<string>;

/** A chain whose node is unreachable, or a lane after a failover, may take a while. */
const LOST_ORDER_WAIT_MS = 30_000;

/** Plans refunds on a non-EVM chain, whose deposits are final when recorded. */
export function transferRefunds(services: WorkerServices, connected: TransferChain): RefundPlanner {
  const { chain } = connected;
  return {
    whyEarly: async () => undefined,
    async price({ deposit, request, recipient }) {
      const { currency, orderId } = deposit;
      const why =
        request === undefined
          ? await whyHeld(services, chain.id, connected.connection.solver)
          : ((await whyFillHeld(services, request.terms)) ??
            (await whyMaybePaid(services, chain.id, request.terms)));
      if (why !== undefined) return { waitMs: 5_000, why };
      const cost = await connected.connection.paymentCost(currency, recipient);
      const transfer = { leg: legOf(deposit), currency, recipient, orderId };
      return {
        cost,
        sweepCost: await costOfSweep(services, connected, request, deposit),
        router: undefined,
        plan: async (amount, cancelAfterMs) =>
          await planTransfer(connected, { ...transfer, amount, cancelAfterMs }, cost),
      };
    },
  };
}

/** The solver's cost of depositing these funds by a sweep; 0 if a filled deposit paid for the sweep. */
async function costOfSweep(
  { reads }: Pick<WorkerServices, "reads">,
  connected: TransferChain,
  request: RequestRecord | undefined,
  { id, sender, txHash }: DepositRecord,
): Promise<bigint> {
  const address = request?.terms.depositAddress?.address;
  // The sender of a sweep is the owner of its first input on Bitcoin, which is the deposit address, and the
  // fee payer on Solana, which is the solver.
  const isSweep = address !== undefined && [address, connected.connection.solver].includes(sender);
  if (request === undefined || !isSweep) return 0n;
  const { depositId } = request.state;
  const filled = depositId === undefined || depositId === id ? undefined : await reads.deposit(depositId);
  return filled?.txHash === txHash ? 0n : transferSweepCost(connected);
}

function legOf({ id, requestId }: DepositRecord): TransferInput["leg"] {
  return { kind: "refund", id, requestId };
}

/** Plans refunds on an EVM chain, once the deposits are confirmed. */
export function evmRefunds(services: WorkerServices, connected: ConnectedChain): RefundPlanner {
  const { chain } = connected;
  return {
    async whyEarly(deposit) {
      // A block that was announced but not read may be on another branch, without the deposit.
      const read = await services.reads.cursor(chain.id);
      return read === undefined || read.number < refundableAt(chain, deposit)
        ? { waitMs: chain.blockTimeSeconds * 1000, why: "the deposit is not confirmed" }
        : undefined;
    },
    price: async (input) =>
      (await whyBlocked(services, connected, input)) ?? (await price(services, connected, input)),
  };
}

/** Why the refund may pay the wrong account, or pay twice; undefined: it cannot. @throws RpcFault */
async function whyBlocked(
  services: WorkerServices,
  connected: ConnectedChain,
  { deposit, request }: RefundInput,
): Promise<Blocked | undefined> {
  const { orderId, refundReleasedAtMs, txHash } = deposit;
  if (request === undefined) {
    const refusal = await whyNotToDepositor(services, connected, deposit);
    if (refusal !== undefined) return { giveUp: refusal };
    // A failover may have lost the order together with its payment, unless the operator released the refund.
    if (orderId !== undefined && refundReleasedAtMs === undefined) {
      const lost = await paymentOfLostOrder(services, orderId);
      if (lost?.kind === "unknown") return { waitMs: LOST_ORDER_WAIT_MS, why: lost.why };
      if (lost?.kind === "paid") return { giveUp: lost.why };
    }
  }
  const maybePaid =
    request === undefined
      ? await whyMaybeReturned(services, connected, txHash)
      : ((await whyFillHeld(services, request.terms)) ??
        (await whyMaybePaid(services, connected.chain.id, request.terms)));
  return maybePaid === undefined ? undefined : { waitMs: 5_000, why: maybePaid };
}

async function price(
  services: WorkerServices,
  connected: ConnectedChain,
  { deposit, request, currency, recipient, native }: RefundInput,
): Promise<PricedRefund> {
  const { chain, pulse } = connected;
  const toContract = await isNativeToContract(connected, deposit.currency, recipient);
  const gasUnits = gasOf(services.quotePolicy.gas.refund, currency, toContract);
  const costOf = (units: bigint): bigint =>
    gasCostWei(units, pulse.gasPrices(), chain.fees.minPriorityFeeWei, 0);
  return {
    cost: costOf(gasUnits),
    sweepCost: costOf(request === undefined ? 0n : await gasBeforeRefund(services, request, deposit)),
    router: toContract ? chain.contracts.router : undefined,
    plan: async (amount, cancelAfterMs) =>
      await planPayment(services, connected, {
        leg: legOf(deposit),
        currency: deposit.currency,
        amount,
        recipient,
        toContract,
        maxGas: gasAllowance(connected, gasUnits, native),
        orderId: (request === undefined ? undefined : deposit.orderId) ?? deposit.txHash,
        cancelAfterMs,
      }),
  };
}

/**
 * Why the depositor of an unattributed deposit may not own it, or cannot use it. Undefined: refund the
 * depositor.
 * @throws RpcFault
 */
async function whyNotToDepositor(
  services: WorkerServices,
  { chain, connection }: ConnectedChain,
  { depositor, sender, refundReleasedAtMs }: DepositRecord,
): Promise<string | undefined> {
  if (isOurs(services, chain, depositor) || (await services.depositAddresses?.find(depositor)) !== undefined)
    return "the depositor is an account or contract of this service";
  // A plain token transfer names the forwarding contract as depositor: the signing account may be the owner.
  const mayBelongToAnother = depositor !== sender && refundReleasedAtMs === undefined;
  return mayBelongToAnother && (await connection.reader.hasCode(depositor))
    ? "the depositor is a contract that did not sign the deposit: verify that it can use the refund, then release it"
    : undefined;
}

/**
 * The block from which a deposit may be refunded. An unattributed deposit waits until it is final; the delay
 * costs nothing.
 */
function refundableAt(
  { finalityBlocks }: Chain,
  { requestId, blockNumber, confirmAtBlock }: DepositRecord,
): bigint {
  const finalAt = blockNumber + BigInt(finalityBlocks) - 1n;
  return requestId === undefined && finalAt > confirmAtBlock ? finalAt : confirmAtBlock;
}

/** Whether a payment to this account would return to the service, or be lost in one of its contracts. */
function isOurs(services: WorkerServices, { contracts, tokens }: Chain, account: Address): boolean {
  const former = services.formerSigners.map(({ address }) => address);
  return [
    ...serviceContracts(contracts),
    contracts.multicall3,
    ...tokens.map(({ address }) => address),
    ...ownAccounts(services),
    ...former,
  ].includes(account);
}

/**
 * Gas units that the service used to deposit these funds: a sweep, unless a filled deposit of the same
 * transaction paid for it; or a permit, unless an app paid.
 */
async function gasBeforeRefund(
  {
    reads,
    executor,
    depositAddressOperator,
  }: Pick<WorkerServices, "reads" | "executor" | "depositAddressOperator">,
  { terms, state }: RequestRecord,
  { id, txHash, sender, currency }: DepositRecord,
): Promise<bigint> {
  if (terms.permit !== undefined) {
    if (sender !== executor?.address) return 0n;
    const execution = await reads.execution(terms.requestId);
    return execution !== undefined && execution.wallet === undefined ? terms.permit.gasUnits : 0n;
  }
  if (terms.depositAddress === undefined || sender !== depositAddressOperator?.address) return 0n;
  const filled =
    state.depositId === undefined || state.depositId === id
      ? undefined
      : await reads.deposit(state.depositId);
  return filled?.txHash === txHash ? 0n : sweepGasOf(currency);
}
