// The file that says that a store lives here: its identity, and which file of the log is the newest one with acknowledged writes, so that
// a log that lost its end or all of its files is never taken for a shorter or an empty one. Two slots are written in turn, in place:
// one of them is always whole, and a full disk does not stop it. Once the store is complete both say so, so that either may be damaged.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Disk, DiskFile } from './disk.ts';
import { formatVersion } from './format.ts';

export const markerName = 'store';

export interface Marker {
  /** 32 hex digits. */
  id: string;
  /** Number of the newest segment with acknowledged writes. */
  newest: number;
  /** False while the store is being made, from nothing, a snapshot, or an older form. */
  complete: boolean;
}

const magic = 'SAGONGST';
const slotBytes = 512;
const usedBytes = 64;
const slotCount = 2;

interface Slot extends Marker {
  counter: number;
}

function encode({ id, newest, complete, counter }: Slot): Buffer {
  const slot = Buffer.alloc(slotBytes);
  slot.write(magic, 0, 'latin1');
  slot.writeUInt32LE(formatVersion, 8);
  slot.writeUInt32LE(complete ? 1 : 0, 12);
  slot.writeDoubleLE(counter, 16);
  slot.writeDoubleLE(newest, 24);
  slot.write(id, 32, 16, 'hex');
  slot.writeUInt32LE(crc32(slot.subarray(0, usedBytes - 4)), usedBytes - 4);
  return slot;
}

function decode(slot: Buffer): Slot | undefined {
  if (slot.length < usedBytes || slot.toString('latin1', 0, 8) !== magic) return undefined;
  if (slot.readUInt32LE(usedBytes - 4) !== crc32(slot.subarray(0, usedBytes - 4))) return undefined;
  return {
    id: slot.toString('hex', 32, 48),
    complete: slot.readUInt32LE(12) === 1,
    counter: slot.readDoubleLE(16),
    newest: slot.readDoubleLE(24),
  };
}

/**
 * `damaged`: there is a file, but no slot says what is so. A slot that still says that the store is being made counts only while the other one was
 * never written, or can be read too: what is damaged may have said that it is complete.
 */
export async function readMarker(disk: Disk): Promise<Marker | 'damaged' | undefined> {
  const bytes = await disk.read(markerName);
  if (!bytes) return undefined;
  const newest = newestSlot(bytes);
  const doubtful = newest && !newest.complete && newest.counter > 1 && slotsOf(bytes).length < slotCount;
  return newest && !doubtful ? newest : 'damaged';
}

const slotsOf = (bytes: Buffer): Slot[] =>
  [decode(bytes.subarray(0, slotBytes)), decode(bytes.subarray(slotBytes))].filter((slot) => slot !== undefined);

const newestSlot = (bytes: Buffer): Slot | undefined => slotsOf(bytes).sort((a, b) => b.counter - a.counter)[0];

export const newIdentity = (): string => randomBytes(16).toString('hex');

/** Writes the marker from now on; the one on the disk is left as it is until `write`. */
export class MarkerFile {
  readonly #file: DiskFile;
  #slot: Slot;

  private constructor(file: DiskFile, slot: Slot) {
    this.#file = file;
    this.#slot = slot;
  }

  /** Makes it, in place of what is there. */
  static async create(disk: Disk, marker: Marker): Promise<MarkerFile> {
    const slot = { ...marker, counter: 1 };
    await disk.replace(markerName, Buffer.concat([encode(slot), Buffer.alloc(slotBytes)]));
    return new MarkerFile(await disk.open(markerName), slot);
  }

  /** The marker of a store that is complete; a slot that is damaged, or does not say so, is written again. */
  static async open(disk: Disk): Promise<MarkerFile | undefined> {
    const bytes = await disk.read(markerName);
    const slot = bytes && newestSlot(bytes);
    if (!slot) return undefined;
    const marker = new MarkerFile(await disk.open(markerName), slot);
    const whole = slotsOf(bytes).filter(({ complete }) => complete).length === slotCount;
    // One slot is enough to go on with: a disk that takes no writes now is told by the first write of a client.
    if (!whole) await marker.complete().catch(() => {});
    return marker;
  }

  /** Says in both slots that the store is complete. */
  async complete(): Promise<void> {
    for (let slot = 0; slot < slotCount; slot++) await this.write({ complete: true });
  }

  async write(change: Partial<Marker>): Promise<void> {
    const slot = { ...this.#slot, ...change, counter: this.#slot.counter + 1 };
    await this.#file.write(encode(slot), (slot.counter % 2 === 1 ? 0 : 1) * slotBytes);
    this.#slot = slot;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
