#!/usr/bin/env node
// Starts the bundle with V8's compiled code kept beside it: the second start is a good deal faster than the first. A cache belongs to one version of
// Node and one build. A cluster uses most of the bundle, and has a cache of its own; the others (its cloud, agents of its nodes, components) read that one,
// and leave one of theirs where there is none, so that theirs is not what clusters start with. Anything wrong with a cache is ignored.
import { isAscii } from 'node:buffer';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

const bundle = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'sagong.cjs');
if (!existsSync(bundle)) {
  process.stderr.write('sagong: not built yet; run: npm run setup\n');
  process.exit(1);
}
// Providers of other packages are modules that are imported while the program runs (src/cloud-provider/load.ts). A script that came out of a cache
// cannot do that in Node 20: this module does it for the bundle.
globalThis[Symbol.for('sagong.import')] = (url) => import(url);
// What Node says of its own future is of no use to who types a command (the TLS names of etcd's client, for one).
process.noDeprecation = process.env.SAGONG_DEBUG === undefined;
runCached();

function runCached() {
  // V8 itself compares only the length of the source. The tag stands for its version, its flags and the processor.
  // A build may replace the bundle meanwhile: date, size and text are of one file.
  const file = openSync(bundle, 'r');
  const { mtimeMs, size } = fstatSync(file);
  const build = `${process.version}-${cachedDataVersionTag()}-${Math.round(mtimeMs)}-${size}`;
  const [ofClusters, ofOthers] = ['up', 'other'].map((whose) => `${bundle}.${build}.${whose}.cache`);
  const isCluster = process.argv[2] === 'up';
  const source = readWrapped(file, size);
  closeSync(file);
  /** Where it is ASCII, as the build makes it, V8 reads the bytes as they are. */
  const text = isAscii(source) ? source.latin1Slice() : source.toString();
  /** The cache is saved when all that a start needs has been compiled: once the process has had next to nothing to do, however slow the machine. */
  const lookEveryMs = 4_000;
  const quietCpuMs = 100;
  const looksMax = 15;

  const found = [ofClusters, ofOthers].find((path) => existsSync(path));
  const cachedData = found === undefined ? undefined : readFileSync(found);
  const script = new Script(text, { filename: bundle, cachedData });
  if (found === undefined || (isCluster && found === ofOthers) || script.cachedDataRejected) {
    const cacheFile = isCluster ? ofClusters : ofOthers;
    // V8 forgets the code of functions that have not run for a while. Those of the start would be gone from the cache of a process that was busy from
    // its first second on, and every later start would compile them again.
    setFlagsFromString('--no-flush-bytecode');
    const save = () => {
      // A cache belongs to the flags that it was made with.
      setFlagsFromString('--flush-bytecode');
      try {
        const temporary = `${cacheFile}.${process.pid}`;
        writeFileSync(temporary, script.createCachedData());
        renameSync(temporary, cacheFile);
      } catch {
        // A read-only installation starts without the cache.
      }
    };
    // A program that tests start and end (envtest) has no quiet time; one that only printed something has compiled next to nothing.
    const startedMs = 1_000;
    const atExit = () => found === undefined && process.uptime() * 1_000 > startedMs && save();
    process.once('exit', atExit);
    let before = process.cpuUsage();
    let looks = 0;
    const looking = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      before = process.cpuUsage();
      if ((user + system) / 1_000 > quietCpuMs && ++looks < looksMax) return;
      clearInterval(looking);
      process.off('exit', atExit);
      save();
    }, lookEveryMs).unref();
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle));
}

/** The file as a module's function. In one piece: V8 would copy a text that is put together before it reads it. */
function readWrapped(file, size) {
  const [head, tail] = Module.wrapper;
  const source = Buffer.allocUnsafe(head.length + size + tail.length);
  source.write(head, 0);
  let at = head.length;
  for (let read = 1; read > 0 && at < head.length + size; at += read) read = readSync(file, source, at, head.length + size - at);
  source.write(tail, at);
  return source.subarray(0, at + tail.length);
}
