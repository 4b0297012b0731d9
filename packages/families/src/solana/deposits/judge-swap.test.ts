import { bytesOf, type Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { encodeWith } from "../../address-codec.ts";
import type { AccountFact } from "../answers/transaction-facts.ts";
import { judgeSwap, type ProposedSwap, type SwapTerms, writtenAccounts } from "./judge-swap.ts";
import { solanaCodec } from "../address-codec.ts";
import type { PlainInstruction } from "../payments/plain-instruction.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../answers/programs.ts";

const JUPITER = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";
/** Addresses that are easy to tell apart: 31 ones and one distinct letter. */
const key = (letter: string): string => `${"1".repeat(31)}${letter}`;
const [user, thief, mintIn, mintOut, tokensIn, tokensOut, vaultIn, vaultOut, savings] = "ABCDEFGHJ"
  .split("")
  .map(key) as [string, string, string, string, string, string, string, string, string];

const terms: SwapTerms = {
  user,
  programs: [JUPITER],
  input: { mint: mintIn, tokenProgram: TOKEN_PROGRAM, account: tokensIn },
  output: { mint: mintOut, tokenProgram: TOKEN_PROGRAM, account: tokensOut },
  maxInput: 1_000_000n,
  minOutput: 995_000n,
};

const plain = (pubkey: string) => ({ pubkey, isSigner: false, isWritable: false });
const writable = (pubkey: string) => ({ pubkey, isSigner: false, isWritable: true });
const signer = (pubkey: string) => ({ pubkey, isSigner: true, isWritable: false });

interface Numbers {
  readonly name?: string;
  /** In hex, like `plan` and `after`. */
  readonly id?: string;
  readonly plan?: string;
  readonly first?: bigint;
  readonly second?: bigint;
  readonly slippageBps?: number;
  readonly after?: string;
}

const ROUTE = "e517cb977ae3ad2a";
/** A route of the whole input through one pool of Raydium. */
const STEP = "07640001";

function swapData({
  name = ROUTE,
  id = "",
  plan = `01000000${STEP}`,
  first = 1_000_000n,
  second = 1_000_000n,
  slippageBps = 50,
  after = "",
}: Numbers): Hex {
  const numbers = Buffer.alloc(19);
  numbers.writeBigUInt64LE(first, 0);
  numbers.writeBigUInt64LE(second, 8);
  numbers.writeUInt16LE(slippageBps, 16);
  return `0x${name}${id}${plan}${numbers.toString("hex")}${after}`;
}

const pools = [writable(vaultIn), writable(vaultOut)];
function route(numbers: Numbers = {}): PlainInstruction {
  return {
    programId: JUPITER,
    keys: [
      plain(TOKEN_PROGRAM),
      signer(user),
      writable(tokensIn),
      writable(tokensOut),
      plain(JUPITER),
      plain(mintOut),
      plain(JUPITER),
      ...pools,
    ],
    data: swapData(numbers),
  };
}

/** A shared-accounts route: the program's token accounts sit between the user's. */
function sharedRoute(numbers: Numbers = {}): PlainInstruction {
  return {
    programId: JUPITER,
    keys: [
      plain(TOKEN_PROGRAM),
      plain(key("K")),
      signer(user),
      writable(tokensIn),
      ...pools,
      writable(tokensOut),
      plain(mintIn),
      plain(mintOut),
      plain(JUPITER),
    ],
    data: swapData({ name: "c1209b3341d69c81", id: "01", ...numbers }),
  };
}

function exactOutRoute(numbers: Numbers): PlainInstruction {
  const { keys } = route();
  return {
    programId: JUPITER,
    keys: [...keys.slice(0, 5), plain(mintIn), ...keys.slice(5)],
    data: swapData({ name: "d033ef977b2bed5c", ...numbers }),
  };
}

const budget = (data: Hex): PlainInstruction => ({ programId: COMPUTE_BUDGET_PROGRAM, keys: [], data });
const createTokens = (account: string, mint: string, wallet = user, payer = user): PlainInstruction => ({
  programId: ASSOCIATED_TOKEN_PROGRAM,
  keys: [
    { pubkey: payer, isSigner: true, isWritable: true },
    writable(account),
    plain(wallet),
    plain(mint),
    plain(SYSTEM_PROGRAM),
    plain(TOKEN_PROGRAM),
  ],
  data: "0x01",
});

const honest: ProposedSwap = {
  computeBudget: [budget("0x02400d0300"), budget("0x03e803000000000000")],
  setup: [createTokens(tokensOut, mintOut)],
  swap: route(),
  others: [],
  lookupTables: [key("T")],
};

interface TokenAccountFields {
  readonly owner?: string;
  readonly delegate?: string;
  readonly closer?: string;
  readonly program?: string;
}
function tokenAccount({
  owner = thief,
  delegate,
  closer,
  program = TOKEN_PROGRAM,
}: TokenAccountFields): AccountFact {
  const data = new Uint8Array(165);
  const put = (offset: number, account: string | undefined): void => {
    if (account !== undefined) data.set(bytesOf(encodeWith(solanaCodec, account)), offset);
  };
  put(32, owner);
  put(76, delegate);
  put(133, closer);
  return { owner: program, lamports: 2_039_280n, data };
}

const judge = (change: Partial<ProposedSwap>, accountStates: Record<string, AccountFact> = {}) =>
  judgeSwap(terms, { ...honest, ...change }, new Map(Object.entries(accountStates)));

test("accepts a swap of at most the offered input for at least the deposited output", () => {
  expect(judge({})).toEqual({ units: 200_000 });
  expect(judge({ swap: sharedRoute() })).toEqual({ units: 200_000 });
  expect(judge({ swap: exactOutRoute({ first: 995_000n, second: 995_000n }) })).toEqual({ units: 200_000 });
  expect(judge({ computeBudget: [], setup: [] })).toEqual({ units: 1_400_000 });
  expect(judge({}, { [vaultIn]: tokenAccount({}), [vaultOut]: tokenAccount({}) })).toEqual({
    units: 200_000,
  });
});

test("names the accounts that a swap writes to, each once", () => {
  const swap = { ...route(), keys: [...route().keys, writable(vaultIn), plain(thief)] };
  expect(writtenAccounts({ swap })).toEqual([tokensIn, tokensOut, vaultIn, vaultOut]);
});

const extra = (...keys: PlainInstruction["keys"]): Partial<ProposedSwap> => ({
  swap: { ...route(), keys: [...route().keys, ...keys] },
});
const withKey = (place: number, pubkey: string, instruction = route()): Partial<ProposedSwap> => ({
  swap: {
    ...instruction,
    keys: instruction.keys.map((accountMeta, index) =>
      index === place ? { ...accountMeta, pubkey } : accountMeta,
    ),
  },
});
const token = (data: Hex): PlainInstruction => ({
  programId: TOKEN_PROGRAM,
  keys: [writable(tokensIn), plain(thief), signer(user)],
  data,
});
const sendSol: PlainInstruction = {
  programId: SYSTEM_PROGRAM,
  keys: [{ pubkey: user, isSigner: true, isWritable: true }, writable(thief)],
  data: "0x020000000100000000000000",
};

const attacks: readonly (readonly [
  attack: string,
  change: Partial<ProposedSwap>,
  reason: string,
  accountStates?: Record<string, AccountFact>,
])[] = [
  ["takes more than the input", { swap: route({ first: 1_000_001n }) }, "at most 1000000 are offered"],
  [
    "takes more than the input for an exact output",
    { swap: exactOutRoute({ first: 995_000n, second: 995_025n }) },
    "a swap of 1000001 base units",
  ],
  [
    "may bring less than is deposited",
    { swap: route({ slippageBps: 51 }) },
    "minimum output is 994900 base units",
  ],
  [
    "quotes less than is deposited",
    { swap: route({ second: 999_999n }) },
    "minimum output is 994999 base units",
  ],
  [
    "brings less than an exact output",
    { swap: exactOutRoute({ first: 994_999n, second: 900_000n }) },
    "minimum output is 994999 base units",
  ],
  ["has a slippage above 100%", { swap: route({ slippageBps: 10_001 }) }, "not a swap with known amounts"],
  [
    "appends acceptable numbers to its own",
    { swap: route({ second: 0n, slippageBps: 10_000, after: swapData({ name: "", plan: "" }).slice(2) }) },
    "a swap with 19 bytes after its amounts",
  ],
  ["has a byte after its numbers", { swap: sharedRoute({ after: "00" }) }, "a swap with 1 bytes after"],
  [
    "routes through an unknown pool",
    { swap: route({ plan: "01000000c8640001" }) },
    "unknown kind of pool, tag 200",
  ],
  [
    "has too many steps",
    { swap: exactOutRoute({ plan: `11000000${STEP.repeat(17)}` }) },
    "a route of 17 steps, 1 to 16 are allowed",
  ],
  ["has no steps", { swap: route({ plan: "00000000" }) }, "a route of 0 steps"],
  [
    "has data too short for amounts",
    { swap: { ...route(), data: `0x${ROUTE}00` } },
    "not a swap with known amounts",
  ],
  [
    "takes whatever the account holds",
    { swap: route({ name: "96564774a75d0e68" }) },
    "not a swap with known amounts",
  ],
  ["calls another program", { swap: { ...route(), programId: thief } }, "not allowed to swap"],
  ["takes another account's tokens", withKey(2, savings), "another account's tokens"],
  ["is signed for another user", withKey(1, thief), "another account's tokens"],
  ["pays another account", withKey(3, thief), "pays another account"],
  ["pays another account through the shared route", withKey(6, thief, sharedRoute()), "pays another account"],
  ["diverts the output", withKey(4, thief), "pays another account"],
  ["pays another token", withKey(5, mintIn), "pays another account or token"],
  ["pays a fee", withKey(6, thief), "pays a fee to a third account"],
  ["needs a second signature", extra(signer(thief)), `requires the signature of ${thief}`],
  ["writes to the user's own account", extra(writable(user)), "writes to the user's account"],
  ["can call the system program", extra(plain(SYSTEM_PROGRAM)), "could move other funds"],
  ["can call the stake program", extra(plain(STAKE_PROGRAM)), "could move other funds"],
  [
    "writes to another token account of the user",
    extra(writable(savings)),
    `writes to ${savings}`,
    { [savings]: tokenAccount({ owner: user }) },
  ],
  [
    "writes to an account that the user may spend from",
    extra(writable(savings)),
    `writes to ${savings}`,
    { [savings]: tokenAccount({ delegate: user }) },
  ],
  [
    "writes to an account that the user may close",
    extra(writable(savings)),
    `writes to ${savings}`,
    { [savings]: tokenAccount({ closer: user }) },
  ],
  ["approves a delegate in its setup", { setup: [token("0x04ffffffffffffffff")] }, "a setup instruction of"],
  ["changes the owner in its setup", { setup: [token("0x0602")] }, "a setup instruction of"],
  ["sends SOL in its setup", { setup: [sendSol] }, "a setup instruction of"],
  ["creates an account of another mint", { setup: [createTokens(savings, thief)] }, "does not need"],
  ["creates an account for another wallet", { setup: [createTokens(tokensOut, mintOut, thief)] }, "not need"],
  [
    "uses the associated token program for something else",
    { setup: [{ ...createTokens(tokensOut, mintOut), data: "0x02" }] },
    "other than the creation",
  ],
  ["closes an account afterwards", { others: [token("0x09")] }, "does not belong to a swap"],
  ["tips someone", { others: [sendSol] }, "does not belong to a swap"],
  ["asks for more heap", { computeBudget: [budget("0x0100000400")] }, "the compute budget"],
  ["hides a program in the compute budget", { computeBudget: [sendSol] }, "the compute budget"],
  [
    "names many lookup tables",
    { lookupTables: "ABCDEFGHJ".split("").map(key) },
    "9 lookup tables, at most 8",
  ],
];

const cases = attacks.map(
  ([attack, change, reason, accountStates = {}]) => [attack, change, reason, accountStates] as const,
);
test.each(cases)("refuses a swap that %s", (_, change, reason, accountStates) => {
  const judged = judge(change, accountStates);
  expect("refusal" in judged ? judged.refusal : judged).toMatch(reason);
});
