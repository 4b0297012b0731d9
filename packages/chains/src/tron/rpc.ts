import type { Address, Hex, Hex32 } from "@causeway/domain";
import { garbage, inconsistent, NodeRefusal, redact, RpcFault, type Evidence } from "@causeway/families";
import { quantityOf, readReceipt } from "@causeway/families/evm";
import { createFactCache, singleFlight } from "../evm/fact-cache.ts";
import type { RestClient } from "../nodes/rest-client.ts";
import { jsonOf } from "../nodes/rest-client.ts";
import {
  finalityOf,
  readBlock,
  readConstantResult,
  readContent,
  readInfo,
  secondsOf,
  solidTransaction,
  type SolidTransaction,
  type TransactionInfo,
  type TronBlock,
  type TronFacts,
} from "@causeway/families/tron";
import { readRequestState, requestStateProgram, type RequestState } from "./request-state.ts";

/** Reads of one endpoint. All of them throw RpcFault if it does not answer. */
export interface TronRpc {
  /** @param hash the transaction id with a `0x` prefix */
  transaction(hash: Hex): Promise<Evidence<SolidTransaction>>;
  /** Whether a depository has executed a request, in a solid state, and the block of that state. */
  requestState(depository: Address, id: Hex32): Promise<RequestState>;
  /** The newest solid block. */
  newestSolid(): Promise<TronBlock>;
  /** Calls the endpoint's JSON-RPC. @throws NodeRefusal if it returns an error */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** The caller in state queries: the zero address, which no one owns. */
const ZERO_ADDRESS = `41${"0".repeat(40)}`;
/** Maximum number of cached transactions, and of their bytes. */
const CACHE_LIMITS = { entries: 2_000, bytes: 4 * 1024 * 1024 };
/** Maximum size of a cached transaction, so that it does not displace all others. */
const MAX_CACHED_ENTRY_BYTES = 64 * 1024;

/**
 * Queries one node through Tron's own API (`/wallet`, `/walletsolidity`) and its JSON-RPC (`/jsonrpc`), which
 * alone returns the positions of logs in their block.
 *
 * @param rest the base URL of all three
 */
export function createTronRpc(
  rest: RestClient,
  facts: Pick<TronFacts, "chainId" | "blockTimeSeconds">,
): TronRpc {
  const solidTransactions = createFactCache<SolidTransaction>({ ...CACHE_LIMITS, sizeOf });
  const solidReads = singleFlight<Evidence<SolidTransaction>>();
  const verifying = singleFlight<void>();
  let isVerified = false;

  const request = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    rpcResult(method, jsonOf(method, await rest.post(method, "/jsonrpc", rpcCall(method, params))));

  /** Refuses a node of another chain. */
  const verify = async (): Promise<void> => {
    if (isVerified) return;
    await verifying("", async () => {
      const served = quantityOf(await request("eth_chainId", []), "eth_chainId");
      if (served !== BigInt(facts.chainId)) {
        const reason = `the node serves chain ${served}, expected ${facts.chainId}`;
        throw new RpcFault({ kind: "wrongChain", method: "eth_chainId", reason });
      }
      isVerified = true;
    });
  };

  const post = async (view: "wallet" | "walletsolidity", name: string, body: object): Promise<unknown> =>
    jsonOf(name, await rest.post(name, `/${view}/${name}`, body));

  const infoOf = async (view: "wallet" | "walletsolidity", hash: Hex): Promise<TransactionInfo | undefined> =>
    readInfo(await post(view, "gettransactioninfobyid", { value: hash.slice(2) }), hash);

  /** A solid block. Default: the newest. */
  const solidBlock = async (number?: bigint): Promise<TronBlock> => {
    const selector = number === undefined ? {} : { id_or_num: number.toString() };
    const block = readBlock(
      await post("walletsolidity", "getblock", { ...selector, detail: false }),
      "getblock",
    );
    if (block === undefined) throw inconsistent("getblock", "solid block is missing");
    if (number !== undefined && block.number !== number)
      throw garbage("getblock", "response concerns a different block");
    return block;
  };

  const evidenceWithoutSolidInfo = async (hash: Hex): Promise<Evidence<never>> => {
    const [info, solid] = await Promise.all([infoOf("wallet", hash), solidBlock()]);
    if (info === undefined) return { kind: "absent" };
    const finality = finalityOf(info.blockNumber, solid.number, facts.blockTimeSeconds);
    // The block has just become solid, or two nodes are at different heights.
    if (finality.kind === "final")
      throw inconsistent(
        "gettransactioninfobyid",
        "transaction is in a solid block, but /walletsolidity does not return it",
      );
    return finality;
  };

  const readSolid = async (hash: Hex): Promise<Evidence<SolidTransaction>> => {
    const [info, content, receipt] = await Promise.all([
      infoOf("walletsolidity", hash),
      post("walletsolidity", "gettransactionbyid", { value: hash.slice(2) }).then((answer) =>
        readContent(answer, hash),
      ),
      request("eth_getTransactionReceipt", [hash]).then((answer) => readReceipt(answer, hash)),
    ]);
    if (info === undefined) return await evidenceWithoutSolidInfo(hash);
    if (content === undefined || receipt === undefined)
      throw inconsistent(
        "gettransactionbyid",
        "/walletsolidity returns the transaction's info, but its content or receipt is missing",
      );
    // Read last: the transaction must be in the block that is solid at its height.
    const [block, head] = await Promise.all([solidBlock(info.blockNumber), solidBlock()]);
    if (finalityOf(block.number, head.number, facts.blockTimeSeconds).kind !== "final")
      throw inconsistent("getblock", "/walletsolidity returned a block above the newest solid block");
    const value = solidTransaction(hash, { info, content, receipt, block });
    if (sizeOf(value) <= MAX_CACHED_ENTRY_BYTES) solidTransactions.set(hash, value);
    return { kind: "final", value };
  };

  return {
    transaction: async (hash) => {
      const cached = solidTransactions.get(hash);
      if (cached !== undefined) return { kind: "final", value: cached };
      await verify();
      return await solidReads(hash, async () => await readSolid(hash));
    },
    requestState: async (depository, id) => {
      await verify();
      const data = requestStateProgram(depository, id).slice(2);
      const answer = await post("walletsolidity", "triggerconstantcontract", {
        owner_address: ZERO_ADDRESS,
        data,
      });
      const state = readRequestState(readConstantResult(answer));
      // The state counts only if its block is solid, and the canonical one at its height.
      const [block, head] = await Promise.all([solidBlock(state.blockNumber), solidBlock()]);
      if (secondsOf(block) !== state.timestamp || head.number < block.number)
        throw inconsistent("triggerconstantcontract", "state does not belong to the solid block");
      return state;
    },
    newestSolid: async () => {
      await verify();
      return await solidBlock();
    },
    request: async (method, params) => {
      await verify();
      return await request(method, params);
    },
    close: async () => await rest.close(),
  };
}

function rpcCall(method: string, params: readonly unknown[]): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** @throws NodeRefusal for an error, RpcFault for anything that is not an answer */
function rpcResult(method: string, answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) throw garbage(method, "response is not an object");
  const { result, error } = answer as { readonly result?: unknown; readonly error?: unknown };
  if (typeof error === "object" && error !== null) {
    const { code, message, data } = error as { readonly [name: string]: unknown };
    throw new NodeRefusal({
      method,
      nodeCode: typeof code === "number" ? code : 0,
      nodeText: redact(String(message)),
      nodeData: data,
    });
  }
  if (result === undefined) throw garbage(method, "response has no result");
  return result;
}

function sizeOf({ receipt, transaction }: SolidTransaction): number {
  return receipt.logs.reduce((sum, log) => sum + log.data.length + 1_024, 1_024 + transaction.input.length);
}
