// A disk in memory that does what disks do to those who trust them: it loses power in the middle of a write, runs full, refuses writes,
// says that something is written that is not, and changes bits. Which sectors of an unfinished write arrive is drawn from a seed.
import type { Rng } from '#utils';
import type { Disk, DiskFile } from '../disk/disk.ts';

const sectorBytes = 512;

export interface DiskFaults {
  /** Errno of the next writes, of all files; part of each write may have arrived nevertheless. */
  write?: 'EIO' | 'EROFS' | 'ENOSPC' | undefined;
  /** How likely one write fails like that (0 to 1). Default 1. */
  writeChance?: number;
  /** How likely a write that is said to be done is lost when the power goes. */
  lieChance?: number;
}

interface StoredFile {
  /** What readers see. */
  cached: Buffer;
  /** What is left when the power goes. */
  durable: Buffer;
}

export class FaultyDisk implements Disk {
  readonly path = '/simulated';
  /** Changed at any time by a test. */
  faults: DiskFaults = {};
  /** Bytes of all files together. */
  capacity = Number.POSITIVE_INFINITY;
  readonly #rng: Rng;
  readonly #files: Map<string, StoredFile>;
  readonly #inFlight = new Set<{ file: StoredFile; data: Buffer; position: number }>();
  #off = false;

  constructor(rng: Rng, files: ReadonlyMap<string, Buffer> = new Map()) {
    this.#rng = rng;
    this.#files = new Map(Array.from(files, ([name, data]) => [name, { cached: Buffer.from(data), durable: Buffer.from(data) }]));
  }

  /** The power goes: nothing happens here any more. Answers the disk that the next process finds. */
  crash(): FaultyDisk {
    this.#off = true;
    for (const { file, data, position } of this.#inFlight) this.#arrive(file, data, position, 0.5);
    return new FaultyDisk(this.#rng, new Map(Array.from(this.#files, ([name, { durable }]) => [name, durable])));
  }

  /** Changes one bit. */
  flip(name: string, byte: number, bit: number): void {
    for (const bytes of this.#both(name)) bytes[byte] = (bytes[byte] ?? 0) ^ (1 << bit);
  }

  truncate(name: string, length: number): void {
    const file = this.#file(name);
    file.cached = file.cached.subarray(0, length);
    file.durable = file.durable.subarray(0, length);
  }

  contents(name: string): Buffer {
    return this.#file(name).durable;
  }

  async list(): Promise<string[]> {
    return [...this.#files.keys()].sort();
  }

  async read(name: string): Promise<Buffer | undefined> {
    await this.#moment();
    const file = this.#files.get(name);
    return file && Buffer.from(file.cached);
  }

  async replace(name: string, data: Buffer): Promise<void> {
    await this.#moment();
    this.#mayWrite(name);
    if (this.#used() + data.length > this.capacity) throw failure('ENOSPC', name);
    this.#files.set(name, { cached: Buffer.from(data), durable: Buffer.from(data) });
  }

  async prepare(name: string, size: number, head: Buffer, from?: string): Promise<void> {
    await this.#moment();
    this.#mayWrite(name);
    if (from !== undefined) this.#files.delete(from);
    if (this.#used() + size > this.capacity) throw failure('ENOSPC', name);
    const data = Buffer.alloc(size);
    data.set(head);
    this.#files.set(name, { cached: data, durable: Buffer.from(data) });
  }

  async open(name: string): Promise<DiskFile> {
    await this.#moment();
    const file = this.#file(name);
    return { write: (data, position) => this.#write(name, file, data, position), close: async () => {} };
  }

  async remove(name: string): Promise<void> {
    await this.#moment();
    this.#files.delete(name);
  }

  async freeBytes(): Promise<number> {
    return Math.max(0, this.capacity - this.#used());
  }

  async #write(name: string, file: StoredFile, data: Buffer, position: number): Promise<void> {
    const write = { file, data: Buffer.from(data), position };
    this.#inFlight.add(write);
    await this.#moment();
    this.#inFlight.delete(write);
    const { write: code, writeChance = 1, lieChance = 0 } = this.faults;
    if (code && this.#rng.next() < writeChance) {
      if (code === 'EIO') this.#arrive(file, write.data, position, 0.7);
      throw failure(code, name);
    }
    file.cached.set(write.data, position);
    if (this.#rng.next() >= lieChance) file.durable.set(write.data, position);
  }

  /** Some sectors of a write reach the disk. */
  #arrive(file: StoredFile, data: Buffer, position: number, chance: number): void {
    const end = position + data.length;
    for (let start = position; start < end; ) {
      const next = Math.min(end, start - (start % sectorBytes) + sectorBytes);
      const sector = data.subarray(start - position, next - position);
      if (this.#rng.next() < chance) for (const bytes of [file.durable, file.cached]) bytes.set(sector, start);
      start = next;
    }
  }

  #mayWrite(name: string): void {
    const { write, writeChance = 1 } = this.faults;
    if (write && this.#rng.next() < writeChance) throw failure(write, name);
  }

  /** Everything takes a turn, and for ever once the power is gone. */
  async #moment(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#off) await new Promise(() => {});
  }

  #used(): number {
    return [...this.#files.values()].reduce((sum, { cached }) => sum + cached.length, 0);
  }

  #file(name: string): StoredFile {
    const file = this.#files.get(name);
    if (!file) throw failure('ENOENT', name);
    return file;
  }

  #both(name: string): Buffer[] {
    const { cached, durable } = this.#file(name);
    return [cached, durable];
  }
}

const failure = (code: string, name: string): Error => Object.assign(new Error(`${code}: simulated, '${name}'`), { code });
