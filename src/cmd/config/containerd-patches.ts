// Patches of containerd's configuration, as kind's configuration has them (TOML): what they are mostly for, mirrors of registries, becomes those of `sagong up`;
// the folder in which nodes look for more of them is the one that kind's recipe for a local registry names; all else is refused. Pure.

/** Real nodes always look there. */
const hostsDir = '/etc/containerd/certs.d';

const refuse = (path: string, line: string): never => {
  throw new Error(
    `--config: ${path}: ${JSON.stringify(line)} has no counterpart: only mirrors of registries can be patched, and their config_path be ${hostsDir}; a registry of the cluster's own is there with --registry`,
  );
};

const table = /^\[plugins\."?io\.containerd\.[\w.-]+"?\.registry\.mirrors\."([^"]+)"\]$/;
const registryTable = /^\[plugins\."?io\.containerd\.[\w.-]+"?\.registry\]$/;
const configPath = /^config_path\s*=\s*"([^"]*)"$/;
const endpoint = /^endpoint\s*=\s*\[\s*"([^"]+)"\s*\]$/;

/** Gives mirrors as `registry=url`. Throws a sentence with the line that has no counterpart. */
export function fromContainerdPatches(patches: unknown): string[] {
  if (patches === undefined || patches === null) return [];
  if (!Array.isArray(patches) || patches.some((patch) => typeof patch !== 'string'))
    throw new Error('--config: containerdConfigPatches must be a list of texts');
  return (patches as string[]).flatMap((text, index) => {
    const path = `containerdConfigPatches[${index}]`;
    const mirrors: string[] = [];
    let registry: string | undefined;
    let ofRegistries = false;
    for (const line of text.split('\n').map((one) => one.replace(/#.*$/, '').trim())) {
      if (line === '') continue;
      const [, named] = table.exec(line) ?? [];
      const [, url] = endpoint.exec(line) ?? [];
      if (named !== undefined || registryTable.test(line)) [registry, ofRegistries] = [named, named === undefined];
      else if (ofRegistries && configPath.exec(line)?.[1] === hostsDir) continue;
      else if (url !== undefined && registry !== undefined) mirrors.push(`${registry}=${url}`);
      else refuse(path, line);
    }
    return mirrors;
  });
}
