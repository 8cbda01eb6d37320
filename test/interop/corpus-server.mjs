#!/usr/bin/env node
// Starts the apiserver alone, for replaying recorded conversations against it: prints the path of a kubeconfig whose user is in
// system:masters, and serves until it is stopped.
//
//   node test/interop/corpus-server.mjs [--kubeconfig FILE] [--port N] [--data-dir DIR]
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..');
const { values } = parseArgs({ options: { kubeconfig: { type: 'string' }, port: { type: 'string' }, 'data-dir': { type: 'string' } } });
const work = mkdtempSync(join(tmpdir(), 'sagong-corpus-'));
const outfile = join(work, 'server.cjs');
await build({
  entryPoints: [join(root, 'test/interop/corpus-server-main.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  conditions: ['sagong-src'],
  nodePaths: [join(root, 'node_modules')],
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: `const importMetaUrl = ${JSON.stringify(pathToFileURL(join(root, 'src/x.js')).href)};` },
  loader: { '.proto': 'text' },
  logLevel: 'warning',
});
const { main } = await import(pathToFileURL(outfile).href);
await main({ kubeconfig: values.kubeconfig ?? join(work, 'kubeconfig'), port: Number(values.port ?? 0), dataDir: values['data-dir'] });
