import type { RailVm } from "@causeway/domain";
import type { OpenRail } from "./rail.ts";
import type { CreateRail, RailOptions } from "./rail-options.ts";

export type { CreateRail, RailOptions } from "./rail-options.ts";

/** How each kind of rail is loaded: its libraries are read when a chain of it is configured, and not before. */
const RAILS: Readonly<Record<RailVm, () => Promise<CreateRail>>> = {
  svm: async () => (await import("./solana/rail.ts")).createSolanaRail,
  bvm: async () => (await import("./bitcoin/rail.ts")).createBitcoinRail,
  hypevm: async () => (await import("./hyperliquid/rail.ts")).createExchangeRail,
};

export async function createRail(options: RailOptions): Promise<OpenRail> {
  const create = await RAILS[options.chain.vmType]();
  return await create(options);
}
