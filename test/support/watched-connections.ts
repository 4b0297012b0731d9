import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy to a Postgres server that counts what clients send. */
export interface WatchedConnections {
  readonly url: string;
  /** Number of chunks that clients sent so far, about one per statement. */
  sent(): number;
  /** Closes all connections, as the kernel does for a killed process. */
  close(): Promise<void>;
}

/** @param onSent called with the count so far before each chunk is forwarded */
export async function watchConnections(
  databaseUrl: string,
  onSent: (number: number) => void,
): Promise<WatchedConnections> {
  const url = new URL(databaseUrl);
  const server = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let sent = 0;
  const proxy = createServer((client) => {
    const upstream = connect(server);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes) => {
      onSent(++sent);
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  url.hostname = "127.0.0.1";
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    sent: () => sent,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
