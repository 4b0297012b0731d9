import { decodeErrorResult } from "viem";
import type { Hex } from "@causeway/domain";
import type { BroadcastOutcome, SimulationOutcome } from "@causeway/families/evm";
import { NO_REVERT_DATA, NodeRefusal, RpcFault, saysRateLimit } from "@causeway/families";

/**
 * The only place that interprets error codes and texts of nodes. Known dialects: anvil, geth (and its
 * descendants), erigon, nethermind, reth, besu, OpenEthereum. Nodes agree only on code 3 (revert with data),
 * so texts decide.
 */

/**
 * geth and descendants ("already known"; op-geth also "already exists"), erigon, OpenEthereum ("already
 * imported"), Nethermind, Besu ("known transaction").
 */
const alreadyKnown =
  /already ?known|^already exists\s*$|already imported|known transaction|already in (?:the )?(?:pool|mempool)|same hash was already/i;
/**
 * geth and reth, OpenEthereum ("nonce is too low"), Nethermind ("OldNonce"), Besu ("below sender account
 * nonce").
 */
const nonceTooLow =
  /nonce (?:is )?too low|OldNonce|nonce has already been used|nonce (?:is )?below (?:current|sender)/i;
/**
 * geth; Bor and BSC ("gas tip cap 1, minimum needed"), OpenEthereum ("gas price is too low"), Nethermind,
 * Besu ("PRICE_TOO_LOW"), EthereumJS ("replacement gas too low"), Arbitrum.
 */
const underpriced =
  /underpriced|could not replace existing|ReplacementNotAllowed|replacement gas too low|fee ?too ?low|gas ?price (?:is )?too low|price_too_low|gas tip cap \d+, minimum needed|max ?fee ?per ?gas (?:is )?less than (?:the )?block base fee|less than block base fee|gas price below (?:the )?(?:configured )?minimum/i;
/**
 * geth, Nethermind, Hardhat ("doesn't have enough funds"), Besu ("upfront cost"), OpenEthereum ("lack of
 * funds"), EthereumJS ("enough balance to cover").
 */
