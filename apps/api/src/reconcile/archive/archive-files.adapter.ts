import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import type { ArchivedDatabase, ArchiveFiles, ArchivePart, Manifest, RowPage } from "./archive.port.ts";

const MANIFEST = "manifest.json";
/** Names the database whose archives a folder has. */
const OWNER = "database.json";
/**
 * Takes a third of the processor time of gzip at its level 1, and the files are a fifth smaller. Level 3
 * takes longer, and its files are no smaller: most bytes are random.
 */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Archives as folders: `2026-01/part-1/request_events-1.ndjson.zst`, and `manifest.json` in the same folder.
 */
export function archiveFiles(path: string): ArchiveFiles {
  const root = resolve(path);
  const folderOf = ({ month, part }: ArchivePart): string => join(root, month, `part-${part}`);
  return {
    folderOf,
    async claim(database) {
      await mkdir(root, { recursive: true });
      const file = join(root, OWNER);
      const text = `${JSON.stringify(database, null, 2)}\n`;
      const isNew = await writeFile(file, text, { flag: "wx", flush: true }).then(
        () => true,
        (error: unknown) => {
          if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
          throw error;
        },
      );
      if (isNew) await sync(root);
      else if ((await readFile(file, "utf8")) !== text) throw new Error(notOwnerText(root, database));
    },
    async clear(part) {
      const folder = folderOf(part);
      await keepFinished(folder);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      // Otherwise a power failure may leave files in folders that do not exist.
      for (const parent of [folder, dirname(folder), root, dirname(root)]) await sync(parent);
    },
    async write(part, table, n, pages) {
      const file = `${table}-${n}.ndjson.zst`;
      const hash = createHash("sha256");
      let [rows, bytes] = [0, 0];
      await pipeline(
        Readable.from(linesOf(pages, (count) => (rows += count))),
        createZstdCompress(COMPRESSION),
        async function* measure(chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            bytes += chunk.length;
            yield chunk;
          }
        },
        createWriteStream(join(folderOf(part), file), { flush: true }),
      );
      return { table, file, rows, bytes, sha256: hash.digest("hex") };
    },
    async finish(manifest) {
      const folder = folderOf(manifest);
      const text = `${JSON.stringify(manifest, null, 2)}\n`;
      const unfinished = join(folder, `${MANIFEST}.tmp`);
      const file = await open(unfinished, "w");
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      // A half-written manifest would make the part look complete.
      await rename(unfinished, join(folder, MANIFEST));
      await sync(folder);
      return createHash("sha256").update(text).digest("hex");
    },
    async verify(folder, manifestSha256) {
      const check = async (name: string, sha256: string): Promise<void> => {
        const actual = await sha256Of(join(folder, name));
        if (actual !== sha256)
          throw new Error(
            `${join(folder, name)} ${actual === undefined ? "is missing" : "was changed"}: expected SHA-256 ${sha256}${actual === undefined ? "" : `, got ${actual}`}`,
          );
      };
      await check(MANIFEST, manifestSha256);
      const { tables } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Manifest;
      for (const { file, sha256 } of tables) await check(file, sha256);
    },
  };
}

const notOwnerText = (root: string, { systemIdentifier, name }: ArchivedDatabase): string =>
  `${join(root, OWNER)} belongs to another database, not to ${name} on server ${systemIdentifier}; choose another folder with --to`;

/** A finished archive may be the only copy of its rows, so it is renamed, never deleted. */
async function keepFinished(folder: string): Promise<void> {
  const hash = await sha256Of(join(folder, MANIFEST));
  if (hash === undefined) return;
  const keptFolder = `${folder}-${hash.slice(0, 16)}`;
  // An equal manifest names equal files: that archive is kept already.
  if ((await sha256Of(join(keptFolder, MANIFEST))) !== hash) await rename(folder, keptFolder);
}

async function* linesOf(
  pages: AsyncIterable<RowPage>,
  onRows: (count: number) => void,
): AsyncGenerator<string> {
  for await (const { count, lines } of pages) {
    onRows(count);
    yield `${lines}\n`;
  }
}

/** Writes the entries of a folder to the disk. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Undefined without such a file. */
async function sha256Of(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return hash.digest("hex");
}
