import { indexTransactionRequest, messageAnswer } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { reportTransaction } from "./report-transaction.ts";
import { callerOf } from "../http/rate-limit.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId, parseHash } from "../http/wire-values.ts";

/** `POST /transactions/index`: records a deposit before the watcher reaches its block. */
export function transactionsIndexRoute(app: TypedServer, { call }: Calls<typeof reportTransaction>): void {
  app.post(
    "/transactions/index",
    {
      schema: {
        tags: ["transactions"],
        operationId: "indexTransaction",
        summary: "Index a deposit transaction now",
        description:
          "404: no node has seen the transaction yet; try again. A transaction in a block not scanned yet is left to the regular scan if it contains many deposits or if too many reports are pending. The message then says so, and the deposit still counts. 503: the transaction was not recorded; try again.",
        body: indexTransactionRequest,
        response: { 200: messageAnswer, ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503) },
      },
    },
    (request) => {
      const { body } = request;
      const report = {
        chainId: parseChainId(body.chainId),
        txHash: body.txHash,
        ...(body.requestId === undefined ? {} : { requestId: parseHash(body.requestId) }),
      };
      return call(reportTransaction, report, callerOf(request));
    },
  );
}
