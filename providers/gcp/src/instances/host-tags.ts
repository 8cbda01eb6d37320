// The network tags by which a firewall rule names the nodes: those of the configuration, else for each instance its longest tag that begins its
// name. Pure.
import type { Settings } from '../settings.ts';
import type { Host } from './hosts.ts';

/** Throws when an instance has no such tag: a rule without tags would open every instance of the network. */
export function hostTags({ nodeTags }: Pick<Settings, 'nodeTags'>, hosts: readonly Host[]): string[] {
  if (nodeTags.length > 0) return [...nodeTags];
  const tags = hosts.map(({ name, tags: own }) => {
    const [longest] = own.filter((tag) => name.startsWith(tag)).sort((a, b) => b.length - a.length);
    if (longest !== undefined) return longest;
    throw new Error(
      `no node-tags in the configuration, and instance ${name} has no tag that is a prefix of its name; a firewall rule must name the nodes`,
    );
  });
  return [...new Set(tags)].sort();
}
