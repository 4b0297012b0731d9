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
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (target === undefined) {
      client.destroy();
      return;
    }
    const behind = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endAll = (): void => {
    for (const socket of open) socket.destroy();
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
