import { RpcFault } from "@causeway/families";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import { createSharedAddresses } from "./non-evm-addresses.ts";
import { createSharedArrivals } from "./non-evm-arrivals.ts";
import type {
  NonEvmConnection,
  NonEvmDepositAddresses,
  OpenConnection,
  PayingConnection,
} from "./non-evm-connection.ts";
import { followHeads } from "./non-evm-heads.ts";
import { createSharedOutcomes, type OutcomeQuorum, type SharedOutcomes } from "./non-evm-outcomes.ts";
import { createSharedSending, type SharedSending } from "./non-evm-sending.ts";
import { createSharedCost, createSharedPreparing, createSharedRefusals } from "./non-evm-payments.ts";
import type { OpenNonEvmUsers } from "./non-evm-users.ts";

type NonEmpty<T> = readonly [T, ...T[]];

/** What every connection to the same endpoints shares. */
interface Shared {
  readonly order: EndpointOrder;
  readonly options: OutcomeQuorum;
  readonly arrivals: Pick<NonEvmConnection, "arrivals" | "arrivalsOf">;
  readonly addresses: NonEvmDepositAddresses | undefined;
  readonly outcomes: SharedOutcomes;
  readonly sending: SharedSending;
  stopFollowing(): void;
}

/**
 * Connections to the same chain, one for each endpoint, as one connection. Payments are sent to all. A quorum
 * decides which deposits count, what deposit addresses hold, and what became of payments.
 */
export function connectedTogether(
  connections: NonEmpty<OpenConnection>,
  order: EndpointOrder,
  options: OutcomeQuorum,
): OpenConnection {
  const shared: Shared = {
    order,
    options,
    arrivals: createSharedArrivals(connections, order, options),
    addresses: createSharedAddresses(connections, order, options),
    outcomes: createSharedOutcomes(connections, order, options),
    sending: createSharedSending(connections, order),
    stopFollowing: followHeads(connections, order),
  };
  return {
    ...together(connections, shared),
    withKey: async (privateKey, depositKey) => {
      const [first, ...others] = await Promise.all(
        connections.map(async (one) => await one.withKey(privateKey, depositKey)),
      );
      if (first === undefined) throw new RangeError("invariant violated: no endpoints");
      return payingTogether([first, ...others], shared);
    },
  };
}

function payingTogether(connections: NonEmpty<PayingConnection>, shared: Shared): PayingConnection {
  const { order, options, outcomes } = shared;
  const [first] = connections;
  return {
    ...together(connections, shared),
    prepare: createSharedPreparing(connections, order, { ...options, confirmDead: outcomes.confirmDead }),
    ...(first.conflict !== undefined && { conflict: first.conflict }),
    ...(first.signNonceMapping !== undefined && { signNonceMapping: first.signNonceMapping }),
  };
}

function together(connections: NonEmpty<NonEvmConnection>, shared: Shared): NonEvmConnection {
  const { order, arrivals, addresses, outcomes, sending } = shared;
  const at = placeIn(connections);
  const [first] = connections;
  const { vm, solver, canReplace, canCancel, isRateLimited, costDependsOnRecipient, hasLateTransactionIds } =
    first;
  return {
    vm,
    solver,
    canReplace,
    canCancel,
    ...(isRateLimited !== undefined && { isRateLimited }),
    ...(costDependsOnRecipient !== undefined && { costDependsOnRecipient }),
    ...(hasLateTransactionIds !== undefined && { hasLateTransactionIds }),
    ...(addresses !== undefined && { depositAddresses: addresses }),
    arrivals: arrivals.arrivals,
    arrivalsOf: arrivals.arrivalsOf,
    balances: async (currencies) => await order.ask(async (place) => await at(place).balances(currencies)),
    paymentCost: createSharedCost(connections, order, shared.options),
    refusalOf: createSharedRefusals(connections, order, shared.options),
    isPayment: async (...payment) => await order.ask(async (place) => await at(place).isPayment(...payment)),
    send: sending.send,
    outcome: outcomes.outcome,
    ...(first.head !== undefined && {
      head: async () =>
        await order.ask(async (place) => {
          const head = await required(at(place).head)();
          order.noteHead(place, head);
          return head;
        }),
    }),
    endpoints: () => order.statuses(),
    onNews: (listener) => {
      const stops = connections.map((one, place) =>
        one.onNews(() => {
          if (place === order.lead()) listener();
        }),
      );
      return () => {
        for (const stop of stops) stop();
      };
    },
    close: async () => {
      shared.stopFollowing();
      await sending.finish();
      await Promise.all(connections.map(async (one) => await one.close()));
    },
  };
}

/** The user's side of the same chain, one for each endpoint, as one. */
export function usersTogether(users: NonEmpty<OpenNonEvmUsers>, order: EndpointOrder): OpenNonEvmUsers {
  const at = placeIn(users);
  const [first] = users;
  return {
    balance: async (...asked) => await order.ask(async (place) => await at(place).balance(...asked)),
    ...(first.deposit !== undefined && {
      deposit: async (payment) =>
        await order.ask(async (place) => await required(at(place).deposit)(payment)),
    }),
    ...(first.mint !== undefined && {
      mint: async (currency) => await order.ask(async (place) => await required(at(place).mint)(currency)),
    }),
    ...(first.token !== undefined && {
      token: async (currency) => await order.ask(async (place) => await required(at(place).token)(currency)),
    }),
    close: async () => void (await Promise.all(users.map(async (one) => await one.close()))),
  };
}

function required<T>(method: T | undefined): T {
  if (method === undefined)
    throw new RpcFault({ kind: "refused", method: "endpoints", reason: "not supported" });
  return method;
}

function placeIn<T>(all: NonEmpty<T>): (place: number) => T {
  const [first] = all;
  return (place) => all[place] ?? first;
}
