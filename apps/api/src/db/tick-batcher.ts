interface Waiter<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches single questions: those of one event-loop turn go together, and while `inFlight` batches run, the
 * next one gathers. A single question does not wait. `answer` returns one answer per question, in order; if
 * it throws, the whole batch fails.
 */
export function tickBatcher<Question, Answer>(
  answer: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { inFlight, maxBatch }: { inFlight: number; maxBatch: number },
): (question: Question) => Promise<Answer> {
  const waiting: Waiter<Question, Answer>[] = [];
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= inFlight || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void flush();
    });
  }

  async function flush(): Promise<void> {
    const batch = waiting.splice(0, maxBatch);
    running++;
    try {
      const answers = await answer(batch.map((waiter) => waiter.question));
      if (answers.length !== batch.length)
        throw new Error(`invariant violated: ${answers.length} answers to ${batch.length} questions`);
      for (const [index, waiter] of batch.entries()) waiter.resolve(answers[index] as Answer);
    } catch (error) {
      for (const waiter of batch) waiter.reject(error);
    } finally {
      running--;
      schedule();
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      schedule();
    });
}
