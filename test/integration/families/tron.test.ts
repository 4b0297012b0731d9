import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { evidenceSources, type EvidenceSource } from "@causeway/chains";
import { depositoryAbi, depositoryBytecode, multicall3Abi } from "@causeway/contracts";
import {
  encodeEvmCallRequest,
  NATIVE_CURRENCY,
  type Address,
  type EvmCall,
  type EvmCallRequest,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { createTronWallet, RawAnswer, type TronLie } from "@causeway/simulators/tron";
import fc from "fast-check";
import { encodeDeployData, encodeFunctionData, erc20Abi } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readRawTransaction } from "@causeway/families/tron";
import { startFaultyFronts } from "../../support/faulty-front.ts";
import { startTronMachine, type TronMachine } from "./tron-machine.ts";

// Evidence that an oracle reads from a Tron node: the cases that only Tron has. `conformance.test.ts` has the
// cases that all families share.

const orderId: Hex32 = `0x${"1d".repeat(32)}`;
const otherId: Hex32 = `0x${"2e".repeat(32)}`;
const AMOUNT = 1_000n;

let machine: TronMachine;
const sources: EvidenceSource[] = [];
const lies: (() => void)[] = [];

const chainAt = (urls: readonly string[] = machine.urls, fields: Partial<ConfiguredChain> = {}) => ({
  ...machine.chainAt(urls, machine),
  ...fields,
});
/** A source of evidence without cached answers. */
async function openSource(
  chain = chainAt(),
  onDisagreement = (): void => undefined,
): Promise<EvidenceSource> {
  const source = (await evidenceSources([chain], { onDisagreement })).get(chain.name);
  if (source === undefined) throw new Error("no evidence");
  sources.push(source);
  return source;
}
const lie = (operation: string, answer: TronLie): void =>
  void lies.push(machine.tron.controls.lie(operation, answer));

beforeAll(async () => {
  machine = await startTronMachine();
});
afterEach(async () => {
  for (const undo of lies.splice(0)) undo();
  for (const resource of sources.splice(0)) await resource.close();
});
afterAll(async () => await machine.close());

const depositNative = (id: Hex32): Hex =>
  encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositNative",
    args: [machine.accounts.user, id],
  });
const deposit = async (amount = AMOUNT): Promise<string> =>
  await machine.send("user", { to: machine.depository, data: depositNative(orderId), value: amount });

