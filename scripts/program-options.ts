/**
 * Reads the options of a program that is started by hand, or exits: `--help` prints the usage and
 * exits with code 0; invalid options print the problem and the usage, and exit with code 2.
 */
export function programOptions<Options>(usage: string, read: (args: readonly string[]) => Options): Options {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(`${usage}\n`);
    return process.exit(0);
  }
  try {
    return read(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
    return process.exit(2);
  }
}
