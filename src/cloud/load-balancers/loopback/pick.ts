// Which target a connection gets without a kernel's help: turn by turn, or the one that its client had lately. Pure.

export interface Picker {
  /** The target for a client; undefined when there is no target. */
  pick(client: string, targets: readonly string[], now: number): string | undefined;
}

/** `clientsMax`: of clients that are remembered; the one that was here longest ago is forgotten for a new one. */
export function createPicker(affinityTimeoutMs: number | undefined, clientsMax: number): Picker {
  const clients = new Map<string, { target: string; until: number }>();
  let turn = 0;
  const next = (targets: readonly string[]): string | undefined => targets[turn++ % Math.max(1, targets.length)];
  return {
    pick(client, targets, now) {
      if (affinityTimeoutMs === undefined) return next(targets);
      const known = clients.get(client);
      const stays = known !== undefined && known.until > now && targets.includes(known.target);
      const target = stays ? known.target : next(targets);
      clients.delete(client);
      if (target === undefined) return undefined;
      clients.set(client, { target, until: now + affinityTimeoutMs });
      const [oldest] = clients.keys();
      if (clients.size > clientsMax && oldest !== undefined) clients.delete(oldest);
      return target;
    },
  };
}
