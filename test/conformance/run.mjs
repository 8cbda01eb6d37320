#!/usr/bin/env node
// `npm run conformance`: builds upstream's end-to-end suite, makes its images, starts a cluster of this checkout, runs the specs and ends with one
// line "N passed, N failed, N skipped". Needs root, Debian's packages (`npm run setup`) and Go. See README.md.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildBinaries } from './binaries.mjs';
import { startCluster } from './cluster.mjs';
import { buildDriver } from './csi/driver.mjs';
import { buildImages } from './images.mjs';
import { readOptions, selection, usage } from './options.mjs';
import { summary, table, writeResults } from './results.mjs';
import { runSuite } from './suite.mjs';

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  const { work, name, results, nodes, uplink, procs, whole } = options;
  if (!options.kubeconfig && process.getuid() !== 0) throw new Error('a cluster with real nodes needs root (or give --kubeconfig)');
  await mkdir(work, { recursive: true });
  const binaries = await buildBinaries(work);
  const driver = options.csi === undefined ? undefined : await buildDriver(work, options.csi);
  const images = [await buildImages(work, binaries), ...(driver ? [driver.images] : [])];
  if (options.build) return console.log(`binaries are in ${binaries.bin}, images in ${images.join(', ')}`);
  await rm(results, { recursive: true, force: true });
  const cluster = options.kubeconfig ? { kubeconfig: options.kubeconfig } : await startCluster({ work, name, nodes, uplink, images });
  let report;
  try {
    await driver?.install({ bin: binaries.bin, kubeconfig: cluster.kubeconfig });
    const select = selection(options);
    report = await runSuite({ ...binaries, kubeconfig: cluster.kubeconfig, results, procs, nodes, select, testDriver: driver?.testDriver });
  } finally {
    if (options.keep) console.log(`the cluster is left running: KUBECONFIG=${cluster.kubeconfig}`);
    else await cluster.down?.();
  }
  const { version: sagongVersion } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const specs = await writeResults({ report, results, version: binaries.version, sagongVersion, whole });
  console.log(`\n${table(specs)}\n`);
  for (const { name, message } of specs.filter(({ state }) => state === 'failed'))
    console.log(`failed: ${name}\n    ${message.split('\n')[0].slice(0, 300)}`);
  console.log(`\nreports are in ${join(results)}`);
  console.log(summary(specs));
  if (specs.length === 0 || specs.some(({ state }) => state === 'failed')) process.exitCode = 1;
}

await main().catch((error) => {
  console.error(`conformance: ${error.message}`);
  process.exitCode = 2;
});
