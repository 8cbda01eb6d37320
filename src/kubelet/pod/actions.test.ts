import { describe, expect, it } from 'vitest';
import type { Container, Pod } from '#api/core/v1';
import { hashContainer } from '../container/hash.ts';
import type { ContainerRecord, PodRecord } from '../container/types.ts';
import { podActions } from './actions.ts';
import { backOffKey } from './container-rules.ts';
import type { ActionContext } from './plan.ts';
import { noProbes, type ProbeResults } from './probe-results.ts';

const now = 1_000_000;
const container = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'img', ...more });
const podOf = (spec: Partial<Pod['spec']>): Pod => ({
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: { restartPolicy: 'Always', containers: [container('app')], ...spec },
});
const record = (containers: ContainerRecord[], ready = true): PodRecord => ({
  uid: 'u',
  name: 'p',
  namespace: 'ns',
  sandboxes: [{ id: 's', ready, attempt: 0, createdAtMs: 0, hostNetwork: false, ips: ['10.0.0.1'] }],
  containers,
});
const found = (
  of: Container,
  state: ContainerRecord['state'],
  exitCode = 0,
  more: Partial<ContainerRecord> = {},
): ContainerRecord => ({
  id: `${of.name}-id`,
  name: of.name,
  image: 'img',
  imageRef: 'sha256:1',
  hash: hashContainer(of),
  restartCount: 0,
  state,
  createdAtMs: now - 5000,
  startedAtMs: now - 4000,
  finishedAtMs: state === 'exited' ? now - 1000 : 0,
  exitCode,
  reason: '',
  message: '',
  ...more,
});
const context = (more: Partial<ActionContext> = {}): ActionContext => ({ probes: noProbes, backOff: new Map(), ...more });
const failing = (id: string, kind: 'liveness' | 'startup'): ProbeResults => ({
  get: (asked, which) => (asked === id && which === kind ? 'failure' : undefined),
});
/** The plan in one line. */
const plan = (pod: Pod, known: PodRecord, given = context()): string => {
  const { killPod, createSandbox, kill, start } = podActions(pod, known, now, given);
  return [
    ...(killPod ? ['kill-pod'] : []),
    ...(createSandbox ? [`sandbox:${createSandbox.attempt}`] : []),
    ...kill.map(({ name }) => `kill:${name}`),
    ...start.map(({ kind, container: { name }, backOff }) => `${backOff ? 'wait' : 'start'}:${kind}:${name}`),
  ].join(' ');
};

const app = container('app');
const side = container('side', { restartPolicy: 'Always' });
const setup = container('setup');
const none: PodRecord = { uid: 'u', name: 'p', namespace: 'ns', sandboxes: [], containers: [] };

