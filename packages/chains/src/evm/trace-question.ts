import { MAX_TRANSACTION_GAS, plainFailure, type Address, type Hex, type KnownAbis } from "@causeway/domain";
import {
  bytesOf,
  fieldsOf,
  hashOf,
  quantityOf,
  toQuantity,
  type FeeCaps,
  type TracedCall,
  type TraceOptions,
  type TraceOutcome,
} from "@causeway/families/evm";
import {
  judgeAuthorizations,
  recoverAuthority,
  type AuthorityState,
  type Delegation,
} from "./authorizations.ts";
import { garbage, inconsistent } from "@causeway/families";

export type NodeRequest = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * One call and everything that stays constant while it is traced; all requests are about the state after the
 * same block.
 */
export interface TraceQuestion {
  readonly from: Address;
  readonly call: TracedCall;
  readonly fees: FeeCaps;
  readonly block: { readonly number: bigint; readonly hash: Hex };
  /** Maximum gas that the call can get. */
  readonly maxGas: bigint;
  /** The requested limit, otherwise as much of the maximum gas as the sender can pay for. */
  readonly ceiling: bigint;
  /** The effects of the call's authorizations. */
  readonly delegations: readonly Delegation[];
  readonly request: NodeRequest;
}

export type PreparedTrace =
  | { readonly kind: "ready"; readonly question: TraceQuestion }
  | { readonly kind: "answered"; readonly outcome: TraceOutcome };

const MIN_GAS = 21_000n;
const INSUFFICIENT_FUNDS: PreparedTrace = { kind: "answered", outcome: { kind: "insufficientFunds" } };

/** Reads the newest block, what the sender can pay for, and the authorizing accounts. @throws RpcFault */
export async function prepareTrace(
  request: NodeRequest,
  chainId: number,
  { from, call, fees }: Pick<TraceQuestion, "from" | "call" | "fees">,
  { maxGas: requestedMaxGas, roomBps = 0n }: Pick<TraceOptions, "maxGas" | "roomBps">,
  knownAbis: KnownAbis,
): Promise<PreparedTrace> {
  const list = call.authorizationList ?? [];
  const [header, balance, authorities] = await Promise.all([
    request("eth_getBlockByNumber", ["latest", false]),
    request("eth_getBalance", [from, "latest"]).then((answer) => quantityOf(answer, "eth_getBalance")),
    Promise.all(list.map(recoverAuthority)),
  ]);
  const { gasLimit, ...block } = readHeader(header);
  const fittingGas = (gasLimit * 10_000n) / (10_000n + roomBps);
  const maxGas = [fittingGas, MAX_TRANSACTION_GAS, requestedMaxGas ?? fittingGas].reduce((a, b) =>
    a < b ? a : b,
  );
  const gasBudget = balance - call.value;
  const affordable = fees.maxFeePerGas > 0n ? gasBudget / fees.maxFeePerGas : maxGas;
  if (gasBudget < 0n || affordable < (call.gas ?? MIN_GAS)) return INSUFFICIENT_FUNDS;
  const ceiling = call.gas ?? (affordable < maxGas ? affordable : maxGas);
  const question = { from, call, fees, block, maxGas, ceiling, request };
  if (list.length === 0) return { kind: "ready", question: { ...question, delegations: [] } };

  const fail = (label: string, message: string): PreparedTrace => {
    const failure = plainFailure({ to: call.to, input: call.data }, label, message, knownAbis);
    return { kind: "answered", outcome: { kind: "reverts", failure } };
  };
  const tag = toQuantity(block.number);
  const codeOf = async (account: Address): Promise<Hex> =>
    bytesOf(await request("eth_getCode", [account, tag]), "eth_getCode");
  const signers = [...new Set(authorities.filter((authority) => authority !== undefined))];
  const [accounts, codes] = await Promise.all([
    Promise.all(
      signers.map(async (authority): Promise<[Address, AuthorityState]> => {
        const nonceOf = async (blockTag: string): Promise<bigint> => {
          const method = "eth_getTransactionCount";
          return quantityOf(await request(method, [authority, blockTag]), method);
        };
        const [code, nonce, nextNonce] = await Promise.all([
          codeOf(authority),
          nonceOf(tag),
          nonceOf("pending"),
        ]);
        return [authority, { nonce, nextNonce, code }];
      }),
    ),
    Promise.all(
      [call.to, ...list.map(({ address }) => address.toLowerCase() as Address)].map(
        async (account): Promise<[Address, Hex]> => [account, await codeOf(account)],
      ),
    ),
  ]);
  const judged = judgeAuthorizations(list, authorities, new Map(accounts), { chainId, sender: from });
  if (judged.kind === "skipped") return fail(judged.label, judged.message);
  const { delegations } = judged;
  // A delegated account runs the code of its target. A call to an account without code would succeed and
  // do nothing.
  const codeAt = new Map(codes);
  const delegation = delegations.find(({ authority }) => authority === call.to);
  const code = delegation === undefined ? codeAt.get(call.to) : delegation.code;
  const target: Address | undefined =
    code?.startsWith("0xef0100") === true ? `0x${code.slice(8)}` : undefined;
  const executedCode = target === undefined ? code : (codeAt.get(target) ?? code);
  if (call.data !== "0x" && (executedCode === undefined || executedCode === "0x")) {
    return fail(
      "NO_CODE_TO_CALL",
      "Called account has no code, even with its EIP-7702 authorization applied",
    );
  }
  return { kind: "ready", question: { ...question, delegations } };
}

/** @throws RpcFault if the block is no longer canonical */
export async function confirmBlock({ request, block }: TraceQuestion): Promise<void> {
  const header = await request("eth_getBlockByNumber", [toQuantity(block.number), false]);
  if (header === null || readHeader(header).hash !== block.hash) {
    throw inconsistent("eth_getBlockByNumber", "block was replaced during the trace");
  }
}

/** The transaction in the format of node calls. */
export function transactionOf({
  from,
  call,
  fees,
}: Pick<TraceQuestion, "from" | "call" | "fees">): Readonly<Record<string, unknown>> {
  return {
    from,
    to: call.to,
    data: call.data,
    value: toQuantity(call.value),
    maxFeePerGas: toQuantity(fees.maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(fees.maxPriorityFeePerGas),
  };
}

/** The authorization list in the format of nodes; no field for an empty list, which nodes refuse. */
export function authorizationListOf({ call }: Pick<TraceQuestion, "call">): {
  readonly authorizationList?: unknown;
} {
  const list = call.authorizationList ?? [];
  if (list.length === 0) return {};
  return {
    authorizationList: list.map(({ chainId, address, nonce, yParity, r, s }) => ({
      chainId: toQuantity(chainId),
      address,
      nonce: toQuantity(nonce),
      yParity: toQuantity(yParity),
      // Without leading zeros, which some nodes refuse.
      r: toQuantity(BigInt(r)),
      s: toQuantity(BigInt(s)),
    })),
  };
}

function readHeader(value: unknown): TraceQuestion["block"] & { readonly gasLimit: bigint } {
  const method = "eth_getBlockByNumber";
  if (value === null) throw garbage(method, "the node returned no latest block");
  const fields = fieldsOf(value, method);
  return {
    number: quantityOf(fields["number"], method, "number"),
    hash: hashOf(fields["hash"], method, "hash"),
    gasLimit: quantityOf(fields["gasLimit"], method, "gasLimit"),
  };
}
