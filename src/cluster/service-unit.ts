// A cluster, or the node of a joined machine, as a unit of systemd: started at boot, started again when it fails, stopped in order
// (https://www.freedesktop.org/software/systemd/man/systemd.service.html). Pure.

export interface ServiceUnit {
  /** `sagong.service`. */
  name: string;
  text: string;
}

export interface ServiceOptions {
  /** What runs, for people. */
  description: string;
  /** The name of the unit, without `.service`. */
  name: string;
  /** Executable and arguments. */
  command: readonly string[];
  home: string;
}

/** A word of a command line, quoted, with systemd's own signs taken as they are. */
const word = (text: string): string =>
  /^[A-Za-z0-9_@/.:=+-]+$/.test(text)
    ? text
    : `"${text
        .replaceAll(/["\\]/g, (sign) => `\\${sign}`)
        .replaceAll('%', '%%')
        .replaceAll('$', '$$$$')}"`;
const plain = (text: string): string => text.replaceAll('%', '%%');

export function serviceUnit({ description, name, command, home }: ServiceOptions): ServiceUnit {
  const text = `[Unit]
Description=${plain(description)}
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart=${command.map(word).join(' ')}
Environment=${word(`HOME=${home}`)}
Restart=on-failure
RestartSec=5
# What is ended by SIGTERM in the middle of its start says so.
SuccessExitStatus=143
# The main process ends everything it has started, in order.
KillMode=mixed
TimeoutStopSec=120
Delegate=yes
LimitNOFILE=1048576
TasksMax=infinity

[Install]
WantedBy=multi-user.target
`;
  return { name: `${name}.service`, text };
}
