// The command line of `npm run conformance`.
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const usage = `npm run conformance [-- options]: upstream's end-to-end suite against a cluster of this checkout

  --focus REGEX     specs whose text matches, instead of all that are [Conformance]; may be given several times
  --skip REGEX      leaves matching specs out; may be given several times
  --sig NAMES       only specs of these SIGs: api-machinery,apps,node,...
  --labels FILTER   specs by ginkgo's label filter (default: Conformance, or everything with --focus)
  --serial          only specs that must run alone
  --parallel        only specs that may run beside others
  --procs N         specs at a time (default: two and a half for each core)
  --nodes N         nodes of the cluster (default 2, with --csi 1)
  --uplink auto     a way between the nodes and the machine, which LoadBalancers needs; by default there is none, since specs of
                    Services that do not exist fail where a gateway answers for every address
  --name NAME       of the cluster (default: conformance)
  --csi DIR         upstream's csi-driver-host-path with its sidecars in the cluster, and its External.Storage specs unless --focus says otherwise;
                    what checkouts are in DIR is built from them, all else from Go modules (csi/driver.mjs)
  --kubeconfig FILE a cluster that runs already, instead of a new one; it must have the images
  --work DIR        binaries and images, kept for the next run (default: the user's cache)
  --results DIR     reports of this run (default: WORK/results)
  --keep            leave the cluster running
  --build           only build binaries and images
`;

/** Reads the arguments. Throws an Error with a sentence for those that cannot be used. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      focus: { type: 'string', multiple: true },
      skip: { type: 'string', multiple: true },
      sig: { type: 'string' },
      labels: { type: 'string' },
      serial: { type: 'boolean', default: false },
      parallel: { type: 'boolean', default: false },
      procs: { type: 'string' },
      nodes: { type: 'string' },
      uplink: { type: 'string', default: 'none' },
      name: { type: 'string', default: 'conformance' },
      csi: { type: 'string' },
      kubeconfig: { type: 'string' },
      work: { type: 'string' },
      results: { type: 'string' },
      keep: { type: 'boolean', default: false },
      build: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.serial && values.parallel) throw new Error('--serial and --parallel exclude each other');
  if (!['auto', 'none'].includes(values.uplink)) throw new Error(`--uplink ${values.uplink}: expected is auto or none`);
  const number = (name, fallback) => {
    const text = values[name];
    if (text === undefined) return fallback;
    if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name} ${text}: expected is a positive whole number`);
    return Number(text);
  };
  if (values.csi !== undefined) values.focus ??= ['External.Storage'];
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const work = resolve(values.work ?? join(cache, 'sagong', 'conformance'));
  return {
    ...values,
    procs: number('procs', Math.max(2, Math.round(availableParallelism() * 2.5))),
    // The driver runs on one node: pods that are placed elsewhere wait for its volumes for ever.
    nodes: number('nodes', values.csi === undefined ? 2 : 1),
    work,
    results: resolve(values.results ?? join(work, 'results')),
    /** Whether it is the whole of what conformance asks for: only such a run is one to hand in. */
    whole: !values.focus && !values.skip && !values.sig && !values.labels && !values.serial && !values.parallel,
  };
}

/** What ginkgo is to select. */
export function selection({ focus = [], skip = [], sig, labels, serial, parallel }) {
  const filters = [labels ?? (focus.length > 0 ? '' : 'Conformance'), serial && 'Serial', parallel && '!Serial'].filter(Boolean);
  const sigs = sig?.split(',').map((name) => `\\[sig-${name.trim().replace(/^sig-/, '')}\\]`);
  // Ginkgo takes any of several focuses; a SIG and a focus must both match.
  const focused = sigs ? (focus.length > 0 ? focus : ['']).map((text) => `(${sigs.join('|')}).*${text}`) : focus;
  return [
    ...(filters.length > 0 ? [`--label-filter=${filters.map((filter) => `(${filter})`).join(' && ')}`] : []),
    ...focused.map((text) => `--focus=${text}`),
    ...skip.map((text) => `--skip=${text}`),
  ];
}
