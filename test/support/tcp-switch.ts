import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** An address behind which the server can be replaced, as in a database failover. */
export interface TcpSwitch {
  readonly port: number;
  /**
   * Closes all connections and routes new ones to this port of 127.0.0.1. Undefined refuses new connections.
   */
  route(port: number | undefined): void;
  close(): Promise<void>;
}

/** Starts the switch with a route to a port of 127.0.0.1. */
export async function startTcpSwitch(first: number): Promise<TcpSwitch> {
  let target: number | undefined = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (target === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    route(port) {
      target = port;
      endAll();
    },
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
