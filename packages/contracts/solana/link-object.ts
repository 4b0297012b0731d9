/**
 * Links the BPF output of a plain clang to a Solana program: one code section, with runtime calls by name.
 * Features of the Solana toolchain's linker beyond that (read-only data, several objects) are refused, so
 * that nothing is silently dropped. Pure and deterministic.
 */

/** Functions of the runtime that a program may call. */
const RUNTIME: ReadonlySet<string> = new Set([
  "sol_sha256",
  "sol_log_data",
  "sol_try_find_program_address",
  "sol_create_program_address",
  "sol_invoke_signed_c",
  "sol_get_clock_sysvar",
  "sol_get_rent_sysvar",
]);

const BPF = 247;
const SECTION = { code: 1, symbols: 2, relocations: 9 } as const;
const ALLOCATED = 2n;
const EXECUTABLE = 4n;
/** Relocation of a call to a symbol. */
const CALL_RELOCATION = 10n;
/** Operation code of a call. */
const CALL = 0x85;

interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: bigint;
  readonly bytes: Buffer;
}

interface RuntimeCall {
  /** Byte offset of the instruction in the code. */
  readonly at: number;
  readonly name: string;
}

/**
 * @throws Error unless the object consists of one code section with a global `entrypoint` that calls the
 * runtime
 */
export function linkObject(object: Uint8Array): Uint8Array {
  const { code, entry, calls } = readObject(Buffer.from(object));
  return writeProgram(code, entry, calls);
}

function readObject(object: Buffer): { code: Buffer; entry: number; calls: readonly RuntimeCall[] } {
  if (object.readUInt32BE(0) !== 0x7f454c46 || object.readUInt16LE(18) !== BPF)
    throw new Error("file is not a BPF object");
  const sections = sectionsOf(object);
  const allocated = sections.filter(({ flags, bytes }) => (flags & ALLOCATED) !== 0n && bytes.length > 0);
  const [text] = allocated;
  if (text === undefined || allocated.length !== 1 || (text.flags & EXECUTABLE) === 0n)
    throw new Error(`only code sections can be linked, got ${allocated.map(({ name }) => name).join(", ")}`);
  const symbols = symbolsOf(sections);
  const entry = symbols.find(({ name }) => name === "entrypoint")?.value;
  if (entry === undefined) throw new Error("object has no entrypoint");

  const code = Buffer.from(text.bytes);
  const calls: RuntimeCall[] = [];
  for (const { name, bytes } of sections.filter(({ type }) => type === SECTION.relocations)) {
    if (name !== `.rel${text.name}`) continue;
    for (let entry = 0; entry < bytes.length; entry += 16) {
      const offset = Number(bytes.readBigUInt64LE(entry));
      const info = bytes.readBigUInt64LE(entry + 8);
      const symbol = symbols[Number(info >> 32n)];
      if ((info & 0xffff_ffffn) !== CALL_RELOCATION || code[offset] !== CALL || symbol === undefined)
        throw new Error(`relocation at ${offset} is not a call`);
      if (!RUNTIME.has(symbol.name)) throw new Error(`the runtime has no function ${symbol.name}`);
      // Symbols that the loader resolves by name have no target here.
      code[offset + 1] = 0x10;
      code.writeInt32LE(-1, offset + 4);
      calls.push({ at: offset, name: symbol.name });
    }
  }
  return { code, entry, calls };
}

function sectionsOf(object: Buffer): readonly Section[] {
  const table = Number(object.readBigUInt64LE(40));
  const [size, count, names] = [object.readUInt16LE(58), object.readUInt16LE(60), object.readUInt16LE(62)];
  const header = (index: number) => object.subarray(table + index * size, table + (index + 1) * size);
  const contents = (index: number) => {
    const from = Number(header(index).readBigUInt64LE(24));
    return object.subarray(from, from + Number(header(index).readBigUInt64LE(32)));
  };
  return Array.from({ length: count }, (_, index) => ({
    name: textAt(contents(names), header(index).readUInt32LE(0)),
    type: header(index).readUInt32LE(4),
    flags: header(index).readBigUInt64LE(8),
    // Sections without contents in the file (type 8) have their declared length.
    bytes: contents(index),
  }));
}

function symbolsOf(
  sections: readonly Section[],
): readonly { readonly name: string; readonly value: number }[] {
  const table = sections.find(({ type }) => type === SECTION.symbols);
  const names = sections.find(({ name }) => name === ".strtab");
  if (table === undefined || names === undefined) throw new Error("the object has no symbols");
  return Array.from({ length: table.bytes.length / 24 }, (_, index) => ({
    name: textAt(names.bytes, table.bytes.readUInt32LE(index * 24)),
    value: Number(table.bytes.readBigUInt64LE(index * 24 + 8)),
  }));
}

function textAt(bytes: Buffer, from: number): string {
  return bytes.toString("latin1", from, bytes.indexOf(0, from));
}

