#!/usr/bin/env node
// Makes a release out of the last commit of main: version and changelog, a fresh clone that is built and checked, packages with their provenance, a tag.
// Nothing leaves this machine: the last lines say how it is published.
//
//   node scripts/release.mjs 0.2.0 --dry-run      all of it, but this repository stays as it is
//   node scripts/release.mjs 0.2.0                commit and tag are brought here in the end, when everything else has succeeded
//
//   --output DIR    where packages and provenance go (default: sagong-release-<version> in the folder for temporary files)
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const semver = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const unreleased = /^## (?:\S+ \(unreleased\)|Unreleased)$/m;
/** Run in the clone, in this order. */
const checks = [
  ['npm', 'ci', '--no-audit', '--no-fund'],
  ['npm', 'run', 'build'],
  ['npm', 'run', 'check'],
  ['npm', 'test'],
];

/** What a program printed. Throws with what it said when it fails. */
function output(cwd, program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')}: ${(error?.message ?? stderr).trim() || stdout.trim()}`);
  return stdout.trim();
}

function show(cwd, [program, ...args]) {
  console.log(`== ${[program, ...args].join(' ')}`);
  const { status } = spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} has failed; nothing was released`);
}

/** Replaces what `pattern` finds in a file. Throws where it finds nothing: the file has changed its form. */
function edit(folder, name, ...changes) {
  const path = join(folder, name);
  let text = readFileSync(path, 'utf8');
  for (const [pattern, replacement] of changes) {
    if (!text.match(pattern)) throw new Error(`${name} has nothing like ${pattern}`);
    text = text.replace(pattern, replacement);
  }
  writeFileSync(path, text);
}

const providersIn = (folder) => {
  const at = join(folder, 'providers');
  return existsSync(at) ? readdirSync(at).filter((name) => existsSync(join(at, name, 'package.json'))) : [];
};

/** Every place that says the version; providers have that of the program they are of. */
function setVersion(folder, version, date) {
  const { version: before } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const own = [`"version": "${before}"`, `"version": "${version}"`];
  edit(folder, 'package.json', own);
  for (const name of providersIn(folder))
    edit(folder, `providers/${name}/package.json`, own, [`"sagong": "${before}"`, `"sagong": "${version}"`]);
  edit(folder, 'src/component-base/version.ts', [/sagongVersion = '[^']*'/, `sagongVersion = '${version}'`]);
  edit(folder, 'CHANGELOG.md', [unreleased, `## ${version} (${date})`]);
  output(folder, 'npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
}

const digest = (algorithm, bytes) => createHash(algorithm).update(bytes).digest('hex');

/** What the packages were made of, and where: an in-toto statement with SLSA's provenance (https://slsa.dev/spec/v1.0/provenance). Not signed. */
function provenanceOf({ folder, packages, output: out, commit, version, startedOn }) {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = process.env;
  const run = GITHUB_RUN_ID && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
  const file = (path) => readFileSync(path);
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: packages.map((name) => {
      const bytes = file(join(out, name));
      return { name, digest: { sha256: digest('sha256', bytes), sha512: digest('sha512', bytes) } };
    }),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://docs.npmjs.com/cli/commands/npm-pack',
        externalParameters: { version },
        internalParameters: {
          node: process.version,
          npm: output(folder, 'npm', '--version'),
          steps: checks.map((words) => words.join(' ')),
        },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: digest('sha256', file(join(folder, 'package-lock.json'))) } },
        ],
      },
      runDetails: { builder: { id: run ?? 'local' }, metadata: { startedOn, finishedOn: new Date().toISOString() } },
    },
  };
}

/** Names of the packages' files: this one's, and those of the providers. */
function pack(folder, out) {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', out];
  const all = [folder, ...providersIn(folder).map((name) => join(folder, 'providers', name))];
  return all.map((at) => JSON.parse(output(at, 'npm', ...words))[0].filename);
}

function assertReady(root, version) {
  if (!semver.test(version ?? '')) throw new Error('say the version: node scripts/release.mjs 1.2.3 [--dry-run]');
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const part = changes.split(/^(?=## )/m).find((text) => unreleased.test(text));
  if (!part) throw new Error('CHANGELOG.md has no part "(unreleased)": nothing has changed');
  if (!/^- /m.test(part)) throw new Error('the unreleased part of CHANGELOG.md is empty');
  const branch = output(root, 'git', 'rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main') throw new Error(`releases are made of main, not of ${branch}`);
  if (output(root, 'git', 'status', '--porcelain') !== '') throw new Error('commit or remove what is not committed first');
  if (output(root, 'git', 'tag', '--list', `v${version}`) !== '') throw new Error(`v${version} is there already`);
}

function main() {
  const options = { 'dry-run': { type: 'boolean', default: false }, output: { type: 'string' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version] = positionals;
  const root = process.cwd();
  assertReady(root, version);
  const startedOn = new Date().toISOString();
  const out = resolve(values.output ?? join(tmpdir(), `sagong-release-${version}`));
  const work = mkdtempSync(join(tmpdir(), 'sagong-release-'));
  const folder = join(work, 'sagong');
  const git = (...args) => output(folder, 'git', ...args);
  try {
    output(root, 'git', 'clone', '--quiet', '--branch', 'main', root, folder);
    setVersion(folder, version, startedOn.slice(0, 10));
    for (const name of ['user.name', 'user.email']) git('config', name, output(root, 'git', 'config', name));
    git('commit', '--quiet', '--all', '--message', `release: ${version}`);
    for (const words of checks) show(folder, words);
    const left = git('status', '--porcelain');
    if (left !== '') throw new Error(`building and checking has changed files:\n${left}`);
    mkdirSync(out, { recursive: true });
    const packages = pack(folder, out);
    const commit = git('rev-parse', 'HEAD');
    const provenance = provenanceOf({ folder, packages, output: out, commit, version, startedOn });
    writeFileSync(join(out, 'provenance.json'), `${JSON.stringify(provenance, null, 2)}\n`);
    git('tag', '--annotate', `v${version}`, '--message', `Sagong ${version}`);
    console.log(`\n${git('show', '--stat', '--format=%h %s', 'HEAD')}\n\n${out}: ${[...packages, 'provenance.json'].join(', ')}`);
    if (values['dry-run']) return console.log(`dry run: ${version} could be released; this repository is as it was`);
    output(root, 'git', 'pull', '--quiet', '--ff-only', folder, 'main');
    output(root, 'git', 'fetch', '--quiet', folder, 'tag', `v${version}`);
    const signed = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ' --provenance' : '';
    console.log(`released here. To publish it:\n  git push origin main v${version}`);
    for (const name of packages) console.log(`  npm publish ${join(out, name)} --access public${signed}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  main();
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
