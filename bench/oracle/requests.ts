import { messageDigest, rawKeySigner, signatureToHex } from "@causeway/attest";
import type { Order } from "@causeway/domain";
import type { LoadRequest } from "../load-orders.ts";
import { ALDER, depositHash, fillHash, onchainIdAt, orderIdAt, orderOf, SOLVER_KEY } from "./facts.ts";

export const DEPOSITS_PATH = "/attestations/depository-deposits/v1";
export const FILLS_PATH = "/attestations/solver-fills/v1";

/** Requests about distinct deposits. */
export function depositRequests(count: number): LoadRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    method: "POST" as const,
    path: DEPOSITS_PATH,
    body: JSON.stringify({ chainId: ALDER.name, transactionId: depositHash(index) }),
  }));
}

/** Requests about distinct orders, deposits and fills. */
export async function fillRequests(count: number): Promise<LoadRequest[]> {
  const solver = rawKeySigner(SOLVER_KEY);
  const requests: LoadRequest[] = [];
  for (let index = 0; index < count; index++) {
    const digest = messageDigest(orderIdAt(index, solver.address));
    const body = JSON.stringify({
      order: wireOrder(orderOf(index, solver.address)),
      orderSignature: signatureToHex(await solver.signDigest(digest)),
      inputs: [{ transactionId: depositHash(index), onchainId: onchainIdAt(index), inputIndex: 0 }],
      fill: { transactionId: fillHash(index) },
    });
    requests.push({ method: "POST", path: FILLS_PATH, body });
  }
  return requests;
}

/** Amounts are decimal text on the wire. */
function wireOrder(order: Order): unknown {
  return JSON.parse(
    JSON.stringify(order, (_name, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  );
}
