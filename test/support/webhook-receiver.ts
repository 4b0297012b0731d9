import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the receiver got. */
export interface ReceivedDelivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly requestId: string;
  readonly status: string;
  readonly sequence: number;
  /** The status that the receiver answered. Undefined if it did not answer. */
  readonly answerStatus: number | undefined;
}

/** The server of an integrator, on loopback. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedDelivery[];
  /** The requests that the receiver accepted. */
  accepted(): readonly ReceivedDelivery[];
  /** Decides the status of its answers from now on. Undefined means that it does not answer. */
  answer: (received: Omit<ReceivedDelivery, "answerStatus">) => number | undefined;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedDelivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { data } = JSON.parse(body) as {
        data: Pick<ReceivedDelivery, "requestId" | "status" | "sequence">;
      };
      const { requestId, status, sequence } = data;
      const delivery = { headers: request.headers, body, requestId, status, sequence };
      const answered = receiver.answer(delivery);
      received.push({ ...delivery, answerStatus: answered });
      if (answered === undefined) return;
      response
        .writeHead(answered, answered === 302 ? { location: "/elsewhere" } : {})
        .end(`said ${answered}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook?for=us`,
    received,
    accepted: () => received.filter(({ answerStatus: answered }) => answered === 200),
    answer: () => 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Checks a delivery as the documentation recommends. */
export function isSigned(
  { headers, body }: Pick<ReceivedDelivery, "headers" | "body">,
  secret: string,
  header = "x-signature-sha256",
): boolean {
  const timestamp = String(headers["x-signature-timestamp"]);
  // Many integrators first parse the body and then serialize it again.
  const serializedAgain = JSON.stringify(JSON.parse(body));
  return (
    createHmac("sha256", secret).update(`${timestamp}.${serializedAgain}`).digest("hex") === headers[header]
  );
}
