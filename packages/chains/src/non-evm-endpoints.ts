import { RpcFault } from "@causeway/families";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type {
  NonEvmConnection,
  NonEvmDepositAddresses,
  NonEvmOutcome,
  OpenConnection,
  PayingConnection,
} from "./non-evm-connection.ts";
import type { OpenNonEvmUsers } from "./non-evm-users.ts";

type NonEmpty<T> = readonly [T, ...T[]];

/** Connections to the same chain, one for each endpoint, as one connection. Payments are sent to all. */
export function connectedTogether(
  connections: NonEmpty<OpenConnection>,
  order: EndpointOrder,
): OpenConnection {
  return {
    ...together(connections, order),
    withKey: async (privateKey, depositKey) => {
      const [first, ...others] = await Promise.all(
        connections.map(async (one) => await one.withKey(privateKey, depositKey)),
      );
      if (first === undefined) throw new RangeError("invariant violated: no endpoints");
      return payingTogether([first, ...others], order);
    },
  };
}

function payingTogether(connections: NonEmpty<PayingConnection>, order: EndpointOrder): PayingConnection {
  const at = placeIn(connections);
  const [first] = connections;
  return {
    ...together(connections, order),
    // What one endpoint knows against a payment must not be passed over.
    prepare: async (...payment) =>
      await order.ask(
        async (place) => await at(place).prepare(...payment),
        ({ kind }) => kind !== "inconsistent",
      ),
    ...(first.signNonceMapping !== undefined && { signNonceMapping: first.signNonceMapping }),
  };
}

function together(connections: NonEmpty<NonEvmConnection>, order: EndpointOrder): NonEvmConnection {
  const at = placeIn(connections);
  const [first] = connections;
  const { vm, solver, replaces, takesBack, isRateLimited, costsByRecipient, idsComeLater } = first;
  return {
    vm,
    solver,
    replaces,
    takesBack,
    ...(isRateLimited !== undefined && { isRateLimited }),
    ...(costsByRecipient !== undefined && { costsByRecipient }),
    ...(idsComeLater !== undefined && { idsComeLater }),
    ...(first.depositAddresses !== undefined && {
      depositAddresses: addressesTogether(connections, order, first.depositAddresses),
    }),
    arrivals: async (cursor) =>
      await order.ask(async (place) => {
        const found = await at(place).arrivals(cursor);
        order.noteHead(place, found.upTo.number);
        // What was read counts; the next reading asks another endpoint.
        if (found.fault !== undefined) order.noteFault(place, found.fault);
        return found;
      }),
    arrivalsOf: async (transactionId) =>
      await order.ask(async (place) => await at(place).arrivalsOf(transactionId)),
    balances: async (currencies) => await order.ask(async (place) => await at(place).balances(currencies)),
    paymentCost: async (...payment) =>
      await order.ask(async (place) => await at(place).paymentCost(...payment)),
    refusalOf: async (payment) => await order.ask(async (place) => await at(place).refusalOf(payment)),
    isPayment: async (...payment) => await order.ask(async (place) => await at(place).isPayment(...payment)),
    send: async (attempt) => {
      const answers = await Promise.allSettled(connections.map(async (one) => await one.send(attempt)));
      answers.forEach((answer, place) => {
        if (answer.status === "rejected") order.noteFault(place, answer.reason);
      });
      const results = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
      const [result] = results;
      if (results.includes("sent")) return "sent";
      if (result !== undefined) return result;
      throw answers.find((answer) => answer.status === "rejected")?.reason;
    },
    outcome: async (attempt) => {
      const found = await order.ask(async (place) => await at(place).outcome(attempt));
      if (found.kind !== "dead" || connections.length === 1) return found;
      // What is dead is paid again: no endpoint may show that it was paid.
      const others = await Promise.allSettled(connections.map(async (one) => await one.outcome(attempt)));
      const seen = others.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
      return seen.find(isSeen) ?? found;
    },
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
    close: async () => void (await Promise.all(connections.map(async (one) => await one.close()))),
  };
}

function isSeen({ kind }: NonEvmOutcome): boolean {
  return kind === "pending" || kind === "mined" || kind === "final";
}

function addressesTogether(
  connections: NonEmpty<NonEvmConnection>,
  order: EndpointOrder,
  first: NonEvmDepositAddresses,
): NonEvmDepositAddresses {
  const at = (place: number): NonEvmDepositAddresses => connections[place]?.depositAddresses ?? first;
  const { refusalOf, problem } = first;
  return {
    kind: first.kind,
    addressOf: (key) => first.addressOf(key),
    sweepCost: (paymentCost) => first.sweepCost(paymentCost),
    ...(refusalOf && {
      refusalOf: async (payment) =>
        await order.ask(async (place) => await (at(place).refusalOf ?? refusalOf)(payment)),
    }),
    ...(problem && {
      problem: async () => await order.ask(async (place) => await (at(place).problem ?? problem)()),
    }),
    newest: async () => await order.ask(async (place) => await at(place).newest()),
    held: async (...asked) => await order.ask(async (place) => await at(place).held(...asked)),
    sweepable: async (...asked) => await order.ask(async (place) => await at(place).sweepable(...asked)),
  };
}

/** The user's side of the same chain, one for each endpoint, as one. */
export function usersTogether(users: NonEmpty<OpenNonEvmUsers>, order: EndpointOrder): OpenNonEvmUsers {
  const at = placeIn(users);
  const [first] = users;
  const required = <T>(method: T | undefined): T => {
    if (method === undefined)
      throw new RpcFault({ kind: "refused", method: "users", reason: "not supported" });
    return method;
  };
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

function placeIn<T>(all: NonEmpty<T>): (place: number) => T {
  const [first] = all;
  return (place) => all[place] ?? first;
}
