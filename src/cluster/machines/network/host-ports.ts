// Which of the rules that the CNI plugin `portmap` has made are of one network: it writes the network's name into the comment of each rule that leads to
// a pod's chain, and the chains that those hang on are everybody's (https://www.cni.dev/plugins/current/meta/portmap/). Pure.

const shared = ['CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-SETMARK', 'CNI-HOSTPORT-MASQ'];

/**
 * The input of iptables-restore that removes the rules of a network, and the shared rules when no other network needs them. `saved`: what
 * `iptables-save -t nat` prints. Undefined where the network has no rules.
 */
export function hostPortRules(saved: string, network: string): string | undefined {
  const lines = saved.split('\n');
  const chains = new Set(lines.flatMap((line) => /^:(CNI-\S+)/.exec(line)?.[1] ?? []));
  const targetOf = (rule: string): string => / -j (CNI-\S+)/.exec(rule)?.[1] ?? '';
  const chainOf = (rule: string): string => rule.split(' ')[1] ?? '';
  const toPods = lines.filter((line) => line.startsWith('-A ') && / --comment "(dnat )?name: /.test(line));
  const own = toPods.filter((line) => line.includes(`name: \\"${network}\\" `));
  const others = toPods.length > own.length;
  const gone = new Set(own.map(targetOf));
  if (!others) for (const chain of shared) gone.add(chain);
  for (const chain of gone) if (!chains.has(chain)) gone.delete(chain);
  if (gone.size === 0) return undefined;
  const leading = lines.filter((line) => line.startsWith('-A ') && gone.has(targetOf(line)) && !gone.has(chainOf(line)));
  return [
    '*nat',
    ...leading.map((line) => line.replace(/^-A/, '-D')),
    ...[...gone].map((chain) => `-F ${chain}`),
    ...[...gone].map((chain) => `-X ${chain}`),
    'COMMIT',
    '',
  ].join('\n');
}
