// docs/compatibility.md, made of what the runs wrote down: `results.json` in the folder of each tool.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const fileOf = (here, folder) => join(here, folder, 'results.json');

export const stored = (here, folder) => (existsSync(fileOf(here, folder)) ? JSON.parse(readFileSync(fileOf(here, folder), 'utf8')) : undefined);

export const store = (here, folder, result) => writeFileSync(fileOf(here, folder), `${JSON.stringify(result, null, 1)}\n`);

const cell = (text) => text.replaceAll('|', '\\|');

const row = (tool, { what, version, result, day = '', differs = '' }) => `| ${tool} | ${cell(what)} | ${version} | ${result} | ${day} | ${cell(differs)} |`;

const count = ({ name, runs }) => `| ${name} | ${runs.filter(({ result }) => result === 'works').length} of ${runs.length} |`;

/** The page of all tools that have results. */
export function page(here, folders) {
  const results = folders.map((folder) => stored(here, folder)).filter((result) => result !== undefined);
  return `# Software seen to work

Made by \`node test/ecosystem/run.mjs\`, which runs each tool below as its makers publish it, pinned, from package registries ([how](../test/ecosystem/README.md)).
Do not edit: run a tool again to renew its rows.

| tool | works |
|---|---|
${results.map(count).join('\n')}

| tool | what | version | result | last run | what differs |
|---|---|---|---|---|---|
${results.flatMap((result) => result.runs.map((run) => row(result.name, run))).join('\n')}
`;
}