describe('podActions', () => {
  const withInit = podOf({ initContainers: [setup, side], containers: [app] });
  const table: [string, Pod, PodRecord, string][] = [
    ['a new pod', podOf({}), none, 'kill-pod sandbox:0 start:regular:app'],
    ['a new pod with init containers', withInit, none, 'kill-pod sandbox:0 start:init:setup'],
    ['a running pod', podOf({}), record([found(app, 'running')]), ''],
    ['a lost sandbox', podOf({}), record([found(app, 'exited', 1)], false), 'kill-pod sandbox:1 start:regular:app'],
    [
      'a lost sandbox of a pod that runs once',
      podOf({ restartPolicy: 'Never' }),
      record([found(app, 'exited', 1)], false),
      'kill-pod',
    ],
    [
      'a lost sandbox when all succeeded',
      podOf({ restartPolicy: 'OnFailure' }),
      record([found(app, 'exited', 0)], false),
      'kill-pod',
    ],
    ['a crash', podOf({}), record([found(app, 'exited', 1)]), 'start:regular:app'],
    ['a crash, never restarted', podOf({ restartPolicy: 'Never' }), record([found(app, 'exited', 1)]), 'kill-pod'],
    ['success, restarted on failure only', podOf({ restartPolicy: 'OnFailure' }), record([found(app, 'exited', 0)]), 'kill-pod'],
    ['a container that was created but not started', podOf({}), record([found(app, 'created')]), 'start:regular:app'],
    ['an unknown state', podOf({}), record([found(app, 'unknown')]), 'kill:app start:regular:app'],
    ['init running', withInit, record([found(setup, 'running')]), ''],
    ['init done: the sidecar is next', withInit, record([found(setup, 'exited', 0)]), 'start:init:side'],
    [
      'sidecar running: the others start',
      withInit,
      record([found(side, 'running'), found(setup, 'exited', 0)]),
      'start:regular:app',
    ],
    ['init failed', withInit, record([found(setup, 'exited', 1)]), 'start:init:setup'],
    [
      'init failed for good',
      podOf({ restartPolicy: 'Never', initContainers: [setup] }),
      record([found(setup, 'exited', 1)]),
      'kill-pod',
    ],
    [
      'a sidecar that ended beside a running container',
      withInit,
      record([found(side, 'exited', 0), found(setup, 'exited', 0), found(app, 'running')]),
      'start:init:side',
    ],
    [
      'only sidecars left',
      podOf({ restartPolicy: 'Never', initContainers: [side], containers: [app] }),
      record([found(side, 'running'), found(app, 'exited', 0)]),
      'kill-pod',
    ],
    [
      'a changed image',
      podOf({ containers: [container('app', { image: 'new' })] }),
      record([found(app, 'running')]),
      'kill:app start:regular:app',
    ],
  ];
  it.each(table)('%s', (_, pod, known, expected) => {
    expect(plan(pod, known)).toBe(expected);
  });

  it("restarts what fails its liveness probe, with upstream's message", () => {
    const probes = failing('app-id', 'liveness');
    const { kill, start } = podActions(podOf({}), record([found(app, 'running')]), now, context({ probes }));
    expect(kill).toEqual([
      { id: 'app-id', name: 'app', message: 'Container app failed liveness probe, will be restarted', reason: 'LivenessProbe' },
    ]);
    expect(start).toHaveLength(1);
    const never = podActions(podOf({ restartPolicy: 'Never' }), record([found(app, 'running')]), now, context({ probes }));
    expect(never.kill[0]?.message).toBe('Container app failed liveness probe');
    expect(never.start).toHaveLength(0);
  });

  it('keeps a sidecar with a startup probe back until it has passed', () => {
    const probed = container('side', { restartPolicy: 'Always', startupProbe: {} });
    const pod = podOf({ initContainers: [probed], containers: [app] });
    const known = record([found(probed, 'running')]);
    const says = (result: 'unknown' | 'success'): ActionContext =>
      context({ probes: { get: (_, kind) => (kind === 'startup' ? result : undefined) } });
    expect(plan(pod, known, says('unknown'))).toBe('');
    expect(plan(pod, known, says('success'))).toBe('start:regular:app');
  });

  it('waits out the back-off and says until when', () => {
    const backOff = new Map([[backOffKey(app), { delayMs: 20_000, atMs: now - 1000 }]]);
    const { start } = podActions(podOf({}), record([found(app, 'exited', 1)]), now, context({ backOff }));
    expect(start[0]?.backOff).toEqual({
      untilMs: now - 1000 + 20_000,
      message: 'back-off 20s restarting failed container=app pod=p_ns(u)',
    });
  });

  it('follows the restart rules of a container', () => {
    const ruled = container('app', {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    });
    const pod = podOf({ restartPolicy: 'Never', containers: [ruled] });
    expect(plan(pod, record([found(ruled, 'exited', 42)]))).toBe('start:regular:app');
    expect(plan(pod, record([found(ruled, 'exited', 1)]))).toBe('kill-pod');
  });

  it('starts ephemeral containers once, whatever the init containers do', () => {
    const debug = container('debug');
    const pod = podOf({ initContainers: [setup], ephemeralContainers: [debug as never] });
    expect(plan(pod, record([found(setup, 'running')]))).toBe('start:ephemeral:debug');
    expect(plan(pod, record([found(debug, 'exited', 0), found(setup, 'running')]))).toBe('');
  });
});
