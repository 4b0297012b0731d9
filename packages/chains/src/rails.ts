import type { VmType } from "@causeway/domain";
import type { OpenRail } from "./rail.ts";
import type { CreateRail, RailOptions } from "./rail-options.ts";

export type { CreateRail, RailOptions } from "./rail-options.ts";

/**
 * How each family's rail is loaded: its libraries are read when a chain of it is configured, and not before.
 */
const RAILS: Readonly<Partial<Record<VmType, () => Promise<CreateRail>>>> = {
  "bitcoin-vm": async () => (await import("./bitcoin/rail.ts")).createBitcoinRail,
  "hyperliquid-vm": async () => (await import("./hyperliquid/rail.ts")).createExchangeRail,
  "solana-vm": async () => (await import("./solana/rail.ts")).createSolanaRail,
};

/** @throws RangeError for a family that this build has no rail for */
export async function createRail(options: RailOptions): Promise<OpenRail> {
  const { family, name } = options.chain;
  const load = RAILS[family];
  if (load === undefined)
    throw new RangeError(`chain ${name}: family ${family} is not supported by this build`);
  const create = await load();
  return await create(options);
}
