// Lists of many objects: pages, versions, selectors of labels and fields, and every form of an answer.
import { configMap, pod, tables } from './objects.mjs';

const labelSelectors = ['tier', '!tier', 'tier=a', 'tier==b', 'tier!=a', 'tier in (a,b)', 'tier notin (a)', 'tier in (a),app', 'tier=a,app=x', 'tier=', 'size>2', 'size<3', 'size>x', 'tier in ()', 'tier=a b', ',', 'tier,,app', 'a/b/c=d', 'tier = a , app = x', '  tier', 'tier=a,tier=b', '!tier,app'];
const podFields = ['status.phase=Pending', 'status.phase!=Pending', 'spec.nodeName=n1', 'spec.nodeName=', 'spec.nodeName!=n1', 'spec.restartPolicy=Always', 'spec.schedulerName=default-scheduler', 'spec.serviceAccountName=default', 'spec.hostNetwork=false', 'spec.hostNetwork=true', 'status.podIP=', 'status.nominatedNodeName=', 'metadata.name=p3', 'metadata.name!=p3,spec.nodeName=n1', 'metadata.namespace=other', 'spec.containers=x', 'metadata.uid=x', 'metadata.labels.tier=a', 'spec.nodeName==n1', 'spec.nodeName', 'metadata.name=p3,', 'metadata.name in (p3)'];
const mapFields = ['metadata.name=m3', 'metadata.name!=m3', 'metadata.namespace!=x', 'data.a=1', 'metadata.name=m3,metadata.name=m4', 'metadata.name=', 'metadata.name>m'];

const versions = (at) => [`resourceVersion=0`, `resourceVersion=${at}`, `resourceVersion=${at}&resourceVersionMatch=Exact`, `resourceVersion=${at}&resourceVersionMatch=NotOlderThan`, 'resourceVersion=0&resourceVersionMatch=NotOlderThan', 'resourceVersion=', 'resourceVersionMatch=Exact', 'resourceVersion=x', `resourceVersion=${at}&resourceVersionMatch=Bad`, 'resourceVersion=-1'];

export async function lists({ ask, both, chance, namespace }) {
  const base = `/api/v1/namespaces/${namespace}`;
  const label = () => ({ ...(chance.chance(0.7) && { tier: chance.pick(['a', 'b', '']) }), ...(chance.chance(0.4) && { app: chance.pick(['x', 'y']) }), ...(chance.chance(0.4) && { size: chance.pick(['1', '2', '3', 'big']) }) });
  for (let at = 0; at < 9; at += 1) {
    await both('POST', `${base}/configmaps`, configMap(`m${at}`, { metadata: { labels: label() } }));
    await both('POST', `${base}/pods`, pod(`p${at}`, { metadata: { labels: label() }, spec: chance.chance(0.4) ? { nodeName: chance.pick(['n1', 'n2']) } : { hostNetwork: chance.chance(0.3) } }));
  }
  const middle = await both('GET', `${base}/pods`);
  await both('POST', `${base}/pods`, pod('p9'));
  await both('POST', `${base}/configmaps`, configMap('m9'));
  await both('DELETE', `${base}/pods/p1?gracePeriodSeconds=0`);
  const version = (side) => middle[side].body.metadata.resourceVersion;
  const forms = ['application/json', tables.Table, tables.MetadataList, `${tables.Table},application/json`, 'application/yaml;q=0.1,application/json'];

  async function page(path, more) {
    let next = ['', ''];
    for (let pages = 0; pages < 14; pages += 1) {
      const limit = chance.pick([1, 2, 3, 5, 500]);
      const from = next;
      const answers = await ask('GET', (side) => `${path}?limit=${limit}${more}${from[side] && `&continue=${encodeURIComponent(from[side])}`}`, undefined, { accept: chance.pick(forms) });
      next = answers.map(({ body }) => body?.metadata?.continue ?? '');
      if (next.some((one) => one === '')) return;
      // Others write between the pages.
      if (chance.chance(0.3)) await both('POST', `${base}/configmaps`, configMap(`m1-${pages}`));
      if (chance.chance(0.15)) await ask('GET', (side) => `${path}?limit=2&resourceVersion=${version(side)}&continue=${encodeURIComponent(next[side])}`);
      if (chance.chance(0.1)) await ask('GET', (side) => `${path}?limit=2&labelSelector=tier&continue=${encodeURIComponent(next[side])}`);
    }
  }

  for (let steps = 0; steps < 70; steps += 1) {
    const [resource, fields] = chance.pick([['pods', podFields], ['configmaps', mapFields]]);
    const path = chance.chance(0.8) ? `${base}/${resource}` : `/api/v1/${resource}`;
    const parameters = [];
    if (chance.chance(0.5) || path.startsWith('/api/v1/p') || path.startsWith('/api/v1/c')) parameters.push(path.includes(namespace) ? `labelSelector=${encodeURIComponent(chance.pick(labelSelectors))}` : `fieldSelector=metadata.namespace%3D${namespace}`);
    if (chance.chance(0.5) && path.includes(namespace)) parameters.push(`fieldSelector=${encodeURIComponent(chance.pick(fields))}`);
    const of = chance.chance(0.3) ? chance.below(10) : -1;
    // Upstream begins anew after the first page of a list over all namespaces that names one as a field.
    if (chance.chance(0.15) && path.includes(namespace)) await page(path, parameters.length > 0 ? `&${parameters.join('&')}` : '');
    else if (chance.chance(0.1)) await ask('GET', `${base}/${resource}/${resource[0] === 'p' ? 'p' : 'm'}${chance.below(9)}${chance.pick(['', '?resourceVersion=0', '?resourceVersion=99999999', '?includeObject=None', '?resourceVersion=x'])}`, undefined, { accept: chance.pick(['application/json', tables.Table, tables.Metadata]) });
    else {
      const limited = chance.chance(0.15) ? ['limit=3'] : [];
      const include = chance.chance(0.2) ? [`includeObject=${chance.pick(['None', 'Metadata', 'Object'])}`] : [];
      await ask('GET', (side) => `${path}?${[...parameters, ...limited, ...include, ...(of >= 0 ? [versions(version(side))[of]] : [])].join('&')}`, undefined, { accept: chance.pick(forms) });
    }
  }
}
