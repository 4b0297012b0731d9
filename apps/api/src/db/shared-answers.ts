/**
 * Answers equal questions once: those that arrive during the first one share its answer, as do those of the
 * next `keptMs`. Failures are shared only while in progress. Keeps at most `limit` answers. For questions
 * that are cheap to ask, unlimited, and expensive to answer.
 */
export function sharedAnswers<Answer>(
  { keptMs, limit }: { readonly keptMs: number; readonly limit: number },
  // Monotonic: a wall clock that is set back would keep an answer until it has caught up.
  nowMs: () => number = () => performance.now(),
): (key: string, answer: () => Promise<Answer>) => Promise<Answer> {
  const known = new Map<string, { readonly answer: Promise<Answer>; doneAtMs: number | undefined }>();

  return (key, answer) => {
    const entry = known.get(key);
    if (entry !== undefined && (entry.doneAtMs === undefined || nowMs() - entry.doneAtMs < keptMs))
      return entry.answer;
    const fresh: { readonly answer: Promise<Answer>; doneAtMs: number | undefined } = {
      answer: answer(),
      doneAtMs: undefined,
    };
    known.delete(key);
    known.set(key, fresh);
    // A map keeps insertion order: the oldest is dropped first.
    const oldest = known.size > limit ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    fresh.answer.then(
      () => {
        fresh.doneAtMs = nowMs();
      },
      () => {
        if (known.get(key) === fresh) known.delete(key);
      },
    );
    return fresh.answer;
  };
}
