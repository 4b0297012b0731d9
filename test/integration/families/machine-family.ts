import { evidenceSources, nativeTransferCall, routerCall, withOrderId } from "@causeway/chains";
import { depositoryAbi, multicall3Abi } from "@causeway/contracts";
import {
  encodeEvmCallRequest,
  encodeFillContract,
  encodeOrderCall,
  NATIVE_CURRENCY,
  type Address,
  type EvmCall,
  type EvmCallRequest,
  type Hex,
  type Hex32,
  type OrderId,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { encodeFunctionData, erc20Abi, hashStruct, keccak256, toHex } from "viem";
import type {
  FamilyWorld,
  ExpectedDeposits,
  SignedWithdrawal,
  PaymentPlan,
  WithdrawalPlan,
} from "../../contracts/family-world.ts";
import { startFaultyFronts, type Fault, type FaultyFronts } from "../../support/faulty-front.ts";
import { selfDestructCode, emitterCode, eventWord, pretendingToken, type RawLog } from "./machine-code.ts";
import type { Call, Machine } from "./machine.ts";
import { startBalancer, startRememberingFront } from "./two-faced-nodes.ts";

// The conformance cases that are common to all chains with an EVM. These chains differ only in how
// transactions are sent and identified, see `Machine`.

const AMOUNT = 1_000n;
const NO_ID: Hex32 = `0x${"00".repeat(32)}`;
const OTHER_ORDER = `0x${"5e".repeat(32)}` as OrderId;
const topicOf = (event: string): Hex => keccak256(toHex(event));
const TRANSFER = topicOf("Transfer(address,address,uint256)");
const NATIVE_DEPOSIT = topicOf("NativeDeposit(address,uint256,bytes32)");
const ERC20_DEPOSIT = topicOf("Erc20Deposit(address,address,uint256,bytes32)");
const NATIVE_PAID = topicOf("SolverNativeTransfer(address,uint256)");
/** The names of time fields in nodes' answers. */
const TIMES = ["timestamp", "blockTimestamp", "blockTimeStamp"];

const callRequestTypes = {
  CallRequest: [
    { name: "calls", type: "Call[]" },
    { name: "nonce", type: "uint256" },
    { name: "expiration", type: "uint256" },
  ],
  Call: [
    { name: "to", type: "address" },
    { name: "data", type: "bytes" },
    { name: "value", type: "uint256" },
    { name: "allowFailure", type: "bool" },
  ],
} as const;

/** The cases and scenes in which the EVM and Tron families differ. */
export interface MachineFamily extends Pick<FamilyWorld, "familyCases" | "foreignAddress"> {
  /** Starts a separate network, with the same or another chain id. */
  startOther(kind: "sameNetwork" | "otherNetwork"): Promise<Machine>;
  /**
   * Makes a payment whose input ends with the id of one order. The other order's id is in every other place
   * where the family may have an id.
   */
  payNamingTwo(ids: readonly [Hex32, Hex32], call: Call): Promise<string>;
}

export async function machineFamily(machine: Machine, family: MachineFamily): Promise<FamilyWorld> {
  const { depository, router, multicall3, token, feeToken, accounts, format, send } = machine;
  const { user, solver, alice } = accounts;
  const bob: Address = `0x${"b0b".padStart(40, "5")}`;
  const opened: { close(): Promise<void> }[] = [];
  let nonces = 0n;

  const logIndex = async (id: string, topic: Hex, nth = 0): Promise<string> => {
    const { logs } = await machine.receipt(id);
    const found = logs.filter(({ topics }) => topics[0] === topic)[nth];
    if (found === undefined) throw new Error("the transaction lacks the event");
    return BigInt(found.logIndex).toString();
  };
  const erc20 = (functionName: "transfer", to: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName, args: [to, amount] });
  const transferFrom = (from: Address, to: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [from, to, amount] });
  const machineOf = (text: string): Address =>
    [...Object.values(accounts), bob, NATIVE_CURRENCY as Address, token, feeToken].find(
      (address) => format(address) === text,
    ) ?? (text as Address);
  const depositErc20 = (of: Address, amount: bigint, id: Hex32): Call => ({
    to: depository,
    data: encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [user, of, amount, id],
    }),
  });
  const depositNative = (amount: bigint, id: Hex32): Call => ({
    to: depository,
    data: encodeFunctionData({ abi: depositoryAbi, functionName: "depositNative", args: [user, id] }),
    value: amount,
  });
  /** One transaction that makes several calls atomically. */
  const together = (calls: readonly (Call & { readonly mayFail?: boolean })[]): Call => ({
    to: multicall3,
    value: calls.reduce((sum, { value = 0n }) => sum + value, 0n),
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate3Value",
      args: [
        calls.map(({ to, data, value = 0n, mayFail = false }) => ({
          target: to,
          allowFailure: mayFail,
          value,
          callData: data,
        })),
      ],
    }),
  });
  const named = (call: Call, orderId: Hex32): Call => ({ ...call, data: withOrderId(call.data, orderId) });
  const deposit = (
    index: string,
    depositId: Hex32 | undefined,
    changes: { depositor?: Address; currency?: Address; amount?: bigint } = {},
  ): ExpectedDeposits["deposits"][number] => ({
    index,
    depositor: format(changes.depositor ?? user),
    currency: format(changes.currency ?? token),
    amount: changes.amount ?? AMOUNT,
    depositId,
  });
  /** A direct transfer by the user, with bytes appended to its input. */
  const direct = async (behind: string): Promise<string> =>
    await send("user", { to: token, data: `${erc20("transfer", depository, AMOUNT)}${behind}` });

  const front = async (fault: Fault): Promise<readonly string[]> => {
    const fronts: FaultyFronts = await startFaultyFronts(machine.urls);
    fronts.begin(() => fault);
    opened.push(fronts);
    return fronts.urls;
  };
  const timeless = async (): Promise<readonly string[]> =>
    await front({ answer: (json) => without(json, TIMES) });

  const requestOf = (
    wanted: WithdrawalPlan,
    expiration: bigint,
    changes: Partial<EvmCall> = {},
  ): EvmCallRequest => {
    const recipient = machineOf(wanted.recipient);
    const currency = machineOf(wanted.currency);
    const call: EvmCall =
      currency === NATIVE_CURRENCY
        ? { to: recipient, data: "0x", value: wanted.amount, allowFailure: false }
        : { to: currency, data: erc20("transfer", recipient, wanted.amount), value: 0n, allowFailure: false };
    return { calls: [{ ...call, ...changes }], nonce: BigInt(wanted.address), expiration };
  };
  const idOf = (request: EvmCallRequest): Hex32 =>
    hashStruct({
      primaryType: "CallRequest",
      types: callRequestTypes,
      data: { ...request, calls: [...request.calls] },
    });
  const made = (request: EvmCallRequest): Pick<SignedWithdrawal, "payload" | "withdrawalId"> => ({
    payload: encodeEvmCallRequest(request),
    withdrawalId: idOf(request),
  });
  /** Gives the depository the amount of a withdrawal. */
  const fundDepository = async (wanted: WithdrawalPlan): Promise<void> => {
    const currency = machineOf(wanted.currency);
    if (currency === NATIVE_CURRENCY) await send("user", depositNative(wanted.amount, NO_ID));
    else await machine.mint(currency, depository, wanted.amount);
  };
  const carryOut = async (request: EvmCallRequest): Promise<string> => {
    const id = await send("solver", await machine.execution(request));
    if ((await machine.receipt(id)).status !== "0x1") throw new Error("the depository refused it");
    return id;
  };
  const inTime = async (): Promise<bigint> => (await machine.now()) + 10_000n;

  /** A call in which the router pays from what it received. */
  const paying = async (
    { orderId, payments }: PaymentPlan,
    calls: readonly EvmCall[] = [],
  ): Promise<Call> => {
    const paid: EvmCall[] = [];
    let value = calls.reduce((sum, call) => sum + call.value, 0n);
    for (const { recipient, currency, amount } of payments) {
      const to = machineOf(recipient);
      if (machineOf(currency) === NATIVE_CURRENCY) {
        paid.push({ ...nativeTransferCall(router, to, amount), allowFailure: false });
        value += amount;
      } else {
        await machine.mint(machineOf(currency), router, amount);
        paid.push({
          to: machineOf(currency),
          data: erc20("transfer", to, amount),
          value: 0n,
          allowFailure: false,
        });
      }
    }
    return routerCall(router, {
      calls: [...calls, ...paid],
      refundTo: solver,
      refundTokens: [],
      value,
      orderId,
    });
  };
  const first = ({ payments }: PaymentPlan): { to: Address; amount: bigint } => {
    const [payment] = payments;
    if (payment === undefined) throw new Error("the plan has no payment");
    return { to: machineOf(payment.recipient), amount: payment.amount };
  };

  const stranger = await machine.deploy(
    emitterCode([
      { topics: [NATIVE_PAID], data: `${eventWord(alice)}${eventWord(AMOUNT).slice(2)}` },
      { topics: [TRANSFER, eventWord(solver), eventWord(alice)], data: eventWord(AMOUNT) },
    ]),
  );
  const orderCalls: readonly [EvmCall, EvmCall] = [
    { to: bob, data: "0x", value: 3n, allowFailure: false },
    { to: bob, data: "0x", value: 5n, allowFailure: false },
  ];

  return {
    family: machine.family,
    urls: machine.urls,
    chainAt: (urls) => machine.chainAt(urls, machine),
    recipients: [format(alice), format(bob)],
    currency: format(token),
    otherCurrency: format(NATIVE_CURRENCY as Address),
    amount: AMOUNT,
    extraData: encodeFillContract(router),
    foreignAddress: family.foreignAddress,
    otherFormats: machine.otherFormats,
    omissibleFields: [],
    familyCases: family.familyCases,

    deposit: async ({ depositId, currency, amount }) => {
      if (machineOf(currency) === NATIVE_CURRENCY) {
        const transactionId = await send("user", depositNative(amount, depositId ?? NO_ID));
        const of = { currency: NATIVE_CURRENCY as Address, amount };
        return { transactionId, deposits: [deposit("0", depositId, of)] };
      }
      const of = machineOf(currency);
      const transactionId = await send("user", depositErc20(of, amount, depositId ?? NO_ID));
      const index = await logIndex(transactionId, TRANSFER);
      return { transactionId, deposits: [deposit(index, depositId, { currency: of, amount })] };
    },
    pay: async (wanted) => await send("solver", await paying(wanted)),
    withdrawal: async (wanted) => {
      await fundDepository(wanted);
      const expiration = await inTime();
      const request = requestOf(wanted, expiration);
      return {
        ...made(request),
        execute: async () => await carryOut(request),
        expire: async () => {
          const missing = expiration - (await machine.now()) + 1n;
          await machine.pass(Number(missing > 1n ? missing : 1n));
        },
      };
    },
    finalize: machine.finalize,

    deposits: {
      twoInOne: async ([firstId, secondId]) => ({
        transactionId: await send(
          "user",
          together([depositNative(AMOUNT, firstId), depositNative(2n * AMOUNT, secondId)]),
        ),
        deposits: [deposit("0", firstId, native()), deposit("1", secondId, native(2n * AMOUNT))],
      }),
      none: async () => ({
        transactionId: await send("user", { to: token, data: erc20("transfer", bob, 1n) }),
        as: "empty",
      }),
      orphaned: async (id) => {
        const transactionId = await send("user", depositNative(AMOUNT, id));
        // A lagging node repeats its first answer about the transaction.
        const remembered = await startRememberingFront(machine.urls[0] ?? "", transactionId);
        opened.push(remembered);
        await readOnce(machine.chainAt([remembered.url], machine), transactionId);
        await machine.mine();
        await machine.reorg(2);
        await machine.finalize();
        return { transactionId, urls: [remembered.url], as: "upstream_unavailable" };
      },
      splitNode: async (id) => {
        const other = await family.startOther("sameNetwork");
        const transactionId = await send("user", depositNative(AMOUNT, id));
        // The other node is ahead on its own fork.
        await other.pass(60);
        await other.mine(200);
        const balanced = await startBalancer([machine.urls[0] ?? "", other.urls[0] ?? ""]);
        opened.push(balanced, other);
        return { transactionId, urls: [balanced.url], as: "upstream_unavailable" };
      },
      failed: async (id) => ({
        // The depository has no allowance for the token.
        transactionId: await send("solver", depositErc20(token, AMOUNT, id)),
        as: "rejected",
      }),
      lookAlike: async (id) => {
        const logs: RawLog[] = [
          { topics: [NATIVE_DEPOSIT], data: words(user, AMOUNT, id) },
          { topics: [TRANSFER, eventWord(user), eventWord(bob)], data: eventWord(AMOUNT) },
          { topics: [ERC20_DEPOSIT], data: words(user, token, AMOUNT, id) },
        ];
        const liar = await machine.deploy(emitterCode(logs));
        return { transactionId: await send("user", { to: liar, data: id }), as: "empty" };
      },
      lyingToken: async (id) => {
        const logs: RawLog[] = [
          { topics: [TRANSFER, eventWord(user), eventWord(depository)], data: eventWord(AMOUNT) },
        ];
        const liar = await machine.deploy(emitterCode(logs));
        return {
          transactionId: await send("user", { to: liar, data: id }),
          deposits: [deposit("0", undefined, { currency: liar })],
        };
      },
      feeOnTransfer: async (id) => {
        const transactionId = await send("user", depositErc20(feeToken, AMOUNT, id));
        // The log of the fee's Transfer comes first.
        const index = await logIndex(transactionId, TRANSFER, 1);
        const of = { currency: feeToken, amount: AMOUNT - AMOUNT / 100n };
        return { transactionId, deposits: [deposit(index, id, of)] };
      },
      withoutTransfer: async (id) => {
        const liar = await machine.deploy(pretendingToken(AMOUNT, []));
        return { transactionId: await send("user", depositErc20(liar, AMOUNT, id)), as: "empty" };
      },
      reportedTwice: async ([firstId, secondId]) => {
        const logs: RawLog[] = [
          { topics: [TRANSFER, eventWord(user), eventWord(depository)], data: eventWord(AMOUNT) },
        ];
        const liar = await machine.deploy(pretendingToken(AMOUNT, logs));
        const transactionId = await send(
          "user",
          together([depositErc20(liar, AMOUNT, firstId), depositErc20(liar, AMOUNT, secondId)]),
        );
        return { transactionId, deposits: [deposit("0", firstId, { currency: liar })] };
      },
      throughForwarder: async (id) => ({
        transactionId: await send("solver", together([depositNative(AMOUNT, id)])),
        deposits: [deposit("0", id, native())],
      }),
      idElsewhere: async (id) => {
        // The id is after the calldata of an inner call, or after the transaction's own calldata that is not
        // a transfer.
        await machine.mint(token, multicall3, AMOUNT);
        const inner = { to: token, data: withOrderId(erc20("transfer", depository, AMOUNT), id) };
        return {
          transactionId: await send("user", named(together([inner]), id)),
          deposits: [deposit("0", undefined, { depositor: multicall3 })],
        };
      },
      invalidIds: async () => {
        const ids = ["00".repeat(32), `${"00".repeat(16)}${"ab".repeat(16)}`, "ab".repeat(31)];
        const all: ExpectedDeposits[] = [];
        for (const id of ids)
          all.push({ transactionId: await direct(id), deposits: [deposit("0", undefined)] });
        return all;
      },
      withoutDeposit: async () => {
        const to = await machine.deploy(selfDestructCode(depository));
        return { transactionId: await send("user", { to, data: "0x00", value: AMOUNT }), as: "empty" };
      },
      plainWithId: async (id) => ({
        // The depository accepts no native tokens without a depositor.
        transactionId: await send("user", { to: depository, data: id, value: AMOUNT }),
        as: "rejected",
      }),
      ownTransfer: async () => {
        await machine.mint(token, depository, AMOUNT);
        const call: EvmCall = {
          to: token,
          data: erc20("transfer", depository, AMOUNT),
          value: 0n,
          allowFailure: false,
        };
        nonces += 1n;
        const request = { calls: [call], nonce: nonces, expiration: await inTime() };
        return { transactionId: await carryOut(request), as: "empty" };
      },
      otherNetwork: async (id) => {
        const other = await family.startOther("otherNetwork");
        opened.push(other);
        const transactionId = await other.send("user", {
          ...depositNative(AMOUNT, id),
          to: other.depository,
        });
        await other.finalize();
        return { transactionId, urls: other.urls, as: "upstream_unavailable" };
      },
      withoutTime: async (id) => ({
        transactionId: await send("user", depositNative(AMOUNT, id)),
        urls: await timeless(),
        as: "upstream_unavailable",
      }),
    },

    payments: {
      failed: async ({ orderId, ...wanted }) => {
        const { to } = first({ orderId, ...wanted });
        // The amount exceeds what the router holds.
        const call = { to: token, data: erc20("transfer", to, 10n ** 30n), value: 0n };
        const plan = { calls: [call], refundTo: solver, refundTokens: [], value: 0n, orderId };
        return await send("solver", routerCall(router, plan));
      },
      innerReverted: async (wanted) => {
        const { to, amount } = first(wanted);
        await machine.mint(token, multicall3, amount);
        const paid = { to: token, data: erc20("transfer", to, amount) };
        const failing = { to: token, data: erc20("transfer", to, 10n ** 30n) };
        const undone = { ...together([paid, failing]), mayFail: true };
        return await send("solver", named(together([undone]), wanted.orderId));
      },
      forTwoOrders: async (ids, { recipient, amount }) => {
        await machine.mint(token, solver, amount);
        const call = { to: token, data: erc20("transfer", machineOf(recipient), amount) };
        return await family.payNamingTwo(ids, call);
      },
      returnedByRecipient: async (wanted) => {
        const { to, amount } = first(wanted);
        if (to !== alice) throw new Error("only Alice approved the transfer back");
        await machine.mint(token, multicall3, amount);
        const paid = { to: token, data: erc20("transfer", alice, amount) };
        const back = { to: token, data: transferFrom(alice, multicall3, 1n) };
        return await send("solver", named(together([paid, back]), wanted.orderId));
      },
      reportedByStranger: async ({ orderId }) => await send("solver", { to: stranger, data: orderId }),
      strangersExtraData: encodeFillContract(stranger),
      calls: {
        encoded: [encodeOrderCall(orderCalls[0]), encodeOrderCall(orderCalls[1])],
        pay: async (wanted, which) => {
          const made = which.flatMap((at) => orderCalls[at] ?? []);
          return await send("solver", await paying(wanted, made));
        },
      },
      withoutTime: async (wanted) => ({
        transactionId: await send("solver", await paying(wanted)),
        urls: await timeless(),
      }),
      idElsewhere: async (wanted) => {
        const { data, ...call } = await paying(wanted);
        return await send("solver", { ...call, data: withOrderId(data, OTHER_ORDER) });
      },
    },

    withdrawals: {
      failedInside: async (wanted) => {
        // The depository has less than this amount, and the call may fail.
        const request = requestOf({ ...wanted, amount: 10n ** 30n }, await inTime(), { allowFailure: true });
        await carryOut(request);
        return made(request);
      },
      otherOutputs: async (wanted) => {
        const expiration = await inTime();
        await fundDepository(wanted);
        await carryOut(requestOf({ ...wanted, recipient: format(bob) }, expiration));
        return made(requestOf(wanted, expiration));
      },
      expiryNotFinal: async (wanted) => {
        await machine.finalize();
        const expiration = (await machine.now()) + 100n;
        await machine.pass(200);
        return made(requestOf(wanted, expiration));
      },
      malformed: async (wanted) => {
        const { payload } = made(requestOf(wanted, await inTime()));
        const request = requestOf(wanted, await inTime());
        return [
          "0x",
          payload.slice(0, -64) as Hex,
          `${payload}${"00".repeat(32)}`,
          encodeEvmCallRequest({ ...request, calls: [] }),
          encodeEvmCallRequest({ ...request, calls: [...request.calls, ...request.calls] }),
        ];
      },
    },

    close: async () => {
      for (const resource of opened) await resource.close();
      await machine.close();
    },
  };
}

/** Reads the deposits once, so that the front remembers its first answer. */
async function readOnce(chain: ConfiguredChain, transactionId: string): Promise<void> {
  const source = (await evidenceSources([chain])).get(chain.name);
  await source?.deposits(transactionId);
  await source?.close();
}

function native(amount = AMOUNT): { currency: Address; amount: bigint } {
  return { currency: NATIVE_CURRENCY as Address, amount };
}

function words(...values: readonly (Hex | bigint)[]): Hex {
  return `0x${values.map((value) => eventWord(value).slice(2)).join("")}`;
}

/** A copy without the named fields, at any depth. */
function without(json: unknown, names: readonly string[]): unknown {
  if (Array.isArray(json)) return json.map((part: unknown) => without(part, names));
  if (typeof json !== "object" || json === null) return json;
  const kept = Object.entries(json).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, without(value, names)]));
}
