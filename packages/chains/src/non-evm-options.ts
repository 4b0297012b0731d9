import type { Hex, NonEvmChain } from "@causeway/domain";
import type { ConfiguredChain, NonceMappings } from "@causeway/families";
import type { ReportedOutput } from "@causeway/families/bitcoin";
import type { FeeSource } from "./bitcoin/fee-rate.ts";
import type { ObserveCall } from "./nodes/rpc-call.ts";
import type { OpenConnection } from "./non-evm-connection.ts";

/** The dependencies of a connection. */
export interface NonEvmOptions {
  readonly chain: NonEvmChain;
  /** The same chain in the oracles' configuration, so that deposits are judged as oracles attest them. */
  readonly attestation: ConfiguredChain;
  /** The solver's account on this chain, in canonical bytes. */
  readonly solver: Hex;
  /** The extended public key from which deposit addresses are derived (Bitcoin). Absent: not enabled. */
  readonly depositAddressKey?: string | undefined;
  /** The hub's nonce mappings, for transfers that cannot name their order. */
  readonly nonceMappings?: NonceMappings | undefined;
  /**
   * Whether this process answers clients (the API). Each kind of process has its own shares of an endpoint's
   * rate limit.
   */
  readonly answersClients?: boolean;
  /** Fee estimates of the nodes, which the connections to them share (Bitcoin). */
  readonly sharedFeeSources?: FeeSource[];
  /** Observes calls to the endpoint at this URL. */
  readonly observeEndpoint?: (url: string) => ObserveCall;
  /** Lists of an explorer by address, which the connections to several nodes share (Bitcoin). */
  readonly sharedOutputs?: Map<string, Promise<readonly ReportedOutput[]>>;
  /** ms since epoch. */
  now(): number;
  /** Called with every fault that no caller awaits. */
  onFault(error: unknown): void;
  /** Called when these endpoints contradict a quorum or, without a quorum, each other. */
  readonly onDisagreement?: (question: string, hosts: readonly string[]) => void;
}

export type ConnectNonEvm = (options: NonEvmOptions) => OpenConnection | Promise<OpenConnection>;

/** The option of a connection that observes its calls. */
export function observed(
  { observeEndpoint }: Pick<NonEvmOptions, "observeEndpoint">,
  url: string,
): { readonly onCall?: ObserveCall } {
  return observeEndpoint === undefined ? {} : { onCall: observeEndpoint(url) };
}
