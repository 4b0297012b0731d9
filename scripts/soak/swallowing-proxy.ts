import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A network cable between a client and a server that can be pulled. */
export interface SwallowingProxy {
  readonly port: number;
  /** From now on, silently drops all data: connections stay open, and new ones are accepted. */
  cut(): void;
  /** Closes the cut connections; new ones work again. */
  heal(): void;
  close(): Promise<void>;
}

export async function startSwallowingProxy(to: {
  readonly host: string;
  readonly port: number;
}): Promise<SwallowingProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const join = (from: Socket, target: Socket): void => {
    sockets.add(from);
    from.on("error", () => undefined);
    from.on("data", (bytes) => {
      if (!isCut) target.write(bytes);
    });
    from.on("close", () => {
      sockets.delete(from);
      // The end of a connection is not forwarded either.
      if (!isCut) target.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(to);
    join(client, upstream);
    join(upstream, client);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    heal() {
      isCut = false;
      endAll();
    },
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
