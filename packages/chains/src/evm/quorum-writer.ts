import type { BroadcastOutcome, ChainWriter } from "@causeway/families/evm";
import { agreedOn, queryAll, type Answer, type Electorate } from "../nodes/query-all.ts";

/** One endpoint's own writer. */
export interface WritingEndpoint {
  readonly writer: ChainWriter;
}

/** Outcomes that prove the endpoint has the bytes. */
const ACCEPTED: readonly BroadcastOutcome["kind"][] = ["accepted", "alreadyKnown"];
/** Outcomes that neither accept nor reject the bytes permanently, the most informative first. */
const UNDECIDED: readonly BroadcastOutcome["kind"][] = ["nonceTooLow", "underpriced", "insufficientFunds"];
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
      let pendingCount = electorate.endpoints.length;
      return await queryAll<E, BroadcastOutcome, BroadcastOutcome>(
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
              pendingCount -= 1;
              if (pendingCount === 0) reportLoneAcceptance(electorate, outcomes);
            }
          },
          decide: (answers, isComplete) => {
            const firstOf = (kinds: readonly BroadcastOutcome["kind"][]): BroadcastOutcome | undefined =>
              kinds
                .map((kind) => answers.find(({ value }) => value.kind === kind)?.value)
                .find((value) => value !== undefined);
            const accepted = firstOf(ACCEPTED);
            if (accepted !== undefined) return { value: accepted };
            if (!isComplete) return undefined;
            const undecided = firstOf(UNDECIDED);
            if (undecided !== undefined) return { value: undecided };
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
  const endpointsToReport = refused.length >= quorum ? accepted : [...accepted, ...refused];
  onDisagreement(
    `${QUESTION} (${first.value.kind})`,
    endpointsToReport.map(({ endpoint }) => endpoint),
  );
}
