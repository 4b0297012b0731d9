import { registerHooks } from "node:module";

// Imports the modules in its arguments, and prints the URLs of all modules that this loaded.

const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url);
    return nextLoad(url, context);
  },
});
for (const path of process.argv.slice(2)) await import(path);
// Exits explicitly, because a module may keep something open.
process.stdout.write(JSON.stringify([...loaded]), () => process.exit());
