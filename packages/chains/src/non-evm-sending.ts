import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmConnection } from "./non-evm-connection.ts";

type Send = NonEvmConnection["send"];

/** Sends payments to all endpoints. */
export interface SharedSending {
  /** Returns once an endpoint accepts the bytes; the others get them in the meantime. */
  readonly send: Send;
  /** Waits for endpoints that have not answered yet. */
  finish(): Promise<void>;
}

export function createSharedSending(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
): SharedSending {
  const running = new Set<Promise<unknown>>();
  return {
    send: async (attempt) => {
      const answers = connections.map(async (connection, index) => {
        try {
          return await connection.send(attempt);
        } catch (fault) {
          order.noteFault(index, fault);
          throw fault;
        }
      });
      const allAnswers = Promise.allSettled(answers);
      running.add(allAnswers);
      void allAnswers.then(() => running.delete(allAnswers));
      const isSent = await new Promise<boolean>((resolve) => {
        for (const answer of answers)
          answer.then((result) => result === "sent" && resolve(true)).catch(() => undefined);
        void allAnswers.then(() => resolve(false));
      });
      if (isSent) return "sent";
      const settled = await allAnswers;
      const refusal = settled.find((answer) => answer.status === "fulfilled");
      if (refusal !== undefined) return refusal.value;
      throw settled.find((answer) => answer.status === "rejected")?.reason;
    },
    finish: async () => void (await Promise.all(running)),
  };
}
