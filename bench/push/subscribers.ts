// Clients of the socket, each following one request. Gets { url, requestIds }, sends { ready } when all have
// received their current status, and then [index, when] of each success, in batches.
import { WebSocket } from "ws";
import { preciseNowMs } from "./precise-now.ts";

const AT_ONCE = 200;
const REPORT_EVERY_MS = 100;

process.on("disconnect", () => process.exit());
process.once("message", (order: { readonly url: string; readonly requestIds: readonly string[] }) => {
  void follow(order).catch((error: unknown) => process.send?.({ failed: String(error) }));
});

async function follow({
  url,
  requestIds,
}: {
  readonly url: string;
  readonly requestIds: readonly string[];
}): Promise<void> {
  const arrived: [number, number][] = [];
  const send = process.send?.bind(process);
  for (let from = 0; from < requestIds.length; from += AT_ONCE)
    await Promise.all(
      requestIds.slice(from, from + AT_ONCE).map(async (id, offset) => {
        await subscribe(url, id, (atMs) => arrived.push([from + offset, atMs]));
      }),
    );
  send?.({ ready: true });
  setInterval(() => {
    if (arrived.length > 0) send?.({ arrived: arrived.splice(0) });
  }, REPORT_EVERY_MS);
}

/** Settles when the client has received the current status. */
async function subscribe(url: string, id: string, onSuccess: (atMs: number) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.once("error", reject);
    socket.once("close", (code) => reject(new Error(`closed with ${code}`)));
    socket.once("open", () => {
      socket.send(JSON.stringify({ type: "subscribe", event: "request.status.updated", filters: { id } }));
    });
    socket.on("message", (frame: Buffer) => {
      const text = frame.toString("latin1");
      if (!text.startsWith('{"event"')) return;
      if (text.includes('"status":"success"')) onSuccess(preciseNowMs());
      else resolve();
    });
  });
}
