// Writes docs/LIFECYCLE.md from the state machine; with `--check` only reports whether the committed page is
// up to date.
import { readFile, writeFile } from "node:fs/promises";
import { decide, fundsAt, nextAction, publicStatus, quotedState, requestStates } from "@causeway/domain";
import type { Effect, RequestEvent, RequestKind, RequestState, StateName } from "@causeway/domain";
import { format } from "oxfmt";

const PAGE = new URL("../docs/LIFECYCLE.md", import.meta.url);
const DEPOSIT = "1";
const OTHER_DEPOSIT = "2";
/** What `outcomeOf` returns if an event changes nothing: two empty cells. */
const UNCHANGED = " | ";
const EXPIRED_BY_DEADLINE = "`expired` (deadline passed)";
const EXPIRED_BY_CALL = "`expired` (call failed)";

/** One example of every event, with its label on the page. */
const events: readonly { readonly label: string; readonly event: RequestEvent }[] = [
  { label: "fast fill accepted", event: { kind: "fastFillAccepted" } },
  { label: "gasless call accepted", event: { kind: "executionAccepted" } },
  { label: "gasless call mined", event: { kind: "executionMined" } },
  { label: "gasless call reorged out", event: { kind: "executionUnmined" } },
  { label: "gasless call final", event: { kind: "executionFinal" } },
  {
    label: "gasless call reverted",
    event: { kind: "executionReverted", reason: "EXECUTION_REVERTED" },
  },
  {
    label: "gasless call dropped, or its revert is final",
    event: { kind: "executionDead", reason: "TRANSACTION_NOT_INCLUDED" },
  },
  { label: "deadline passed", event: { kind: "deadlinePassed" } },
  depositSeenExample("matching deposit seen and confirmed", { confirmed: true }),
  depositSeenExample("matching deposit seen, not yet confirmed", { confirmed: false }),
  depositSeenExample(
    "matching deposit seen after the deadline (for a fast fill: while it can still be settled)",
    {
      late: true,
    },
  ),
  depositSeenExample("matching deposit seen too late to settle the fast fill", { beyondLead: true }),
  depositSeenExample("mismatching deposit seen, made by the user or by the service for the request", {
    verdict: { kind: "mismatch", reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", byUser: true },
  }),
  depositSeenExample("mismatching deposit seen, made by someone else", {
    verdict: { kind: "mismatch", reason: "DEPOSIT_ADDRESS_MISMATCH", byUser: false },
  }),
  depositSeenExample("matching deposit seen while the request has another one", { depositId: OTHER_DEPOSIT }),
  depositSeenExample(
    "matching deposit seen after the request's earlier deposit was orphaned without a refund having been sent",
    {
      depositId: OTHER_DEPOSIT,
      replaces: true,
    },
  ),
  { label: "deposit confirmed", event: { kind: "depositConfirmed", depositId: DEPOSIT } },
  {
    label: "deposit moved to a newer block by a reorg",
    event: { kind: "depositUnconfirmed", depositId: DEPOSIT },
  },
  { label: "deposit reorged out", event: { kind: "depositRemoved", depositId: DEPOSIT } },
  { label: "deposit of a fast fill overdue", event: { kind: "frontOverdue" } },
  { label: "fill planned (nonce reserved)", event: { kind: "fillPlanned" } },
  { label: "fill broadcast", event: { kind: "fillBroadcast" } },
  { label: "fill mined", event: { kind: "fillMined" } },
  { label: "fill reorged out", event: { kind: "fillUnmined" } },
  { label: "fill final", event: { kind: "fillFinal" } },
  {
    label: "fill final without paying: reverted or replaced",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", isDepositOrphaned: false },
  },
  {
    label: "fill final without paying: reverted because pools moved",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", isDepositOrphaned: false, shouldReplan: true },
  },
  {
    label: "fill final without paying, and its deposit orphaned",
    event: { kind: "fillDead", reason: "TRANSACTION_REVERTED", isDepositOrphaned: true },
  },
  {
    label: "fill impossible (price, recipient, inventory, deadline, attestation)",
    event: { kind: "fillImpossible", reason: "SLIPPAGE" },
  },
  { label: "same-chain payment mined", event: { kind: "sendMined" } },
  { label: "same-chain payment reorged out", event: { kind: "sendUnmined" } },
  { label: "same-chain payment final", event: { kind: "sendFinal" } },
  { label: "refund mined", event: { kind: "refundMined", depositId: DEPOSIT } },
  { label: "refund reorged out", event: { kind: "refundUnmined", depositId: DEPOSIT } },
  { label: "refund final", event: { kind: "refundFinal", depositId: DEPOSIT } },
  {
    label: "refund impossible",
    event: { kind: "refundImpossible", depositId: DEPOSIT, reason: "AMOUNT_TOO_LOW_TO_REFUND" },
  },
  { label: "refund released by the operator", event: { kind: "refundReleased", depositId: DEPOSIT } },
];

function depositSeenExample(
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

const withoutDeposit: readonly StateName[] = ["quoted", "accepted", "depositing", "expired"];

function stateNamed(name: StateName, kind: RequestKind): RequestState {
  const hasDeposit = kind === "bridge" && !withoutDeposit.includes(name);
  return {
    ...quotedState(kind),
    name,
    depositId: hasDeposit ? DEPOSIT : undefined,
    failReason: failReasonOf(name, kind),
  };
}

/** Set only where the outcome of an event depends on it. */
function failReasonOf(name: StateName, kind: RequestKind): RequestState["failReason"] {
  if (name === "expired") return "TTL_EXPIRED";
  return name === "failed" && kind === "call" ? "EXECUTION_REVERTED" : undefined;
}

/** Expired because its gasless call failed: unlike after the deadline, it still accepts a deposit. */
const callFailed: RequestState = { ...stateNamed("expired", "bridge"), failReason: "EXECUTION_REVERTED" };

/** The states of a fast fill, which has a hold on an app balance and perhaps no deposit. */
function fastFillStates(): RequestState[] {
  const states = (["fillable", "filling", "submitted", "filled"] as const).flatMap((name) => {
    const held: RequestState = { ...quotedState("bridge"), name, front: "held" };
    return [
      held,
      { ...held, depositId: DEPOSIT },
      { ...held, depositId: DEPOSIT, front: "covered" as const },
    ];
  });
  const final: RequestState = { ...quotedState("bridge"), name: "filled", front: "held", final: true };
  const debited: RequestState = { ...final, front: "debited" };
  const withDeposit = ([final, { ...final, front: "covered" }, debited] as const).map((state) => ({
    ...state,
    depositId: DEPOSIT,
  }));
  return [...states, final, debited, ...withDeposit];
}

/** What each state means; everything else about it is generated. */
const meanings: Readonly<Record<StateName, string>> = {
  quoted: "the quote was returned; no deposit was seen",
  accepted: "a gasless call was accepted and is being broadcast",
  depositing: "the gasless call is mined; its deposit is not indexed yet",
  deposited: "the deposit is waiting for confirmations",
  fillable: "the deposit counts; the fill is queued",
  filling: "the fill has a nonce and is being signed",
  submitted: "the fill was broadcast",
  filled: "the fill is mined",
  refunding: "the refund is queued or broadcast",
  refunded: "the refund is mined",
  failed:
    "the deposit cannot be refunded automatically; for a gasless call without a deposit: the call failed, the money is at `user`, and the next action is `none`",
  expired: "the deadline passed without a deposit, or the gasless call that was to make the deposit failed",
};

function page(): string {
  const states = requestStates.map((name) => {
    const state = stateNamed(name, "bridge");
    return `| \`${name}\` | ${meanings[name]} | \`${publicStatus(state)}\` | \`${fundsAt(state)}\` | \`${nextAction(state)}\` |`;
  });
  return `<!-- Generated from packages/domain/src/request by scripts/lifecycle-docs.ts; do not edit. -->

# Life cycle of a request

One pure function, \`decide(state, event)\`, returns the next state and the effects. Both are committed together. The diagram shows requests that are paid by a deposit. The table under [Events](#events) also covers same-chain payments and gasless calls without a deposit.

\`\`\`mermaid
stateDiagram-v2
  [*] --> quoted
${edges().join("\n")}
\`\`\`

## States

The table shows requests that are paid by a deposit. A fast fill whose deposit has not arrived shows the money at \`user\` until it is \`filled\`. For same-chain payments the next action in \`quoted\` is \`send_payment\`. After the deadline, \`quoted\` shows \`quote_again\`.

| State | Meaning | Status | Money is at | Next action |
| --- | --- | --- | --- | --- |
${states.join("\n")}

- A request is \`final\` once its fill, refund, same-chain payment or gasless call without a deposit is [final](GLOSSARY.md#finality) on its chain. Until then the service keeps each transaction that it signed and broadcasts it again if a reorg drops it. A request that becomes \`failed\` because its deposit cannot be refunded automatically, or because its gasless call was dropped, is shown as \`final\` at once; only a release by the operator or another deposit can still change it.
- While a [deposit address](GLOSSARY.md#deposit-address) holds money that is being confirmed or swept, the status is \`depositing\`, the money is at \`depositAddress\`, and the next action is \`wait_for_confirmations\`. Money there that cannot be returned shows \`waiting\` and \`contact_operator\`. In both cases an expired request shows the status \`failure\` instead, with the same place and next action (\`wait_for_confirmations\` or \`contact_operator\`).
- Neither the user nor the operator can cancel a request. Without a deposit it expires; with one it is filled, refunded or \`failed\`.
- A [fast fill](GLOSSARY.md#fast-fill) is \`held\` while a hold on the app balance covers it, \`covered\` once its deposit is confirmed, and \`debited\` once the app paid because the deposit never arrived.

## Events

A mark after a state limits the row to some requests. Marks can be combined, as in (held, no deposit).

| Mark | The row is for |
| --- | --- |
| none | requests that are paid by a deposit, and fast fills that the same event does not list with a mark |
| (send) | same-chain payments by the user |
| (call) | gasless calls without a deposit |
| (held), (covered), (debited) | fast fills in this [condition](#states) |
| (no deposit) | fast fills whose deposit was not seen; without this mark, it was |
| (final) | fast fills whose fill is final |
| (deadline passed), (call failed) | requests that expired for this reason |

How to read the next table:

- An event that is not listed for a state, such as a duplicate, has no effects and does not change the state. It may only change whether a fast fill has a deposit, and whether it is held or covered.
- An empty "Next state" means that the state does not change. "final" means that it does not change, but becomes final.
- An empty "Effects" means that the change has no effects. "none" means that nothing changes for these states, unlike for those of the row above.
- An event that can have several reasons is shown with one of them.
- Some rows cannot occur in practice. They show what \`decide\` would return.

| Event | In state | Next state | Effects |
| --- | --- | --- | --- |
${events.flatMap(({ label, event }) => rowsOf(label, event)).join("\n")}
`;
}

const ordinaryStates: readonly RequestState[] = [
  ...requestStates.map((name) => stateNamed(name, "bridge")),
  callFailed,
  ...(["quoted", "filled", "expired"] as const).map((name) => stateNamed(name, "send")),
  ...(["quoted", "accepted", "filled", "failed", "expired"] as const).map((name) => stateNamed(name, "call")),
];

/**
 * The rows of one event: one for all states that it changes in the same way, with the same effects. A state
 * of a fast fill is named only where it differs from the ordinary one.
 */
function rowsOf(label: string, event: RequestEvent): readonly string[] {
  const ordinary = ordinaryStates
    .filter((state) => canMeet(state, event))
    .map((state) => ({ name: nameOf(state), outcome: outcomeOf(state, event) }))
    .filter(({ outcome }) => outcome !== UNCHANGED);
  const ordinaryOutcomes = new Map(ordinary.map(({ name, outcome }) => [name, outcome]));
  const ofFastFills = fastFillStates()
    .filter((state) => canMeet(state, event))
    .flatMap((state) => {
      const outcome = outcomeOf(state, event);
      if (outcome === (ordinaryOutcomes.get(nameOf(state)) ?? UNCHANGED)) return [];
      // Without a deposit, or once final, most events cannot happen.
      if (outcome === UNCHANGED && (state.final || state.depositId === undefined)) return [];
      return [{ name: fastFillName(state), outcome }];
    });
  const groups = new Map<string, Set<string>>();
  for (const { name, outcome } of [...ordinary, ...ofFastFills])
    groups.set(outcome, (groups.get(outcome) ?? new Set()).add(name));
  return [...groups].map(
    ([outcome, names], index) =>
      `| ${index === 0 ? label : ""} | ${listOf(names)} | ${outcome === UNCHANGED ? " | none" : outcome} |`,
  );
}

/**
 * Whether an event can occur in a state. Only a request with a deposit can get another, and only a fast
 * fill without one can get it too late to settle.
 */
function canMeet(state: RequestState, event: RequestEvent): boolean {
  if (event.kind !== "depositSeen") return true;
  if (event.beyondLead === true) return state.front !== "none" && state.depositId === undefined;
  return event.depositId !== OTHER_DEPOSIT || state.depositId !== undefined;
}

/** Shortens a list of names that covers every state of a kind. */
function listOf(names: ReadonlySet<string>): string {
  const withoutDeposits = ordinaryStates.filter(({ kind }) => kind !== "bridge").map(nameOf);
  const shortNames = [
    { all: [EXPIRED_BY_DEADLINE, EXPIRED_BY_CALL], name: "`expired`" },
    { all: withoutDeposits, name: "any state (send) or (call)" },
  ].filter(({ all }) => all.every((name) => names.has(name)));
  const listed = [...names].map((name) => shortNames.find(({ all }) => all.includes(name))?.name ?? name);
  return [...new Set(listed)].join(", ");
}

/** The cells "Next state", empty if the state does not change, and "Effects". */
function outcomeOf(state: RequestState, event: RequestEvent): string {
  const decision = decide(state, event);
  if (decision.kind !== "applied") return UNCHANGED;
  const { next, effects } = decision;
  const to = next.name === state.name ? (next.final && !state.final ? "final" : "") : `\`${next.name}\``;
  const texts = effects.map(effectText);
  const reasons = (["failReason", "refundFailReason"] as const)
    .filter((field) => next[field] !== state[field] || "reason" in event)
    .flatMap((field) => next[field] ?? [])
    .filter((reason) => to !== "" && !texts.some((text) => text.includes(reason)))
    .map((reason) => `reason \`${reason}\``);
  return `${to} | ${[...texts, ...reasons].join("; ")}`;
}

function fastFillName(state: RequestState): string {
  const marks = [
    state.front,
    ...(state.depositId === undefined ? ["no deposit"] : []),
    ...(state.final ? ["final"] : []),
  ];
  return `${nameOf(state)} (${marks.join(", ")})`;
}

function nameOf({ name, kind, failReason }: RequestState): string {
  if (kind !== "bridge") return `\`${name}\` (${kind})`;
  if (name !== "expired") return `\`${name}\``;
  return failReason === callFailed.failReason ? EXPIRED_BY_CALL : EXPIRED_BY_DEADLINE;
}

function effectText(effect: Effect): string {
  switch (effect.kind) {
    case "fill":
      return "queue the fill";
    case "acceptDeposit":
      return "accept the deposit";
    case "releaseHold":
      return "release the hold";
    case "reinstateHold":
      return "reinstate the hold";
    case "debitHold":
      return "debit the app balance";
    case "returnHold":
      return "reverse the debit";
    case "refundDeposit":
      return `queue the deposit's refund (\`${effect.reason}\`)`;
    default:
      return effect satisfies never;
  }
}

function edges(): string[] {
  const kindsByEdge = new Map<string, Set<string>>();
  for (const state of ordinaryStates.filter(({ kind }) => kind === "bridge"))
    for (const { event } of events) {
      const decision = decide(state, event);
      if (decision.kind !== "applied" || decision.next.name === state.name) continue;
      const edge = `${state.name} --> ${decision.next.name}`;
      kindsByEdge.set(edge, (kindsByEdge.get(edge) ?? new Set()).add(event.kind));
    }
  return [...kindsByEdge].map(([edge, kinds]) => `  ${edge}: ${[...kinds].join(", ")}`);
}

const { code: text } = await format("LIFECYCLE.md", page(), { printWidth: 100, proseWrap: "always" });
if (process.argv.includes("--check")) {
  const committed = await readFile(PAGE, "utf8").catch(() => "");
  if (committed !== text) {
    process.stderr.write("docs/LIFECYCLE.md is out of date: run `pnpm run lifecycle-docs`\n");
    process.exitCode = 1;
  }
} else {
  await writeFile(PAGE, text);
}
