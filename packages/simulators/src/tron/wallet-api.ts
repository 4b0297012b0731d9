import { toFunctionSelector, type Hex } from "viem";
import { AnvilError } from "./anvil-rpc.ts";
import { broadcast, ENERGY_PRICE_SUN } from "./broadcast.ts";
import type { ExecutedTransaction, TronBlock, TronChain } from "./tron-chain.ts";
import { bare, evmAddress, quantity, tronHex } from "./tron-address.ts";

/** Which blocks are visible: all of them, or only solid ones. */
export type View = "head" | "solid";

type Body = Readonly<Record<string, unknown>>;
type Operation = (chain: TronChain, view: View, body: Body) => Promise<object>;

/**
 * Operations of a full node's HTTP API under `/wallet` and `/walletsolidity`. For unknown objects, they
 * return an empty one.
 */
export const walletOperations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["getnowblock", async (chain, view) => await blockAnswer(chain, await chain.block(view), true)],
  [
    "getblockbynum",
    async (chain, view, { num }) => await blockAnswer(chain, await blockIn(chain, view, num), true),
  ],
  [
    "getblock",
    async (chain, view, { id_or_num, detail }) => {
      const block =
        id_or_num === undefined
          ? await chain.block(view)
          : await blockByIdOrNumber(chain, view, textOf(id_or_num));
      return await blockAnswer(chain, block, detail === true);
    },
  ],
  ["gettransactionbyid", async (chain, view, { value }) => await transactionAnswer(chain, view, value)],
  ["gettransactioninfobyid", async (chain, view, { value }) => await infoAnswer(chain, view, value)],
  ["triggerconstantcontract", async (chain, view, body) => await constantAnswer(chain, view, body)],
  ["getaccount", async (chain, view, body) => await accountAnswer(chain, view, body)],
]);

/** Operations that only `/wallet` has. */
export const headOperations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["broadcasttransaction", async (chain, _view, body) => await broadcast(chain, body)],
  [
    "getchainparameters",
    async () => ({
      chainParameter: [
        { key: "getEnergyFee", value: Number(ENERGY_PRICE_SUN) },
        { key: "getTransactionFee", value: 1_000 },
      ],
    }),
  ],
]);

async function blockByIdOrNumber(chain: TronChain, view: View, name: string): Promise<TronBlock | undefined> {
  if (!/^[0-9a-f]{64}$/.test(name)) return await blockIn(chain, view, name);
  const block = await blockIn(chain, view, BigInt(`0x${name.slice(0, 16)}`));
  return block?.id === name ? block : undefined;
}

async function blockIn(chain: TronChain, view: View, num: unknown): Promise<TronBlock | undefined> {
  const text = String(num);
  if (!/^\d{1,18}$/.test(text)) return undefined;
  const number = BigInt(text);
  if (view === "solid" && number > (await chain.solidNumber())) return undefined;
  return await chain.block(number);
}

/** Omits fields that are zero, like protobuf. */
async function blockAnswer(
  chain: TronChain,
  block: TronBlock | undefined,
  withTransactions: boolean,
): Promise<object> {
  if (block === undefined) return {};
  const { number, id, parentId, timestampMs, txTrieRoot } = block;
  const header = {
    blockID: id,
    block_header: {
      raw_data: {
        ...(number === 0n ? {} : { number: Number(number) }),
        txTrieRoot,
        witness_address: `41${"0".repeat(40)}`,
        parentHash: parentId,
        ...(number === 0n ? {} : { version: 31 }),
        timestamp: timestampMs,
      },
      witness_signature: "00".repeat(65),
    },
  };
  if (!withTransactions || block.transactions.length === 0) return header;
  const ids = block.transactions.map((hash) => chain.idOf(hash));
  const transactions = await Promise.all(
    ids.map(async (transactionId) => await transactionAnswer(chain, "head", transactionId)),
  );
  return { ...header, transactions: transactions.filter((transaction) => "txID" in transaction) };
}

interface MinedTransaction {
  readonly executed: ExecutedTransaction;
  readonly receipt: AnvilReceipt;
  /** The result code. */
  readonly result: "SUCCESS" | "REVERT" | "OUT_OF_ENERGY";
}

interface AnvilReceipt {
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly gasUsed: Hex;
  readonly logs: readonly {
    readonly address: Hex;
    readonly topics: readonly Hex[];
    readonly data: Hex;
  }[];
}

