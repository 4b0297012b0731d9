import { ERC20_DEPOSIT_TOPIC, NATIVE_DEPOSIT_TOPIC } from "@causeway/chains";
import { approvalProxyAbi, depositAddressFactoryAbi, routerAbi } from "@causeway/contracts";
import { cloneCodeHash, cloneImplementation, depositAddressOf } from "@causeway/domain";
import type { Address, Chain, DepositAddressKey, Hex } from "@causeway/domain";
import { decodeFunctionData, encodeEventTopics, encodeFunctionData, toFunctionSelector } from "viem";
import { FACTORY_OWNER } from "./keys.ts";
import { DEX, dex, unwrapCall, wrapCall, wrappedNative } from "./memory-dex.ts";
import {
  NATIVE,
  Reverted,
  addressArgument,
  argument,
  fields,
  lower,
  word,
  type Contract,
  type Execution,
} from "./memory-evm.ts";

/**
 * The functions of the system's contracts that move funds, with the same rules and events as in the Solidity
 * sources.
 */

const selectors = {
  transfer: "0xa9059cbb",
  transferFrom: "0x23b872dd",
  approve: "0x095ea7b3",
  balanceOf: "0x70a08231",
  mint: toFunctionSelector("function mint(address,uint256)"),
  depositNative: toFunctionSelector("function depositNative(address,bytes32)"),
  depositErc20: toFunctionSelector("function depositErc20(address,address,uint256,bytes32)"),
  initCodeHash: "0xdb4c545e",
  operator: "0x570ca735",
  owner: "0x8da5cb5b",
} as const;

const SOLVER_NATIVE_TRANSFER = encodeEventTopics({
  abi: routerAbi,
  eventName: "SolverNativeTransfer",
})[0] as Hex;

const idOf = (value: bigint): Hex => word(value);

/** A standard ERC-20 token. Anyone may mint, as on the local chains. */
const token: Contract = (evm, { from, to, data }) => {
  switch (data.slice(0, 10)) {
    case selectors.transfer:
      evm.moveToken(to, from, addressArgument(data, 0), argument(data, 1));
      return word(1n);
    case selectors.transferFrom:
      evm.pullToken(to, from, addressArgument(data, 0), addressArgument(data, 1), argument(data, 2));
      return word(1n);
    case selectors.approve:
      evm.approve(to, from, addressArgument(data, 0), argument(data, 1));
      return word(1n);
    case selectors.balanceOf:
      return word(evm.balance(to, addressArgument(data, 0)));
    default:
      throw new Reverted("unknown function of a token");
  }
};

function depositErc20(
  evm: Execution,
  depository: Address,
  caller: Address,
  deposit: {
    readonly depositor: Address;
    readonly currency: Address;
    readonly amount: bigint;
    readonly id: Hex;
  },
): void {
  evm.pullToken(deposit.currency, depository, caller, depository, deposit.amount);
  const depositor = deposit.depositor === NATIVE ? caller : deposit.depositor;
  evm.emit(
    depository,
    [ERC20_DEPOSIT_TOPIC],
    fields(depositor, deposit.currency, deposit.amount, deposit.id),
  );
  evm.deposits.push({ ...deposit, depositor });
}

const depository: Contract = (evm, { from, to, data, value }) => {
  switch (data.slice(0, 10)) {
    case selectors.depositNative: {
      const namedDepositor = addressArgument(data, 0);
      const depositor = namedDepositor === NATIVE ? from : namedDepositor;
      const id = idOf(argument(data, 1));
      evm.emit(to, [NATIVE_DEPOSIT_TOPIC], fields(depositor, value, id));
      evm.deposits.push({ id, depositor, currency: NATIVE, amount: value });
      return "0x";
    }
    case selectors.depositErc20:
      if (value > 0n) throw new Reverted("not payable");
      depositErc20(evm, to, from, {
        depositor: addressArgument(data, 0),
        currency: addressArgument(data, 1),
        amount: argument(data, 2),
        id: idOf(argument(data, 3)),
      });
      return "0x";
    default:
      throw new Reverted("unknown function of the depository");
  }
};

const RECIPIENT_GAS = 60_000n;

