// What a run says: waits of tenants by phase and by attack, and what processes used.

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
const right = (value, width) => value.toFixed(0).padStart(width);

/** Of tenants' requests: median, 99th percentile and longest wait in ms, how many were refused and how many not answered. */
export function summary(requests) {
  const waits = requests.map(({ waitMs }) => waitMs).sort((a, b) => a - b);
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => quantile(waits, share));
  const unanswered = requests.filter(({ status }) => status === 0).length;
  const refused = requests.filter(({ status }) => status !== 0 && status !== 200).length;
  return { count: waits.length, p50, p99, longest, refused, unanswered };
}

export function line(name, { requests, scalings }, more = '') {
  const { count, p50, p99, longest, refused, unanswered } = summary(requests);
  const scaled = `${scalings.filter(({ done }) => done).length} of ${scalings.length}`;
  const figures = [right(count, 9), right(p50, 7), right(p99, 7), right(longest, 8), right(refused, 8), right(unanswered, 11)];
  return `${name.padEnd(34)}${figures.join('')}${scaled.padStart(12)}${more && `  ${more}`}`;
}
export const head = `${''.padEnd(34)} requests    p50    p99 longest refused unanswered scaled 5 s`;

/**
 * Lines of what tenants saw during all attacks of one name, and of how many answers of which status the attacker had. `attacks`: in order of time.
 * Cleaning up counts as the attack.
 */
export function byAttack(attacks, seen, endMs) {
  const found = new Map();
  attacks.forEach(({ name, beganMs, statuses }, at) => {
    const overMs = attacks[at + 1]?.beganMs ?? endMs;
    const one = found.get(name) ?? { requests: [], scalings: [], statuses: {}, ms: 0 };
    found.set(name, one);
    one.ms += overMs - beganMs;
    const within = ({ dueMs }) => dueMs >= beganMs && dueMs < overMs;
    for (const what of ['requests', 'scalings']) one[what].push(...seen[what].filter(within));
    for (const [status, count] of Object.entries(statuses)) one.statuses[status] = (one.statuses[status] ?? 0) + count;
  });
  return [...found].map(([name, one]) => {
    const answers = Object.entries(one.statuses).map(([status, count]) => `${status} x ${count}`);
    return line(`  ${name}`, one, `${(one.ms / 1000).toFixed(0)} s  ${answers.join(', ')}`);
  });
}

/** The most of each process, and of all at one moment, in the periods of each column. */
export function memoryLines(columns, members) {
  const most = (periods, name) => Math.max(0, ...periods.map((period) => period.most[name] ?? 0));
  const names = [...members.map(({ name }) => name), 'all'];
  const lines = names.map((name) => {
    const restarts = members.find((one) => one.name === name)?.restarts ?? 0;
    const cells = Object.values(columns).map((periods) => right(most(periods, name), 18));
    return `${name.padEnd(34)}${cells.join('')}${restarts === 0 ? '' : `  started again ${restarts} times`}`;
  });
  const seconds = (periods) => periods.reduce((sum, period) => sum + period.seconds, 0);
  const titles = Object.keys(columns).map((title) => title.padStart(18));
  const cpu = Object.values(columns).map((periods) => right(seconds(periods), 18));
  return [`${'memory, at most, MB'.padEnd(34)}${titles.join('')}`, ...lines, `${'seconds of CPU'.padEnd(34)}${cpu.join('')}`];
}
