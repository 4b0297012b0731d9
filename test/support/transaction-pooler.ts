import { createServer, Socket, type AddressInfo } from "node:net";
import pg from "pg";

/**
 * A pooler in transaction mode: a client has a server session only during one transaction. Like PgBouncer, it
 * refuses clients with startup parameters that it does not know.
 */
export interface TransactionPooler {
  readonly url: string;
  close(): Promise<void>;
}

const [READY, AUTHENTICATION, ERROR] = ["Z", "R", "E"].map((type) => type.charCodeAt(0));
const [QUERY, SYNC, TERMINATE] = ["Q", "S", "X"].map((type) => type.charCodeAt(0));
const IDLE = "I".charCodeAt(0);

/** @param sessions number of server sessions that the clients share */
export async function startTransactionPooler(
  databaseUrl: string,
  sessions: number,
): Promise<TransactionPooler> {
  const free = await Promise.all(Array.from({ length: sessions }, async () => await aSession(databaseUrl)));
  const sessionSockets = [...free];
  const waiting: ((session: Socket) => void)[] = [];
  const acquire = async (): Promise<Socket> =>
    free.shift() ?? (await new Promise<Socket>((resolve) => waiting.push(resolve)));
  const release = (session: Socket): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(session);
    else next(session);
  };
  const clients = new Set<Socket>();

  const server = createServer((client) => {
    clients.add(client);
    client.on("error", () => undefined);
    let hasStarted = false;
    let bytes = Buffer.alloc(0);
    let request: Buffer[] = [];
    let session: Socket | undefined;
    let forwarding = Promise.resolve();

    const forward = async (message: Buffer): Promise<void> => {
      session ??= await acquire();
      const from = session;
      await new Promise<void>((resolve) => {
        const relay = onMessages((type, answer) => {
          client.write(answer);
          if (type !== READY) return;
          from.off("data", relay);
          if (answer.at(5) === IDLE) {
            session = undefined;
            release(from);
          }
          resolve();
        });
        from.on("data", relay);
        from.write(message);
      });
    };
    const onMessage = onMessages((type, message) => {
      if (type === TERMINATE) client.end();
      else request.push(message);
      if (type !== QUERY && type !== SYNC) return;
      const completeRequest = Buffer.concat(request);
      request = [];
      forwarding = forwarding.then(async () => await forward(completeRequest));
    });
    client.on("data", (chunk) => {
      if (hasStarted) return onMessage(chunk);
      // The first message has no type byte. Any client may connect.
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length < 4 || bytes.length < bytes.readInt32BE(0)) return;
      hasStarted = true;
      const unknown = startupParameters(bytes).find((name) => !KNOWN_PARAMETERS.has(name));
      if (unknown !== undefined) {
        client.end(fatal(`unsupported startup parameter: ${unknown}`));
        return;
      }
      client.write(Buffer.from([AUTHENTICATION ?? 0, 0, 0, 0, 8, 0, 0, 0, 0, READY ?? 0, 0, 0, 0, 5, IDLE]));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async close() {
      for (const socket of [...clients, ...sessionSockets]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** https://www.pgbouncer.org/config.html#ignore_startup_parameters */
const KNOWN_PARAMETERS = new Set([
  "user",
  "database",
  "application_name",
  "client_encoding",
  "datestyle",
  "timezone",
  "standard_conforming_strings",
]);

/**
 * The names in a StartupMessage, which has a length and a version, followed by zero-terminated names and
 * values.
 */
function startupParameters(message: Buffer): string[] {
  return message
    .toString("utf8", 8, message.readInt32BE(0))
    .split("\0")
    .filter((text, at) => at % 2 === 0 && text !== "")
    .map((name) => name.toLowerCase());
}

/** An ErrorResponse with severity, code and message. */
function fatal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from([ERROR ?? 0, 0, 0, 0, 0]);
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** The socket of a ready session. Unsolicited messages, such as notifications, are dropped. */
async function aSession(connectionString: string): Promise<Socket> {
  const socket = new Socket();
  const client = new pg.Client({ connectionString, stream: () => socket });
  await client.connect();
  socket.removeAllListeners();
  socket.on("error", () => undefined);
  socket.resume();
  return socket;
}

/** Splits a stream into messages of the Postgres protocol: a type, a length, a body. */
function onMessages(onMessage: (type: number | undefined, message: Buffer) => void): (bytes: Buffer) => void {
  let unread = Buffer.alloc(0);
  return (bytes) => {
    unread = Buffer.concat([unread, bytes]);
    while (unread.length >= 5 && unread.length > unread.readInt32BE(1)) {
      const message = unread.subarray(0, unread.readInt32BE(1) + 1);
      unread = unread.subarray(message.length);
      onMessage(message.at(0), message);
    }
  };
}
