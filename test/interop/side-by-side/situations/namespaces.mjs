// Namespaces from their making to their end: labels that admission reads, what may still be made while one ends, finalizers of the spec and of the object, and names that cannot be removed.
import { configMap, patchTypes, pod } from './objects.mjs';

const levels = ['privileged', 'baseline', 'restricted', 'bad', ''];
const versions = ['latest', 'v1.20', 'v1.36', 'v9.99', 'x'];
const risky = [
  { hostNetwork: true }, { hostPID: true }, { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, { securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } }, { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, { securityContext: { runAsUser: 0 } },
  { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }, { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }] }, { containers: [{ name: 'c', image: 'i', securityContext: { capabilities: { add: ['SYS_ADMIN', 'NET_BIND_SERVICE'] }, procMount: 'Unmasked' } }], hostUsers: false },
  { containers: [{ name: 'c', image: 'i', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true, seccompProfile: { type: 'Unconfined' } } }] }, { containers: [{ name: 'c', image: 'i', livenessProbe: { httpGet: { host: '1.2.3.4', port: 80 } } }, { name: 'd', image: 'i', lifecycle: { preStop: { tcpSocket: { host: 'x', port: 1 } } } }] },
];

export async function namespaces({ ask, both, chance, namespace }) {
  const path = `/api/v1/namespaces/${namespace}`;
  for (let step = 0; step < 25; step += 1) {
    const mode = () => chance.pick(['enforce', 'warn', 'audit']);
    const labels = Object.fromEntries([[`pod-security.kubernetes.io/${mode()}`, chance.pick(levels)], ...(chance.chance(0.5) ? [[`pod-security.kubernetes.io/${mode()}-version`, chance.pick(versions)]] : [])]);
    const cleared = Object.fromEntries(['enforce', 'warn', 'audit'].flatMap((one) => [one, `${one}-version`]).map((one) => [`pod-security.kubernetes.io/${one}`, null]));
    await ask('PATCH', `${path}${chance.pick(['', '', '?dryRun=All'])}`, { metadata: { labels: { ...(chance.chance(0.3) && cleared), ...labels } } }, { type: patchTypes.merge });
    await new Promise((resume) => setTimeout(resume, 100));
    for (let more = 0; more < 2; more += 1) {
      const name = `p${chance.below(5)}`;
      await ask('POST', `${path}/pods${chance.pick(['', '?dryRun=All'])}`, pod(name, { spec: chance.pick(risky) }));
      if (chance.chance(0.3)) await ask('PATCH', `${path}/pods/${name}`, { spec: { containers: [{ name: 'c', image: 'j' }] } }, { type: patchTypes.strategic });
      if (chance.chance(0.3)) await ask('PATCH', `${path}/pods/${name}/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: `e${step}`, image: 'i', ...(chance.chance(0.5) && { securityContext: { privileged: true } }) }] } }, { type: patchTypes.strategic });
      const template = { metadata: { labels: { a: 'b' } }, spec: pod('x', { spec: chance.pick(risky) }).spec };
      if (chance.chance(0.3)) await ask('POST', `/apis/apps/v1/namespaces/${namespace}/deployments?dryRun=All`, { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } });
      if (chance.chance(0.2)) await ask('POST', `/apis/batch/v1/namespaces/${namespace}/jobs?dryRun=All`, { metadata: { name: 'j' }, spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } });
    }
  }
  await ends({ ask, both, chance, namespace });
}

async function ends({ ask, both, chance, namespace }) {
  const path = `/api/v1/namespaces/${namespace}`;
  const strange = chance.pick(['default', 'kube-system', 'kube-public', 'kube-node-lease', 'absent']);
  await ask('DELETE', `/api/v1/namespaces/${strange}?dryRun=All`);
  await ask('DELETE', '/api/v1/namespaces');
  await ask('PATCH', path, { metadata: { finalizers: chance.pick([['example.com/hold'], []]) }, spec: chance.pick([{}, { finalizers: ['example.com/x'] }]) }, { type: patchTypes.merge });
  await both('POST', `${path}/configmaps`, configMap('kept'));
  await ask('DELETE', path, chance.pick([{}, { gracePeriodSeconds: 5 }, { propagationPolicy: 'Foreground' }, { propagationPolicy: 'Orphan' }]));
  await ask('GET', path);
  await new Promise((resume) => setTimeout(resume, 200));
  for (let step = 0; step < 12; step += 1) {
    const draw = chance.below(9);
    if (draw === 0) await ask('POST', `${path}/configmaps${chance.pick(['', '?dryRun=All'])}`, configMap('late'));
    if (draw === 1) await ask('PATCH', `${path}/configmaps/kept`, { data: { b: '2' } }, { type: patchTypes.merge });
    if (draw === 2) await ask('PATCH', `${path}/configmaps/late?fieldManager=me`, configMap('late'), { type: patchTypes.apply });
    if (draw === 3) await ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    if (draw === 4) await ask('DELETE', path);
    if (draw === 5) await ask('PUT', `${path}/finalize`, { metadata: { name: namespace }, spec: { finalizers: chance.pick([['kubernetes'], ['kubernetes', 'example.com/x'], ['bad name']]) } });
    if (draw === 6) await ask('PATCH', `${path}/status`, { status: { phase: chance.pick(['Active', 'Terminating', 'Bad']), conditions: [{ type: 'NamespaceDeletionContentFailure', status: 'True' }] } }, { type: patchTypes.merge });
    if (draw === 7) await ask('POST', `${path}/serviceaccounts/default/token`, { spec: {} });
    if (draw === 8) await ask('GET', `/api/v1/namespaces?fieldSelector=status.phase%3DTerminating,metadata.name%3D${namespace}`);
    await ask('GET', path);
  }
  await ask('PUT', `${path}/finalize`, { metadata: { name: namespace }, spec: { finalizers: [] } });
  await ask('GET', path);
  await ask('PATCH', path, { metadata: { finalizers: null } }, { type: patchTypes.merge });
  await ask('GET', path);
  await ask('POST', `${path}/configmaps`, configMap('after'));
}
