import { encodeAbiParameters, encodeFunctionData, erc20Abi, toEventSelector } from "viem";
import { expect, test } from "vitest";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { DepositFact, LogFact, TransactionFact } from "./port.ts";
import {
  addressTopic,
  depositsInLogs,
  ERC20_DEPOSIT_TOPIC,
  NATIVE_DEPOSIT_TOPIC,
  TRANSFER_TOPIC,
  type DepositReading,
} from "./deposits.ts";

const depository: Address = `0x${"d0".repeat(20)}`;
const usdc: Address = `0x${"c1".repeat(20)}`;
const dai: Address = `0x${"c2".repeat(20)}`;
const unlisted: Address = `0x${"ee".repeat(20)}`;
const alice: Address = `0x${"a1".repeat(20)}`;
const bob: Address = `0x${"b0".repeat(20)}`;
const relayer: Address = `0x${"4e".repeat(20)}`;
const id: Hex = `0x${"1d".repeat(32)}`;
const otherId: Hex = `0x${"2e".repeat(32)}`;
const txHash: Hex = `0x${"77".repeat(32)}`;
const noId: Hex = `0x${"00".repeat(32)}`;

type Part = Pick<LogFact, "address" | "topics" | "data">;

function native(from: Address, amount: bigint, depositId: Hex = id, emitter = depository): Part {
  const types = [{ type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  return {
    address: emitter,
    topics: [NATIVE_DEPOSIT_TOPIC],
    data: encodeAbiParameters(types, [from, amount, depositId]),
  };
}

function erc20(
  from: Address,
  token: Address,
  amount: bigint,
  depositId: Hex = id,
  emitter = depository,
): Part {
  const types = [{ type: "address" }, { type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  return {
    address: emitter,
    topics: [ERC20_DEPOSIT_TOPIC],
    data: encodeAbiParameters(types, [from, token, amount, depositId]),
  };
}

function transfer(token: Address, from: Address, amount: bigint, to = depository): Part {
  return {
    address: token,
    topics: [TRANSFER_TOPIC, addressTopic(from), addressTopic(to)],
    data: encodeAbiParameters([{ type: "uint256" }], [amount]),
  };
}

function logsOf(
  parts: readonly Part[],
  position: { txHash: Hex; firstIndex: number } = { txHash, firstIndex: 40 },
): LogFact[] {
  return parts.map((part, index) => ({
    ...part,
    logIndex: position.firstIndex + index,
    blockNumber: 100n,
    blockHash: `0x${"bb".repeat(32)}`,
    txHash: position.txHash,
  }));
}

function transaction(facts: Partial<TransactionFact> = {}): TransactionFact {
  return { hash: txHash, from: relayer, to: depository, input: "0x", value: 0n, nonce: 3, ...facts };
}

function read(parts: readonly Part[], facts: Partial<TransactionFact> = {}): DepositReading {
  const question = { depository, tokens: new Set([usdc, dai]) };
  return depositsInLogs(question, logsOf(parts), new Map([[txHash, transaction(facts)]]));
}

function brief(reading: DepositReading): unknown[] {
  return reading.deposits.map((d) => [d.ordinal, d.depositor, d.currency, d.amount, d.id]);
}

function transferInput(amount: bigint, tail = "", to = depository): Hex {
  return `${encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] })}${tail}`;
}

/** The id of a direct transfer of 50 by alice with this input. */
function directId(input: Hex): Hex | undefined {
  const reading = read([transfer(usdc, alice, 50n)], { from: alice, to: usdc, input });
  expect(reading.deposits).toMatchObject([{ depositor: alice, currency: usdc, amount: 50n }]);
  return reading.deposits[0]?.id;
}

const idTail = id.slice(2);

test("the event topics are those of the depository's declared events", () => {
  expect(NATIVE_DEPOSIT_TOPIC).toBe(toEventSelector("NativeDeposit(address,uint256,bytes32)"));
  expect(ERC20_DEPOSIT_TOPIC).toBe(toEventSelector("Erc20Deposit(address,address,uint256,bytes32)"));
  expect(TRANSFER_TOPIC).toBe(toEventSelector("Transfer(address,address,uint256)"));
});

test("a native deposit belongs to the depositor of the event, not to the signer of the transaction", () => {
  expect(read([native(alice, 7n)]).deposits).toEqual([
    {
      txHash,
      ordinal: 0,
      logIndex: 40,
      blockNumber: 100n,
      blockHash: `0x${"bb".repeat(32)}`,
      depositor: alice,
      sender: relayer,
      currency: NATIVE_CURRENCY,
      amount: 7n,
      id,
    },
  ]);
});

test("an event and its Transfer are one deposit of the event's depositor, even through a forwarder", () => {
  expect(brief(read([transfer(usdc, relayer, 50n), erc20(alice, usdc, 50n)]))).toEqual([
    [0, alice, usdc, 50n, id],
  ]);
});

test("an ERC-20 deposit has the log index of its Transfer, or of its event if the Transfer was not read", () => {
  const indexes = (parts: readonly Part[]) => read(parts).deposits.map(({ logIndex }) => logIndex);
  expect(indexes([transfer(usdc, relayer, 50n), erc20(alice, usdc, 50n)])).toEqual([40]);
  // A transfer inside the token's hook comes between a deposit's Transfer and its event.
  const nested = [transfer(usdc, alice, 50n), transfer(usdc, bob, 7n), erc20(alice, usdc, 50n)];
  expect(read(nested).deposits.map(({ logIndex, id }) => [logIndex, id])).toEqual([
    [40, id],
    [41, undefined],
  ]);
  expect(indexes([transfer(unlisted, alice, 50n), erc20(alice, unlisted, 50n)])).toEqual([41]);
});

test("ignores events of a look-alike contract", () => {
  const parts = [native(alice, 7n, id, bob), transfer(usdc, bob, 5n, bob), erc20(alice, usdc, 5n, id, bob)];
  expect(read(parts)).toEqual({ deposits: [], direct: new Set(), ignored: [] });
});

test("a look-alike event does not name the depositor of a real Transfer", () => {
  const parts = [transfer(usdc, bob, 5n), erc20(alice, usdc, 5n, id, unlisted)];
  expect(brief(read(parts))).toEqual([[0, bob, usdc, 5n, undefined]]);
});

test("ignores and reports an Erc20Deposit without a Transfer", () => {
  const reading = read([erc20(alice, usdc, 50n)]);
  expect(reading.deposits).toEqual([]);
  expect(reading.ignored.map(({ why }) => why)).toEqual(["eventWithoutTransfer"]);
});

test("a Transfer of another token does not prove a deposit", () => {
  const reading = read([transfer(dai, alice, 50n), erc20(alice, usdc, 50n)]);
  expect(brief(reading)).toEqual([[0, alice, dai, 50n, undefined]]);
  expect(reading.ignored.map(({ why }) => why)).toEqual(["eventWithoutTransfer"]);
});

test("a Transfer that comes after the event does not prove it", () => {
  const reading = read([erc20(alice, usdc, 50n), transfer(usdc, bob, 50n)]);
  expect(brief(reading)).toEqual([[0, bob, usdc, 50n, undefined]]);
});

test("one Transfer proves only one of two equal events", () => {
  const reading = read([transfer(usdc, alice, 50n), erc20(alice, usdc, 50n), erc20(bob, usdc, 50n, otherId)]);
  expect(brief(reading)).toEqual([[0, alice, usdc, 50n, id]]);
  expect(reading.ignored.map(({ why }) => why)).toEqual(["eventWithoutTransfer"]);
});

test("of two Transfers before one event, the unmatched one is a separate deposit", () => {
  const parts = [transfer(usdc, bob, 50n), transfer(usdc, alice, 50n), erc20(alice, usdc, 50n)];
  expect(brief(read(parts))).toEqual([
    [0, bob, usdc, 50n, undefined],
    [0, alice, usdc, 50n, id],
  ]);
});

test("a larger direct transfer before a deposit keeps its whole amount", () => {
  const parts = [transfer(usdc, bob, 100n), transfer(usdc, alice, 50n), erc20(alice, usdc, 50n)];
  expect(brief(read(parts))).toEqual([
    [0, bob, usdc, 100n, undefined],
    [0, alice, usdc, 50n, id],
  ]);
});

test("if an event claims more than its Transfer moved, only the Transfer is credited, without an id", () => {
  const reading = read([transfer(usdc, alice, 49n), erc20(alice, usdc, 50n)]);
  expect(brief(reading)).toEqual([[0, alice, usdc, 49n, undefined]]);
  expect(reading.ignored.map(({ why }) => why)).toEqual(["eventWithoutTransfer"]);
});

test("credits the amount of the Transfer if its event claims less", () => {
  expect(brief(read([transfer(usdc, alice, 50n), erc20(alice, usdc, 49n)]))).toEqual([
    [0, alice, usdc, 49n, id],
  ]);
});

test("a transfer inside a sender's hook does not match the event of the surrounding deposit", () => {
  const parts = [transfer(usdc, alice, 100n), transfer(usdc, alice, 5n), erc20(alice, usdc, 100n)];
  expect(brief(read(parts))).toEqual([
    [0, alice, usdc, 100n, id],
    [0, alice, usdc, 5n, undefined],
  ]);
});

test("returns several deposits of one transaction in chain order, regardless of the order of the logs", () => {
  const parts = [
    native(alice, 1n),
    transfer(usdc, bob, 2n),
    erc20(bob, usdc, 2n, otherId),
    native(alice, 1n),
  ];
  const question = { depository, tokens: new Set([usdc]) };
  const transactions = new Map([[txHash, transaction()]]);
  const shuffled = depositsInLogs(question, logsOf(parts).toReversed(), transactions);
  expect(brief(shuffled)).toEqual([
    [0, alice, NATIVE_CURRENCY, 1n, id],
    [0, bob, usdc, 2n, otherId],
    [1, alice, NATIVE_CURRENCY, 1n, id],
  ]);
});

test("numbers only deposits that are equal in every field, each group separately", () => {
  const repeated = native(alice, 1n);
  const different = [
    native(bob, 1n),
    native(alice, 2n),
    native(alice, 1n, otherId),
    native(alice, 1n, noId),
    transfer(usdc, alice, 1n),
    erc20(alice, usdc, 1n),
  ];
  const ordinals = read([repeated, ...different, repeated, repeated]).deposits.map(({ ordinal }) => ordinal);
  expect(ordinals).toEqual([0, 0, 0, 0, 0, 0, 1, 2]);
});

test("listing a token later changes neither identity nor number of known deposits", () => {
  // The logs of `dai`, which is listed later, come before, between and after the other logs.
  const parts = [
    transfer(dai, alice, 50n),
    native(alice, 7n),
    transfer(dai, alice, 50n),
    erc20(alice, dai, 50n, noId),
    transfer(usdc, alice, 50n),
    transfer(dai, bob, 9n),
    native(alice, 7n),
    erc20(bob, dai, 8n, otherId),
    transfer(dai, alice, 50n),
    erc20(alice, dai, 50n, noId),
  ];
  const facts = transaction({ from: alice, to: usdc, input: transferInput(50n, idTail) });
  const reading = (tokens: ReadonlySet<Address> | undefined) =>
    depositsInLogs({ depository, tokens }, logsOf(parts), new Map([[txHash, facts]])).deposits;
  // The log index is not part of a deposit's identity. Once the token is listed, it is the index of the
  // Transfer instead of the event.
  const keysOf = (deposits: readonly DepositFact[]): string[] =>
    deposits.map((d) => [d.depositor, d.sender, d.currency, d.amount, d.id, d.ordinal].join());
  const before = keysOf(reading(new Set([usdc])));
  expect(before).toHaveLength(6);
  for (const tokens of [new Set([usdc, dai]), undefined]) {
    const after = keysOf(reading(tokens));
    expect(after).toHaveLength(7);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(new Set(after).size).toBe(after.length);
  }
});

test("ordinals do not depend on the transaction's position in the block", () => {
  const parts = [native(alice, 1n), native(alice, 1n)];
  const question = { depository, tokens: new Set<Address>() };
  const transactions = new Map([[txHash, transaction()]]);
  const after = depositsInLogs(question, logsOf(parts, { txHash, firstIndex: 900 }), transactions);
  expect(after.deposits.map(({ ordinal }) => ordinal)).toEqual([0, 1]);
});

test("deposits of two transactions do not prove each other", () => {
  const second: Hex = `0x${"88".repeat(32)}`;
  const logs = [
    ...logsOf([transfer(usdc, alice, 50n)]),
    ...logsOf([erc20(bob, usdc, 50n)], { txHash: second, firstIndex: 41 }),
  ];
  const transactions = new Map([
    [txHash, transaction()],
    [second, transaction({ hash: second })],
  ]);
  const reading = depositsInLogs({ depository, tokens: new Set([usdc]) }, logs, transactions);
  expect(brief(reading)).toEqual([[0, alice, usdc, 50n, undefined]]);
});

test("deposits of two users with the same id stay separate", () => {
  expect(brief(read([native(alice, 1n), native(bob, 1n)]))).toEqual([
    [0, alice, NATIVE_CURRENCY, 1n, id],
    [0, bob, NATIVE_CURRENCY, 1n, id],
  ]);
});

test("reports the depository's events of tokens that were not requested, so that no funds are missed", () => {
  const reading = read([transfer(unlisted, alice, 50n), erc20(alice, unlisted, 50n)]);
  expect(brief(reading)).toEqual([[0, alice, unlisted, 50n, id]]);
  expect(reading.ignored).toEqual([]);
});

test("with every token requested, a Transfer of one token does not prove an event of another", () => {
  const logs = logsOf([transfer(unlisted, alice, 50n), erc20(alice, usdc, 50n)]);
  const reading = depositsInLogs({ depository, tokens: undefined }, logs, new Map([[txHash, transaction()]]));
  expect(brief(reading)).toEqual([[0, alice, unlisted, 50n, undefined]]);
});

test("an event with an id of 32 zero bytes has no id", () => {
  expect(brief(read([native(alice, 7n, noId)]))).toEqual([[0, alice, NATIVE_CURRENCY, 7n, undefined]]);
});

test("a transfer of zero is not a deposit", () => {
  const reading = read([native(alice, 0n), transfer(usdc, alice, 0n)]);
  expect(reading.deposits).toEqual([]);
  expect(reading.ignored.map(({ why }) => why)).toEqual(["zeroAmount", "zeroAmount"]);
});

test("the depository's transfer to itself is not a deposit", () => {
  expect(read([transfer(usdc, depository, 50n)])).toMatchObject({
    deposits: [],
    ignored: [{ why: "selfTransfer" }],
  });
});

test("a transaction without events deposits nothing, regardless of its value or id", () => {
  expect(read([], { value: 10n ** 18n, input: id }).deposits).toEqual([]);
});

test("ignores Transfer logs with which some chains mirror native transfers", () => {
  const pseudoToken: Address = `0x${"0".repeat(36)}800a`;
  expect(read([transfer(pseudoToken, alice, 7n), native(alice, 7n)]).deposits).toHaveLength(1);
});

test("reports malformed events instead of reading parts of them", () => {
  const short = { ...native(alice, 7n), data: native(alice, 7n).data.slice(0, -2) as Hex };
  const dirty = { ...native(alice, 7n), data: `0xff${native(alice, 7n).data.slice(4)}` as Hex };
  const reading = read([short, dirty]);
  expect(reading.deposits).toEqual([]);
  expect(reading.ignored.map(({ why }) => why)).toEqual(["malformed", "malformed"]);
});

test("does not read the indexed token id of an NFT's Transfer as an amount", () => {
  const nft = {
    ...transfer(usdc, alice, 5n),
    topics: [...transfer(usdc, alice, 5n).topics, id],
    data: "0x" as Hex,
  };
  expect(read([nft])).toEqual({ deposits: [], direct: new Set(), ignored: [] });
});

test("throws if the transaction of a log is missing", () => {
  const question = { depository, tokens: new Set<Address>() };
  expect(() => depositsInLogs(question, logsOf([native(alice, 1n)]), new Map())).toThrow(RangeError);
});

// Direct transfers, with the id after the calldata.

test("the id of a direct transfer is the 32 bytes after its calldata", () => {
  expect(directId(transferInput(50n, idTail))).toBe(id);
});

test("a direct transferFrom has an id too, and belongs to the payer", () => {
  const args = [alice, depository, 50n] as const;
  const input: Hex = `${encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args })}${idTail}`;
  const reading = read([transfer(usdc, alice, 50n)], { from: relayer, to: usdc, input });
  expect(brief(reading)).toEqual([[0, alice, usdc, 50n, id]]);
});

test("finds the id if more bytes follow it", () => {
  expect(directId(transferInput(50n, `${idTail}cafe`))).toBe(id);
});

test.each([
  ["there is none", transferInput(50n), usdc],
  ["fewer than 32 bytes follow", transferInput(50n, idTail.slice(2)), usdc],
  ["its first 16 bytes are zero", transferInput(50n, `${"00".repeat(16)}${"ab".repeat(16)}`), usdc],
  ["it is all zero", transferInput(50n, "00".repeat(32)), usdc],
  ["the call went to another contract", transferInput(50n, idTail), dai],
  ["the transaction creates a contract", transferInput(50n, idTail), undefined],
  ["the calldata names another amount", transferInput(51n, idTail), usdc],
  ["the calldata names another recipient", transferInput(50n, idTail, bob), usdc],
  ["the selector is inside other data", `0x12345678${transferInput(50n, idTail).slice(2)}`, usdc],
  ["the selector starts at an odd nibble", `0x1${transferInput(50n, idTail).slice(2)}f`, usdc],
  ["the input has an odd number of digits", `${transferInput(50n, idTail)}f`, usdc],
  [
    "the recipient word has dirty high bytes",
    `0xa9059cbb01${"00".repeat(11)}${"d0".repeat(20)}${"32".padStart(64, "0")}${idTail}`,
    usdc,
  ],
] as const)("a direct transfer has no id when %s", (_, input, to) => {
  const reading = read([transfer(usdc, alice, 50n)], { from: alice, to, input });
  expect(brief(reading)).toEqual([[0, alice, usdc, 50n, undefined]]);
});

test("a transfer by a contract has no id, even if the outer call looks like a direct transfer", () => {
  const reading = read([transfer(usdc, bob, 50n)], {
    from: alice,
    to: usdc,
    input: transferInput(50n, idTail),
  });
  expect(brief(reading)).toEqual([[0, bob, usdc, 50n, undefined]]);
});

test("several direct transfers of the called token have no id", () => {
  const parts = [transfer(usdc, alice, 50n), transfer(usdc, bob, 5n)];
  const reading = read(parts, { from: alice, to: usdc, input: transferInput(50n, idTail) });
  expect(reading.deposits.map((deposit) => deposit.id)).toEqual([undefined, undefined]);
});

test("another token's transfer in the same transaction does not take a direct transfer's id", () => {
  const parts = [transfer(usdc, alice, 50n), transfer(dai, alice, 50n)];
  const reading = read(parts, { from: alice, to: usdc, input: transferInput(50n, idTail) });
  expect(reading.deposits.map((deposit) => deposit.id)).toEqual([id, undefined]);
});
