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

/** The parts that all connections to the same endpoints share. */
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
 * Combines connections to the same chain, one for each endpoint, into one. Payments are sent to all. A quorum
 * decides which deposits count, what deposit addresses hold, and what became of payments.
 */
export function combineConnections(
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
    ...combine(connections, shared),
    withKey: async (privateKey, depositKey) => {
      const [first, ...others] = await Promise.all(
        connections.map(async (connection) => await connection.withKey(privateKey, depositKey)),
      );
      if (first === undefined) throw new RangeError("invariant violated: no endpoints");
      return combinePaying([first, ...others], shared);
    },
  };
}

function combinePaying(connections: NonEmpty<PayingConnection>, shared: Shared): PayingConnection {
  const { order, options, outcomes } = shared;
  const [first] = connections;
  return {
    ...combine(connections, shared),
    prepare: createSharedPreparing(connections, order, { ...options, confirmDead: outcomes.confirmDead }),
    ...(first.conflicts !== undefined && { conflicts: first.conflicts }),
    ...(first.signNonceMapping !== undefined && { signNonceMapping: first.signNonceMapping }),
  };
}

function combine(connections: NonEmpty<NonEvmConnection>, shared: Shared): NonEvmConnection {
  const { order, arrivals, addresses, outcomes, sending } = shared;
  const connectionAt = lookupIn(connections);
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
    balances: async (currencies) =>
      await order.run(async (index) => await connectionAt(index).balances(currencies)),
    paymentCost: createSharedCost(connections, order, shared.options),
    refusalOf: createSharedRefusals(connections, order, shared.options),
    isPayment: async (...payment) =>
      await order.run(async (index) => await connectionAt(index).isPayment(...payment)),
    send: sending.send,
    outcome: outcomes.outcome,
    ...(first.head !== undefined && {
      head: async () =>
        await order.run(async (index) => {
          const head = await requireMethod(connectionAt(index).head)();
          order.noteHead(index, head);
          return head;
        }),
    }),
    endpoints: () => order.statuses(),
    onNews: (listener) => {
      const stops = connections.map((connection, index) =>
        connection.onNews(() => {
          if (index === order.lead()) listener();
        }),
      );
      return () => {
        for (const stop of stops) stop();
      };
    },
    close: async () => {
      shared.stopFollowing();
      await sending.finish();
      await Promise.all(connections.map(async (connection) => await connection.close()));
    },
  };
}

/** The user's side of the same chain, one for each endpoint, as one. */
export function combineUsers(users: NonEmpty<OpenNonEvmUsers>, order: EndpointOrder): OpenNonEvmUsers {
  const usersAt = lookupIn(users);
  const [first] = users;
  return {
    balance: async (...args) => await order.run(async (index) => await usersAt(index).balance(...args)),
    ...(first.deposit !== undefined && {
      deposit: async (payment) =>
        await order.run(async (index) => await requireMethod(usersAt(index).deposit)(payment)),
    }),
    ...(first.mint !== undefined && {
      mint: async (currency) =>
        await order.run(async (index) => await requireMethod(usersAt(index).mint)(currency)),
    }),
    ...(first.token !== undefined && {
      token: async (currency) =>
        await order.run(async (index) => await requireMethod(usersAt(index).token)(currency)),
    }),
    close: async () =>
      void (await Promise.all(users.map(async (endpointUsers) => await endpointUsers.close()))),
  };
}

function requireMethod<T>(method: T | undefined): T {
  if (method === undefined)
    throw new RpcFault({ kind: "refused", method: "endpoints", reason: "not supported" });
  return method;
}

function lookupIn<T>(items: NonEmpty<T>): (index: number) => T {
  const [first] = items;
  return (index) => items[index] ?? first;
}
