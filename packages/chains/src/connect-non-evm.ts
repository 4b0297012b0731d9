import type { NonEvmVmType } from "@causeway/domain";
import type { OpenConnection } from "./non-evm-connection.ts";
import type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";
import type { ConnectUsers, OpenNonEvmUsers, UsersOptions } from "./non-evm-users.ts";

export type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";

/** Loads each family on demand: its libraries are imported only if one of its chains is configured. */
const loaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectNonEvm>>> = {
  svm: async () => (await import("./solana/connection.ts")).connectSolana,
  bvm: async () => (await import("./bitcoin/connection.ts")).connectBitcoin,
  hypevm: async () => (await import("./hyperliquid/connection.ts")).connectExchange,
};

export async function connectNonEvm(options: NonEvmOptions): Promise<OpenConnection> {
  const create = await loaders[options.chain.vmType]();
  return await create(options);
}

const usersLoaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectUsers>>> = {
  svm: async () => (await import("./solana/users.ts")).connectSolanaUsers,
  bvm: async () => (await import("./bitcoin/users.ts")).connectBitcoinUsers,
  hypevm: async () => (await import("./hyperliquid/users.ts")).connectExchangeUsers,
};

/** Connects to the user's side of a chain; undefined if its settings do not suffice. */
export async function connectNonEvmUsers(options: UsersOptions): Promise<OpenNonEvmUsers | undefined> {
  const connect = await usersLoaders[options.chain.vmType]();
  return await connect(options);
}
