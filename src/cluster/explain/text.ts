// An explanation as people read it. Pure.
import type { Explained } from './explain.ts';
import { ageText } from './words.ts';

/** Names and messages come from anybody: what would move a terminal's cursor, or begin a line, is a space. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

function linesOf(
  { object, state, scheduling, network = [], decisions, warnings, refused, silent = [] }: Explained,
  nowMs: number,
): string[] {
  const lines = [
    object,
    ...state.map((line) => `  ${line}`),
    ...(scheduling
      ? [`  scheduler: ${scheduling.outcome}`, ...scheduling.nodes.map(({ node, verdict }) => `    ${node}: ${verdict}`)]
      : []),
    ...network.map((line) => `  ${line}`),
  ];
  for (const { controller, because, effects, failure, atMs } of decisions) {
    lines.push(`  ${controller} (${ageText(atMs, nowMs)} ago): ${because}`);
    if (effects.length > 0) lines.push(`    did: ${effects.join('; ')}`);
    if (failure) lines.push(`    failed: ${failure}`);
  }
  lines.push(...[...warnings, ...refused].map((line) => `  ${line}`));
  if (lines.length === 1 && silent.length === 0)
    lines.push(
      '  nothing to tell: it has no warnings, and no control loop has decided anything about it since the cluster started',
    );
  return [...lines, ...silent.map((line) => `  not asked: ${line}`)];
}

export const explanationText = (explained: readonly Explained[], nowMs: number): string =>
  explained.map((one) => linesOf(one, nowMs).map(oneLine).join('\n')).join('\n\n');
