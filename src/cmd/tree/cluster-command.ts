// A command about one cluster that needs no flags but those that say which.
import { clusterRows } from '#cluster/flags';
import { type Command, command, type CommandOptions } from '#component-base/flags';

/** The flags that say which cluster a command is about. */
export interface ClusterFlags {
  name: string;
  dataDir?: string;
}

type Options = Omit<CommandOptions<typeof clusterRows>, 'flags' | 'run'> & {
  run: (cluster: ClusterFlags, args: readonly string[]) => Promise<void>;
};

export const clusterCommand = ({ run, ...options }: Options): Command =>
  command({
    ...options,
    flags: clusterRows,
    run: ({ given, values: { name }, args }) => run({ ...given, name }, args),
  });
