import type { Hex, NonEvmChain } from "@causeway/domain";
import type { ConfiguredChain, NonceMappings } from "@causeway/families";
import type { ObserveCall } from "./nodes/rpc-call.ts";
import type { OpenConnection } from "./non-evm-connection.ts";

/** The dependencies of a connection. */
export interface NonEvmOptions {
  readonly chain: NonEvmChain;
  /** The same chain in the oracles' configuration: deposits are judged as the oracles will attest them. */
  readonly attestation: ConfiguredChain;
  /** The solver's account on this chain: canonical bytes. */
  readonly solver: Hex;
  /** The extended public key that deposit addresses derive from (Bitcoin). Absent: there are none. */
  readonly depositAddressKey?: string | undefined;
  /** The hub's mappings of nonces, where a transfer cannot name its order. */
  readonly nonceMappings?: NonceMappings | undefined;
  /**
   * Whether this process answers clients (the API). Each kind of process has its own shares of an endpoint's
   * rate limit.
   */
  readonly answersClients?: boolean;
  /** Observes calls to the endpoint at this URL. */
  readonly observeEndpoint?: (url: string) => ObserveCall;
  /** ms since epoch. */
  now(): number;
  /** Called with every fault that no caller awaits. */
  onFault(error: unknown): void;
}

export type ConnectNonEvm = (options: NonEvmOptions) => OpenConnection | Promise<OpenConnection>;

/** The option of a connection that observes its calls. */
export function observed(
  { observeEndpoint }: Pick<NonEvmOptions, "observeEndpoint">,
  url: string,
): { readonly onCall?: ObserveCall } {
  return observeEndpoint === undefined ? {} : { onCall: observeEndpoint(url) };
}
