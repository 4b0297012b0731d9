// Writes docs/LIFECYCLE.md from the state machine itself; `--check` only says whether the committed page still tells the truth.
import { readFile, writeFile } from "node:fs/promises";
import { decide, fundsAt, nextAction, publicStatus, quotedState, requestStates } from "@causeway/domain";
import type { Decision, Effect, RequestEvent, RequestKind, RequestState, StateName } from "@causeway/domain";
import { format } from "oxfmt";

const PAGE = new URL("../docs/LIFECYCLE.md", import.meta.url);
const DEPOSIT = "1";
const OTHER_DEPOSIT = "2";

/** One example of every event, with the words a reader knows it by. */
const events: readonly { readonly label: string; readonly event: RequestEvent }[] = [
  seen("deposit seen, matching, confirmed", { confirmed: true }),
  seen("deposit seen, matching, not yet confirmed", { confirmed: false }),
  seen("deposit seen, matching, after the deadline", { late: true }),
  seen("deposit seen, not as agreed, signed by the user", {
    verdict: { kind: "mismatch", reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", byUser: true },
  }),
  seen("deposit seen, not as agreed, signed by a stranger", {
    verdict: { kind: "mismatch", reason: "DEPOSIT_ADDRESS_MISMATCH", byUser: false },
  }),
  seen("a further deposit seen", { depositId: OTHER_DEPOSIT }),
  { label: "deposit confirmed", event: { kind: "depositConfirmed", depositId: DEPOSIT } },
  seen("a matching deposit seen, in place of one that vanished", {
    depositId: OTHER_DEPOSIT,
    replaces: true,
  }),
  {
    label: "deposit moved into a younger block by a reorg",
    event: { kind: "depositUnconfirmed", depositId: DEPOSIT },
  },
  { label: "deposit taken back by a reorg", event: { kind: "depositRemoved", depositId: DEPOSIT } },
  { label: "fill planned (nonce given)", event: { kind: "fillPlanned" } },
  { label: "fill broadcast", event: { kind: "fillBroadcast" } },
  { label: "fill mined", event: { kind: "fillMined" } },
  { label: "fill fallen out of the chain", event: { kind: "fillUnmined" } },
  { label: "fill beyond reorgs", event: { kind: "fillFinal" } },
  {
    label: "fill's nonce dead (reverted or used up), beyond reorgs",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", depositGone: false },
  },
  {
    label: "the same, because prices moved away from what it exchanges",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", depositGone: false, again: true },
  },
  {
    label: "the same, while no block holds the deposit any more",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", depositGone: true },
  },
  {
    label: "fill impossible (price, recipient, inventory, deadline, attestation)",
    event: { kind: "fillImpossible", reason: "SLIPPAGE" },
  },
  { label: "same-chain payment mined", event: { kind: "sendMined" } },
  { label: "same-chain payment fallen out of the chain", event: { kind: "sendUnmined" } },
  { label: "same-chain payment beyond reorgs", event: { kind: "sendFinal" } },
  { label: "refund mined", event: { kind: "refundMined", depositId: DEPOSIT } },
  { label: "refund fallen out of the chain", event: { kind: "refundUnmined", depositId: DEPOSIT } },
  { label: "refund beyond reorgs", event: { kind: "refundFinal", depositId: DEPOSIT } },
  {
    label: "refund impossible",
    event: { kind: "refundImpossible", depositId: DEPOSIT, reason: "AMOUNT_TOO_LOW_TO_REFUND" },
  },
  {
    label: "refund released by the operator",
    event: { kind: "refundReleased", depositId: DEPOSIT },
  },
  { label: "call accepted (an app pays for it)", event: { kind: "executionAccepted" } },
  { label: "call mined", event: { kind: "executionMined" } },
  { label: "call mined without effect", event: { kind: "executionReverted", reason: "EXECUTION_REVERTED" } },
  { label: "call fallen out of the chain", event: { kind: "executionUnmined" } },
  { label: "call beyond reorgs", event: { kind: "executionFinal" } },
  {
    label: "call never mined, or without effect beyond reorgs",
    event: { kind: "executionDead", reason: "TRANSACTION_NOT_INCLUDED" },
  },
  { label: "fast fill accepted (an app vouches)", event: { kind: "fastFillAccepted" } },
  { label: "deposit of a fast fill overdue", event: { kind: "frontOverdue" } },
  { label: "deadline passed", event: { kind: "deadlinePassed" } },
];

function seen(
  label: string,
  change: Partial<Extract<RequestEvent, { kind: "depositSeen" }>>,
): { label: string; event: RequestEvent } {
  const event = {
    kind: "depositSeen",
    depositId: DEPOSIT,
    verdict: { kind: "match" },
    confirmed: true,
    late: false,
  } as const;
  return { label, event: { ...event, ...change } };
}

type Row = { readonly name: StateName; readonly state: RequestState };

const withoutDeposit: readonly StateName[] = ["quoted", "accepted", "depositing", "expired"];

function stateNamed(name: StateName, kind: RequestKind): RequestState {
  const hasDeposit = kind === "bridge" && !withoutDeposit.includes(name);
  return { ...quotedState(kind), name, depositId: hasDeposit ? DEPOSIT : undefined };
}

/** The states that only a fast fill knows: a fill without a deposit that waits for nothing. */
function frontedStates(): Row[] {
  const states = (["fillable", "filling", "submitted", "filled"] as const).flatMap((name) => {
    const held: RequestState = { ...quotedState("bridge"), name, front: "held" };
    return [
      held,
      { ...held, depositId: DEPOSIT },
      { ...held, depositId: DEPOSIT, front: "covered" as const },
    ];
  });
  const final: RequestState = { ...quotedState("bridge"), name: "filled", front: "held", final: true };
  const covered: RequestState = { ...final, depositId: DEPOSIT, front: "covered" };
  return [...states, final, covered, { ...final, front: "debited" as const }].map((state) => ({
    name: state.name,
    state,
  }));
}

function page(): string {
  const states = requestStates.map((name) => {
    const state = stateNamed(name, "bridge");
    return `| \`${name}\` | \`${publicStatus(state)}\` | \`${fundsAt(state)}\` | \`${nextAction(state)}\` |`;
  });
  return `<!-- Generated from packages/domain/src/request by scripts/lifecycle-docs.ts; do not edit. -->

# Life of a request

The state machine is one pure function, \`decide(state, event)\`. It answers with the next state and with what must happen because of it; both are committed together.
An event that changes nothing in a state (a duplicate, or one that comes late) is left out below.

## States

| State | Clients see | Money is at | Next |
| --- | --- | --- | --- |
${states.join("\n")}

A bridge is \`final\` when its fill or refund lies deeper than any reorg that the chain's configuration reckons with; until then the same signed bytes are kept and sent again if a reorg drops them.

While a request waits for the money of a deposit address, what lies there counts: money that is being confirmed or moved shows \`depositing\` at \`depositAddress\`, next \`wait_for_confirmations\`; money that
nobody can be sent shows \`waiting\` at \`depositAddress\`, next \`contact_operator\`. An expired request shows \`failure\` with the same place and next step.

## Picture

\`\`\`mermaid
stateDiagram-v2
  [*] --> quoted
${edges().join("\n")}
\`\`\`

## Transitions of a bridge

${table(rowsOf("bridge", requestStates))}

## Fast fills

An app vouches for the deposit: a hold stands on its balance (\`held\`) until the deposit is confirmed (\`covered\`); when it never comes, the app pays (\`debited\`).

${table(frontedStates())}

## Transitions of a same-chain send or swap

The user pays the recipient by a transaction of his own; the service only watches.

${table(rowsOf("send", ["quoted", "filled", "expired"]))}

## Transitions of a call that an app pays for

${table(rowsOf("call", ["quoted", "accepted", "filled", "failed", "expired"]))}
`;
}

function rowsOf(kind: RequestKind, names: readonly StateName[]): Row[] {
  return names.map((name) => ({ name, state: stateNamed(name, kind) }));
}

function table(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ state }) =>
    events
      .map(({ label, event }) => ({ label, decision: decide(state, event) }))
      .filter(({ decision }) => decision.kind === "applied")
      .map(({ label, decision }) => row(state, label, decision)),
  );
  return ["| In | When | Then | And |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

function wordsOf(state: RequestState): string {
  if (state.front === "none") return `\`${state.name}\``;
  const deposit = state.depositId === undefined ? "no deposit" : "deposit seen";
  return `\`${state.name}\`${state.final ? ", final" : ""}, ${state.front}, ${deposit}`;
}

function row(state: RequestState, label: string, decision: Decision): string {
  if (decision.kind !== "applied") throw new Error("only applied decisions have a row");
  const { next, effects } = decision;
  const from = wordsOf(state);
  const to =
    next.name === state.name && next.front === "none" ? (next.final ? "final" : "stays") : wordsOf(next);
  const reasons = [next.failReason, next.refundFailReason].filter((reason) => reason !== undefined);
  const words = [...effects.map(effectWords), ...reasons.map((reason) => `\`${reason}\``)];
  return `| ${from} | ${label} | ${to} | ${words.join("; ")} |`;
}

function effectWords(effect: Effect): string {
  switch (effect.kind) {
    case "fill":
      return "fill is queued";
    case "acceptDeposit":
      return "the deposit is taken";
    case "releaseHold":
      return "the hold is released";
    case "reinstateHold":
      return "the hold stands again";
    case "debitHold":
      return "the app is debited for good";
    case "returnHold":
      return "the app gets the debit back";
    case "refundDeposit":
      return `refund of that deposit is queued (\`${effect.reason}\`)`;
    default:
      return effect satisfies never;
  }
}

function edges(): string[] {
  const found = new Set<string>();
  for (const name of requestStates)
    for (const { event } of events) {
      const decision = decide(stateNamed(name, "bridge"), event);
      if (decision.kind === "applied" && decision.next.name !== name)
        found.add(`  ${name} --> ${decision.next.name}: ${event.kind}`);
    }
  return [...found];
}

const { code: text } = await format("LIFECYCLE.md", page(), { printWidth: 110 });
if (process.argv.includes("--check")) {
  const committed = await readFile(PAGE, "utf8").catch(() => "");
  if (committed !== text) {
    process.stderr.write(
      "docs/LIFECYCLE.md does not tell what the state machine does; run `pnpm run lifecycle-docs`\n",
    );
    process.exitCode = 1;
  }
} else {
  await writeFile(PAGE, text);
}
