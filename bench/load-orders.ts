/** One HTTP request to send; `path` includes the query. */
export interface LoadRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

/** What the load tool has to send. It repeats the requests in turn. */
export type LoadOrder =
  | {
      readonly kind: "load";
      readonly url: string;
      readonly requests: readonly LoadRequest[];
      readonly connections: number;
      readonly seconds: number;
    }
  /** One at a time on one connection. */
  | {
      readonly kind: "singles";
      readonly url: string;
      readonly requests: readonly LoadRequest[];
      readonly count: number;
    }
  /** This many requests at a time, each on its own connection; reports the time of each answer. */
  | {
      readonly kind: "concurrent";
      readonly url: string;
      readonly requests: readonly LoadRequest[];
      readonly connections: number;
      readonly seconds: number;
    };

export interface LoadResult {
  /** Answers with status 200. */
  readonly answered: number;
  /** Answers per second. */
  readonly rate: number;
  /** Bytes of an answer on the wire, including its head. */
  readonly bytesPerAnswer: number;
}

export interface SinglesResult {
  /** From sending a request to the end of its answer. */
  readonly tookMs: readonly number[];
}

/** The load tool's answers. */
export type LoadReport =
  | { readonly kind: "done"; readonly result: LoadResult | SinglesResult }
  /** An answer was not 200, or missing. */
  | { readonly kind: "failed"; readonly reason: string };
