import type { CallPlan } from "@causeway/chains";
import type { Address, Currency } from "@causeway/domain";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { OwnKeys } from "../../chains/index.ts";
import type { Services } from "../../db/services.port.ts";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { DepositAddress, SweepRecord } from "./deposit-addresses.port.ts";
import type { ConfirmedFunds } from "./find-sender.ts";

/** Balances of deposit addresses at one block. */
export interface AddressBalances {
  readonly atBlock: bigint;
  /** A balance without an amount could not be read. */
  readonly held: readonly {
    readonly account: Address;
    readonly currency: Address;
    readonly amount: bigint | undefined;
  }[];
}

/**
 * Deposit addresses of one chain: contracts on EVM chains, accounts of a program on Solana, keys on Bitcoin.
 */
export interface ChainAddresses {
  /** Who moves the funds of an address. */
  readonly mover:
    | { readonly kind: "operator"; readonly connected: ConnectedChain }
    | { readonly kind: "solver"; readonly connected: ConnectedNonEvmChain };
  /** This instance issues addresses on the chain. */
  readonly isEnabled: boolean;
  /** The only chain that its addresses exist on. Undefined: they may exist on every EVM chain. */
  readonly onlyChainId: number | undefined;
  /** One sweep can make several deposits. */
  readonly makesSeveralDeposits: boolean;
  /** Whether funds sent to this address on the chain can be moved. */
  has(depositAddress: Pick<DepositAddress, "address" | "key" | "quoted">): boolean;
  /** The address that a text names. Undefined: it is not an address of this chain. */
  parse(text: string): Address | undefined;
  /**
   * Reads what addresses hold.
   * @param atBlock the block to read at, on EVM chains; Bitcoin is read at its newest block, Solana at its
   * newest final one
   * @throws RpcFault
   */
  readBalances(
    reads: Services["reads"],
    addresses: readonly DepositAddress[],
    query: { readonly currencies: readonly Address[]; readonly atBlock: bigint },
  ): Promise<AddressBalances>;
  /** The block to scan addresses at now. Undefined: the chain was not scanned yet. */
  scanBlock(reads: Services["reads"]): Promise<bigint | undefined>;
  /**
   * The only call that makes this sweep. On chains without calls: the payment of a slot, with its recipient,
   * amount and data. Undefined: the chain is not configured for sweeps.
   */
  sweepCall(
    sweep: Pick<SweepRecord, "currency" | "amount" | "excess" | "orderId">,
    from: Pick<DepositAddress, "key">,
  ): CallPlan | undefined;
  /** Confirmations that an amount of this value (USD, 18 decimals) needs. */
  confirmations(valueUsd: bigint): number;
  /**
   * The cost of a sweep and a refund with the chain's margin, base units of the native token.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  returnCost(policy: Pick<QuotePolicy, "gas">, currency: Currency): bigint;
  /** The sender of funds; undefined: unknown, or several. @throws RpcFault */
  findSender(
    services: OwnKeys & Pick<Services, "formerSigners">,
    funds: ConfirmedFunds,
  ): Promise<Address | undefined>;
}
