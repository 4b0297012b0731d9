import type { BroadcastOutcome, ChainWriter } from "@causeway/families/evm";
import { agreedOn, askAll, type Electorate } from "../nodes/ask-all.ts";

/** One endpoint, which is sent to alone. */
export interface WritingEndpoint {
  readonly writer: ChainWriter;
}

/** The outcomes that one endpoint proves: it has the bytes. */
const TAKEN: readonly BroadcastOutcome["kind"][] = ["accepted", "alreadyKnown"];
/** The others that give up nothing, the one that says most first. */
const OTHERS: readonly BroadcastOutcome["kind"][] = ["nonceTooLow", "underpriced", "insufficientFunds"];

/**
 * Sends signed bytes to all endpoints at once. It is over when the first one has them; the others still get
 * them. Only a quorum of refusals rejects the bytes for good, since that cancels a payment.
 */
export function quorumWriter<E extends WritingEndpoint>(electorate: Electorate<E>): ChainWriter {
  return {
    broadcast: async (raw) =>
      await askAll<E, BroadcastOutcome, BroadcastOutcome>(
        // One endpoint that has the bytes decides, even if no other one answers.
        { ...electorate, quorum: 1 },
        {
          question: "eth_sendRawTransaction",
          read: async ({ writer }) => await writer.broadcast(raw),
          decide: (answers, isComplete) => {
            const firstOf = (kinds: readonly BroadcastOutcome["kind"][]): BroadcastOutcome | undefined =>
              kinds
                .map((kind) => answers.find(({ value }) => value.kind === kind)?.value)
                .find((value) => value !== undefined);
            const taken = firstOf(TAKEN);
            if (taken !== undefined) return { value: taken };
            if (!isComplete) return undefined;
            const other = firstOf(OTHERS);
            if (other !== undefined) return { value: other };
            const rejected = agreedOn(answers, electorate.quorum, ({ kind }) => kind);
            return rejected === undefined ? undefined : { value: rejected };
          },
        },
      ),
  };
}
