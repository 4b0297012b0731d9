// Writes docs/LIFECYCLE.md from the state machine itself; `--check` only says whether the committed page still tells the truth.
import { readFile, writeFile } from "node:fs/promises";
import { decide, fundsAt, nextAction, publicStatus, quotedState, requestStates } from "@causeway/domain";
import type { Decision, Effect, RequestEvent, RequestState, StateName } from "@causeway/domain";
import { format } from "prettier";

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
    label: "the same, while no block holds the deposit any more",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", depositGone: true },
  },
  {
    label: "fill impossible (price, recipient, inventory, deadline)",
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

function stateNamed(name: StateName, kind: "bridge" | "send"): RequestState {
  const hasDeposit = kind === "bridge" && name !== "quoted" && name !== "expired";
  return { ...quotedState(kind), name, depositId: hasDeposit ? DEPOSIT : undefined };
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

## Picture

\`\`\`mermaid
stateDiagram-v2
  [*] --> quoted
${edges().join("\n")}
\`\`\`

## Transitions of a bridge

${table("bridge")}

## Transitions of a same-chain send

${table("send")}
`;
}

function table(kind: "bridge" | "send"): string {
  const names = kind === "bridge" ? requestStates : (["quoted", "filled", "expired"] as const);
  const rows = names.flatMap((name) =>
    events
      .map(({ label, event }) => ({ label, decision: decide(stateNamed(name, kind), event) }))
      .filter(({ decision }) => decision.kind === "applied")
      .map(({ label, decision }) => row(name, label, decision)),
  );
  return ["| In | When | Then | And |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function row(from: StateName, label: string, decision: Decision): string {
  if (decision.kind !== "applied") throw new Error("only applied decisions have a row");
  const { next, effects } = decision;
  const to = next.name === from ? (next.final ? "final" : "stays") : `\`${next.name}\``;
  const reasons = [next.failReason, next.refundFailReason].filter((reason) => reason !== undefined);
  const words = [...effects.map(effectWords), ...reasons.map((reason) => `\`${reason}\``)];
  return `| \`${from}\` | ${label} | ${to} | ${words.join("; ")} |`;
}

function effectWords(effect: Effect): string {
  switch (effect.kind) {
    case "fill":
      return "fill is queued";
    case "acceptDeposit":
      return "the deposit is taken";
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

const text = await format(page(), { parser: "markdown", printWidth: 110 });
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
