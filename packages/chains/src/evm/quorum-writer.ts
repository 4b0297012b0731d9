import type { BroadcastOutcome, ChainWriter } from "@causeway/families/evm";
import { agreedOn, askAll, type Answer, type Electorate } from "../nodes/ask-all.ts";

/** One endpoint by itself. */
export interface WritingEndpoint {
  readonly writer: ChainWriter;
}

/** Outcomes that prove the endpoint has the bytes. */
const ACCEPTED: readonly BroadcastOutcome["kind"][] = ["accepted", "alreadyKnown"];
/** Other outcomes that do not reject the bytes, the most informative first. */
const OTHERS: readonly BroadcastOutcome["kind"][] = ["nonceTooLow", "underpriced", "insufficientFunds"];
/** Outcomes that mean that the endpoint does not have the bytes. */
const REFUSED: readonly BroadcastOutcome["kind"][] = ["rejected", "underpriced", "insufficientFunds"];
const QUESTION = "eth_sendRawTransaction";

/**
 * Sends signed bytes to all endpoints concurrently. Returns when the first endpoint has them; the other
 * endpoints get them too, and are reported if they contradict it. Only a quorum of refusals rejects the
 * bytes permanently, since that cancels a payment.
 */
export function quorumWriter<E extends WritingEndpoint>(electorate: Electorate<E>): ChainWriter {
  return {
    broadcast: async (raw) => {
      const outcomes: Answer<E, BroadcastOutcome>[] = [];
      let open = electorate.endpoints.length;
      return await askAll<E, BroadcastOutcome, BroadcastOutcome>(
        // One endpoint that has the bytes decides, even if no other answers.
        { ...electorate, quorum: 1 },
        {
          question: QUESTION,
          read: async (endpoint) => {
            try {
              const value = await endpoint.writer.broadcast(raw);
              outcomes.push({ endpoint, value });
              return value;
            } finally {
              open -= 1;
              if (open === 0) reportLoneAcceptance(electorate, outcomes);
            }
          },
          decide: (answers, isComplete) => {
            const firstOf = (kinds: readonly BroadcastOutcome["kind"][]): BroadcastOutcome | undefined =>
              kinds
                .map((kind) => answers.find(({ value }) => value.kind === kind)?.value)
                .find((value) => value !== undefined);
            const taken = firstOf(ACCEPTED);
            if (taken !== undefined) return { value: taken };
            if (!isComplete) return undefined;
            const other = firstOf(OTHERS);
            if (other !== undefined) return { value: other };
            const rejected = agreedOn(answers, electorate.quorum, ({ kind }) => kind);
            return rejected === undefined ? undefined : { value: rejected };
          },
        },
      );
    },
  };
}

/**
 * Reports endpoints that accepted bytes which a quorum refused, or all if there is no quorum either way:
 * otherwise, an endpoint that withholds the bytes from the network would hide why the payment is not mined.
 * `nonceTooLow` does not count as a refusal here, since a block may have the bytes.
 */
function reportLoneAcceptance<E>(
  { quorum, onDisagreement }: Electorate<E>,
  outcomes: readonly Answer<E, BroadcastOutcome>[],
): void {
  const accepted = outcomes.filter(({ value }) => ACCEPTED.includes(value.kind));
  const refused = outcomes.filter(({ value }) => REFUSED.includes(value.kind));
  const [first] = refused;
  if (first === undefined || accepted.length === 0 || accepted.length >= quorum) return;
  const named = refused.length >= quorum ? accepted : [...accepted, ...refused];
  onDisagreement(
    `${QUESTION} (${first.value.kind})`,
    named.map(({ endpoint }) => endpoint),
  );
}
