import { inconsistent, RpcFault } from "@causeway/families";
import { agreedOn, queryAll, type Answer } from "./nodes/query-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import {
  InsufficientInventory,
  type NonEvmAttempt,
  type NonEvmConnection,
  type PayingConnection,
} from "./non-evm-connection.ts";
import { electorateOf, type OutcomeQuorum, type SharedOutcomes } from "./non-evm-outcomes.ts";

const QUESTION = "payment";

type PreparedPayment = { readonly place: number } & (
  | { readonly attempt: NonEvmAttempt }
  | { readonly shortage: InsufficientInventory }
);

/**
 * Refusals that a quorum of endpoints confirms: what one of them refuses alone would be refunded. A payment
 * that only one endpoint allows would fail on the chain.
 */
export function createSharedRefusals(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
  options: OutcomeQuorum,
): NonEvmConnection["refusalOf"] {
  const { quorum } = options;
  const electorate = electorateOf(connections, order, options);
  const connectionAt = lookupIn(connections);
  return async (payment) => {
    const { place: lead, refusal } = await order.run(async (index) => ({
      place: index,
      refusal: await connectionAt(index).refusalOf(payment),
    }));
    if (refusal === undefined || connections.length === 1 || quorum === 1) return refusal;
    const isRefused = await queryAll<number, boolean, boolean>(electorate, {
      question: QUESTION,
      read: async (index) =>
        index === lead ||
        (await recordingFaults(order, index, async () => await connectionAt(index).refusalOf(payment))) !==
          undefined,
      decide: (answers) => valueOf(agreedOn(answers, quorum, String)),
    });
    return isRefused ? refusal : undefined;
  };
}

/**
 * The lower median of what the endpoints that answer report, like gas prices of EVM chains: none of them can
 * raise the cost alone.
 */
export function createSharedCost(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
  options: OutcomeQuorum,
): NonEvmConnection["paymentCost"] {
  const electorate = electorateOf(connections, order, options);
  const connectionAt = lookupIn(connections);
  return async (currency, recipient, decidedBy) => {
    if (connections.length === 1 || decidedBy === "lead")
      return await order.run(async (index) => await connectionAt(index).paymentCost(currency, recipient));
    return await queryAll<number, bigint, bigint>(
      { ...electorate, quorum: decidedBy === "quorum" ? options.quorum : 1 },
      {
        question: QUESTION,
        read: async (index) =>
          await recordingFaults(
            order,
            index,
            async () => await connectionAt(index).paymentCost(currency, recipient),
          ),
        decide: (answers, isComplete) => (isComplete ? valueOf(lowerMedian(answers)) : undefined),
      },
    );
  };
}

/** One endpoint prepares a payment, and a quorum confirms the chain data that it is made from. */
export function createSharedPreparing(
  connections: readonly PayingConnection[],
  order: EndpointOrder,
  options: OutcomeQuorum & Pick<SharedOutcomes, "confirmDead">,
): PayingConnection["prepare"] {
  const { quorum, confirmDead } = options;
  const electorate = electorateOf(connections, order, options);
  const connectionAt = lookupIn(connections);
  const [first] = connections;
  const isTrusted = connections.length === 1 || quorum === 1;

  const prepareAt = async (
    index: number,
    ...payment: Parameters<PayingConnection["prepare"]>
  ): Promise<PreparedPayment> => {
    try {
      return { place: index, attempt: await connectionAt(index).prepare(...payment) };
    } catch (fault) {
      if (fault instanceof InsufficientInventory) return { place: index, shortage: fault };
      throw fault;
    }
  };

  /** An endpoint that hides what the solver holds must not stop its payments. */
  const prepareElsewhere = async (
    lead: number,
    ...payment: Parameters<PayingConnection["prepare"]>
  ): Promise<PreparedPayment | undefined> => {
    for (const index of connections.keys()) {
      if (index === lead) continue;
      const prepared = await recordingFaults(
        order,
        index,
        async () => await prepareAt(index, ...payment),
      ).catch((fault: unknown) => {
        if (fault instanceof RpcFault) return undefined;
        throw fault;
      });
      if (prepared !== undefined && "attempt" in prepared) return prepared;
    }
    return undefined;
  };

  /** @throws RpcFault if a quorum does not show what the bytes are made from */
  const confirmNew = async (lead: number, attempt: NonEvmAttempt): Promise<void> => {
    if (isTrusted || first?.isCurrent === undefined) return;
    const isCurrent = await queryAll<number, boolean, boolean>(electorate, {
      question: QUESTION,
      read: async (index) =>
        index === lead ||
        (await recordingFaults(order, index, async () => await connectionAt(index).isCurrent?.(attempt))) ===
          true,
      decide: (answers) => valueOf(agreedOn(answers, quorum, String)),
    });
    if (isCurrent) return;
    const fault = inconsistent(QUESTION, "other endpoints do not show what the payment was made from");
    order.noteFault(lead, fault);
    throw fault;
  };

  return async (payment, earlierAttempts, reserved) => {
    // A single endpoint's reason against a payment must not be ignored.
    let prepared = await order.run(
      async (index) => await prepareAt(index, payment, earlierAttempts, reserved),
      ({ kind }) => kind !== "inconsistent",
    );
    if ("shortage" in prepared && !isTrusted)
      prepared = (await prepareElsewhere(prepared.place, payment, earlierAttempts, reserved)) ?? prepared;
    if ("shortage" in prepared) throw prepared.shortage;
    const { place: index, attempt } = prepared;
    await confirmNew(index, attempt);
    // One endpoint alone must not conclude that an earlier attempt cannot pay as well.
    for (const earlier of earlierAttempts)
      if (earlier.raw !== attempt.raw && first?.conflicts?.(attempt, earlier) !== true)
        await confirmDead(earlier);
    return attempt;
  };
}

async function recordingFaults<T>(order: EndpointOrder, index: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (fault) {
    order.noteFault(index, fault);
    throw fault;
  }
}

function lowerMedian(answers: readonly Answer<number, bigint>[]): bigint | undefined {
  const costs = answers.map(({ value }) => value).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return costs[Math.floor((costs.length - 1) / 2)];
}

function valueOf<T>(value: T | undefined): { readonly value: T } | undefined {
  return value === undefined ? undefined : { value };
}

function lookupIn<T>(items: readonly T[]): (index: number) => T {
  return (index) => {
    const item = items[index];
    if (item === undefined) throw new RangeError(`invariant violated: no endpoint ${index}`);
    return item;
  };
}
