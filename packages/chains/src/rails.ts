import type { RailVm } from "@causeway/domain";
import type { OpenRail } from "./rail.ts";
import type { CreateRail, RailOptions } from "./rail-options.ts";

export type { CreateRail, RailOptions } from "./rail-options.ts";

/** How each family is loaded: its libraries are read only when a chain of it is configured. */
const loaders: Readonly<Record<RailVm, () => Promise<CreateRail>>> = {
  svm: async () => (await import("./solana/rail.ts")).createSolanaRail,
  bvm: async () => (await import("./bitcoin/rail.ts")).createBitcoinRail,
  hypevm: async () => (await import("./hyperliquid/rail.ts")).createExchangeRail,
};

export async function createRail(options: RailOptions): Promise<OpenRail> {
  const create = await loaders[options.chain.vmType]();
  return await create(options);
}