const insufficientFunds =
  /insufficient ?(?:funds|balance)|insufficient (?:MaxFeePerGas for )?sender balance|(?:doesn't|does not) have enough (?:funds|balance to cover)|upfront.cost.exceeds.(?:account.)?balance|sender balance too low|Lack of funds/i;
/**
 * Gas limits above the cap of EIP-7825: reth and EDR ("greater than the cap"), Nethermind, Besu ("must be at
 * most"). geth's wording is part of the following expression.
 */
const overGasCap =
  /gas limit .{0,24}greater than the cap|TxGasLimitCapExceeded|TxGasLimitGreaterThanCap|gas limit must be at most/i;
/** Refusals of the transaction itself, which resending cannot fix. */
const permanentlyRefused =
  /intrinsic gas|exceeds block gas limit|gas limit too high|exceeds (?:the )?(?:block|transaction) gas limit|gas limit is (?:too high|exceed)|invalid sender|invalid signature|invalid transaction v, r, s|chain ?id|\brlp\b|failed to decode|decode signed transaction|oversized data|max initcode size|initcode size|priority fee (?:per gas )?higher than max fee|max ?priority ?fee ?per ?gas higher|exceeds the configured cap|transaction type not supported|unsupported transaction type|sender not an EOA|sender is not an EOA|SenderIsContract|TxGasLimitExceeded|GasLimitExceeded|MalformedTransaction|floor data gas/i;
/**
 * The signer of an included authorization has a pending transaction, or ours would exceed the limit for such
 * an account. The condition is temporary, but the signer controls when it ends, and all later transactions of
 * the lane would wait.
 */
const blockedByAuthority = /authority (?:is )?already reserved|in-?flight transaction limit reached/i;

/** Reads the refusal of `eth_sendRawTransaction`; undefined if it proves nothing about these bytes. */
export function broadcastOutcomeOf(refusal: NodeRefusal): BroadcastOutcome | undefined {
  const text = `${refusal.nodeText} ${textIn(refusal.nodeData)}`;
  if (alreadyKnown.test(text)) return { kind: "alreadyKnown" };
  if (nonceTooLow.test(text)) return { kind: "nonceTooLow" };
  if (insufficientFunds.test(text)) return { kind: "insufficientFunds" };
  if (underpriced.test(text)) return { kind: "underpriced" };
  if (permanentlyRefused.test(text) || overGasCap.test(text) || blockedByAuthority.test(text))
    return { kind: "rejected", reason: refusal.nodeText };
  return undefined;
}

const revertText =
  /execution reverted|\brevert(?:ed)?\b|VM execution error|always failing transaction|transaction (?:execution )?failed/i;
/** The call failed in the EVM itself, which is as final as a revert, but without data. */
const machineFailure =
  /invalid opcode|InvalidFEOpcode|OpcodeNotFound|NotActivated|bad instruction|invalid jump|InvalidJump|stack (?:under|over)flow|Stack(?:Under|Over)flow|out of gas|OutOfGas|gas required exceeds allowance|gas too low|BasicOutOfGas|EVM error|create collision|contract address collision|max code size|write protection|precompile/i;

/** Reads the refusal of `eth_estimateGas` or `eth_call`; undefined if the node did not run the call. */
export function simulationOutcomeOf(refusal: NodeRefusal): SimulationOutcome | undefined {
  const text = `${refusal.nodeText} ${textIn(refusal.nodeData)}`;
  const data = revertDataOf(refusal);
  if (data !== NO_REVERT_DATA) return { kind: "reverts", data, reason: revertReason(data, refusal.nodeText) };
  // A revert may quote "insufficient balance" of a token, so the revert is checked first.
  if (refusal.nodeCode === 3 || revertText.test(text)) {
    return { kind: "reverts", data, reason: revertReason(data, refusal.nodeText) };
  }
  if (insufficientFunds.test(text)) return { kind: "insufficientFunds" };
  if (machineFailure.test(text)) return { kind: "reverts", data, reason: refusal.nodeText };
  return undefined;
}

/** The revert data of a contract; `0x` if the refusal contains none. */
export function revertDataOf(refusal: NodeRefusal): Hex {
  return hexIn(refusal.nodeData, 0) ?? hexInText(refusal.nodeText) ?? NO_REVERT_DATA;
}

/** True if the node refuses a log query because of its size, so that a smaller range may succeed. */
export function isRangeTooLarge(refusal: NodeRefusal): boolean {
  if (isRateLimit(refusal)) return false;
  return /more than \d+ (?:results|logs)|too many (?:results|logs|blocks)|(?:block )?range.{0,40}(?:too (?:large|wide|big)|exceed|limit|greater|less than)|exceed.{0,30}(?:block )?range|max(?:imum)? (?:block )?range|response (?:size )?(?:is )?too (?:big|large)|response size (?:exceed|should)|query (?:timeout|exceeds)|limit(?:ed)? to .{0,20}(?:blocks|logs|results)|max results/i.test(
    refusal.nodeText,
  );
}

/**
 * True if a log query about several blocks may succeed with fewer. Providers change the wording of their
 * limits, so every refusal counts except rate limits, unknown blocks and missing methods.
 */
export function mayPassInParts(error: unknown): boolean {
  if (isTooLarge(error)) return true;
  if (!(error instanceof NodeRefusal) || error.method !== "eth_getLogs") return false;
  return !isRateLimit(error) && !isUnknownBlock(error) && !isMethodMissing(error);
}

/** True if an answer exceeds the node's size limit or ours. */
export function isTooLarge(error: unknown): boolean {
  if (error instanceof NodeRefusal) return isRangeTooLarge(error);
  return error instanceof RpcFault && error.kind === "tooLarge";
}

/** True if an answer does not arrive before the deadline. */
export function isLate(error: unknown): boolean {
  return error instanceof RpcFault && error.kind === "deadline";
}

/**
 * geth, reth, erigon, Nethermind ("could not be found"), EDR ("invalid block tag"), Infura ("one of the
 * blocks specified").
 */
const unknownBlock =
  /header (?:for hash )?not found|unknown block|block (?:\S+ )?(?:not found|could not be found)|blocks specified in filter .*cannot be found|block range extends beyond|invalid block (?:range params|tag)|missing trie node|BlockOutOfRange|block is out of range|state (?:is )?not available|(?:no|missing) state|resource not found|cannot query unfinalized/i;

/** True if the node does not have the block that a read was pinned to (not yet, or no longer). */
export function isUnknownBlock(refusal: NodeRefusal): boolean {
  return unknownBlock.test(refusal.nodeText);
}

/** True if the node does not support the method. */
export function isMethodMissing(refusal: NodeRefusal): boolean {
  return (
    refusal.nodeCode === -32601 ||
    /method (?:\S+ )?(?:not found|does not exist|not available|is not supported)|unsupported method/i.test(
      refusal.nodeText,
    )
  );
}

/** True if the node denies us the method: tracing is often disabled or sold separately. */
export function isTracingRefused(refusal: NodeRefusal): boolean {
  if (isRateLimit(refusal) || isUnknownBlock(refusal)) return false;
  // EthereumJS has no tracers ("not implemented"); the others depend on providers' plans and settings.
  return /not (?:enabled|allowed|permitted|supported|available|whitelisted|authorized|implemented)|disabled|unauthorized|forbidden|unsupported|upgrade|(?:paid|higher|this|free).{0,20}(?:plan|tier)/i.test(
    refusal.nodeText,
  );
}

/** True if the chain does not (yet) support transactions with authorizations (EIP-7702). */
export function isTypeRefused(refusal: NodeRefusal): boolean {
  return /transaction type (?:is )?not supported|unsupported transaction type|(?:7702|set.?code|authorization.?list).{0,60}(?:not (?:yet )?(?:supported|enabled|activated?|allowed)|unsupported)/i.test(
    refusal.nodeText,
  );
}

/** True if the gas limit does not even cover the transaction's intrinsic gas. */
export function isBelowIntrinsicGas(refusal: NodeRefusal): boolean {
  return /intrinsic gas|CallGasCostMoreThanGasLimit|GasFloorMoreThanGasLimit|floor data gas/i.test(
    refusal.nodeText,
  );
}

/** True if the node refuses because of too many calls. */
export function isRateLimit({ nodeCode: code, nodeText: message, nodeData: data }: NodeRefusal): boolean {
  return saysRateLimit({ code, message, data });
}

/**
 * Finds the node's own answer inside any error, ours or viem's, at any depth.
 *
 * viem's RPC errors carry `code`, `details` and `data` as own fields on the innermost cause.
 */
export function nodeRefusalIn(error: unknown): NodeRefusal | undefined {
  let refusal: NodeRefusal | undefined;
  const seen = new Set<unknown>();
  for (let current = error; typeof current === "object" && current !== null && !seen.has(current);) {
    seen.add(current);
    if (current instanceof NodeRefusal) return current;
    const { code, details, data, cause } = current as Record<string, unknown>;
    if (typeof code === "number" && typeof details === "string") {
      refusal = new NodeRefusal({ method: "unknown", nodeCode: code, nodeText: details, nodeData: data });
    }
    current = cause;
  }
  return refusal;
}

/**
 * A readable reason for revert data: the text of Error(string), the meaning of Panic(uint256), otherwise the
 * selector.
 */
export function revertReason(data: Hex, nodeText = "execution reverted"): string {
  if (data === NO_REVERT_DATA) return nodeText;
  const selector = data.slice(0, 10);
  if (selector !== "0x08c379a0" && selector !== "0x4e487b71") return `reverted with custom error ${selector}`;
  try {
    const decoded = decodeErrorResult({ abi: standardErrors, data });
    if (decoded.errorName === "Error") return decoded.args[0];
    const code = decoded.args[0];
    return `panic 0x${code.toString(16)}: ${panicMeanings.get(code) ?? "unknown panic"}`;
  } catch {
    // Contracts may revert with any bytes, including malformed standard errors.
    return `reverted with undecodable data ${selector}`;
  }
}

const standardErrors = [
  { type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] },
  { type: "error", name: "Panic", inputs: [{ name: "code", type: "uint256" }] },
] as const;

