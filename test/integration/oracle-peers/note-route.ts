import type { AttestationRoute, ClaimedSignature } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { keccak256, stringToBytes } from "viem";

/** In these tests oracles attest notes. Each note is signed separately, for a domain. */
export interface NotesAnswer {
  readonly notes: readonly Note[];
  readonly domain: { readonly chainId: string; readonly contract: string };
  /** An explanation, which is not signed. */
  readonly comment?: string;
}

export interface Note {
  /** A canonical decimal number. */
  readonly amount: string;
  /** Lower-case hex. */
  readonly actions: string;
  readonly signatures: readonly { readonly oracle: string; readonly signature: string }[];
}

export const OUR_DOMAIN = { chainId: "31337", contract: `0x${"0c".repeat(20)}` };

export const notesRoute: AttestationRoute<NotesAnswer> = {
  path: "/notes/v1",
  parse: readAnswer,
  unsigned: ({ notes }) => notes.map(({ amount, actions }) => ({ amount, actions })),
  slots: ({ notes, domain }) =>
    notes.map((note) => ({
      digest: digestOf(note),
      domain: `${domain.chainId} ${domain.contract}`,
      signatures: note.signatures.map(({ oracle, signature }) => ({ signer: oracle, signature })),
    })),
  withSignatures: (answer, slots) => ({
    ...answer,
    notes: answer.notes.map((note, index) => ({ ...note, signatures: (slots[index] ?? []).map(toWire) })),
  }),
};

/** The digest that oracles sign for a note. Default: the domain of the local oracle. */
export function digestOf({ amount, actions }: Pick<Note, "amount" | "actions">, domain = OUR_DOMAIN): Hex {
  return keccak256(stringToBytes([domain.chainId, domain.contract, amount, actions].join("|")));
}

function toWire({ signer, signature }: ClaimedSignature): Note["signatures"][number] {
  return { oracle: signer, signature };
}

function readAnswer(json: unknown): NotesAnswer | undefined {
  const { notes, domain, comment } = fieldsOf(json);
  const { chainId, contract } = fieldsOf(domain);
  if (!Array.isArray(notes) || typeof chainId !== "string" || typeof contract !== "string") return undefined;
  const read = notes.map(readNote);
  if (read.includes(undefined)) return undefined;
  return {
    notes: read.filter((note) => note !== undefined),
    domain: { chainId, contract: contract.toLowerCase() },
    ...(typeof comment === "string" && { comment }),
  };
}

function readNote(json: unknown): Note | undefined {
  const { amount, actions, signatures } = fieldsOf(json);
  if (typeof amount !== "string" || !/^\d+$/.test(amount)) return undefined;
  if (typeof actions !== "string" || !/^0x[0-9a-f]*$/i.test(actions)) return undefined;
  if (!Array.isArray(signatures)) return undefined;
  const read = signatures.map(fieldsOf).map(({ oracle, signature }) => ({ oracle, signature }));
  if (!read.every(isSignature)) return undefined;
  return { amount: BigInt(amount).toString(), actions: actions.toLowerCase(), signatures: read };
}

function isSignature(entry: {
  readonly oracle: unknown;
  readonly signature: unknown;
}): entry is Note["signatures"][number] {
  return typeof entry.oracle === "string" && typeof entry.signature === "string";
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
