import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Address } from "./redis-cluster.ts";
import { bulk, requestReader, type Arguments } from "./requests.ts";

/** Sentinels that watch one primary. */
export interface RunningSentinels {
  readonly addresses: readonly Address[];
  /** Reports another primary. */
  failOver(to: Address): void;
  stopOne(index: number): Promise<void>;
  stop(): Promise<void>;
}

/** Redis Sentinels over their protocol; they hold no elections: the test chooses the primary. */
export async function startSentinels(options: {
  readonly name: string;
  readonly primary: Address;
  readonly count?: number;
  /** The password that clients must use. */
  readonly password?: string;
}): Promise<RunningSentinels> {
  const { name, count = 3, password } = options;
  let { primary } = options;
  const addresses: Address[] = [];

  const answer = (args: Arguments, session: { isSignedIn: boolean }): Buffer => {
    const words = args.map(String);
    const [command = "", sub = "", third = ""] = words.map((word) => word.toLowerCase());
    if (command === "hello") return Buffer.from("-NOPROTO unsupported protocol version\r\n");
    if (command === "auth") {
      session.isSignedIn = words.at(-1) === password;
      return session.isSignedIn ? OK : Buffer.from("-WRONGPASS invalid username-password pair\r\n");
    }
    if (!session.isSignedIn) return Buffer.from("-NOAUTH Authentication required.\r\n");
    if (command !== "sentinel") return command === "ping" ? Buffer.from("+PONG\r\n") : OK;
    const isKnown = third === name.toLowerCase();
    if (sub === "get-master-addr-by-name")
      return isKnown ? listOf([primary.host, String(primary.port)]) : Buffer.from("*-1\r\n");
    if (!isKnown) return Buffer.from("-ERR No such master with that name\r\n");
    if (sub === "ckquorum") return Buffer.from("+OK 3 usable Sentinels\r\n");
    return Buffer.from("*0\r\n");
  };

  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer((socket) => {
        const session = { isSignedIn: password === undefined };
        socket.on("error", () => undefined);
        socket.on(
          "data",
          requestReader((args) => socket.write(answer(args, session))),
        );
      });
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      return server;
    }),
  );
  addresses.push(
    ...servers.map((server) => ({ host: "127.0.0.1", port: (server.address() as AddressInfo).port })),
  );
  const sockets = new Map(servers.map((server) => [server, new Set<Socket>()]));
  for (const [server, open] of sockets)
    server.on("connection", (socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    });
  const stopServer = async (server: Server | undefined): Promise<void> => {
    if (server?.listening !== true) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets.get(server) ?? []) socket.destroy();
    await closed;
  };
  return {
    addresses,
    failOver(to) {
      primary = to;
    },
    stopOne: async (index) => await stopServer(servers[index]),
    stop: async () => void (await Promise.all(servers.map(stopServer))),
  };
}

const OK = Buffer.from("+OK\r\n");

/** Formats an array of texts. */
function listOf(texts: readonly string[]): Buffer {
  return Buffer.concat([Buffer.from(`*${texts.length}\r\n`), ...texts.map(bulk)]);
}
