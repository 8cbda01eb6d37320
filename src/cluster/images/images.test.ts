import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { buildPauseImage, importImage } from './images.ts';
import { buildImage } from './oci-image.ts';
import { pauseProgram } from '#host';
import { tar } from './ustar.ts';

/** Names and contents of an archive. */
function untar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; archive[at] !== 0; ) {
    const block = archive.subarray(at, at + 512);
    const field = (at: number, length: number): string => block.toString('utf8', at, at + length).replace(/\0.*$/, '');
    const name = [field(345, 155), field(0, 100)].filter((part) => part !== '').join('/');
    const size = Number.parseInt(block.toString('latin1', 124, 135), 8);
    const sum = Number.parseInt(block.toString('latin1', 148, 154), 8);
    const actual = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
    expect(sum).toBe(actual);
    files.set(name, archive.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

describe('images', () => {
  it('are tar archives with right checksums', () => {
    const long = `${'d'.repeat(100)}/${'n'.repeat(99)}`;
    const files = untar(
      tar([
        { name: 'a', mode: 0o644, content: Buffer.from('x'.repeat(513)) },
        { name: 'd/', mode: 0o755 },
        { name: long, mode: 0o644, content: Buffer.from('l') },
      ]),
    );
    expect([...files].map(([name, data]) => [name, data.length])).toEqual([
      ['a', 513],
      ['d/', 0],
      [long, 1],
    ]);
    expect(() => tar([{ name: 'n'.repeat(101), mode: 0, content: Buffer.alloc(0) }])).toThrow('name too long');
  });

  it('are OCI layouts whose blobs have the digests they are named by', () => {
    const image = {
      reference: 'example.com/a:1',
      files: [{ name: 'f', mode: 0o644, content: Buffer.from('f') }],
      architecture: 'amd64',
      config: {},
    };
    const files = untar(buildImage(image));
    for (const [name, data] of files)
      if (/^blobs\/sha256\/./.test(name))
        expect(name.slice('blobs/sha256/'.length)).toBe(createHash('sha256').update(data).digest('hex'));
    const index = JSON.parse(files.get('index.json')?.toString() ?? '') as {
      manifests: { annotations: Record<string, string> }[];
    };
    expect(index.manifests[0]?.annotations['io.containerd.image.name']).toBe('example.com/a:1');
    expect(buildImage(image).equals(buildImage(image))).toBe(true);
  });
});

it('makes a pause program that is one small executable, for one architecture', () => {
  const program = pauseProgram();
  expect(program.length).toBeLessThan(256);
  expect(program.toString('latin1', 0, 4)).toBe('\x7fELF');
  expect(program.readBigUInt64LE(96)).toBe(BigInt(program.length));
  expect(() => pauseProgram('arm64')).toThrow('amd64 only');
  expect(buildPauseImage().includes('registry.k8s.io/pause')).toBe(true);
});

describe('an import', () => {
  it('has the archive from this process, and no file of it is left behind', async () => {
    const archive = Buffer.from('an archive');
    const asked: unknown[] = [];
    await importImage(
      {
        socket: '/s',
        exec: async (program, args, options) => {
          asked.push(program, args, options?.input);
          return { code: 0, stdout: '', stderr: '' };
        },
      },
      archive,
    );
    expect(asked).toEqual(['ctr', ['--address', '/s', '--namespace', 'k8s.io', 'images', 'import', '-'], archive]);
  });

  it('tells no more than the beginning of what an archive makes of its error', async () => {
    const exec = async () => ({ code: 1, stdout: '', stderr: `bad name ${'t'.repeat(10_000_000)}` });
    const failure = await importImage({ socket: '/s', exec }, Buffer.alloc(0)).catch((error: Error) => error.message);
    expect(failure).toMatch(/^image import failed: bad name t+\.\.\.$/);
    expect(failure?.length).toBeLessThan(3_000);
  });
});
