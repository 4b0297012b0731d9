import type { CallEffects } from "@causeway/chains";
import { USER_OPERATION_EVENT } from "@causeway/domain";
import type { Address, FrameLog, Hex } from "@causeway/domain";
import { concat, encodeFunctionData, pad } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { expect, test } from "vitest";
import { refuseHidden } from "./refuse-hidden-costs.ts";

// What a node without tracing provides: logs, and native balance changes without gas.

const executor: Address = `0x${"e1".repeat(20)}`;
const sender: Address = `0x${"a1".repeat(20)}`;
const stranger: Address = `0x${"b2".repeat(20)}`;
const entryPoint: Address = "0x0000000071727de22e5e9d8baf0edac6f37da032";

const userOperationLog: FrameLog = {
  address: entryPoint,
  topics: [USER_OPERATION_EVENT, pad("0x01"), pad(sender), pad("0x")],
  data: concat([pad("0x07"), pad("0x01"), pad("0x"), pad("0x")]),
};

function handleOps(count: number): Hex {
  const word = pad("0x");
  const op = {
    sender,
    nonce: 0n,
    initCode: "0x",
    callData: "0x",
    accountGasLimits: word,
    preVerificationGas: 0n,
    gasFees: word,
    paymasterAndData: "0x",
    signature: "0x",
  } as const;
  const ops = Array.from({ length: count }, () => op);
  return encodeFunctionData({ abi: entryPoint07Abi, functionName: "handleOps", args: [ops, sender] });
}

function checkUntraced(
  call: { readonly to: Address; readonly data?: Hex; readonly value?: bigint },
  logs: readonly FrameLog[] = [],
  executorReceived = 0n,
): () => void {
  const { to, data = "0x", value = 0n } = call;
  const change = {
    balanceBefore: 0n,
    balanceAfter: executorReceived - value,
    nonceBefore: 0n,
    nonceAfter: 0n,
    codeChanged: false,
  };
  const effects: CallEffects = { kind: "seen", logs, accounts: new Map([[executor, change]]) };
  const seen = { kind: "ok", gas: 1n, gasUsed: 1n, effects, calls: undefined } as const;
  return () => {
    refuseHidden({ to, data, value, authorizationList: undefined }, executor, seen);
  };
}

test("without a trace, allows user operations only in a direct call of the entry point", () => {
  expect(checkUntraced({ to: stranger })).not.toThrow();
  expect(checkUntraced({ to: stranger }, [userOperationLog])).toThrow(/cannot be checked/);
  expect(checkUntraced({ to: stranger, data: handleOps(1) }, [userOperationLog])).toThrow(
    /cannot be checked/,
  );
  expect(checkUntraced({ to: entryPoint, data: handleOps(1) }, [userOperationLog])).not.toThrow();
  expect(checkUntraced({ to: entryPoint, data: handleOps(1) }, [userOperationLog, userOperationLog])).toThrow(
    /cannot be checked/,
  );
});

test("without a trace, detects returned native tokens in the executor's balance", () => {
  expect(checkUntraced({ to: stranger, value: 5n })).not.toThrow();
  expect(checkUntraced({ to: stranger, value: 5n }, [], 1n)).toThrow(/would return/);
  // A call without value cannot return any.
  expect(checkUntraced({ to: stranger }, [], 1n)).not.toThrow();
});