function router(self: Address): Contract {
  const payNative = (evm: Execution, to: Address, amount: bigint): void => {
    const before = evm.gas;
    evm.call({ from: self, to, value: amount, data: "0x" });
    if (evm.gas - before > RECIPIENT_GAS) throw new Reverted("the recipient used up its gas");
    evm.emit(self, [SOLVER_NATIVE_TRANSFER], fields(to, amount));
  };
  return (evm, frame) => {
    const { from, data, value } = frame;
    if (data === "0x") return "0x";
    const { functionName, args } = decodeFunctionData({ abi: routerAbi, data });
    const isInside = from === self;
    if (functionName === "nativeTransfer") {
      const [to, amount] = args;
      if (value !== amount) throw new Reverted("ValueMismatch");
      payNative(evm, lower(to), amount);
      return "0x";
    }
    if (functionName === "noteBalance") {
      if (!isInside) throw new Reverted("OnlyFromMulticall");
      const [currency, account] = [lower(args[0]), lower(args[1])];
      evm.set(`noted:${currency}:${account}`, evm.balance(currency, account) + 1n);
      return "0x";
    }
    if (functionName === "requireReceived") {
      if (!isInside) throw new Reverted("OnlyFromMulticall");
      const [currency, account] = [lower(args[0]), lower(args[1])];
      const noted = evm.get(`noted:${currency}:${account}`);
      if (noted === 0n || evm.balance(currency, account) - (noted - 1n) < args[2])
        throw new Reverted("NotReceived");
      return "0x";
    }
    if (functionName === "payBalance") {
      if (!isInside) throw new Reverted("OnlyFromMulticall");
      const [currency, to] = [lower(args[0]), lower(args[1])];
      const balance = evm.balance(currency, self);
      if (balance < args[2]) throw new Reverted("BalanceBelowMinimum");
      if (currency === NATIVE) payNative(evm, to, balance);
      else evm.moveToken(currency, self, to, balance);
      return "0x";
    }
    if (functionName === "wrapBalance") {
      if (!isInside) throw new Reverted("OnlyFromMulticall");
      evm.call({ from: self, to: lower(args[0]), value: evm.balance(NATIVE, self), ...wrapCall });
      return "0x";
    }
    if (functionName === "unwrapBalance") {
      if (!isInside) throw new Reverted("OnlyFromMulticall");
      const wrapped = lower(args[0]);
      const balance = evm.balance(wrapped, self);
      if (balance < args[1]) throw new Reverted("BalanceBelowMinimum");
      evm.call({ from: self, to: wrapped, value: 0n, ...unwrapCall(balance) });
      return "0x";
    }
    if (functionName === "depositBalance") {
      if (!isInside) throw new Reverted("OnlyFromMulticall");
      const [depositoryAddress, depositor, currency] = [lower(args[0]), lower(args[1]), lower(args[2])];
      const [minimum, id] = [args[3], args[4]];
      const balance = evm.balance(currency, self);
      if (balance < minimum || balance === 0n) throw new Reverted("BalanceBelowMinimum");
      if (currency === NATIVE)
        evm.call({
          from: self,
          to: depositoryAddress,
          value: balance,
          data: `${selectors.depositNative}${word(depositor).slice(2)}${id.slice(2)}`,
        });
      else {
        evm.approve(currency, self, depositoryAddress, balance);
        depositErc20(evm, depositoryAddress, self, { depositor, currency, amount: balance, id });
      }
      return "0x";
    }
    if (functionName === "multicall") {
      const [calls, refundTo, refundTokens] = args;
      for (const call of calls) {
        try {
          evm.call({ from: self, to: lower(call.to), value: call.value, data: call.data });
        } catch (error) {
          if (!(error instanceof Reverted) || !call.allowFailure) throw error;
        }
      }
      for (const key of evm.cells.keys()) if (key.startsWith("noted:")) evm.cells.delete(key);
      const leftoverRecipient = lower(refundTo) === NATIVE ? from : lower(refundTo);
      for (const currency of refundTokens.map(lower)) {
        const leftover = evm.balance(currency, self);
        if (leftover > 0n) evm.moveToken(currency, self, leftoverRecipient, leftover);
      }
      const leftover = evm.balance(NATIVE, self);
      if (leftover > 0n) evm.call({ from: self, to: leftoverRecipient, value: leftover, data: "0x" });
      return "0x";
    }
    throw new Reverted(`the router's ${functionName} is not modeled`);
  };
}

function approvalProxy(self: Address, routerAddress: Address): Contract {
  return (evm, { from, data, value }) => {
    const { functionName, args } = decodeFunctionData({ abi: approvalProxyAbi, data });
    if (functionName !== "pullAndRoute") throw new Reverted(`the proxy's ${functionName} is not modeled`);
    const [token, amount, calls, refundTo, refundTokens] = args;
    evm.pullToken(lower(token), self, from, routerAddress, amount);
    const leftoverRecipient = lower(refundTo) === NATIVE ? from : refundTo;
    const routed = encodeFunctionData({
      abi: routerAbi,
      functionName: "multicall",
      args: [calls, leftoverRecipient, [...refundTokens, token]],
    });
    evm.call({ from: self, to: routerAddress, value, data: routed });
    return "0x";
  };
}

type Key = {
  readonly id: Hex;
  readonly depositor: Address;
  readonly recovery: Address;
  readonly strict: boolean;
};
const keyOf = (key: Key): DepositAddressKey => ({
  id: key.id,
  depositor: lower(key.depositor),
  recovery: lower(key.recovery),
  strict: key.strict,
});

