// What a turn of the event loop was spent on, from a CPU profile: the calls that took the most of it, those they were made in before them.

/** `turn`: its first and its last microsecond on the profiler's clock. */
export function printTurn(profile, turn, rows = 28) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, { node, ms: 0 }]));
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    at += profile.timeDeltas[index];
    if (at < turn[0] || at > turn[1]) continue;
    // No longer than a sample takes: the rest is time in which another program had the core.
    nodes.get(id).ms += Math.min(1_250, profile.timeDeltas[index + 1] ?? 0) / 1000;
  }
  const total = ({ node, ms }) => (node.children ?? []).reduce((sum, child) => sum + total(nodes.get(child)), ms);
  const lines = [];
  const visit = (entry, depth) => {
    const ms = total(entry);
    if (ms < 2) return;
    const { functionName, lineNumber } = entry.node.callFrame;
    lines.push(
      `${' '.repeat(depth)}${functionName || '(no name)'}:${lineNumber}  ${ms.toFixed(0)} ms, ${entry.ms.toFixed(0)} of its own`,
    );
    for (const child of entry.node.children ?? []) visit(nodes.get(child), depth + 1);
  };
  visit(nodes.get(profile.nodes[0].id), 0);
  console.log(lines.slice(0, rows).join('\n'));
}