test("decodes everything that the wallet library signs from its bytes", async () => {
  const wallet = createTronWallet(machine.tron.url, `0x${"04".repeat(32)}`);
  const bytes = (minLength: number, maxLength: number) =>
    fc.uint8Array({ minLength, maxLength }).map((data): Hex => `0x${Buffer.from(data).toString("hex")}`);
  const calls = fc.record({
    to: bytes(20, 20),
    input: bytes(1, 300),
    value: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
    memo: fc.option(bytes(1, 100), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(calls, async ({ to, input, value, memo }) => {
      const signed = await wallet.signCall(to, input, { value, ...(memo === undefined ? {} : { memo }) });
      expect(readRawTransaction(`0x${signed.raw_data_hex}`)).toEqual({
        owner: wallet.tvmAddress,
        to,
        input,
        value,
        memo: memo ?? "0x",
      });
    }),
    { numRuns: 40 },
  );
});

describe("deposits", () => {
  test("a deposit is attested once its block is solid, with the block's time", async () => {
    const source = await openSource();
    const id = await deposit();
    const time = await machine.now();
    expect(await source.deposits(id)).toEqual({
      kind: "notFinal",
      reason: expect.stringContaining("needs 3 blocks more") as string,
      retryAfterSeconds: 9,
    });
    await machine.mine(2);
    expect(await source.deposits(id)).toMatchObject({ kind: "notFinal", retryAfterSeconds: 3 });
    await machine.mine(1);
    expect(await source.deposits(id)).toEqual({
      kind: "final",
      value: {
        depository: machine.format(machine.depository),
        deposits: [
          {
            index: "0",
            depositor: machine.format(machine.accounts.user),
            currency: "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb",
            amount: AMOUNT,
            depositId: orderId,
          },
        ],
        timestamp: time,
      },
    });
  });

  test("the node accepts an id with and without 0x, and the service accepts only the canonical format", async () => {
    const id = await deposit();
    await machine.finalize();
    const source = await openSource();
    for (const written of [`0x${id}`, id.toUpperCase(), `${id} `, `00${id}`])
      expect(await source.deposits(written), written).toMatchObject({ kind: "refuted" });
    expect(await source.deposits("77".repeat(32))).toEqual({ kind: "absent" });
  });

  test("two equal deposits of one transaction keep their own depositor and id", async () => {
    const { accounts, token, multicall3, depository } = machine;
    await machine.mint(token, multicall3, 2n * AMOUNT);
    const call = (to: Address, callData: Hex) => ({ target: to, allowFailure: false, callData });
    const depositFor = (depositor: Address, id: Hex32): Hex =>
      encodeFunctionData({
        abi: depositoryAbi,
        functionName: "depositErc20",
        args: [depositor, token, AMOUNT, id],
      });
    const approve = encodeFunctionData({
      abi: erc20Abi,
      functionName: "approve",
      args: [depository, 2n * AMOUNT],
    });
    const id = await machine.send("solver", {
      to: multicall3,
      data: encodeFunctionData({
        abi: multicall3Abi,
        functionName: "aggregate3",
        args: [
          [
            call(token, approve),
            call(depository, depositFor(accounts.user, orderId)),
            call(depository, depositFor(accounts.alice, otherId)),
          ],
        ],
      }),
    });
    await machine.finalize();
    expect(await (await openSource()).deposits(id)).toMatchObject({
      value: {
        deposits: [
          { depositor: machine.format(accounts.user), amount: AMOUNT, depositId: orderId },
          { depositor: machine.format(accounts.alice), amount: AMOUNT, depositId: otherId },
        ],
      },
    });
  });

  test("rejects a deposit whose call ran out of energy", async () => {
    const call = { to: machine.depository, data: depositNative(orderId), value: AMOUNT };
    const id = await machine.sendWith(call, { feeLimit: 420n * 2_000n });
    await machine.finalize();
    expect(await (await openSource()).deposits(id)).toEqual({
      kind: "refuted",
      reason: "transaction failed: OUT_OF_ENERGY",
    });
  });

  test("a block that was reorged out before it was solid contains no deposit", async () => {
    const id = await deposit();
    await machine.mine(1);
    await machine.reorg(2);
    await machine.finalize();
    expect(await (await openSource()).deposits(id)).toEqual({ kind: "absent" });
  });

  test("treats contradictory node answers as a node fault", async () => {
    const id = await deposit();
    await machine.finalize();
    const lieWith =
      (edit: (answer: Answer) => void): TronLie =>
      (truth) => {
        const answer = structuredClone(truth) as Answer;
        edit(answer);
        return answer;
      };
    const info = "/walletsolidity/gettransactioninfobyid";
    const content = "/walletsolidity/gettransactionbyid";
    const block = "/walletsolidity/getblock";
    const receipt = "eth_getTransactionReceipt";
    const contradictions: Record<string, [string, TronLie]> = {
      "another block": [info, lieWith((answer) => (answer.blockNumber -= 1))],
      "another time": [info, lieWith((answer) => (answer.blockTimeStamp += 1_000))],
      "another transaction's receipt": [info, lieWith((answer) => (answer.id = "77".repeat(32)))],
      "a larger amount": [
        info,
        lieWith((answer) => (answer.log[0]!.data = answer.log[0]!.data.replace("3e8", "3e9"))),
      ],
      "a larger amount, by the other interface": [
        receipt,
        lieWith((answer) => (answer.logs[0]!.data = answer.logs[0]!.data.replace("3e8", "3e9"))),
      ],
      "no log": [info, lieWith((answer) => (answer.log = []))],
      "no log, by the other interface": [receipt, lieWith((answer) => (answer.logs = []))],
      "an extra log": [
        receipt,
        lieWith((answer) => answer.logs.push({ ...answer.logs[0]!, logIndex: "0x1" })),
      ],
      "a failed result": [info, lieWith((answer) => (answer.receipt.result = "REVERT"))],
      "a failed result in the transaction itself": [
        content,
        lieWith((answer) => (answer.ret[0]!.contractRet = "REVERT")),
      ],
      "a failed result, by the other interface": [receipt, lieWith((answer) => (answer.status = "0x0"))],
      "other bytes": [
        content,
        lieWith((answer) => (answer.raw_data_hex = answer.raw_data_hex.replace("1d1d", "1d1e"))),
      ],
      "no transaction": [content, () => ({})],
      "no receipt": [receipt, () => null],
      "a receipt of an orphan": [
        receipt,
        lieWith((answer) => {
          answer.blockHash = `${answer.blockHash.slice(0, -4)}dead`;
          for (const log of answer.logs) log.blockHash = answer.blockHash;
        }),
      ],
      "a solid block of another fork": [
        block,
        lieWith((answer) => (answer.blockID = `${answer.blockID.slice(0, -4)}dead`)),
      ],
      "a solid head that is older": [
        block,
        (truth, question) =>
          (question as { id_or_num?: string }).id_or_num === undefined
            ? { ...(truth as object), ...olderHead(truth as Answer) }
            : truth,
      ],
      "an error": [info, () => ({ Error: "class java.lang.NullPointerException : null" })],
      "an HTML page": [info, () => new RawAnswer(200, "<html>502 Bad Gateway</html>")],
      "a refusal": [content, () => new RawAnswer(403, "{}")],
    };
    for (const [title, [operation, answer]] of Object.entries(contradictions)) {
      lie(operation, answer);
      await expect((await openSource()).deposits(id), title).rejects.toMatchObject({ code: "RPC_FAULT" });
      lies.pop()?.();
    }
    expect(await (await openSource()).deposits(id)).toMatchObject({ kind: "final" });
  });

  test("sends only a chain id request to a node of another network", async () => {
    const before = machine.tron.controls.calls("/walletsolidity/gettransactioninfobyid");
    lie("eth_chainId", () => "0x1");
    const source = await openSource();
    await expect(source.deposits("77".repeat(32))).rejects.toMatchObject({ kind: "wrongChain" });
    expect(machine.tron.controls.calls("/walletsolidity/gettransactioninfobyid")).toBe(before);
  });
});

describe("after the depository was replaced", () => {
  let currentDepository: string;
  const openReplacedSource = async (): Promise<EvidenceSource> =>
    await openSource(
      chainAt(undefined, {
        depository: currentDepository,
        additionalDepositories: [machine.format(machine.depository)],
      }),
    );

  beforeAll(async () => {
    const { solver } = machine.accounts;
    currentDepository = machine.format(
      await machine.deploy(
        encodeDeployData({ abi: depositoryAbi, bytecode: depositoryBytecode, args: [solver, solver] }),
      ),
    );
  });

  test("a deposit to the former depository is attested", async () => {
    const id = await deposit();
    await machine.finalize();
    const answer = await (await openReplacedSource()).deposits(id);
    expect(answer).toMatchObject({
      value: { depository: machine.format(machine.depository), deposits: [{ depositId: orderId }] },
    });
    expect(answer).toEqual(await (await openSource()).deposits(id));
  });

  test("a withdrawal that the former depository paid is executed, and an unpaid one expires", async () => {
    await deposit(100n);
    const expiration = (await machine.now()) + 1_000n;
    const request = (nonce: bigint): EvmCallRequest => ({
      calls: [{ to: machine.accounts.alice, data: "0x", value: 10n, allowFailure: false }],
      nonce,
      expiration,
    });
    const [paid, unpaid] = [request(2n ** 64n), request(2n ** 64n + 1n)];
    await machine.send("solver", await machine.execution(paid));
    await machine.pass(2_000);
    await machine.finalize();
    const source = await openReplacedSource();
    const formerDepository = machine.format(machine.depository);
    expect(await source.withdrawal(encodeEvmCallRequest(paid), undefined)).toMatchObject({
      value: { status: "executed", depository: formerDepository },
    });
    expect(await source.withdrawal(encodeEvmCallRequest(unpaid), undefined)).toMatchObject({
      value: { status: "expired", depository: currentDepository, formerDepositories: [formerDepository] },
    });
  });
});

interface Answer {
  id: string;
  blockNumber: number;
  blockTimeStamp: number;
  log: { data: string }[];
  receipt: { result: string };
  ret: { contractRet: string }[];
  raw_data_hex: string;
  status: string;
  blockHash: string;
  logs: { data: string; blockHash: string; logIndex: string }[];
  blockID: string;
  block_header: { raw_data: { number: number } };
}

/** A head in the same format that is a hundred blocks lower, or the first block. */
function olderHead({ blockID, block_header }: Answer): Pick<Answer, "blockID" | "block_header"> {
  const number = Math.max(0, block_header.raw_data.number - 100);
  return {
    blockID: number.toString(16).padStart(16, "0") + blockID.slice(16),
    block_header: { ...block_header, raw_data: { ...block_header.raw_data, number } },
  };
}

describe("withdrawals", () => {
  let nonces = 0n;
  const requestOf = (call: Partial<EvmCall>, expiration = 2n ** 33n): EvmCallRequest => {
    nonces += 1n;
    const fullCall = {
      to: machine.accounts.alice,
      data: "0x" as Hex,
      value: 0n,
      allowFailure: false,
      ...call,
    };
    return { calls: [fullCall], nonce: nonces, expiration };
  };
  const tokenRequest = (token: Address, expiration?: bigint): EvmCallRequest => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [machine.accounts.alice, AMOUNT],
    });
    return requestOf({ to: token, data }, expiration);
  };
  const execute = async (request: EvmCallRequest): Promise<string> =>
    await machine.send("solver", await machine.execution(request));
  const statusOf = async (request: EvmCallRequest, hint?: string): Promise<unknown> => {
    const answer = await (await openSource()).withdrawal(encodeEvmCallRequest(request), hint);
    return answer.kind === "final" ? answer.value.status : answer;
  };

  test("a withdrawal is pending, then executed once solid, with recipient and currency in the chain's format", async () => {
    await deposit(100n);
    const request = requestOf({ value: 10n });
    await machine.finalize();
    expect(await (await openSource()).withdrawal(encodeEvmCallRequest(request), undefined)).toMatchObject({
      value: {
        status: "pending",
        recipient: machine.format(machine.accounts.alice),
        currency: machine.format(NATIVE_CURRENCY as Address),
        amount: 10n,
        depository: machine.format(machine.depository),
      },
    });
    await execute(request);
    expect(await statusOf(request)).toBe("pending");
    await machine.finalize();
    expect(await statusOf(request)).toBe("executed");
  });

  test("expires a withdrawal only once a solid block is later than its expiration", async () => {
    const expiration = (await machine.now()) + 500n;
    const request = requestOf({ value: 10n }, expiration);
    // Without a lag the newest block is solid, so the test knows the solid block.
    machine.tron.controls.setSolidLag(0);
    for (const [time, status] of [
      [expiration, "pending"],
      [expiration + 1n, "expired"],
    ] as const) {
      await machine.rpc("evm_setNextBlockTimestamp", [`0x${time.toString(16)}`]);
      await machine.mine(1);
      expect(await statusOf(request), status).toBe(status);
    }
    machine.tron.controls.setSolidLag(machine.depth);
  });

  test("does not expire a withdrawal based on blocks that are not solid", async () => {
    await machine.finalize();
    const request = requestOf({ value: 10n }, (await machine.now()) + 100n);
    await machine.tron.controls.pauseSolidification();
    await machine.pass(200);
    await machine.mine(20);
    expect(await statusOf(request)).toBe("pending");
    machine.tron.controls.resumeSolidification();
    expect(await statusOf(request)).toBe("expired");
  });

  test("a node that answers from an older state never makes an executed request expire", async () => {
    await deposit(100n);
    await machine.finalize();
    const expiration = (await machine.now()) + 1_000n;
    const request = requestOf({ value: 10n }, expiration);
    const call = "/walletsolidity/triggerconstantcontract";
    let olderState: unknown;
    lie(call, (truth) => (olderState = truth));
    expect(await statusOf(request)).toBe("pending");
    await execute(request);
    await machine.pass(5_000);
    await machine.finalize();
    // The older state itself shows its height, whatever block the node reports as the newest.
    lie(call, () => olderState);
    expect(await statusOf(request)).toBe("pending");
    // The node cannot present the older state as that of a later block either.
    const {
      constant_result: [words = ""],
    } = olderState as { constant_result: string[] };
    const laterTime = (expiration + 1n).toString(16).padStart(64, "0");
    lie(call, () => ({
      ...(olderState as object),
      constant_result: [`${words.slice(0, 64)}${laterTime}${words.slice(128)}`],
    }));
    await expect(statusOf(request)).rejects.toMatchObject({ code: "RPC_FAULT" });
    lies.pop()?.();
    expect(await statusOf(request)).toBe("executed");
  });

  test("treats an unexpected node answer as a fault, not as a decision about the request", async () => {
    await machine.finalize();
    const request = requestOf({ value: 10n }, 1n);
    const call = "/walletsolidity/triggerconstantcontract";
    const message = Buffer.from("REVERT opcode executed").toString("hex");
    const answers: unknown[] = [
      {},
      null,
      { Error: "class org.tron.core.exception.ContractValidateException" },
      { result: { code: "CONTRACT_VALIDATE_ERROR", message } },
      { result: { result: true, message }, constant_result: [""] },
      { result: { result: true }, constant_result: [""] },
      { result: { result: true }, constant_result: ["00".repeat(32)] },
      { result: { result: true }, constant_result: ["00".repeat(160)] },
      new RawAnswer(500, "{}"),
      new RawAnswer(200, "<html></html>"),
    ];
    for (const answer of answers) {
      lie(call, () => answer);
      await expect(statusOf(request), JSON.stringify(answer)).rejects.toMatchObject({ code: "RPC_FAULT" });
    }
    lies.pop()?.();
    expect(await statusOf(request)).toBe("expired");
  });

  test("refuses to attest when the depository address has no code", async () => {
    const depository = machine.format(machine.accounts.alice);
    const emptySource = await openSource(chainAt(undefined, { depository }));
    const payload = encodeEvmCallRequest(requestOf({ to: machine.accounts.user, value: 10n }, 1n));
    await expect(emptySource.withdrawal(payload, undefined)).rejects.toMatchObject({ code: "RPC_FAULT" });
  });

  test("does not count a withdrawal to the depository itself, because it moves nothing", async () => {
    const native = requestOf({ to: machine.depository, value: 10n }, 1n);
    expect(await statusOf(native)).toMatchObject({ kind: "refuted" });
  });

  test("proves a token withdrawal by the requested transaction, or by one that the oracle finds, but not for a token that moves nothing", async () => {
    await machine.mint(machine.token, machine.depository, AMOUNT);
    const honestRequest = tokenRequest(machine.token);
    const id = await execute(honestRequest);
    const lyingRequest = tokenRequest(machine.falseToken, (await machine.now()) + 1_000n);
    const lyingId = await execute(lyingRequest);
    await machine.finalize();
    for (const hint of [undefined, id, lyingId, `0x${id}`, "77".repeat(32)])
      expect(await statusOf(honestRequest, hint), hint).toBe("executed");
    await machine.pass(5_000);
    await machine.finalize();
    for (const hint of [undefined, lyingId])
      expect(await statusOf(lyingRequest, hint)).toEqual({
        kind: "refuted",
        reason: "request was executed, but its token was not transferred",
      });
    lie("eth_getLogs", () => []);
    expect(await statusOf(honestRequest, undefined)).toMatchObject({ kind: "notFinal" });
  });
});

