import type { Address, CallFrame, FrameLog, Hex, PlacedLog } from "@causeway/domain";
import { bytesOf, fieldsOf, hashOf, quantityOf, type AccountChange } from "@causeway/families/evm";
import { garbage, RpcFault } from "@causeway/families";

/** Turns the answers of tracing nodes into facts, or throws an {@link RpcFault}. Pure. */

const METHOD = "debug_traceCall";
const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Maximum number of calls and logs in one trace. Users control how many a transaction has. */
export const MAX_FRAMES = 5_000;
/** Maximum call depth of the EVM. */
const MAX_DEPTH = 1_025;

/**
 * Reads the call tree of `callTracer`.
 *
 * @throws RpcFault of kind `tooLarge` when it has more than {@link MAX_FRAMES} calls and logs
 */
export function readCallFrame(value: unknown): CallFrame {
  let remaining = MAX_FRAMES;
  const countEntries = (count: number): void => {
    remaining -= count;
    if (remaining < 0) {
      throw new RpcFault({
        kind: "tooLarge",
        method: METHOD,
        reason: `trace has more than ${MAX_FRAMES} calls and logs`,
      });
    }
  };
  const read = (frame: unknown, depth: number): CallFrame => {
    countEntries(1);
    if (depth > MAX_DEPTH) throw garbage(METHOD, "trace is nested deeper than the EVM allows");
    const fields = fieldsOf(frame, METHOD);
    const { type, error } = fields;
    if (typeof type !== "string") throw garbage(METHOD, "type is missing or malformed");
    if (error !== undefined && typeof error !== "string") throw garbage(METHOD, "error is malformed");
    const logs = listIn(fields, "logs");
    countEntries(logs.length);
    return {
      type,
      from: addressOf(fields["from"], "from"),
      to: isAbsent(fields["to"]) ? undefined : addressOf(fields["to"], "to"),
      input: isAbsent(fields["input"]) ? "0x" : bytesOf(fields["input"], METHOD, "input"),
      output: isAbsent(fields["output"]) ? "0x" : bytesOf(fields["output"], METHOD, "output"),
      gas: quantityOf(fields["gas"], METHOD, "gas"),
      gasUsed: quantityOf(fields["gasUsed"], METHOD, "gasUsed"),
      value: isAbsent(fields["value"]) ? 0n : quantityOf(fields["value"], METHOD, "value"),
      error: error === "" ? undefined : error,
      logs: logs.map(readPlacedLog),
      calls: listIn(fields, "calls").map((call) => read(call, depth + 1)),
    };
  };
  return read(value, 0);
}

function readPlacedLog(value: unknown): PlacedLog {
  const fields = fieldsOf(value, METHOD);
  const position = isAbsent(fields["position"]) ? 0n : quantityOf(fields["position"], METHOD, "position");
  return { ...readFrameLog(value, METHOD), position: Number(position) };
}

/** A log without a position in a block. @throws RpcFault */
export function readFrameLog(value: unknown, method: string): FrameLog {
  const fields = fieldsOf(value, method);
  const topics = listIn(fields, "topics");
  return {
    address: addressOf(fields["address"], "address", method),
    topics: topics.map((topic) => hashOf(topic, method, "topic")),
    data: isAbsent(fields["data"]) ? "0x" : bytesOf(fields["data"], method, "data"),
  };
}

/** Logs of all calls that did not revert, in order of emission. */
export function logsOf(frame: CallFrame): FrameLog[] {
  if (frame.error !== undefined) return [];
  const logs: FrameLog[] = [];
  const frameLogs = frame.logs.toSorted((a, b) => a.position - b.position);
  let next = 0;
  const emitUpTo = (position: number): void => {
    for (let log = frameLogs[next]; log !== undefined && log.position <= position; log = frameLogs[++next]) {
      const { address, topics, data } = log;
      logs.push({ address, topics, data });
    }
  };
  for (const [callIndex, call] of frame.calls.entries()) {
    emitUpTo(callIndex);
    for (const log of logsOf(call)) logs.push(log);
  }
  emitUpTo(Number.POSITIVE_INFINITY);
  return logs;
}

/**
 * Reads the answer of `prestateTracer` with `diffMode`: accounts that changed, by lower-case address.
 *
 * @throws RpcFault
 */
export function readStateDiff(value: unknown): Map<Address, AccountChange> {
  const fields = fieldsOf(value, METHOD);
  const pre = readAccounts(fields["pre"]);
  const post = readAccounts(fields["post"]);
  const changes = new Map<Address, AccountChange>();
  for (const address of new Set([...pre.keys(), ...post.keys()])) {
    const before = pre.get(address);
    const after = post.get(address);
    const balanceBefore = before?.balance ?? 0n;
    const nonceBefore = before?.nonce ?? 0n;
    const codeBefore = before?.code ?? "0x";
    changes.set(address, {
      balanceBefore,
      nonceBefore,
      // An account only in `pre` was deleted; a field that `post` omits did not change.
      balanceAfter: after === undefined ? 0n : (after.balance ?? balanceBefore),
      nonceAfter: after === undefined ? 0n : (after.nonce ?? nonceBefore),
      codeChanged: (after === undefined ? "0x" : (after.code ?? codeBefore)) !== codeBefore,
    });
  }
  return changes;
}

interface DiffAccount {
  readonly balance: bigint | undefined;
  readonly nonce: bigint | undefined;
  readonly code: Hex | undefined;
}

function readAccounts(value: unknown): Map<Address, DiffAccount> {
  const accounts = new Map<Address, DiffAccount>();
  for (const [key, account] of Object.entries(fieldsOf(value, METHOD))) {
    const { balance, nonce, code } = fieldsOf(account, METHOD);
    accounts.set(addressOf(key, "account"), {
      balance: isAbsent(balance) ? undefined : quantityOf(balance, METHOD, "balance"),
      nonce: isAbsent(nonce) ? undefined : nonceOf(nonce),
      code: isAbsent(code) ? undefined : bytesOf(code, METHOD, "code"),
    });
  }
  return accounts;
}

/** This tracer returns a JSON number, unlike all other methods. */
function nonceOf(value: unknown): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  return quantityOf(value, METHOD, "nonce");
}

function addressOf(value: unknown, name: string, method = METHOD): Address {
  if (typeof value !== "string" || !ADDRESS.test(value)) {
    throw garbage(method, `${name} is missing or malformed`);
  }
  return value.toLowerCase() as Address;
}

function listIn(fields: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const value = fields[name];
  if (isAbsent(value)) return [];
  if (!Array.isArray(value)) throw garbage(METHOD, `${name} is not a list`);
  return value;
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