/** Solidity documentation, "Panic via assert and Error via require". */
const panicMeanings: ReadonlyMap<bigint, string> = new Map([
  [0x01n, "assertion failed"],
  [0x11n, "arithmetic overflow or underflow"],
  [0x12n, "division or modulo by zero"],
  [0x21n, "value is out of range for the enum"],
  [0x22n, "invalid encoding of a storage byte array"],
  [0x31n, "pop on an empty array"],
  [0x32n, "array index out of bounds"],
  [0x41n, "too much memory allocated"],
  [0x51n, "call of a zero-initialized function pointer"],
]);

/** geth: a hex string; OpenEthereum and nethermind: "Reverted 0x…"; some proxies nest it once or twice. */
function hexIn(data: unknown, depth: number): Hex | undefined {
  if (typeof data === "string") return hexInText(data);
  if (typeof data !== "object" || data === null || depth > 2) return undefined;
  const { data: inner, output, result } = data as Record<string, unknown>;
  return hexIn(inner, depth + 1) ?? hexIn(output, depth + 1) ?? hexIn(result, depth + 1);
}

/** The text itself, or the hex after `data:`; any other hex may be an address or a hash. */
function hexInText(text: string): Hex | undefined {
  const whole = /^(?:Reverted )?(0x(?:[0-9a-f]{2})+)$/i.exec(text)?.[1];
  const quoted = /data: "?(0x(?:[0-9a-f]{2})+)"?/i.exec(text)?.[1];
  const hex = (whole ?? quoted)?.toLowerCase();
  return hex === undefined ? undefined : (hex as Hex);
}

function textIn(data: unknown): string {
  return typeof data === "string" && !data.startsWith("0x") ? data : "";
}

/**
 * True if another endpoint may succeed: this one is down, late or rate-limited, lacks the block, or does not
 * support the method. Any other refusal is the answer.
 */
export function mayPassElsewhere(fault: unknown): boolean {
  if (!(fault instanceof NodeRefusal)) return fault instanceof RpcFault;
  return fault.isPause || isUnknownBlock(fault) || isMethodMissing(fault) || isTracingRefused(fault);
}
