import type { ChainConnection, PayingConnection, SignedNonceMapping } from "@causeway/chains";
import type { ConnectedChain } from "../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { Tx } from "../../apps/api/src/db/unit-of-work.port.ts";

/** Stands for a crash of the process: every later call by the process throws this error. */
export class Crashed extends Error {
  override readonly name = "Crashed";
}

/** Whether an error is a crash, directly or as the cause of another error. */
export function isCrash(error: unknown): boolean {
  return error instanceof Crashed || (error instanceof Error && isCrash(error.cause));
}

export interface CrashingServices extends WorkerServices {
  /**
   * The moments so far, in order: before each external action, and after those with an effect. The process
   * may crash at any of them.
   */
  readonly moments: readonly string[];
  readonly hasCrashed: () => boolean;
  /** The chain as this process sees it. */
  readonly crashingChain: (connected: ConnectedChain) => ConnectedChain;
}

/**
 * The services of a process that crashes at a chosen moment: before any external action (a read, a statement
 * of a transaction, its commit, a signature, a node call), and after each action with an effect, so that the
 * process never learns of the effect.
 * @param crashAt the moment's index, or a function that picks it by name; undefined only counts the moments
 */
export function crashingServices(
  services: WorkerServices,
  crashAt?: number | ((moment: string) => boolean),
): CrashingServices {
  const moments: string[] = [];
  let crashed = false;
  const moment = (name: string): void => {
    if (crashed) throw new Crashed(`${name}: the process has crashed`);
    moments.push(name);
    if (typeof crashAt === "function" ? crashAt(name) : moments.length - 1 === crashAt) {
      crashed = true;
      throw new Crashed(name);
    }
  };
  const act = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    moment(`before ${name}`);
    return await work();
  };
  const actWithEffect = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const result = await act(name, work);
    moment(`after ${name}`);
    return result;
  };
  /** Turns all methods of `target` into external actions, except those named in `pure`. */
  const crashingProxy = <T extends object>(target: T, prefix: string, pure: readonly string[] = []): T =>
    new Proxy(target, {
      get: (inner, key): unknown => {
        const member: unknown = Reflect.get(inner, key);
        if (typeof member !== "function" || pure.includes(String(key))) return member;
        return (...args: unknown[]): unknown =>
          act(`${prefix}.${String(key)}`, async () => (await Reflect.apply(member, inner, args)) as unknown);
      },
    });
  const crashingConnection = (connection: ChainConnection): ChainConnection => ({
    reader: crashingProxy(connection.reader, "reader", ["depositsOf", "topUpsOf"]),
    writer: {
      broadcast: (raw) => actWithEffect("broadcast", async () => await connection.writer.broadcast(raw)),
    },
    heads: connection.heads,
    close: async () => undefined,
  });
  const crashingNonEvm = (connection: PayingConnection): PayingConnection => {
    const crashing = crashingProxy(connection, "connection", ["onNews", "close"]);
    return {
      vm: connection.vm,
      solver: connection.solver,
      canReplace: connection.canReplace,
      canCancel: connection.canCancel,
      arrivals: async (cursor) => await crashing.arrivals(cursor),
      arrivalsOf: async (id) => await crashing.arrivalsOf(id),
      balances: async (currencies) => await crashing.balances(currencies),
      paymentCost: async (...args) => await crashing.paymentCost(...args),
      refusalOf: async (payment) => await crashing.refusalOf(payment),
      isPayment: async (...args) => await connection.isPayment(...args),
      prepare: async (...args) => await crashing.prepare(...args),
      ...(connection.signNonceMapping && {
        signNonceMapping: async (...args) =>
          (await crashing.signNonceMapping?.(...args)) as SignedNonceMapping,
      }),
      send: (attempt) => actWithEffect("connection.send", async () => await connection.send(attempt)),
      outcome: async (attempt) => await crashing.outcome(attempt),
      onNews: (listener) => connection.onNews(listener),
      close: async () => undefined,
    };
  };
  const crashingChain = (connected: ConnectedChain): ConnectedChain => ({
    ...connected,
    connection: crashingConnection(connected.connection),
  });
  const crashingSigner = (signer: WorkerServices["signer"]): WorkerServices["signer"] => ({
    address: signer.address,
    ...(signer.isLocal && { isLocal: true }),
    signDigest: (digest) => act("sign", async () => await signer.signDigest(digest)),
  });
  const evmChains = services.chains.evmChains.map(crashingChain);
  const nonEvmChains = services.chains.nonEvmChains.map((connected) => ({
    ...connected,
    connection: crashingNonEvm(connected.connection),
  }));
  return {
    ...services,
    moments,
    hasCrashed: () => crashed,
    crashingChain: (connected) =>
      evmChains.find(({ chain }) => chain.id === connected.chain.id) ?? crashingChain(connected),
    signer: crashingSigner(services.signer),
    executor: services.executor && crashingSigner(services.executor),
    depositAddressOperator:
      services.depositAddressOperator && crashingSigner(services.depositAddressOperator),
    chains: {
      ...services.chains,
      evmChains,
      nonEvmChains,
      get: (id) => evmChains.find(({ chain }) => chain.id === id),
      nonEvm: (id) => nonEvmChains.find(({ chain }) => chain.id === id),
    },
    reads: crashingProxy(services.reads, "reads"),
    balances: crashingProxy(services.balances, "balances"),
    uow: {
      run: async (work) => {
        moment("before begin");
        const result = await services.uow.run(async (tx) => {
          const stores = Object.fromEntries(
            Object.entries(tx).map(([name, store]) => [
              name,
              // The transaction's events stay in memory until the commit, so a crash among them equals a
              // crash before it.
              name === "events" ? (store as object) : crashingProxy(store as object, name),
            ]),
          ) as unknown as Tx;
          const done = await work(stores);
          moment("before commit");
          return done;
        });
        moment("after commit");
        return result;
      },
    },
  };
}
