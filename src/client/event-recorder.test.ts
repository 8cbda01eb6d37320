// What recorders promise each other: no event is lost because two of them speak of one object in the same millisecond.
import { expect, it } from 'vitest';
import { alreadyExists } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { ApiCall, Transport } from '#apimachinery/transport';
import { type Clock, silentLogger } from '#utils';
import { createClient } from './client.ts';
import { createEventRecorder } from './event-recorder.ts';

it('events of one moment about one object have names of their own', async () => {
  const written = new Map<string, KubeObject & { source?: { component?: string }; reason?: string }>();
  const transport = {
    call: ({ object }: ApiCall) => {
      const name = (object as KubeObject).metadata.name ?? '';
      if (written.has(name)) return Promise.reject(alreadyExists({ group: '', resource: 'events' }, name));
      written.set(name, object as KubeObject);
      return Promise.resolve(object);
    },
  } as unknown as Transport;
  const clock = { now: () => 1_700_000_000_000 } as Clock;
  const recorders = ['one', 'two', 'three'].map((component) =>
    createEventRecorder({ client: createClient(transport), clock, logger: silentLogger, component }),
  );
  const regarding: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data', uid: 'u' },
  };
  for (const recorder of recorders)
    for (const reason of ['Begun', 'Failed']) recorder.event(regarding, 'Warning', reason, `it has ${reason}`);
  await Promise.all(recorders.map((recorder) => recorder.flush()));
  const told = [...written.values()].map(({ source, reason }) => `${source?.component} ${reason}`).sort();
  expect(told).toEqual(['one Begun', 'one Failed', 'three Begun', 'three Failed', 'two Begun', 'two Failed']);
});
