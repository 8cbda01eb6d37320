// Settings of the server's core: the flags whose values it reads as they are. This table has their only defaults; a program that embeds the server
// names those that it wants otherwise.
import { defaultsOf, type Flag, flag, type FlagValues } from '#component-base';
import type { CertificateReaders, KindSettings } from '#api';

/** The flag with negative values refused. */
export const positive = (one: Flag<number>): Flag<number> => ({
  ...one,
  type: {
    ...one.type,
    parse(text) {
      const value = one.type.parse(text);
      if (value < 0) throw new Error('can not be negative value');
      return value;
    },
  },
});

export const settingsFlags = {
  etcdCompactionIntervalMs: flag.duration({
    name: 'etcd-compaction-interval',
    default: 300_000,
    help: 'Interval of compaction requests; 0 disables them.',
    section: 'Etcd',
  }),
  eventTtlMs: flag.duration({ name: 'event-ttl', default: 3_600_000, help: 'Time to keep events.', section: 'Etcd' }),
  requestTimeoutMs: flag.duration({
    name: 'request-timeout',
    default: 60_000,
    help: 'Longest time for a request that is not long-running.',
    section: 'Generic',
  }),
  minRequestTimeoutSeconds: flag.int({
    name: 'min-request-timeout',
    default: 1_800,
    help: 'Shortest time, in seconds, a watch is kept open.',
    section: 'Generic',
  }),
  maxRequestsInFlight: flag.int({
    name: 'max-requests-inflight',
    default: 400,
    help: 'Reads answered at once; more are turned away. 0: no limit.',
    section: 'Generic',
  }),
  maxMutatingRequestsInFlight: flag.int({
    name: 'max-mutating-requests-inflight',
    default: 200,
    help: 'Writes answered at once; more are turned away. 0: no limit.',
    section: 'Generic',
  }),
  enablePriorityAndFairness: flag.bool({
    name: 'enable-priority-and-fairness',
    default: true,
    help: 'Share the places of both limits of requests in flight among flows by priority; otherwise they are bounded by number alone.',
    section: 'Features',
  }),
  allowPrivileged: flag.bool({ name: 'allow-privileged', default: false, help: 'Allow privileged containers.', section: 'Misc' }),
  livezGraceMs: positive(
    flag.duration({
      name: 'livez-grace-period',
      default: 0,
      help: 'How long /livez holds unfinished start hooks for healthy.',
      section: 'Generic',
    }),
  ),
};

export type ServerSettings = FlagValues<typeof settingsFlags>;

export const defaultSettings: ServerSettings = defaultsOf(settingsFlags);

/** Picks the settings of the server out of values that have others, too. */
export const settingsOf = (values: ServerSettings): ServerSettings =>
  Object.fromEntries(
    Object.keys(settingsFlags).map((name) => [name, values[name as keyof ServerSettings]]),
  ) as unknown as ServerSettings;

/** What the rules of kinds see of them. */
export const kindSettingsOf = (
  { allowPrivileged, eventTtlMs }: ServerSettings,
  certificates: CertificateReaders,
): KindSettings => ({
  allowPrivileged,
  eventTtlSeconds: Math.max(1, Math.round(eventTtlMs / 1000)),
  certificates,
});
