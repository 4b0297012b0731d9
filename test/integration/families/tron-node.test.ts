import { depositoryAbi } from "@causeway/contracts";
import { TronWeb } from "tronweb";
import { encodeFunctionData, erc20Abi, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deployLocal, localDeployment } from "@causeway/localnet";
import {
  createTronWallet,
  startTronNode,
  type RunningTron,
  type TronWallet,
} from "@causeway/simulators/tron";

// Uses the node as clients do: through tronweb and over HTTP.

const [usdc] = localDeployment.tokens;
const usdcAddress = usdc!.address.toLowerCase() as Hex;
const orderId: Hex = `0x${"1d".repeat(32)}`;
const key = (byte: string): Hex => `0x${byte.repeat(32)}`;

let tron: RunningTron;
let alice: TronWallet;
let bob: TronWallet;

beforeAll(async () => {
  tron = await startTronNode({ solidLagBlocks: 3 });
  await deployLocal(tron.evm);
  alice = createTronWallet(tron.url, key("01"));
  bob = createTronWallet(tron.url, key("02"));
  await tron.controls.fund(alice.tvmAddress, 1_000_000_000n);
  await tron.controls.mine();
});
afterAll(async () => await tron.close());

const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const response = await fetch(`${tron.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
};
const rpc = async (method: string, ...params: unknown[]): Promise<unknown> =>
  (await ask("/jsonrpc", { jsonrpc: "2.0", id: 1, method, params }))["result"];

const mint = (amount: bigint): Hex =>
  encodeFunctionData({
    abi: [
      {
        type: "function",
        name: "mint",
        stateMutability: "nonpayable",
        inputs: [
          { type: "address", name: "to" },
          { type: "uint256", name: "amount" },
        ],
        outputs: [],
      },
    ],
    args: [alice.tvmAddress, amount],
  });

test("the node's payment moves exactly its amount, and has the id that the wallet computed", async () => {
  const id = await alice.transfer(bob.address, 7n, { memo: orderId });
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  // The library reads balances of solid blocks.
  await tron.controls.solidify();
  const web = new TronWeb({ fullHost: tron.url });
  expect(await web.trx.getBalance(alice.address)).toBe(999_999_993);
  expect(await web.trx.getBalance(bob.address)).toBe(7);
  const transaction = await web.trx.getTransaction(id);
  expect(transaction).toMatchObject({
    txID: id,
    ret: [{ contractRet: "SUCCESS" }],
    raw_data: { data: orderId.slice(2), contract: [{ type: "TransferContract" }] },
  });
});

test("the node executes a call, and both of its interfaces show it under the same id in the same block", async () => {
  const id = await alice.call(usdcAddress, mint(500n));
  const info = await ask("/wallet/gettransactioninfobyid", { value: id });
  expect(info).toMatchObject({
    id,
    receipt: { result: "SUCCESS" },
    log: [{ address: usdcAddress.slice(2), data: 500n.toString(16).padStart(64, "0") }],
  });
  const block = await ask("/wallet/getblockbynum", { num: info["blockNumber"] });
  for (const format of [`0x${id}`, id])
    expect(await rpc("eth_getTransactionReceipt", format)).toMatchObject({
      transactionHash: `0x${id}`,
      blockHash: `0x${String(block["blockID"])}`,
      status: "0x1",
      logs: [{ logIndex: "0x0", transactionHash: `0x${id}`, blockHash: `0x${String(block["blockID"])}` }],
    });
  expect(block).toMatchObject({ transactions: [{ txID: id }] });
  expect(await rpc("eth_chainId")).toBe("0x2b6653dc");
});

test("refuses transactions that the owner did not sign, duplicates and expired ones", async () => {
  const signedCall = await alice.signCall(usdcAddress, mint(1n));
  const signedByBob = await bob.signCall(usdcAddress, mint(1n));
  const refusal = async (transaction: object): Promise<string> =>
    await alice.broadcast(transaction as typeof signedCall).then(
      () => "taken",
      (error: unknown) => (error as { code: string }).code,
    );
  expect(await refusal({ ...signedCall, signature: signedByBob.signature })).toBe("SIGERROR");
  // Other content with an old signature: the node recomputes the id and ignores the one that the client sent.
  const raw_data = { ...signedCall.raw_data, data: "00" };
  expect(await refusal({ ...signedCall, raw_data })).toBe("SIGERROR");
  expect(await refusal({ ...signedCall, signature: [] })).toBe("SIGERROR");
  expect(await refusal(signedCall)).toBe("taken");
  expect(await refusal(signedCall)).toBe("DUP_TRANSACTION_ERROR");
  const expiring = await alice.signCall(usdcAddress, mint(2n));
  await tron.controls.passSeconds(3_600);
  expect(await refusal(expiring)).toBe("TRANSACTION_EXPIRATION_ERROR");
  const beforeReorg = await alice.signCall(usdcAddress, mint(3n));
  await tron.controls.reorg(1);
  expect(await refusal(beforeReorg)).toBe("TAPOS_ERROR");
});

test("reports why a call failed: its own revert, or not enough energy", async () => {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [bob.tvmAddress, 10n ** 30n],
  });
  const reverted = await alice.call(usdcAddress, data);
  const starved = await alice.call(usdcAddress, mint(1n), { feeLimit: 420_000n });
  for (const [id, result] of [
    [reverted, "REVERT"],
    [starved, "OUT_OF_ENERGY"],
  ] as const) {
    expect(await ask("/wallet/gettransactioninfobyid", { value: id })).toMatchObject({
      result: "FAILED",
      receipt: { result: result },
    });
    expect(await ask("/wallet/gettransactionbyid", { value: id })).toMatchObject({
      ret: [{ contractRet: result }],
    });
    expect(await rpc("eth_getTransactionReceipt", id)).toMatchObject({ status: "0x0", logs: [] });
  }
});

test("solid blocks lag behind, can be paused, and have a separate API", async () => {
  const id = await alice.transfer(bob.address, 1n);
  expect(await ask("/walletsolidity/gettransactioninfobyid", { value: id })).toEqual({});
  expect(await ask("/walletsolidity/gettransactionbyid", { value: id })).toEqual({});
  await tron.controls.pauseSolidification();
  await tron.controls.mine(10);
  expect(await ask("/walletsolidity/gettransactionbyid", { value: id })).toEqual({});
  tron.controls.resumeSolidification();
  expect(await ask("/walletsolidity/gettransactionbyid", { value: id })).toMatchObject({ txID: id });
  const [head, solid] = await Promise.all([
    ask("/wallet/getblock", { detail: false }),
    ask("/walletsolidity/getnowblock", {}),
  ]);
  const numberOf = (block: Record<string, unknown>): number =>
    (block["block_header"] as { raw_data: { number: number } }).raw_data.number;
  expect(numberOf(head) - numberOf(solid)).toBe(3);
  expect(await ask("/walletsolidity/getblockbynum", { num: numberOf(head) })).toEqual({});
});

test("a call on the solid state does not see newer state, and has no effect", async () => {
  const balance = (view: string): Promise<Record<string, unknown>> =>
    ask(`/${view}/triggerconstantcontract`, {
      owner_address: `41${"0".repeat(40)}`,
      contract_address: `41${usdcAddress.slice(2)}`,
      function_selector: "balanceOf(address)",
      parameter: alice.tvmAddress.slice(2).padStart(64, "0"),
    });
  await tron.controls.mine(3);
  const before = (await balance("wallet"))["constant_result"];
  await alice.call(usdcAddress, mint(1_000n));
  expect((await balance("walletsolidity"))["constant_result"]).toEqual(before);
  expect((await balance("wallet"))["constant_result"]).not.toEqual(before);
  const failed = await ask("/wallet/triggerconstantcontract", {
    owner_address: `41${"0".repeat(40)}`,
    contract_address: `41${localDeployment.depository.slice(2)}`,
    data: encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [alice.tvmAddress, usdcAddress, 5n, orderId],
    }).slice(2),
  });
  expect(failed).toMatchObject({
    result: { message: Buffer.from("REVERT opcode executed").toString("hex") },
  });
});

test("JSON-RPC serves only the latest state and cannot send", async () => {
  expect(
    await ask("/jsonrpc", {
      jsonrpc: "2.0",
      id: 1,
      method: "eth_getBalance",
      params: [alice.tvmAddress, "0x1"],
    }),
  ).toMatchObject({ error: { code: -32_602 } });
  expect(
    await ask("/jsonrpc", { jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: ["0x"] }),
  ).toMatchObject({ error: { code: -32_601 } });
});
