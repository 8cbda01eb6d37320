// Logs and connections of containers through the CRI.
import type { CriClient } from '#cri';
import type { RuntimeStreams } from '../../container/runtime.ts';

export const criStreams = ({ runtime }: CriClient): RuntimeStreams => ({
  async log(id) {
    const { logPath, state } = await runtime.containerStatus(id);
    return { path: logPath, open: state === 'CONTAINER_RUNNING' || state === 'CONTAINER_CREATED' };
  },
  exec: (containerId, command, options) => runtime.exec({ containerId, cmd: [...command], ...options }),
  attach: (containerId, options) => runtime.attach({ containerId, ...options }),
  portForward: (sandboxId, ports) => runtime.portForward(sandboxId, ports),
});
