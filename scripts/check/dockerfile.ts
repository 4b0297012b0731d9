/** One instruction of a Dockerfile, continuation lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** A stage: from one `FROM` to the next. */
export interface Stage {
  /** Its name after `AS`; empty for a stage without one. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile, in order, without comments. */
export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  const instructions = lines
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => /^([A-Z]+)\s+(.*)$/.exec(line.trim()))
    .filter((match) => match !== null)
    .map((match) => ({ name: match[1] ?? "", text: match[2] ?? "" }));
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    if (instruction.name === "FROM")
      stages.push({ name: /\sAS\s+(\S+)/i.exec(instruction.text)?.[1] ?? "", instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** The common first instructions of all stages: an engine runs them once for all stages. */
export function commonInstructions(stages: readonly (readonly Instruction[])[]): readonly Instruction[] {
  const [first = [], ...others] = stages;
  const end = first.findIndex(({ name, text }, index) =>
    others.some((stage) => stage[index]?.name !== name || stage[index]?.text !== text),
  );
  return end === -1 ? first : first.slice(0, end);
}

/**
 * Whether a .dockerignore of the form used here (a leading `*`, `!path` to include, `**\/pattern` to
 * exclude at any depth) includes a path.
 */
export function isInContext(path: string, ignoreText: string): boolean {
  const lines = ignoreText.split("\n").map((line) => line.trim());
  const letIn = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const leftOut = lines.filter((line) => line.startsWith("**/")).map((line) => globOf(line.slice(3)));
  const parts = path.split("/");
  return (
    letIn.some((folder) => `${path}/`.startsWith(`${folder}/`)) &&
    !parts.some((part) => leftOut.some((glob) => glob.test(part)))
  );
}

function globOf(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
}
