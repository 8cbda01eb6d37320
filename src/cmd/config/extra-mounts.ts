// Folders of this machine that a node sees, in the words of kind's configuration (extraMounts). Pure.
import type { NodeMount } from '#cluster/start';

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const known = ['hostPath', 'containerPath', 'readOnly', 'selinuxRelabel', 'propagation'];

const wrong = (path: string, what: string): never => {
  throw new Error(`--config: ${path} ${what}`);
};

/** Reads the extra mounts of one node, with sources as they are written. Throws a sentence for one that cannot be made. */
export function extraMounts(value: unknown, path: string): NodeMount[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return wrong(path, 'must be a list');
  return value.map((mount: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(mount)) return wrong(at, 'must be an object');
    const unknown = Object.keys(mount).find((name) => !known.includes(name));
    if (unknown !== undefined) wrong(`${at}.${unknown}`, 'is no field of a mount');
    const { hostPath, containerPath, readOnly = false, selinuxRelabel = false, propagation = 'None' } = mount;
    if (typeof hostPath !== 'string' || hostPath === '' || hostPath.includes('\0'))
      return wrong(`${at}.hostPath`, 'must be a path of this machine');
    const words = String(containerPath)
      .split('/')
      .filter((word) => word !== '' && word !== '.');
    const isPath = typeof containerPath === 'string' && containerPath.startsWith('/') && !containerPath.includes('\0');
    if (!isPath || words.length === 0 || words.includes('..'))
      return wrong(`${at}.containerPath`, 'must be an absolute path below the root of the node');
    if (typeof readOnly !== 'boolean') return wrong(`${at}.readOnly`, 'must be true or false');
    if (selinuxRelabel !== false) wrong(`${at}.selinuxRelabel`, 'has no counterpart: labels of SELinux are not changed');
    if (propagation !== 'None')
      wrong(`${at}.propagation: ${String(propagation)}`, 'has no counterpart: what is mounted there later stays on its own side');
    return { node: 0, source: hostPath, target: `/${words.join('/')}`, readOnly };
  });
}
