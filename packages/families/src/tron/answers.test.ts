import { expect, test } from "vitest";
import { RpcFault } from "../rpc-fault.ts";
import { readBlock, readConstantResult, readContent, readInfo } from "./answers.ts";
import recorded from "./fixtures/token-deposit.json" with { type: "json" };

// Real answers of a node, and variations of them.

const id = `0x${recorded.info.id}` as const;
const { info, transaction, block } = recorded;

test("reads recorded answers completely", () => {
  expect(readBlock(block, "getblock")).toEqual({
    number: BigInt(info.blockNumber),
    id: `0x${block.blockID}`,
    parentId: `0x${block.block_header.raw_data.parentHash}`,
    timestampMs: BigInt(info.blockTimeStamp),
  });
  expect(readInfo(info, id)).toMatchObject({
    blockNumber: BigInt(info.blockNumber),
    failure: undefined,
    logs: [{ address: recorded.token }, { address: recorded.depository }],
  });
  expect(readContent(transaction, id)).toMatchObject({
    owner: recorded.user,
    to: recorded.depository,
    value: 0n,
    memo: "0x",
    failure: undefined,
  });
});

test("an empty object means that the node does not know the transaction or block", () => {
  expect(readBlock({}, "getblock")).toBeUndefined();
  expect(readInfo({}, id)).toBeUndefined();
  expect(readContent({}, id)).toBeUndefined();
});

test("reads the reason of a failed call from every field that may contain it", () => {
  for (const result of ["REVERT", "OUT_OF_ENERGY", "OUT_OF_TIME"]) {
    expect(readInfo({ ...info, receipt: { ...info.receipt, result } }, id)?.failure).toBe(result);
    expect(readContent({ ...transaction, ret: [{ contractRet: result }] }, id)?.failure).toBe(result);
  }
  expect(readInfo({ ...info, result: "FAILED" }, id)?.failure).toBeDefined();
  // A payment runs no contract: its receipt has no result.
  expect(readInfo({ ...info, receipt: { net_usage: 1 } }, id)?.failure).toBeUndefined();
});

test("reads a transaction from the bytes that match its id, not from the JSON next to them", () => {
  const altered = structuredClone(transaction);
  altered.raw_data.contract[0]!.parameter.value.data = "00";
  expect(readContent(altered, id)).toEqual(readContent(transaction, id));
  const [first = "", ...restBytes] = transaction.raw_data_hex.match(/../g) ?? [];
  const alteredHex = `${first}${restBytes.join("").replace("1d1d", "1e1d")}`;
  expect(() => readContent({ ...transaction, raw_data_hex: alteredHex }, id)).toThrow(RpcFault);
  expect(() => readContent({ ...transaction, txID: "00".repeat(32) }, id)).toThrow(RpcFault);
});

test("throws RpcFault for an answer that is malformed or about something else", () => {
  const faulty: Record<string, () => unknown> = {
    "an error": () => readInfo({ Error: "class java.lang.NullPointerException : null" }, id),
    "another transaction": () => readInfo({ ...info, id: "00".repeat(32) }, id),
    "no block": () => readInfo({ ...info, blockNumber: undefined }, id),
    "a block number as text": () => readInfo({ ...info, blockNumber: "15" }, id),
    "no receipt": () => readInfo({ ...info, receipt: undefined }, id),
    "a result that is not text": () => readInfo({ ...info, receipt: { result: 1 } }, id),
    "logs that are not a list": () => readInfo({ ...info, log: {} }, id),
    "an address with its prefix": () =>
      readInfo({ ...info, log: [{ ...info.log[0], address: `41${recorded.token.slice(2)}` }] }, id),
    "a topic cut short": () => readInfo({ ...info, log: [{ ...info.log[0], topics: ["ab"] }] }, id),
    "no result of the contract": () => readContent({ ...transaction, ret: [{}] }, id),
    "no list of results": () => readContent({ ...transaction, ret: undefined }, id),
    "no bytes": () => readContent({ ...transaction, raw_data_hex: undefined }, id),
    "a block without header": () => readBlock({ blockID: block.blockID }, "getblock"),
    "a block of another number": () =>
      readBlock({ ...block, blockID: `${"0".repeat(15)}e${block.blockID.slice(16)}` }, "getblock"),
    null: () => readBlock(null, "getblock"),
    "a list": () => readInfo([], id),
  };
  for (const [label, act] of Object.entries(faulty)) expect(act, label).toThrow(RpcFault);
});

test("a simulated call counts only if it completed", () => {
  const answer = (fields: object): object => ({
    result: { result: true },
    constant_result: ["00ff"],
    ...fields,
  });
  expect(readConstantResult(answer({}))).toBe("0x00ff");
  const message = Buffer.from("REVERT opcode executed").toString("hex");
  for (const bad of [
    answer({ result: { result: true, message } }),
    answer({ result: { code: "OTHER_ERROR", message } }),
    answer({ result: {} }),
    answer({ transaction: { ret: [{ ret: "FAILED" }] } }),
    answer({ constant_result: [] }),
    answer({ constant_result: ["00", "00"] }),
    answer({ constant_result: ["0"] }),
    answer({ constant_result: undefined }),
    {},
  ])
    expect(() => readConstantResult(bad), JSON.stringify(bad)).toThrow(RpcFault);
});
