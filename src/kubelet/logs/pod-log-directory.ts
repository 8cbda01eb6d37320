// Where logs of containers are: <directory of all logs>/<namespace>_<pod>_<uid>/<container>/<attempt>.log. Pure.

/** The directory of one pod's logs. */
export const podLogDirectory = (
  podLogsDir: string,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
): string => `${podLogsDir}/${namespace}_${name}_${uid}`;
