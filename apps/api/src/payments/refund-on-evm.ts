import { gasCostWei, serviceContracts } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { ownAccounts } from "../chains/index.ts";
import { sweepGasOf } from "../deposits/index.ts";
import { gasOf } from "../markets/index.ts";
import { solverFunds } from "./payers/covers.ts";
import { gasAllowance, isNativeToContract, planPayment } from "./payment-plan.ts";
import type { Blocked, PricedRefund, RefundPayer, RefundQuestion } from "./refund-payer.port.ts";
import { paymentOfLostOrder, whyMaybePaid, whyMaybeReturned } from "./unexplained-nonces.ts";

/** What refunding a deposit needs. */
export type RefundServices = Pick<
  WorkerServices,
  | "clock"
  | "chains"
  | "prices"
  | "signer"
  | "depositAddressOperator"
  | "formerSigners"
  | "executor"
  | "uow"
  | "reads"
  | "events"
  | "enginePolicy"
  | "quotePolicy"
  | "appBalance"
  | "depositAddresses"
>;

/** A chain whose node is unreachable, or a lane after a failover, may take a while. */
const LOST_ORDER_WAIT_MS = 30_000;

/** Refunds deposits on an EVM chain, once they are confirmed. */
export function evmRefunds(services: RefundServices, connected: ConnectedChain): RefundPayer {
  const { chain } = connected;
  return {
    chain,
    funds: solverFunds(connected, services.signer.address),
    async whyEarly(deposit) {
      // A block that was announced but not read may be on another branch, without the deposit.
      const read = await services.reads.cursor(chain.id);
      return read === undefined || read.number < refundableAt(chain, deposit)
        ? waits(chain.blockTimeSeconds * 1000, "the deposit is not confirmed")
        : undefined;
    },
    price: async (question) =>
      (await whyBlocked(services, connected, question)) ?? (await price(services, connected, question)),
  };
}

function waits(waitMs: number, why: string): Blocked {
  return { kind: "waits", waitMs, why };
}

function refused(why: string): Blocked {
  return { kind: "refused", why };
}

/** Why the refund may pay the wrong account, or pay twice. @throws RpcFault */
async function whyBlocked(
  services: RefundServices,
  connected: ConnectedChain,
  { deposit, request }: RefundQuestion,
): Promise<Blocked | undefined> {
  const { orderId, refundReleasedAtMs, txHash } = deposit;
  if (request === undefined) {
    const refusal = await whyNotToDepositor(services, connected, deposit);
    if (refusal !== undefined) return refused(refusal);
    // A failover may have lost the order together with its payment, unless the operator released the refund.
    if (orderId !== undefined && refundReleasedAtMs === undefined) {
      const lost = await paymentOfLostOrder(services, orderId);
      if (lost?.kind === "unknown") return waits(LOST_ORDER_WAIT_MS, lost.why);
      if (lost?.kind === "paid") return refused(lost.why);
    }
  }
  const maybePaid =
    request === undefined
      ? await whyMaybeReturned(services, connected, txHash)
      : await whyMaybePaid(services, connected.chain.id, request.terms);
  return maybePaid === undefined ? undefined : waits(5_000, maybePaid);
}

async function price(
  services: RefundServices,
  connected: ConnectedChain,
  { deposit, request, currency, recipient, native }: RefundQuestion,
): Promise<PricedRefund> {
  const { chain, pulse } = connected;
  const toContract = await isNativeToContract(connected, deposit.currency, recipient);
  const gasUnits = gasOf(services.quotePolicy.gas.refund, currency, toContract);
  const costOf = (units: bigint): bigint =>
    gasCostWei(units, pulse.gasPrices(), chain.fees.minPriorityFeeWei, 0);
  return {
    kind: "priced",
    cost: costOf(gasUnits),
    broughtCost: costOf(request === undefined ? 0n : await gasOfBringing(services, request, deposit)),
    router: toContract ? chain.contracts.router : undefined,
    async plan(amount, cancelAfterMs) {
      const planned = await planPayment(services, connected, {
        leg: { kind: "refund", depositId: deposit.id, requestId: deposit.requestId },
        currency: deposit.currency,
        amount,
        recipient,
        toContract,
        maxGas: gasAllowance(connected, gasUnits, native),
        orderId: (request === undefined ? undefined : deposit.orderId) ?? deposit.txHash,
        cancelAfterMs,
      });
      if (planned.kind === "ready") return planned;
      if (planned.kind === "tooDear")
        return refused(`the refund would use ${planned.gas} gas, more than allowed`);
      if (planned.kind === "insufficientFunds")
        return waits(5_000, "the solver lacks the funds for the refund");
      // A token reverts both for a low balance and for a refused recipient: only the first is temporary.
      return pulse.solverBalance(deposit.currency).amount < amount
        ? waits(5_000, "the solver's inventory does not cover the refund")
        : refused(planned.reason);
    },
  };
}

/**
 * Why the depositor of an unattributed deposit may not own it, or cannot use it. Undefined: refund the
 * depositor.
 * @throws RpcFault
 */
async function whyNotToDepositor(
  services: RefundServices,
  { chain, connection }: ConnectedChain,
  { depositor, sender, refundReleasedAtMs }: DepositRecord,
): Promise<string | undefined> {
  if (isOurs(services, chain, depositor) || (await services.depositAddresses?.find(depositor)) !== undefined)
    return "the depositor is an account or contract of this service";
  // A plain token transfer names the forwarding contract as depositor: the signing account may be the owner.
  const mayBeAnothers = depositor !== sender && refundReleasedAtMs === undefined;
  return mayBeAnothers && (await connection.reader.hasCode(depositor))
    ? "the depositor is a contract that did not sign the deposit: verify that it can use the refund, then release it"
    : undefined;
}

/**
 * The block from which a deposit may be refunded. An unattributed one waits until it is final, which costs
 * nothing.
 */
function refundableAt(
  { finalityBlocks }: Chain,
  { requestId, blockNumber, confirmAtBlock }: DepositRecord,
): bigint {
  const finalAt = blockNumber + BigInt(finalityBlocks) - 1n;
  return requestId === undefined && finalAt > confirmAtBlock ? finalAt : confirmAtBlock;
}

/** Whether a payment to this account would return to the service, or be lost in one of its contracts. */
function isOurs(services: RefundServices, { contracts, tokens }: Chain, account: Address): boolean {
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
async function gasOfBringing(
  {
    reads,
    executor,
    depositAddressOperator,
  }: Pick<RefundServices, "reads" | "executor" | "depositAddressOperator">,
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
