import { registerHooks } from "node:module";

// Run by itself with modules to import as arguments: prints the URLs of all modules that were loaded for
// them.

const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url);
    return nextLoad(url, context);
  },
});
for (const path of process.argv.slice(2)) await import(path);
// Whatever a module keeps open is not asked for here.
process.stdout.write(JSON.stringify([...loaded]), () => process.exit());