describe("endpoints", () => {
  test("if two endpoints must agree, an endpoint that lies is reported and ignored, and one that lags causes a wait", async () => {
    const amount = 0xabcdefn;
    const id = await deposit(amount);
    await machine.finalize();
    const fronts = await startFaultyFronts(machine.urls);
    const twoEndpoints = chainAt([...machine.urls, ...fronts.urls], { rpcQuorum: 2 });
    let reported = 0;
    expect(await (await openSource(twoEndpoints)).deposits(id)).toMatchObject({ kind: "final" });
    // Both APIs of the second node report a larger amount.
    fronts.begin(() => ({
      answer: (json) => JSON.parse(JSON.stringify(json).replaceAll("000abcdef", "000abcdff")) as unknown,
    }));
    const source = await openSource(twoEndpoints, () => void (reported += 1));
    await expect(source.deposits(id)).rejects.toMatchObject({ code: "RPC_FAULT", kind: "inconsistent" });
    expect(reported).toBe(1);
    fronts.begin(() => ({ answer: () => ({}) }));
    await expect((await openSource(twoEndpoints)).deposits(id)).rejects.toMatchObject({ code: "RPC_FAULT" });
    await fronts.close();
  });

  test("sends the API key with every request, and refuses a chain without a /jsonrpc URL or Tron settings", async () => {
    const requests: unknown[] = [];
    const server = createServer((request, response) => {
      requests.push([request.url, request.headers["tron-pro-api-key"]]);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/path/jsonrpc`;
    const { tron } = chainAt();
    if (tron === undefined) throw new Error("the chain has no Tron facts");
    const source = await openSource(chainAt([url], { tron: { ...tron, apiKey: "a-key" } }));
    await expect(source.deposits("77".repeat(32))).rejects.toMatchObject({ code: "RPC_FAULT" });
    expect(requests).toEqual([["/some/path/jsonrpc", "a-key"]]);
    server.close();
    await expect(openSource(chainAt([url.replace("/jsonrpc", "")]))).rejects.toThrow(RangeError);
    const { tron: _, ...chainWithoutTron } = chainAt();
    await expect(openSource(chainWithoutTron)).rejects.toThrow(RangeError);
  });
});
