import { sweepCall } from "@causeway/chains";
import type { Address, DepositAddressKey, Hex, RequestId } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { executeCalls } from "../../apps/api/src/executions/execute-calls.ts";
import type { ActionOf, Outcome } from "./action.ts";
import { keyOf, pick } from "./lookups.ts";
import { BURNER, SINK } from "./memory-contracts.ts";
import { lower } from "./memory-evm.ts";
import type { Quoted, SequenceWorld } from "./world.ts";

/** Requests a call that the service sends for a user while an app pays the gas. */
export async function execute(world: SequenceWorld, action: ActionOf<"execute">): Promise<Outcome> {
  const key = keyOf(world, action.app);
  const quoted = pick(world.quotes, action.quote);
  if (key === undefined) return "skipped";
  const { chain } = world.chains[action.chain];
  const call = callOf(world, action, quoted);
  if (call === undefined) return "skipped";
  const outcome = await executeCalls(
    { ...world.api, random: { bytes32: () => world.bytes32() } },
    key,
    {
      executionKind: "rawCalls",
      data: { chainId: call.chainId ?? chain.id, to: call.to, data: call.data, value: call.value.toString() },
      executionOptions: { referrer: "", subsidizeFees: action.isSubsidized || call.requestId === undefined },
      ...(call.requestId !== undefined && { requestId: call.requestId }),
    },
    undefined,
  );
  if (outcome.kind !== "accepted") return "refused";
  await world.act();
  return "done";
}

interface ExecutedCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly chainId?: number;
  readonly requestId?: RequestId;
}

function callOf(
  world: SequenceWorld,
  { target, chain: index }: ActionOf<"execute">,
  quoted: Quoted | undefined,
): ExecutedCall | undefined {
  const { chain } = world.chains[index];
  switch (target) {
    case "sink":
      return { to: SINK, data: "0x12345678", value: 0n };
    case "burner":
      return { to: BURNER, data: "0x12345678", value: 0n };
    case "mint":
      return { to: SINK, data: "0x", value: 10n ** 15n };
    case "steal": {
      // Sweeps a victim's deposit address for the thief's order.
      const victim = world.quotes.find(({ terms }) => terms.depositAddress !== undefined);
      const thief = world.quotes.findLast(({ terms }) => terms.depositAddress === undefined);
      const factory = chain.contracts.depositAddressFactory;
      if (victim === undefined || thief === undefined || factory === undefined) return undefined;
      const { depositAddress, origin, user, orderId } = victim.terms;
      if (depositAddress === undefined) return undefined;
      const key: DepositAddressKey = {
        id: orderId,
        depositor: user,
        recovery: depositAddress.recovery,
        strict: depositAddress.strict,
      };
      return {
        ...sweepCall(factory, key, origin.currency, [
          { amount: origin.amount, orderId: thief.terms.orderId },
        ]),
        chainId: origin.chainId,
      };
    }
    case "deposit": {
      // The quote's own first step. The executor holds no tokens, so a token deposit can only fail.
      if (quoted === undefined) return undefined;
      const [step] = transactionsOf(quoted.answer.steps);
      if (step === undefined) return undefined;
      return {
        to: lower(step.to as string),
        data: step.data as Hex,
        value: BigInt(step.value),
        chainId: quoted.terms.origin.chainId,
        requestId: quoted.requestId,
      };
    }
    default:
      return target satisfies never;
  }
}
