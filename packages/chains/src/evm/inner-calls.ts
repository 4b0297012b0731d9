import type { Address, CallFrame, Hex } from "@causeway/domain";
import type { InnerCall } from "@causeway/families/evm";
import { movesValue } from "./native-flows.ts";
import { isUserOperations } from "./user-operations.ts";

/** Every inner call of a traced call, at every depth, including failed ones. Pure. */
export function innerCallsOf({ calls, error }: CallFrame): InnerCall[] {
  return visit(calls, error === undefined);
}

function visit(calls: readonly CallFrame[], isEffective: boolean): InnerCall[] {
  return calls.flatMap((call) => {
    const isCallEffective = isEffective && call.error === undefined;
    const inner = visit(call.calls, isCallEffective);
    if (call.to === undefined) return inner;
    const { input } = call;
    const innerCall: InnerCall = {
      from: call.from.toLowerCase() as Address,
      to: call.to.toLowerCase() as Address,
      selector: input.length < 10 ? undefined : (input.slice(0, 10).toLowerCase() as Hex),
      value: isCallEffective && movesValue(call) ? call.value : 0n,
      userOperations: isUserOperations(input) ? input : undefined,
    };
    return [innerCall, ...inner];
  });
}
