// The service calls your server whenever a request of your API key changes. Here this program is the server:
// it registers a webhook, bridges ETH, verifies the signature of each delivery, and removes the webhook.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { parseEther, zeroAddress, type Address, type Hex } from "viem";
import { app, callApi, chainNamed, conclude, fundedUser, pause, print } from "./local-system.ts";

interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly items: readonly { readonly data: { to: Address; data: Hex; value: string } }[];
  }[];
}

// 1. Start a server that accepts deliveries. Registering the webhook in step 2 returns the secret.
let secret = "";
const statuses: string[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    if (!isGenuine(request.headers, body)) {
      response.writeHead(401).end();
      return;
    }
    // The service retries any response other than 2xx.
    response.writeHead(200).end();
    const { data } = JSON.parse(body) as { data: { status: string } };
    statuses.push(data.status);
    print("delivery", `${String(request.headers["x-webhook-id"])}: ${data.status}`);
  });
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const address = server.address();
const port = typeof address === "object" ? address?.port : undefined;

// 2. Register a webhook. A real instance accepts only public https URLs; the local one also accepts
//    127.0.0.1.
const created = await callApi<{ secret: string; webhook: { id: string } }>("/webhooks", {
  url: `http://127.0.0.1:${port}/hook`,
});
({ secret } = created);
print("webhook", `${created.webhook.id}, delivering to port ${port}`);

// 3. Bridge ETH with a quote of the same key.
const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const user = fundedUser(1);
const quote = await callApi<Quote>("/quote/v2", {
  user: user.address,
  originChainId: origin.id,
  originCurrency: zeroAddress,
  destinationChainId: destination.id,
  destinationCurrency: zeroAddress,
  amount: parseEther("0.01").toString(),
  tradeType: "EXACT_INPUT",
});
const deposit = quote.steps[0]?.items[0]?.data;
if (deposit === undefined) throw new Error("quote has no deposit step");
const { to, data, value } = deposit;
await origin.wallet(user).sendTransaction({ to, data, value: BigInt(value) });
print("deposit", `sent for request ${quote.requestId}`);

// 4. Wait for the last delivery, then remove the webhook and stop the server.
for (let tries = 0; tries < 600 && !statuses.includes("success"); tries++) await pause(100);
await callApi(`/webhooks/${created.webhook.id}`, undefined, "DELETE");
server.close();
conclude(
  statuses.at(-1) === "success",
  `The server received ${statuses.length} events for the API key of ${app.fundingAddress}: ${statuses.join(", ")}.`,
);

/** Whether the service sent this body within the last five minutes. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const timestamp = String(headers["x-signature-timestamp"]);
  if (!(Math.abs(Date.now() - Number(timestamp)) < 5 * 60_000)) return false;
  const expected = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest();
  const given = Buffer.from(String(headers["x-signature-sha256"]), "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
