import { signerHttp } from "@causeway/attest";
import type { Lifecycle, Logger } from "@causeway/service-kit";
import { openSigner } from "../../chains/signers.wiring.ts";
import type { TimeSignatures } from "../../chains/time-signatures.port.ts";
import type { ApiConfig } from "../../config/config.ts";
import { keyOrderSigner } from "./key-order-signer.ts";
import { orderSignerClient } from "./order-signer-client.adapter.ts";
import type { OrderSigner } from "./order-signer.port.ts";

/** Timeout of one signature. A client's quote waits for it. */
const DEADLINE_MS = 5_000;

interface Needs {
  readonly config: Pick<ApiConfig, "orderSigning" | "keyServices" | "accounts">;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly timeSignatures: TimeSignatures;
}

/** The signer process, or the key that the API has. @throws StartProblem for a key of another account */
export async function openOrderSigner(needs: Needs): Promise<OrderSigner> {
  const { orderSigning, accounts } = needs.config;
  if (orderSigning === undefined) throw new Error("invariant violated: the API cannot sign orders");
  if (orderSigning.kind === "key") return keyOrderSigner(await openSigner(needs, orderSigning.key));
  const { endpoint, token } = orderSigning;
  const http = signerHttp(
    endpoint.kind === "socket"
      ? { origin: "http://signer", socketPath: endpoint.path, deadlineMs: DEADLINE_MS }
      : {
          origin: `http://${endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`,
          deadlineMs: DEADLINE_MS,
        },
  );
  needs.lifecycle.add("order signer", () => http.close());
  const client = orderSignerClient(http, accounts.solver, token?.reveal());
  const timed = needs.timeSignatures(accounts.solver, "process");
  return {
    signOrder: (order) => timed(() => client.signOrder(order)),
    signRequest: (layout, facts) => timed(() => client.signRequest(layout, facts)),
  };
}