/** A transaction in a visible block. */
async function findMined(
  chain: TronChain,
  view: View,
  value: unknown,
): Promise<MinedTransaction | undefined> {
  const executed = chain.byId(bare(String(value)));
  if (executed === undefined) return undefined;
  const receipt = (await chain.rpc("eth_getTransactionReceipt", [executed.hash])) as AnvilReceipt | null;
  if (receipt === null) return undefined;
  if (view === "solid" && BigInt(receipt.blockNumber) > (await chain.solidNumber())) return undefined;
  const hasRunOutOfEnergy = BigInt(receipt.gasUsed) >= executed.gasLimit;
  const result = receipt.status === "0x1" ? "SUCCESS" : hasRunOutOfEnergy ? "OUT_OF_ENERGY" : "REVERT";
  return { executed, receipt, result };
}

async function transactionAnswer(chain: TronChain, view: View, value: unknown): Promise<object> {
  const mined = await findMined(chain, view, value);
  return mined === undefined ? {} : { ret: [{ contractRet: mined.result }], ...mined.executed.signed };
}

async function infoAnswer(chain: TronChain, view: View, value: unknown): Promise<object> {
  const mined = await findMined(chain, view, value);
  if (mined === undefined) return {};
  const { executed, receipt, result } = mined;
  const number = BigInt(receipt.blockNumber);
  const block = await chain.block(number);
  const [{ type, parameter }] = executed.signed.raw_data.contract;
  const isCall = type === "TriggerSmartContract";
  const energy = BigInt(receipt.gasUsed) - executed.intrinsicGas;
  return {
    id: executed.signed.txID,
    ...(result === "SUCCESS" ? {} : { result: "FAILED", resMessage: Buffer.from(result).toString("hex") }),
    blockNumber: Number(number),
    blockTimeStamp: block?.timestampMs,
    contractResult: [""],
    ...(isCall ? { contract_address: parameter.value.contract_address } : {}),
    receipt: {
      net_usage: executed.signed.raw_data_hex.length / 2,
      ...(isCall ? { energy_usage_total: Number(energy > 0n ? energy : 0n), result } : {}),
    },
    ...(receipt.logs.length === 0
      ? {}
      : {
          log: receipt.logs.map(({ address, topics, data }) => ({
            address: bare(address),
            topics: topics.map(bare),
            ...(data === "0x" ? {} : { data: bare(data) }),
          })),
        }),
  };
}

/** Simulates a call or a contract creation on the newest state of the view. */
async function constantAnswer(chain: TronChain, view: View, body: Body): Promise<object> {
  const refusal = (code: string, message: string): object => ({
    result: { code, message: Buffer.from(message).toString("hex") },
  });
  const from = evmAddress(body["owner_address"]);
  const to = evmAddress(body["contract_address"]);
  if (from === undefined) return refusal("OTHER_ERROR", "owner_address isn't set.");
  const selector = body["function_selector"];
  const called = typeof selector === "string" ? bare(toFunctionSelector(selector)) : "";
  const data = called === "" ? textOf(body["data"]) : `${called}${textOf(body["parameter"])}`;
  if (to === undefined && data === "")
    return refusal("OTHER_ERROR", "At least one of contract_address and data must be set.");
  const number = view === "solid" ? await chain.solidNumber() : undefined;
  const tag = number === undefined ? "latest" : quantity(number);
  if (to !== undefined && (await chain.rpc("eth_getCode", [to, tag])) === "0x")
    return refusal("CONTRACT_VALIDATE_ERROR", "No contract or not a valid smart contract");
  const call = { from, ...(to === undefined ? {} : { to }), data: `0x${data}`, gas: quantity(100_000_000) };
  try {
    const answer = String(await chain.rpc("eth_call", [call, tag]));
    return { result: { result: true }, energy_used: 1, constant_result: [bare(answer)], transaction: {} };
  } catch (error) {
    if (!(error instanceof AnvilError)) throw error;
    const data = typeof error.nodeData === "string" ? bare(error.nodeData) : "";
    return {
      result: { result: true, message: Buffer.from("REVERT opcode executed").toString("hex") },
      constant_result: [data],
      transaction: { ret: [{ ret: "FAILED" }] },
    };
  }
}

/** A field of a request; empty if it is missing. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** An account that never received anything does not exist. */
async function accountAnswer(chain: TronChain, view: View, body: Body): Promise<object> {
  const address = evmAddress(body["address"]);
  if (address === undefined) return {};
  const tag = view === "solid" ? quantity(await chain.solidNumber()) : "latest";
  const balance = BigInt(String(await chain.rpc("eth_getBalance", [address, tag])));
  return balance === 0n ? {} : { address: tronHex(address), balance: Number(balance) };
}
