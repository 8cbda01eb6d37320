// Flags of every command about one cluster: which one it is, and where it is kept.
import { flag } from '#component-base/flags';

/** Throws a sentence for what cannot be the name of a cluster. */
function checkName(text: string): string {
  if (text.length <= 50 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)) return text;
  throw new Error("must be up to 50 lower case letters, digits and '-', with a letter or digit at both ends");
}

const name = flag.string({
  name: 'name',
  default: 'sagong',
  help: 'Name of the cluster, its context and its default data directory.',
  section: 'Cluster',
});

export const clusterRows = {
  name: { ...name, type: { ...name.type, parse: checkName } },
  dataDir: flag.string({
    name: 'data-dir',
    default: '',
    usual: '~/.sagong/<name>',
    help: 'Where everything of the cluster is kept.',
    section: 'Cluster',
  }),
};