/** A shared object in the loader's format: file offsets equal addresses. */
function writeProgram(code: Buffer, entry: number, calls: readonly RuntimeCall[]): Uint8Array {
  const names = [...new Set(calls.map(({ name }) => name))];
  const strings = textTable(names);
  const sectionNames = textTable([".text", ".dynsym", ".dynstr", ".rel.dyn", ".dynamic", ".shstrtab"]);

  const symbols = Buffer.alloc(24 * (1 + names.length));
  names.forEach((name, index) => {
    symbols.writeUInt32LE(strings.at(name), 24 * (index + 1));
    // Binding: global; type: none.
    symbols[24 * (index + 1) + 4] = 0x10;
  });

  const place = { code: 0x1000 };
  const after = (offset: number, part: Buffer): number => aligned(offset + part.length);
  const symbolsAt = after(place.code, code);
  const stringsAt = after(symbolsAt, symbols);
  const relocationsAt = after(stringsAt, strings.bytes);
  const relocations = Buffer.alloc(16 * calls.length);
  calls.forEach(({ at, name }, index) => {
    relocations.writeBigUInt64LE(BigInt(place.code + at), 16 * index);
    relocations.writeBigUInt64LE((BigInt(names.indexOf(name) + 1) << 32n) | CALL_RELOCATION, 16 * index + 8);
  });
  const dynamicAt = after(relocationsAt, relocations);
  const dynamic = Buffer.alloc(16 * 8);
  [
    [17, relocationsAt],
    [18, relocations.length],
    [19, 16],
    [6, symbolsAt],
    [11, 24],
    [5, stringsAt],
    [10, strings.bytes.length],
    [0, 0],
  ].forEach(([tag = 0, value = 0], index) => {
    dynamic.writeBigUInt64LE(BigInt(tag), 16 * index);
    dynamic.writeBigUInt64LE(BigInt(value), 16 * index + 8);
  });
  const sectionNamesAt = after(dynamicAt, dynamic);
  const sectionsAt = after(sectionNamesAt, sectionNames.bytes);

  const file = Buffer.alloc(sectionsAt + 64 * 7);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]).copy(file);
  // Shared object, BPF, version 1.
  file.writeUInt16LE(3, 16);
  file.writeUInt16LE(BPF, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(place.code + entry), 24);
  file.writeBigUInt64LE(64n, 32);
  file.writeBigUInt64LE(BigInt(sectionsAt), 40);
  // Sizes and numbers: file header, program headers, section headers, and which of those names the sections.
  [64, 56, 3, 64, 7, 6].forEach((value, index) => file.writeUInt16LE(value, 52 + 2 * index));

  const segment = (index: number, type: number, flags: number, from: number, size: number): void => {
    const at = 64 + 56 * index;
    file.writeUInt32LE(type, at);
    file.writeUInt32LE(flags, at + 4);
    [from, from, from, size, size, 8].forEach((value, word) =>
      file.writeBigUInt64LE(BigInt(value), at + 8 + 8 * word),
    );
  };
  segment(0, 1, 5, place.code, code.length);
  segment(1, 1, 4, symbolsAt, sectionNamesAt - symbolsAt);
  segment(2, 2, 6, dynamicAt, dynamic.length);

  const section = (
    index: number,
    name: string,
    { type, flags, at, bytes, entrySize = 0, link = 0 }: SectionHeader,
  ): void => {
    bytes.copy(file, at);
    const header = sectionsAt + 64 * index;
    file.writeUInt32LE(sectionNames.at(name), header);
    file.writeUInt32LE(type, header + 4);
    const address = flags === 0 ? 0 : at;
    [flags, address, at, bytes.length].forEach((value, word) =>
      file.writeBigUInt64LE(BigInt(value), header + 8 + 8 * word),
    );
    file.writeUInt32LE(link, header + 40);
    file.writeBigUInt64LE(8n, header + 48);
    file.writeBigUInt64LE(BigInt(entrySize), header + 56);
  };
  section(1, ".text", { type: SECTION.code, flags: 6, at: place.code, bytes: code });
  section(2, ".dynsym", { type: 11, flags: 2, at: symbolsAt, bytes: symbols, entrySize: 24, link: 3 });
  section(3, ".dynstr", { type: 3, flags: 2, at: stringsAt, bytes: strings.bytes });
  section(4, ".rel.dyn", {
    type: SECTION.relocations,
    flags: 2,
    at: relocationsAt,
    bytes: relocations,
    entrySize: 16,
    link: 2,
  });
  section(5, ".dynamic", { type: 6, flags: 3, at: dynamicAt, bytes: dynamic, entrySize: 16, link: 3 });
  section(6, ".shstrtab", { type: 3, flags: 0, at: sectionNamesAt, bytes: sectionNames.bytes });
  return file;
}

interface SectionHeader {
  readonly type: number;
  readonly flags: number;
  readonly at: number;
  readonly bytes: Buffer;
  readonly entrySize?: number;
  readonly link?: number;
}

function aligned(offset: number): number {
  return (offset + 7) & ~7;
}

function textTable(texts: readonly string[]): { readonly bytes: Buffer; at(text: string): number } {
  const offsets = new Map<string, number>();
  let joined = "\0";
  for (const text of texts) {
    offsets.set(text, joined.length);
    joined += `${text}\0`;
  }
  const at = (text: string): number => {
    const offset = offsets.get(text);
    if (offset === undefined) throw new Error(`unknown symbol: ${text}`);
    return offset;
  };
  return { bytes: Buffer.from(joined, "latin1"), at };
}
