import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RpcTransport } from "../nodes/transport.ts";
import { clusterTransport } from "./cluster-transport.ts";
import { createSolanaRpc } from "./rpc.ts";

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, "fixtures/recorded.json"), "utf8")) as {
  readonly transactions: {
    readonly native: { readonly signature: string; readonly answer: { readonly slot: number } };
  };
};
const { signature, answer } = recorded.transactions.native;

/** A node that has finalized up to a slot, and returns the transaction regardless. */
function createNode(finalSlot: number): RpcTransport {
  const answers: Readonly<Record<string, unknown>> = {
    getSlot: finalSlot,
    getTransaction: answer,
    getBlockTime: 1_763_761_234,
  };
  return {
    request: async (method) => await Promise.resolve(answers[method]),
    requestBatch: async () => await Promise.reject(new Error("not asked here")),
    close: async () => await Promise.resolve(),
  };
}

test("does not treat a transaction in a slot that is not final as final, regardless of the requested commitment", async () => {
  const readKind = async (finalSlot: number): Promise<string> =>
    (await createSolanaRpc(createNode(finalSlot)).transaction(signature)).kind;
  expect(await readKind(answer.slot)).toBe("final");
  expect(await readKind(answer.slot - 1)).toBe("notFinal");
});

test("nothing is read from or sent to a node of another cluster, and the cluster is verified once", async () => {
  const methods: string[] = [];
  const nodeOf = (genesisHash: string): RpcTransport =>
    clusterTransport(
      {
        ...createNode(1),
        request: async (method) => {
          methods.push(method);
          return await Promise.resolve(method === "getGenesisHash" ? genesisHash : 1);
        },
      },
      "mainnet",
    );
  const otherCluster = nodeOf("devnet");
  await expect(otherCluster.request("sendTransaction", ["bytes"])).rejects.toMatchObject({
    kind: "wrongChain",
  });
  await expect(otherCluster.requestBatch([])).rejects.toMatchObject({ kind: "wrongChain" });
  expect(methods.splice(0)).toEqual(["getGenesisHash", "getGenesisHash"]);
  const rightCluster = nodeOf("mainnet");
  await Promise.all([rightCluster.request("getSlot", []), rightCluster.request("getSlot", [])]);
  await rightCluster.request("getSlot", []);
  expect(methods).toEqual(["getGenesisHash", "getSlot", "getSlot", "getSlot"]);
});
