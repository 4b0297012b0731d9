// The part of autocannon that the bench uses; the package has no types.
declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  namespace autocannon {
    interface Request {
      method: string;
      path: string;
      body?: string;
      headers?: Record<string, string>;
    }
    interface Client {
      setRequests(requests: Request[]): void;
    }
    interface Options {
      url: string;
      connections: number;
      duration: number;
      sampleInt: number;
      requests: Request[];
      setupClient(client: Client): void;
    }
    interface Result {
      readonly "2xx": number;
      readonly non2xx: number;
      readonly errors: number;
      readonly timeouts: number;
      readonly resets: number;
      readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
      readonly throughput: { readonly total: number };
    }
    type Run = EventEmitter & PromiseLike<Result>;
  }

  function autocannon(options: autocannon.Options): autocannon.Run;
  export = autocannon;
}
