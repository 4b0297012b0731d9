import type { NonEvmVmType } from "@causeway/domain";
import type { OpenConnection } from "./non-evm-connection.ts";
import type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";

export type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";

/** How each family is loaded: its libraries are read only when a chain of it is configured. */
const loaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectNonEvm>>> = {
  svm: async () => (await import("./solana/connection.ts")).connectSolana,
  bvm: async () => (await import("./bitcoin/connection.ts")).connectBitcoin,
  hypevm: async () => (await import("./hyperliquid/connection.ts")).connectExchange,
};

export async function connectNonEvm(options: NonEvmOptions): Promise<OpenConnection> {
  const create = await loaders[options.chain.vmType]();
  return await create(options);
}