/** @param operatorCell key of the cell with the account that may sweep */
function factory(self: Address, depositoryAddress: Address, operatorCell: string): Contract {
  const deposit = (
    evm: Execution,
    rawKey: Key,
    currency: Address,
    amount: bigint | undefined,
    id: Hex,
  ): void => {
    const key = keyOf(rawKey);
    if (key.strict && id !== key.id) throw new Reverted("NotOrderOfKey");
    const clone = depositAddressOf(self, key);
    if (evm.get(`clone:${clone}`) === 0n) {
      evm.set(`clone:${clone}`, 1n);
      evm.gas += 60_000n;
    }
    const balance = evm.balance(currency, clone);
    const sweptAmount = amount ?? balance;
    if (sweptAmount === 0n) throw new Reverted("NothingThere");
    if (balance < sweptAmount) throw new Reverted("BalanceTooLow");
    if (currency === NATIVE) {
      evm.call({
        from: clone,
        to: depositoryAddress,
        value: sweptAmount,
        data: `${selectors.depositNative}${word(key.depositor).slice(2)}${id.slice(2)}`,
      });
    } else {
      evm.approve(currency, clone, depositoryAddress, sweptAmount);
      depositErc20(evm, depositoryAddress, clone, {
        depositor: key.depositor,
        currency,
        amount: sweptAmount,
        id,
      });
    }
  };
  return (evm, { from, data }) => {
    const selector = data.slice(0, 10);
    if (selector === selectors.initCodeHash) return cloneCodeHash(self);
    if (selector === selectors.operator) return word(evm.get(operatorCell));
    if (selector === selectors.owner) return word(FACTORY_OWNER);
    const decoded = decodeFunctionData({ abi: depositAddressFactoryAbi, data });
    const mustBeOperator = (): void => {
      if (BigInt(from) !== evm.get(operatorCell)) throw new Reverted("OnlyOperator");
    };
    if (decoded.functionName === "sweep") {
      mustBeOperator();
      const [key, currency, amount, id] = decoded.args;
      deposit(evm, key as Key, lower(currency), amount, id);
      return "0x";
    }
    if (decoded.functionName === "sweepMany") {
      mustBeOperator();
      for (const sweep of decoded.args[0])
        deposit(evm, sweep.key as Key, lower(sweep.currency), sweep.amount, sweep.orderId);
      return "0x";
    }
    if (decoded.functionName === "sweepStrict") {
      const [key, currency] = decoded.args;
      if (!key.strict) throw new Reverted("NotStrict");
      deposit(evm, key as Key, lower(currency), undefined, key.id);
      return "0x";
    }
    if (decoded.functionName === "recover") {
      const [key, currency] = [keyOf(decoded.args[0] as Key), lower(decoded.args[1])];
      if (from !== key.recovery) throw new Reverted("OnlyRecovery");
      const clone = depositAddressOf(self, key);
      const balance = evm.balance(currency, clone);
      if (balance === 0n) throw new Reverted("NothingThere");
      if (currency === NATIVE) evm.moveNative(clone, key.recovery, balance);
      else evm.moveToken(currency, clone, key.recovery, balance);
      return "0x";
    }
    if (decoded.functionName === "setOperator") {
      if (from !== FACTORY_OWNER) throw new Reverted("Unauthorized");
      evm.set(operatorCell, BigInt(decoded.args[0]));
      return "0x";
    }
    throw new Reverted(`the factory's ${decoded.functionName} is not modeled`);
  };
}

/** Accepts native tokens in blocks with an even number and rejects them in others. */
const fickle: Contract = (evm, { value }) => {
  if (value > 0n && evm.block.number % 2n === 1n) throw new Reverted("not in this block");
  return "0x";
};

/** Uses a lot of gas, then reverts in blocks with an odd number. */
const burner: Contract = (evm) => {
  evm.gas += 2_000_000n;
  if (evm.block.number % 2n === 1n) throw new Reverted("the block number is odd");
  return "0x";
};

/** Succeeds and does nothing. */
const sink: Contract = () => "0x";

export const FICKLE: Address = "0x00000000000000000000000000000000000f1c1e";
export const BURNER: Address = "0x0000000000000000000000000000000000b09e90";
export const SINK: Address = "0x0000000000000000000000000000000000051e00";
export const OPERATOR_CELL = "operator";

/** Accepts native tokens; only the factory can move money out of it. */
export const clone: Contract = () => "0x";

/** Every contract of a chain, by address. */
export function contractsOf(chain: Chain): ReadonlyMap<Address, Contract> {
  const { contracts } = chain;
  const contractsByAddress = new Map<Address, Contract>(chain.tokens.map(({ address }) => [address, token]));
  const wrapped = chain.liquidity?.wrappedNative;
  if (wrapped !== undefined) contractsByAddress.set(wrapped, wrappedNative(token));
  contractsByAddress.set(DEX, dex);
  contractsByAddress.set(contracts.depository, depository);
  contractsByAddress.set(contracts.router, router(contracts.router));
  contractsByAddress.set(contracts.approvalProxy, approvalProxy(contracts.approvalProxy, contracts.router));
  if (contracts.depositAddressFactory !== undefined)
    contractsByAddress.set(
      contracts.depositAddressFactory,
      factory(contracts.depositAddressFactory, contracts.depository, OPERATOR_CELL),
    );
  const { depositAddressFactory } = contracts;
  if (depositAddressFactory !== undefined)
    contractsByAddress.set(cloneImplementation(depositAddressFactory), () => word(contracts.depository));
  contractsByAddress.set(FICKLE, fickle);
  contractsByAddress.set(BURNER, burner);
  contractsByAddress.set(SINK, sink);
  return contractsByAddress;
}
