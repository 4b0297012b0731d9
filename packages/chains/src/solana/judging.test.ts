import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Hex32 } from "@causeway/domain";
import { nativeCurrency, RpcFault, type EvidenceSource, type PaymentQuestion } from "@causeway/families";
import {
  depositoryAccounts,
  depositsIn,
  eventsOf,
  judgePayments,
  readTransaction,
  solana,
  neededTokenAccounts,
  vaultKey,
  type TransactionFacts,
  encodeSolanaTransferRequest,
} from "@causeway/families/solana";
import { endpointEvidence } from "../evidence-source.ts";
import { solanaEndpoint } from "./evidence.ts";

// Judges a node's answers about real transactions of a virtual machine, and the same answers with parts
// changed or omitted.

interface Recorded {
  readonly program: string;
  readonly user: string;
  readonly depositor: string;
  readonly paid: readonly [string, string];
  readonly token: Minted;
  readonly feeToken: Minted;
  readonly vaultAccounts: { readonly token: string; readonly feeToken: string };
  readonly transactions: Readonly<Record<string, { readonly signature: string; readonly answer: unknown }>>;
}
interface Minted {
  readonly mint: string;
  readonly tokenProgram: string;
}

const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, "fixtures/recorded.json"), "utf8"),
) as Recorded;
const { user, token, feeToken, depositor, paid } = recorded;
const pdas = await depositoryAccounts(recorded.program);
const NATIVE = nativeCurrency("solana-vm");
const id = (byte: number): Hex32 => `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;
const vaultAccounts = new Map([
  [vaultKey(token.mint, token.tokenProgram), recorded.vaultAccounts.token],
  [vaultKey(feeToken.mint, feeToken.tokenProgram), recorded.vaultAccounts.feeToken],
]);

type Answer = Record<string, unknown> & { meta: Record<string, unknown> };

function facts(name: string, change: (answer: Answer) => unknown = (answer) => answer): TransactionFacts {
  const { signature, answer } = recorded.transactions[name] ?? { signature: "", answer: null };
  const facts = readTransaction(change(structuredClone(answer) as Answer), signature);
  if (facts === undefined) throw new Error(`nothing was recorded of ${name}`);
  return { ...facts, timestamp: facts.blockTime ?? 0n };
}

const read = (transaction: TransactionFacts) => {
  const reading = depositsIn(pdas, vaultAccounts, transaction);
  if (reading.kind !== "read") throw new Error(reading.kind);
  return reading.deposits.map(({ index, depositor: depositorAddress, currency, amount, depositId }) => [
    index,
    depositorAddress,
    currency,
    amount,
    depositId,
  ]);
};

test("judges deposits of lamports, of tokens, of tokens with a fee, and through another program", () => {
  expect(read(facts("native"))).toEqual([["0", user, NATIVE, 5_000_000n, id(1)]]);
  expect(read(facts("token"))).toEqual([["0", user, token.mint, 5_000_000n, id(2)]]);
  expect(read(facts("tokenWithFee"))).toEqual([["0", user, feeToken.mint, 4_950_000n, id(3)]]);
  // In execution order, numbered with the transaction's own instructions first.
  expect(read(facts("forwarded"))).toEqual([
    ["2", depositor, token.mint, 7n, id(4)],
    ["1", user, NATIVE, 9n, id(5)],
  ]);
});

test("plain transfers to the vault are deposits of the received amount, without an id", () => {
  expect(read(facts("directLamports"))).toEqual([["0", user, NATIVE, 11n, undefined]]);
  expect(read(facts("directTokensWithFee"))).toEqual([["0", user, feeToken.mint, 990n, undefined]]);
});

test("neither an execution of the depository nor a payment by the solver is a deposit", () => {
  expect(read(facts("execution"))).toEqual([]);
  expect(read(facts("payment"))).toEqual([]);
});

test("requests every mint whose vault account is needed", () => {
  expect(neededTokenAccounts(pdas, facts("tokenWithFee"))).toEqual([
    { mint: feeToken.mint, tokenProgram: feeToken.tokenProgram },
  ]);
  expect(neededTokenAccounts(pdas, facts("directTokensWithFee"))).toHaveLength(1);
  expect(neededTokenAccounts(pdas, facts("payment"))).toEqual([]);
});

test("ignores a deposit into an account that is not the vault's own", () => {
  const elsewhere = new Map([[vaultKey(token.mint, token.tokenProgram), recorded.vaultAccounts.feeToken]]);
  expect(depositsIn(pdas, elsewhere, facts("token"))).toEqual({ kind: "read", deposits: [] });
  expect(depositsIn({ ...pdas, vault: pdas.depository }, vaultAccounts, facts("native"))).toEqual({
    kind: "read",
    deposits: [],
  });
});

const expectFault = (action: () => unknown): void => {
  expect(action).toThrow(RpcFault);
};

test("omitted or added data is the node's fault, never a verdict", () => {
  const meta =
    (change: Record<string, unknown>) =>
    (answer: Answer): Answer => ({ ...answer, meta: { ...answer.meta, ...change } });
  const logs = (recorded.transactions["token"] as { answer: Answer }).answer.meta["logMessages"] as string[];
  const noEvent = logs.filter((line) => !line.startsWith("Program data: "));
  expectFault(() => read(facts("token", meta({ logMessages: noEvent }))));
  expectFault(() => read(facts("token", meta({ logMessages: [...logs, ...logs] }))));
  expectFault(() => read(facts("token", meta({ logMessages: logs.slice(1) }))));
  expectFault(() => read(facts("token", meta({ logMessages: null }))));
  expectFault(() => read(facts("token", meta({ innerInstructions: null }))));
  expectFault(() => read(facts("forwarded", meta({ innerInstructions: [] }))));
  expectFault(() => facts("token", meta({ preBalances: [] })));
  expectFault(() => facts("token", meta({ preTokenBalances: null })));
  expectFault(() =>
    facts("token", ({ meta: { err: _, ...rest }, ...answer }) => ({ ...answer, meta: rest })),
  );
  expectFault(() => facts("token", (answer) => ({ ...answer, slot: -1 })));
  expectFault(() => facts("token", () => recorded.transactions["native"]?.answer));
  expectFault(() => facts("token", (answer) => ({ ...answer, transaction: ["AAAA", "base64"] })));
  // Without it, the earlier balance would count as sent now.
  expectFault(() => read(facts("directTokensWithFee", meta({ preTokenBalances: [] }))));
  expectFault(() =>
    read(facts("directTokensWithFee", meta({ preTokenBalances: [], postTokenBalances: [] }))),
  );
});

test("decides nothing if the node truncated the logs", () => {
  const cut = facts("tokenWithFee", (answer) => ({
    ...answer,
    meta: {
      ...answer.meta,
      logMessages: [...(answer.meta["logMessages"] as string[]).slice(0, 3), "Log truncated"],
    },
  }));
  expect(depositsIn(pdas, vaultAccounts, cut)).toEqual({ kind: "logsCut" });
});

test("counts a deposit without transfer fee even if the node truncated the logs", () => {
  const cut =
    (lines: number) =>
    (answer: Answer): Answer => ({
      ...answer,
      meta: {
        ...answer.meta,
        logMessages: [...(answer.meta["logMessages"] as string[]).slice(0, lines), "Log truncated"],
      },
    });
  for (const name of ["native", "token", "forwarded"])
    for (const lines of [0, 3]) expect(read(facts(name, cut(lines)))).toEqual(read(facts(name)));
  // A deposit into another account than the vault's is ignored, with or without logs.
  const elsewhere = new Map([[vaultKey(token.mint, token.tokenProgram), recorded.vaultAccounts.feeToken]]);
  const none = { kind: "read", deposits: [] };
  expect(depositsIn(pdas, elsewhere, facts("token", cut(0)))).toEqual(none);
});

test("ignores log lines of other programs that imitate the depository", () => {
  const event = Buffer.from("an event").toString("base64");
  const otherProgram = "Other1111111111111111111111111111111111111";
  const eventsIn = (...lines: string[]) => eventsOf(pdas.program, lines);
  const begin = (program: string, depth: number) => `Program ${program} invoke [${depth}]`;
  expect(
    eventsIn(begin(pdas.program, 1), `Program data: ${event}`, `Program ${pdas.program} success`),
  ).toHaveLength(1);
  expect(
    eventsIn(begin(otherProgram, 1), `Program data: ${event}`, `Program ${otherProgram} success`),
  ).toEqual([]);
  expect(
    eventsIn(
      begin(pdas.program, 1),
      begin(otherProgram, 2),
      `Program data: ${event}`,
      `Program ${otherProgram} success`,
      `Program ${pdas.program} success`,
    ),
  ).toEqual([]);
  expect(
    eventsIn(
      begin(otherProgram, 1),
      `Program log: Program ${pdas.program} invoke [1]`,
      `Program data: ${event}`,
      `Program ${otherProgram} success`,
    ),
  ).toEqual([]);
});

const question = (fields: Partial<PaymentQuestion> = {}): PaymentQuestion => ({
  orderId: id(6),
  solver: `0x${"50".repeat(20)}`,
  deadline: 4_000_000_000,
  extraData: "0x",
  receipts: [{ recipient: paid[0], currency: token.mint }],
  calls: [],
  ...fields,
});

test("counts each recipient's increase in lamports and tokens", () => {
  const receipts = [
    { recipient: paid[0], currency: token.mint },
    { recipient: paid[1], currency: NATIVE },
    { recipient: paid[0], currency: NATIVE },
    { recipient: paid[1], currency: token.mint },
  ];
  expect(judgePayments([pdas], facts("payment"), question({ receipts }))).toEqual({
    amounts: [5_000_000n, 3_000_000n, 0n, 0n],
  });
});

test("refuses payments that are late, for another order, from or to a depository, and orders with calls", () => {
  const refusal = (fields: Partial<PaymentQuestion>, name = "payment"): unknown =>
    judgePayments([pdas], facts(name), question(fields));
  const { timestamp } = facts("payment");
  expect(refusal({ deadline: Number(timestamp) })).toHaveProperty("amounts");
  expect(refusal({ deadline: Number(timestamp) - 1 })).toHaveProperty("refusal");
  expect(refusal({ orderId: id(7) })).toHaveProperty("refusal");
  expect(refusal({ calls: ["0x01"] })).toHaveProperty("refusal");
  expect(refusal({ receipts: [{ recipient: pdas.vault, currency: NATIVE }] })).toHaveProperty("refusal");
  // Someone executed the recipient's own withdrawal and added the order id.
  const receipts = [{ recipient: depositor, currency: NATIVE }];
  expect(refusal({ orderId: id(7), receipts }, "execution")).toHaveProperty("refusal");
  expect(() =>
    refusal({
      receipts: [
        { recipient: paid[0], currency: NATIVE },
        { recipient: paid[0], currency: NATIVE },
      ],
    }),
  ).toThrow(RangeError);
});

test("refuses a transaction that names its order twice, with another order, or within other text", () => {
  const honest = facts("payment");
  const memo = honest.instructions.find(({ program }) => program.startsWith("Memo"));
  if (memo === undefined) throw new Error("no memo was recorded");
  const judgeMemos = (...texts: string[]): unknown => {
    const memos = texts.map((text) => ({ ...memo, data: new TextEncoder().encode(text) }));
    const instructions = [...honest.instructions.filter((instruction) => instruction !== memo), ...memos];
    return judgePayments([pdas], { ...honest, instructions }, question());
  };
  expect(judgeMemos(id(6))).toHaveProperty("amounts");
  expect(judgeMemos("thanks", id(6), "bye")).toHaveProperty("amounts");
  for (const texts of [
    [],
    [id(6), id(6)],
    [id(6), id(7)],
    [id(7), id(6)],
    [id(6), id(7).slice(2).toUpperCase()],
    [`${id(6)} ${id(7)}`],
    [`${id(6)} `],
    [id(6).toUpperCase()],
  ])
    expect(judgeMemos(...texts), texts.join()).toHaveProperty("refusal");
});

test("does not count a deposit as a payment, regardless of what its depositor gains", () => {
  const honest = facts("payment");
  const judge = (changes: Partial<TransactionFacts>): unknown =>
    judgePayments([pdas], { ...honest, ...changes }, question());
  const refused = { refusal: "transaction pays a depository, so it is a deposit" };
  expect(judge({})).toHaveProperty("amounts");
  const called = facts("native").instructions.filter(({ program }) => program === pdas.program);
  expect(called).toHaveLength(1);
  expect(judge({ instructions: [...honest.instructions, ...called] })).toEqual(refused);
  const lamports = new Map([...honest.lamports, [pdas.vault as string, { before: 5n, after: 6n }]]);
  expect(judge({ lamports })).toEqual(refused);
  const ofVault = { mint: token.mint, owner: pdas.vault, program: token.tokenProgram };
  for (const before of [undefined, { ...ofVault, amount: 1n }]) {
    const vaultTokens = { account: recorded.vaultAccounts.token, before, after: { ...ofVault, amount: 2n } };
    expect(judge({ tokens: [...honest.tokens, vaultTokens] })).toEqual(refused);
  }
  // An instruction that only reads the vault changes nothing.
  expect(
    judge({ lamports: new Map([...honest.lamports, [pdas.vault as string, { before: 5n, after: 5n }]]) }),
  ).toEqual(judge({}));
});

test("does not count a trade, a claim or a distribution that a program pays to the recipient", () => {
  const honest = facts("payment");
  const receipts = [
    { recipient: paid[0], currency: token.mint },
    { recipient: paid[1], currency: NATIVE },
  ];
  const judge = (instructions: TransactionFacts["instructions"]): unknown =>
    judgePayments([pdas], { ...honest, instructions }, question({ receipts }));
  expect(judge(honest.instructions)).toEqual({ amounts: [5_000_000n, 3_000_000n] });
  // The same funds, moved by any program that the transaction called.
  const market = { index: 99, isTopLevel: true, program: pdas.vault, accounts: [], data: new Uint8Array() };
  const byProgram = honest.instructions.map((instruction) =>
    instruction.program.startsWith("Memo") ? instruction : { ...instruction, isTopLevel: false },
  );
  expect(judge(byProgram)).toEqual({ amounts: [0n, 0n] });
  expect(judge([market, ...byProgram])).toHaveProperty("refusal");
  // A market that sells the recipient's tokens and then checks that the accompanying transfer paid for them.
  expect(judge([market, ...honest.instructions, market])).toEqual({
    refusal: `transaction calls ${market.program}; a fill may contain only transfers, memos and new accounts`,
  });
});

test("counts at most the transfers to the recipient if the balance grows by more", () => {
  const honest = facts("payment");
  const lamports = new Map([...honest.lamports, [paid[1], { before: 0n, after: 9_000_000n }]]);
  const receipts = [{ recipient: paid[1], currency: NATIVE }];
  expect(judgePayments([pdas], { ...honest, lamports }, question({ receipts }))).toEqual({
    amounts: [3_000_000n],
  });
});

test("a transaction that the recipient signed is the recipient's own, not a fill", () => {
  const honest = facts("payment");
  expect(judgePayments([pdas], { ...honest, signers: [...honest.signers, paid[0]] }, question())).toEqual({
    refusal: "recipient signed the transaction, so it is not a solver payment",
  });
});

test("does not read an omitted balance as zero", () => {
  const without =
    (field: "preTokenBalances" | "postTokenBalances", owner: string) =>
    (answer: Answer): Answer => ({
      ...answer,
      meta: {
        ...answer.meta,
        [field]: (answer.meta[field] as { owner: string }[]).filter((entry) => entry.owner !== owner),
      },
    });
  const solver = (recorded as unknown as { solver: string }).solver;
  const judge = (transaction: TransactionFacts, paymentQuestion: PaymentQuestion) =>
    judgePayments([pdas], { ...transaction, signers: [] }, paymentQuestion);
  const paymentQuestion = question({ receipts: [{ recipient: solver, currency: token.mint }] });
  expect(judge(facts("payment"), paymentQuestion)).toEqual({ amounts: [0n] });
  expectFault(() => judge(facts("payment", without("preTokenBalances", solver)), paymentQuestion));
  expectFault(() => judge(facts("payment", without("postTokenBalances", solver)), paymentQuestion));
});

test("a balance too large for an exact number does not hide another deposit, and is not guessed", () => {
  const rich = (answer: Answer): Answer => ({
    ...answer,
    meta: {
      ...answer.meta,
      preBalances: (answer.meta["preBalances"] as number[]).map(() => 2 ** 60),
      postBalances: (answer.meta["postBalances"] as number[]).map(() => 2 ** 60 + 4096),
    },
  });
  expect(read(facts("native", rich))).toHaveLength(1);
  const receipts = [{ recipient: paid[1], currency: NATIVE }];
  expectFault(() => judgePayments([pdas], facts("payment", rich), question({ receipts })));
});

test("an account that changed its owner in the transaction does not count as a payment", () => {
  const { solver } = recorded as unknown as { readonly solver: string };
  const honest = facts("payment");
  const handedOver = honest.tokens.map((holding) =>
    holding.before?.owner === solver && holding.after !== undefined
      ? { ...holding, after: { ...holding.after, owner: paid[0], amount: holding.before.amount + 1n } }
      : holding,
  );
  expect(handedOver).not.toEqual(honest.tokens);
  const judgment = judgePayments([pdas], { ...honest, tokens: handedOver }, question());
  expect(judgment).toEqual({ refusal: "owner of a token account changed in the transaction" });
});

describe("after the depository was replaced", () => {
  const currentProgram = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
  const accountOf = (owner: string, hex: string, length: number) => {
    const data = Buffer.alloc(length);
    data.write(hex, "hex");
    return { owner, lamports: 1n, data: Uint8Array.from(data) };
  };
  const clock = Buffer.alloc(40);
  clock.writeBigInt64LE(2_000n, 32);
  const sourceOf = (
    transaction: TransactionFacts,
    depository: string,
    former: readonly string[],
  ): EvidenceSource =>
    endpointEvidence(
      {
        name: "solana",
        vmType: "solana-vm",
        rpcUrls: ["http://127.0.0.1:1"],
        rpcQuorum: 1,
        depository,
        additionalDepositories: former,
        hubChainId: "5005",
        evm: undefined,
        solana: { genesisHash: undefined },
      },
      solana,
      solanaEndpoint({
        transaction: async () => ({ kind: "final", value: transaction }),
        accounts: async ([account]) => ({
          slot: 1n,
          accounts: [
            accountOf(account === pdas.depository ? pdas.program : currentProgram, "80359cbdf353f56b", 106),
            undefined,
            {
              owner: "Sysvar1111111111111111111111111111111111111",
              lamports: 1n,
              data: Uint8Array.from(clock),
            },
          ],
        }),
        finalSlot: async () => 1n,
        signaturesOf: async () => [],
        close: async () => undefined,
      }),
    );

  test.each(["native", "token", "tokenWithFee", "forwarded", "directLamports"])(
    "attests a deposit to the former depository: %s",
    async (name) => {
      const transaction = facts(name);
      const signature = recorded.transactions[name]?.signature ?? "";
      const former = await sourceOf(transaction, recorded.program, []).deposits(signature);
      const replaced = await sourceOf(transaction, currentProgram, [recorded.program]).deposits(signature);
      expect(replaced).toEqual(former);
      expect(replaced).toMatchObject({ value: { depository: recorded.program } });
      expect(read(transaction).length).toBeGreaterThan(0);
    },
  );

  test("looks up a withdrawal at the depository whose vault it names", async () => {
    const source = sourceOf(facts("payment"), currentProgram, [recorded.program]);
    const payloadFrom = (vaultAddress: string) =>
      encodeSolanaTransferRequest({
        domain: id(17),
        recipient: user,
        token: NATIVE,
        amount: 5n,
        nonce: 1n,
        expiration: 1_000n,
        vaultAddress,
      });
    for (const { program, vault } of [pdas, await depositoryAccounts(currentProgram)])
      expect(await source.withdrawal(payloadFrom(vault), undefined)).toMatchObject({
        value: { status: "expired", depository: program },
      });
    expect(await source.withdrawal(payloadFrom(user), undefined)).toMatchObject({ kind: "refuted" });
  });
});
