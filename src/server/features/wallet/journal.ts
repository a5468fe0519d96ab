/**
 * The journal of a process: ends of calls that the ledger could not take, on disk until it can. It is in the data
 * folder, with Postgres too, and has its whole size from the start, so that a full disk takes nothing from it.
 *
 * Every process has a separate file, `settles-<n>.journal`, for as long as it holds `settles-<n>.lock` (a lock of the
 * kernel, so it ends with the process; a process id would come again in the next container). A file without a lock is a
 * dead process's: the next one to start takes it over with its records.
 *
 * A record begins at a block: a mark, length and checksum, then JSON. The mark's first byte never occurs in UTF-8, so
 * nothing that a caller sends can look like the beginning of a record. A freed record loses its mark; that write is not
 * waited for, because the ledger takes an end only once.
 */
import { closeSync, existsSync, fdatasync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FileLock, lockFile } from "../../db/lock";

export const JOURNAL_BYTES = 16 * 1024 * 1024;
const BLOCK = 512;
const BLOCKS = JOURNAL_BYTES / BLOCK;
const HEADER = 16;
/** Read and allocated at once. */
const PART = 1024 * 1024;
const MARK = Buffer.from([0xff, 0x57, 0x4a, 0x01]);
const UNMARKED = Buffer.alloc(MARK.length);
/** Processes that share a data folder. */
const MOST_FILES = 256;

const toDisk = promisify(fdatasync);

/** A record in a journal. */
export interface Place {
  /** Its blocks are free again. */
  free(): void;
}

export interface Journal {
  /** Path of this process's file. */
  readonly path: string;
  /** What was waiting when the process started. */
  readonly found: readonly { text: string; place: Place }[];
  /** Records that were not whole: their answers had not been given when the process ended. */
  readonly torn: number;
  /** Share of the blocks that are in use. */
  used(): number;
  /** Writes a record; undefined when there is no room. It is on disk when `sync` resolves. */
  append(text: string): Place | undefined;
  /** Resolves when everything appended before is on disk. */
  sync(): Promise<void>;
  close(): void;
}

/** Opens a journal in `folder`, and every other that no living process holds. */
export function openJournal(folder: string): Journal {
  const files: JournalFile[] = [];
  for (let n = 1; n <= MOST_FILES; n++) {
    const name = join(folder, `settles-${n}`);
    // One own file is enough; beyond that only files that others left.
    if (files.length > 0 && !existsSync(`${name}.journal`)) break;
    const lock = lockFile(`${name}.lock`);
    if (lock) files.push(new JournalFile(`${name}.journal`, lock));
  }
  const [own] = files;
  if (!own) throw new Error(`more than ${MOST_FILES} processes use ${folder}`);
  let written: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  return {
    path: own.path,
    found: files.flatMap((file) => file.found),
    torn: files.reduce((sum, { torn }) => sum + torn, 0),
    used: () => own.used / BLOCKS,
    append: (text) => own.append(text),
    sync: () => {
      // All calls while one sync runs share the next.
      next ??= (written ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return (written = toDisk(own.fd));
        });
      return next;
    },
    close: () => {
      for (const file of files) file.close();
    },
  };
}

class JournalFile {
  readonly path: string;
  readonly fd: number;
  readonly found: { text: string; place: Place }[] = [];
  torn = 0;
  used = 0;
  readonly #lock: FileLock;
  #open = true;
  readonly #taken = new Uint8Array(BLOCKS);
  /** Where the next search begins. */
  #from = 0;

  constructor(path: string, lock: FileLock) {
    this.path = path;
    this.#lock = lock;
    this.fd = openSync(path, existsSync(path) ? "r+" : "w+", 0o600);
    this.#allocate();
    this.#scan();
  }

  /** Real zeros: a file of holes would need room on the disk later. */
  #allocate(): void {
    const size = fstatSync(this.fd).size;
    if (size >= JOURNAL_BYTES) return;
    const zeros = Buffer.alloc(PART);
    for (let at = size; at < JOURNAL_BYTES;)
      at += writeSync(this.fd, zeros, 0, Math.min(zeros.length, JOURNAL_BYTES - at), at);
    fsyncSync(this.fd);
    const folder = openSync(join(this.path, ".."), "r");
    fsyncSync(folder);
    closeSync(folder);
  }

  #scan(): void {
    const part = Buffer.alloc(PART);
    let block = 0;
    for (let start = 0; start < JOURNAL_BYTES; start += PART) {
      readSync(this.fd, part, 0, PART, start);
      for (; block * BLOCK < start + PART; block++) {
        const header = part.subarray(block * BLOCK - start, block * BLOCK - start + HEADER);
        if (!header.subarray(0, MARK.length).equals(MARK)) continue;
        const length = header.readUInt32LE(4);
        const body = Buffer.alloc(Math.min(length, JOURNAL_BYTES));
        const read = readSync(this.fd, body, 0, body.length, block * BLOCK + HEADER);
        if (read !== length || checksum(body) !== header.readBigUInt64LE(8)) {
          this.torn++;
          continue;
        }
        const blocks = blocksOf(length);
        this.found.push({ text: body.toString(), place: this.#take(block, blocks) });
        block += blocks - 1;
      }
    }
  }

  append(text: string): Place | undefined {
    const body = Buffer.from(text);
    const blocks = blocksOf(body.length);
    const block = this.#room(blocks);
    if (block === undefined) return undefined;
    const record = Buffer.alloc(blocks * BLOCK);
    MARK.copy(record);
    record.writeUInt32LE(body.length, 4);
    record.writeBigUInt64LE(checksum(body), 8);
    body.copy(record, HEADER);
    for (let at = 0; at < record.length;) at += writeSync(this.fd, record, at, record.length - at, block * BLOCK + at);
    this.#from = (block + blocks) % BLOCKS;
    return this.#take(block, blocks);
  }

  #take(block: number, blocks: number): Place {
    this.#taken.fill(1, block, block + blocks);
    this.used += blocks;
    let taken = true;
    return {
      free: () => {
        if (!taken || !this.#open) return;
        taken = false;
        writeSync(this.fd, UNMARKED, 0, UNMARKED.length, block * BLOCK);
        this.#taken.fill(0, block, block + blocks);
        this.used -= blocks;
      },
    };
  }

  /** The first of so many free blocks side by side. */
  #room(blocks: number): number | undefined {
    for (const [start, end] of [
      [this.#from, BLOCKS],
      [0, Math.min(BLOCKS, this.#from + blocks)],
    ] as const) {
      let free = 0;
      for (let block = start; block < end; block++) {
        free = this.#taken[block] === 0 ? free + 1 : 0;
        if (free === blocks) return block - blocks + 1;
      }
    }
    return undefined;
  }

  close(): void {
    this.#open = false;
    closeSync(this.fd);
    this.#lock.release();
  }
}

const blocksOf = (length: number): number => Math.ceil((HEADER + length) / BLOCK);
const checksum = (body: Uint8Array): bigint => Bun.hash.xxHash64(body);
