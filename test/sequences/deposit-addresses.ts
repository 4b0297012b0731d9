import { depositAddressFactoryAbi } from "@causeway/contracts";
import { encodeFunctionData } from "viem";
import type { ActionOf, Outcome } from "./action.ts";
import { pick } from "./lookups.ts";
import { NATIVE } from "./memory-evm.ts";
import { sendTo } from "./payments.ts";
import type { SequenceWorld } from "./world.ts";

/** A stranger, or the holder of the recovery key, acts on a deposit address without the service. */
export async function meddle(world: SequenceWorld, { quote, how }: ActionOf<"meddle">): Promise<Outcome> {
  const withAddress = world.quotes.filter(({ terms }) => terms.depositAddress !== undefined);
  const quoted = pick(withAddress, quote);
  if (quoted?.terms.depositAddress === undefined) return "skipped";
  const { origin, user, orderId, depositAddress } = quoted.terms;
  const { chain, memory } = world.chainOf(origin.chainId);
  const stranger = world.users[2] ?? NATIVE;
  const { depositAddressFactory: factory } = chain.contracts;
  if (factory === undefined) return "skipped";
  const key = {
    id: orderId,
    depositor: user,
    recovery: depositAddress.recovery,
    strict: depositAddress.strict,
  };
  if (how === "dust")
    await sendTo(world, origin.chainId, stranger, depositAddress.address, origin.currency, 1n);
  else
    await memory.send(how === "recover" ? user : stranger, {
      to: factory,
      data: encodeFunctionData({
        abi: depositAddressFactoryAbi,
        functionName: how === "recover" ? "recover" : "sweepStrict",
        args: [key, origin.currency],
      }),
    });
  return "done";
}
