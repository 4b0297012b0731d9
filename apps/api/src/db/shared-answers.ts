/**
 * Answers equal questions once: those that arrive during the first one share its answer, as do those of the
 * next `keptMs`. Failures are shared only while in progress. Keeps at most `limit` answers. For questions
 * that callers can ask without limit and that are expensive to answer.
 */
export function sharedAnswers<Answer>(
  { keptMs, limit }: { readonly keptMs: number; readonly limit: number },
  // Monotonic: a wall clock that is set back would keep an answer until it has caught up.
  nowMs: () => number = () => performance.now(),
): (key: string, answer: () => Promise<Answer>) => Promise<Answer> {
  const entries = new Map<string, { readonly answer: Promise<Answer>; doneAtMs: number | undefined }>();

  return (key, answer) => {
    const entry = entries.get(key);
    if (entry !== undefined && (entry.doneAtMs === undefined || nowMs() - entry.doneAtMs < keptMs))
      return entry.answer;
    const fresh: { readonly answer: Promise<Answer>; doneAtMs: number | undefined } = {
      answer: answer(),
      doneAtMs: undefined,
    };
    entries.delete(key);
    entries.set(key, fresh);
    // A map keeps insertion order: the oldest is dropped first.
    const oldest = entries.size > limit ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    fresh.answer.then(
      () => {
        fresh.doneAtMs = nowMs();
      },
      () => {
        if (entries.get(key) === fresh) entries.delete(key);
      },
    );
    return fresh.answer;
  };
}
