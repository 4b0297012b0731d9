import { ServiceError } from "@causeway/domain";
import {
  errorBody,
  messageAnswer,
  singleTransaction,
  singleTransactionRequest,
  unknownRequest,
} from "@causeway/wire";
import { z } from "zod";
import type { Calls } from "../http/use-cases.port.ts";
import { reportSingleTransaction } from "./report-transaction.ts";
import { callerOf } from "../http/rate-limit.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId, parseHash } from "../http/wire-values.ts";

/** `POST /transactions/single`: records a same-chain transaction, which no watcher detects. */
export function transactionsSingleRoute(
  app: TypedServer,
  { call }: Calls<typeof reportSingleTransaction>,
): void {
  app.post(
    "/transactions/single",
    {
      schema: {
        tags: ["transactions"],
        operationId: "submitSameChainTransaction",
        summary: "Report the transaction of a same-chain request",
        body: singleTransactionRequest,
        response: {
          200: messageAnswer,
          ...errors(400, 401, 403, 413, 415, 429, 500, 503),
          404: z.union([unknownRequest, errorBody]),
        },
      },
    },
    (request) => {
      const { body } = request;
      const report = {
        chainId: parseChainId(body.chainId),
        requestId: parseHash(body.requestId),
        txHash: txHashIn(body.tx),
      };
      return call(reportSingleTransaction, report, callerOf(request));
    },
  );
}

/** Hash of the transaction that was really mined: a wallet that replaced it reports both. */
function txHashIn(tx: string): string {
  const parsed = singleTransaction.safeParse(parseJson(tx));
  if (!parsed.success) throw invalidTx("must be the JSON text of an object whose txHash is a transaction id");
  const txHash = parsed.data.replacementTxHash ?? parsed.data.txHash;
  if (txHash === undefined) throw invalidTx("must contain txHash or replacementTxHash");
  return txHash;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidTx("must be JSON text");
  }
}

const invalidTx = (reason: string): ServiceError =>
  new ServiceError("INVALID_REQUEST", `tx ${reason}`, { field: "tx" });
