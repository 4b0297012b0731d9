import type { FamilyWorld } from "../../contracts/family-world.ts";
import { withOrderId } from "@causeway/chains";
import { startEvmMachine } from "./evm-machine.ts";
import { machineFamily } from "./machine-family.ts";

/** The EVM family: a chain on its own node. */
export async function startEvmFamily(): Promise<FamilyWorld> {
  const machine = await startEvmMachine();
  return await machineFamily(machine, {
    foreignAddress: "TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN",
    startOther: async (kind) => await startEvmMachine(kind === "sameNetwork" ? undefined : 31_478),
    payNamingTwo: async ([firstId, secondId], call) =>
      await machine.send("solver", { ...call, data: withOrderId(withOrderId(call.data, firstId), secondId) }),
    familyCases: {},
  });
}
