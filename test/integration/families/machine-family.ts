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
  const resources: { close(): Promise<void> }[] = [];
  let nonces = 0n;

  const logIndex = async (id: string, topic: Hex, nth = 0): Promise<string> => {
    const { logs } = await machine.receipt(id);
    const log = logs.filter(({ topics }) => topics[0] === topic)[nth];
    if (log === undefined) throw new Error("the transaction lacks the event");
    return BigInt(log.logIndex).toString();
  };
  const erc20 = (functionName: "transfer", to: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName, args: [to, amount] });
  const transferFrom = (from: Address, to: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [from, to, amount] });
  const evmAddressOf = (text: string): Address =>
    [...Object.values(accounts), bob, NATIVE_CURRENCY as Address, token, feeToken].find(
      (address) => format(address) === text,
    ) ?? (text as Address);
  const depositErc20 = (currency: Address, amount: bigint, id: Hex32): Call => ({
    to: depository,
    data: encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [user, currency, amount, id],
    }),
  });
  const depositNative = (amount: bigint, id: Hex32): Call => ({
    to: depository,
    data: encodeFunctionData({ abi: depositoryAbi, functionName: "depositNative", args: [user, id] }),
    value: amount,
  });
  /** One transaction that makes several calls atomically. */
  const multicall = (calls: readonly (Call & { readonly mayFail?: boolean })[]): Call => ({
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
  const appendOrderId = (call: Call, orderId: Hex32): Call => ({
    ...call,
    data: withOrderId(call.data, orderId),
  });
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
  const sendDirectly = async (suffix: string): Promise<string> =>
    await send("user", { to: token, data: `${erc20("transfer", depository, AMOUNT)}${suffix}` });

  const urlsBehindFault = async (fault: Fault): Promise<readonly string[]> => {
    const fronts: FaultyFronts = await startFaultyFronts(machine.urls);
    fronts.begin(() => fault);
    resources.push(fronts);
    return fronts.urls;
  };
  const urlsWithoutTime = async (): Promise<readonly string[]> =>
    await urlsBehindFault({ answer: (json) => without(json, TIMES) });

  const requestOf = (
    plan: WithdrawalPlan,
    expiration: bigint,
    changes: Partial<EvmCall> = {},
  ): EvmCallRequest => {
    const recipient = evmAddressOf(plan.recipient);
    const currency = evmAddressOf(plan.currency);
    const call: EvmCall =
      currency === NATIVE_CURRENCY
        ? { to: recipient, data: "0x", value: plan.amount, allowFailure: false }
        : { to: currency, data: erc20("transfer", recipient, plan.amount), value: 0n, allowFailure: false };
    return { calls: [{ ...call, ...changes }], nonce: BigInt(plan.address), expiration };
  };
  const idOf = (request: EvmCallRequest): Hex32 =>
    hashStruct({
      primaryType: "CallRequest",
      types: callRequestTypes,
      data: { ...request, calls: [...request.calls] },
    });
  const withdrawalOf = (request: EvmCallRequest): Pick<SignedWithdrawal, "payload" | "withdrawalId"> => ({
    payload: encodeEvmCallRequest(request),
    withdrawalId: idOf(request),
  });
  /** Gives the depository the amount of a withdrawal. */
  const fundDepository = async (plan: WithdrawalPlan): Promise<void> => {
    const currency = evmAddressOf(plan.currency);
    if (currency === NATIVE_CURRENCY) await send("user", depositNative(plan.amount, NO_ID));
    else await machine.mint(currency, depository, plan.amount);
  };
  const execute = async (request: EvmCallRequest): Promise<string> => {
    const id = await send("solver", await machine.execution(request));
    if ((await machine.receipt(id)).status !== "0x1") throw new Error("the depository refused it");
    return id;
  };
  const futureExpiration = async (): Promise<bigint> => (await machine.now()) + 10_000n;

  /** A call in which the router pays from what it received. */
  const payingCall = async (
    { orderId, payments }: PaymentPlan,
    calls: readonly EvmCall[] = [],
  ): Promise<Call> => {
    const paymentCalls: EvmCall[] = [];
    let value = calls.reduce((sum, call) => sum + call.value, 0n);
    for (const { recipient, currency, amount } of payments) {
      const to = evmAddressOf(recipient);
      if (evmAddressOf(currency) === NATIVE_CURRENCY) {
        paymentCalls.push({ ...nativeTransferCall(router, to, amount), allowFailure: false });
        value += amount;
      } else {
        await machine.mint(evmAddressOf(currency), router, amount);
        paymentCalls.push({
          to: evmAddressOf(currency),
          data: erc20("transfer", to, amount),
          value: 0n,
          allowFailure: false,
        });
      }
    }
    return routerCall(router, {
      calls: [...calls, ...paymentCalls],
      refundTo: solver,
      refundTokens: [],
      value,
      orderId,
    });
  };
  const firstPayment = ({ payments }: PaymentPlan): { to: Address; amount: bigint } => {
    const [payment] = payments;
    if (payment === undefined) throw new Error("the plan has no payment");
    return { to: evmAddressOf(payment.recipient), amount: payment.amount };
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
      if (evmAddressOf(currency) === NATIVE_CURRENCY) {
        const transactionId = await send("user", depositNative(amount, depositId ?? NO_ID));
        const fields = { currency: NATIVE_CURRENCY as Address, amount };
        return { transactionId, deposits: [deposit("0", depositId, fields)] };
      }
      const currencyAddress = evmAddressOf(currency);
      const transactionId = await send("user", depositErc20(currencyAddress, amount, depositId ?? NO_ID));
      const index = await logIndex(transactionId, TRANSFER);
      return { transactionId, deposits: [deposit(index, depositId, { currency: currencyAddress, amount })] };
    },
    pay: async (plan) => await send("solver", await payingCall(plan)),
    withdrawal: async (plan) => {
      await fundDepository(plan);
      const expiration = await futureExpiration();
      const request = requestOf(plan, expiration);
      return {
        ...withdrawalOf(request),
        execute: async () => await execute(request),
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
          multicall([depositNative(AMOUNT, firstId), depositNative(2n * AMOUNT, secondId)]),
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
        resources.push(remembered);
        await readOnce(machine.chainAt([remembered.url], machine), transactionId);
        await machine.mine();
        await machine.reorg(2);
        await machine.finalize();
        return { transactionId, urls: [remembered.url], as: "upstream_unavailable" };
      },
      splitNode: async (id) => {
        const otherNode = await family.startOther("sameNetwork");
        const transactionId = await send("user", depositNative(AMOUNT, id));
        // The other node is ahead on its own fork.
        await otherNode.pass(60);
        await otherNode.mine(200);
        const balancer = await startBalancer([machine.urls[0] ?? "", otherNode.urls[0] ?? ""]);
        resources.push(balancer, otherNode);
        return { transactionId, urls: [balancer.url], as: "upstream_unavailable" };
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
        const fields = { currency: feeToken, amount: AMOUNT - AMOUNT / 100n };
        return { transactionId, deposits: [deposit(index, id, fields)] };
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
          multicall([depositErc20(liar, AMOUNT, firstId), depositErc20(liar, AMOUNT, secondId)]),
        );
        return { transactionId, deposits: [deposit("0", firstId, { currency: liar })] };
      },
      throughForwarder: async (id) => ({
        transactionId: await send("solver", multicall([depositNative(AMOUNT, id)])),
        deposits: [deposit("0", id, native())],
      }),
      idElsewhere: async (id) => {
        // The id is after the calldata of an inner call, or after the transaction's own calldata that is not
        // a transfer.
        await machine.mint(token, multicall3, AMOUNT);
        const inner = { to: token, data: withOrderId(erc20("transfer", depository, AMOUNT), id) };
        return {
          transactionId: await send("user", appendOrderId(multicall([inner]), id)),
          deposits: [deposit("0", undefined, { depositor: multicall3 })],
        };
      },
      invalidIds: async () => {
        const ids = ["00".repeat(32), `${"00".repeat(16)}${"ab".repeat(16)}`, "ab".repeat(31)];
        const deposits: ExpectedDeposits[] = [];
        for (const id of ids)
          deposits.push({ transactionId: await sendDirectly(id), deposits: [deposit("0", undefined)] });
        return deposits;
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
        const request = { calls: [call], nonce: nonces, expiration: await futureExpiration() };
        return { transactionId: await execute(request), as: "empty" };
      },
      otherNetwork: async (id) => {
        const otherNetwork = await family.startOther("otherNetwork");
        resources.push(otherNetwork);
        const transactionId = await otherNetwork.send("user", {
          ...depositNative(AMOUNT, id),
          to: otherNetwork.depository,
        });
        await otherNetwork.finalize();
        return { transactionId, urls: otherNetwork.urls, as: "upstream_unavailable" };
      },
      withoutTime: async (id) => ({
        transactionId: await send("user", depositNative(AMOUNT, id)),
        urls: await urlsWithoutTime(),
        as: "upstream_unavailable",
      }),
    },

    payments: {
      failed: async ({ orderId, ...wanted }) => {
        const { to } = firstPayment({ orderId, ...wanted });
        // The amount exceeds what the router holds.
        const call = { to: token, data: erc20("transfer", to, 10n ** 30n), value: 0n };
        const routerPlan = { calls: [call], refundTo: solver, refundTokens: [], value: 0n, orderId };
        return await send("solver", routerCall(router, routerPlan));
      },
      innerReverted: async (plan) => {
        const { to, amount } = firstPayment(plan);
        await machine.mint(token, multicall3, amount);
        const payment = { to: token, data: erc20("transfer", to, amount) };
        const failing = { to: token, data: erc20("transfer", to, 10n ** 30n) };
        const revertedCall = { ...multicall([payment, failing]), mayFail: true };
        return await send("solver", appendOrderId(multicall([revertedCall]), plan.orderId));
      },
      forTwoOrders: async (ids, { recipient, amount }) => {
        await machine.mint(token, solver, amount);
        const call = { to: token, data: erc20("transfer", evmAddressOf(recipient), amount) };
        return await family.payNamingTwo(ids, call);
      },
      returnedByRecipient: async (plan) => {
        const { to, amount } = firstPayment(plan);
        if (to !== alice) throw new Error("only Alice approved the transfer back");
        await machine.mint(token, multicall3, amount);
        const payment = { to: token, data: erc20("transfer", alice, amount) };
        const back = { to: token, data: transferFrom(alice, multicall3, 1n) };
        return await send("solver", appendOrderId(multicall([payment, back]), plan.orderId));
      },
      reportedByStranger: async ({ orderId }) => await send("solver", { to: stranger, data: orderId }),
      strangersExtraData: encodeFillContract(stranger),
      calls: {
        encoded: [encodeOrderCall(orderCalls[0]), encodeOrderCall(orderCalls[1])],
        pay: async (plan, indices) => {
          const calls = indices.flatMap((index) => orderCalls[index] ?? []);
          return await send("solver", await payingCall(plan, calls));
        },
      },
      withoutTime: async (plan) => ({
        transactionId: await send("solver", await payingCall(plan)),
        urls: await urlsWithoutTime(),
      }),
      idElsewhere: async (plan) => {
        const { data, ...call } = await payingCall(plan);
        return await send("solver", { ...call, data: withOrderId(data, OTHER_ORDER) });
      },
    },

    withdrawals: {
      failedInside: async (plan) => {
        // The depository has less than this amount, and the call may fail.
        const request = requestOf({ ...plan, amount: 10n ** 30n }, await futureExpiration(), {
          allowFailure: true,
        });
        await execute(request);
        return withdrawalOf(request);
      },
      otherOutputs: async (plan) => {
        const expiration = await futureExpiration();
        await fundDepository(plan);
        await execute(requestOf({ ...plan, recipient: format(bob) }, expiration));
        return withdrawalOf(requestOf(plan, expiration));
      },
      expiryNotFinal: async (plan) => {
        await machine.finalize();
        const expiration = (await machine.now()) + 100n;
        await machine.pass(200);
        return withdrawalOf(requestOf(plan, expiration));
      },
      malformed: async (plan) => {
        const { payload } = withdrawalOf(requestOf(plan, await futureExpiration()));
        const request = requestOf(plan, await futureExpiration());
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
      for (const resource of resources) await resource.close();
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
  const remaining = Object.entries(json).filter(([name]) => !names.includes(name));
  return Object.fromEntries(remaining.map(([name, value]) => [name, without(value, names)]));
}
