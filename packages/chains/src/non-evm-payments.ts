import { inconsistent, RpcFault } from "@causeway/families";
import { agreedOn, askAll, type Answer } from "./nodes/ask-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import {
  InsufficientInventory,
  type NonEvmAttempt,
  type NonEvmConnection,
  type PayingConnection,
} from "./non-evm-connection.ts";
import { electorateOf, type OutcomeQuorum, type SharedOutcomes } from "./non-evm-outcomes.ts";

const QUESTION = "payment";

type Prepared = { readonly place: number } & (
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
  const at = placeIn(connections);
  return async (payment) => {
    const { place: lead, refusal } = await order.ask(async (place) => ({
      place,
      refusal: await at(place).refusalOf(payment),
    }));
    if (refusal === undefined || connections.length === 1 || quorum === 1) return refusal;
    const isRefused = await askAll<number, boolean, boolean>(electorate, {
      question: QUESTION,
      read: async (place) =>
        place === lead ||
        (await noted(order, place, async () => await at(place).refusalOf(payment))) !== undefined,
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
  const at = placeIn(connections);
  return async (currency, recipient, asked) => {
    if (connections.length === 1 || asked === "lead")
      return await order.ask(async (place) => await at(place).paymentCost(currency, recipient));
    return await askAll<number, bigint, bigint>(
      { ...electorate, quorum: asked === "quorum" ? options.quorum : 1 },
      {
        question: QUESTION,
        read: async (place) =>
          await noted(order, place, async () => await at(place).paymentCost(currency, recipient)),
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
  const at = placeIn(connections);
  const [first] = connections;
  const isTrusted = connections.length === 1 || quorum === 1;

  const prepareAt = async (
    place: number,
    ...payment: Parameters<PayingConnection["prepare"]>
  ): Promise<Prepared> => {
    try {
      return { place, attempt: await at(place).prepare(...payment) };
    } catch (fault) {
      if (fault instanceof InsufficientInventory) return { place, shortage: fault };
      throw fault;
    }
  };

  /** An endpoint that hides what the solver holds must not stop its payments. */
  const prepareElsewhere = async (
    lead: number,
    ...payment: Parameters<PayingConnection["prepare"]>
  ): Promise<Prepared | undefined> => {
    for (const place of connections.keys()) {
      if (place === lead) continue;
      const found = await noted(order, place, async () => await prepareAt(place, ...payment)).catch(
        (fault: unknown) => {
          if (fault instanceof RpcFault) return undefined;
          throw fault;
        },
      );
      if (found !== undefined && "attempt" in found) return found;
    }
    return undefined;
  };

  /** @throws RpcFault if a quorum does not show what the bytes are made from */
  const confirmNew = async (lead: number, attempt: NonEvmAttempt): Promise<void> => {
    if (isTrusted || first?.isCurrent === undefined) return;
    const isCurrent = await askAll<number, boolean, boolean>(electorate, {
      question: QUESTION,
      read: async (place) =>
        place === lead ||
        (await noted(order, place, async () => await at(place).isCurrent?.(attempt))) === true,
      decide: (answers) => valueOf(agreedOn(answers, quorum, String)),
    });
    if (isCurrent) return;
    const fault = inconsistent(QUESTION, "other endpoints do not show what the payment was made from");
    order.noteFault(lead, fault);
    throw fault;
  };

  return async (payment, before, reserved) => {
    // A single endpoint's reason against a payment must not be ignored.
    let prepared = await order.ask(
      async (place) => await prepareAt(place, payment, before, reserved),
      ({ kind }) => kind !== "inconsistent",
    );
    if ("shortage" in prepared && !isTrusted)
      prepared = (await prepareElsewhere(prepared.place, payment, before, reserved)) ?? prepared;
    if ("shortage" in prepared) throw prepared.shortage;
    const { place, attempt } = prepared;
    await confirmNew(place, attempt);
    // One endpoint alone must not conclude that an earlier attempt cannot pay as well.
    for (const earlier of before)
      if (earlier.raw !== attempt.raw && first?.conflict?.(attempt, earlier) !== true)
        await confirmDead(earlier);
    return attempt;
  };
}

async function noted<T>(order: EndpointOrder, place: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (fault) {
    order.noteFault(place, fault);
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

function placeIn<T>(all: readonly T[]): (place: number) => T {
  return (place) => {
    const one = all[place];
    if (one === undefined) throw new RangeError(`invariant violated: no endpoint ${place}`);
    return one;
  };
}
