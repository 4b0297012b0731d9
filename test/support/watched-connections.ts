import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of a Postgres server that counts what clients send. */
export interface WatchedConnections {
  readonly url: string;
  /** The number of chunks that clients have sent so far, about one per statement. */
  sent(): number;
  /** Closes all connections, as the kernel does when a process is killed. */
  close(): Promise<void>;
}

/** @param onSent called before each chunk is forwarded, with the count including that chunk */
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
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        peer.destroy();
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
