import { expect, it } from 'vitest';
import { hostPortRules } from './host-ports.ts';

/** What the plugin has made for one pod of each network, as `iptables-save -t nat` of 1.8.9 prints it. */
const saved = (...networks: string[]): string => `*nat
:PREROUTING ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
${networks.map((name) => `:CNI-DN-${name} - [0:0]`).join('\n')}
:CNI-HOSTPORT-DNAT - [0:0]
:CNI-HOSTPORT-MASQ - [0:0]
:CNI-HOSTPORT-SETMARK - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ
${networks.map((name) => `-A CNI-DN-${name} -s 127.0.0.1/32 -p tcp -m tcp --dport 80 -j CNI-HOSTPORT-SETMARK`).join('\n')}
${networks
  .map(
    (name) =>
      `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"${name}\\" id: \\"aa\\"" -m multiport --dports 80 -j CNI-DN-${name}`,
  )
  .join('\n')}
-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE
-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000
COMMIT
`;

it('takes away the host ports of one network, and leaves those of another program', () => {
  expect(hostPortRules(saved('podnet', 'podman'), 'podnet')?.split('\n')).toEqual([
    '*nat',
    '-D CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"podnet\\" id: \\"aa\\"" -m multiport --dports 80 -j CNI-DN-podnet',
    '-F CNI-DN-podnet',
    '-X CNI-DN-podnet',
    'COMMIT',
    '',
  ]);
});

it('takes away what is for everybody where nobody else has any', () => {
  const chains = ['CNI-DN-podnet', 'CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-SETMARK', 'CNI-HOSTPORT-MASQ'];
  expect(hostPortRules(saved('podnet'), 'podnet')?.split('\n')).toEqual([
    '*nat',
    '-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
    '-D OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
    '-D POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
    ...chains.map((chain) => `-F ${chain}`),
    ...chains.map((chain) => `-X ${chain}`),
    'COMMIT',
    '',
  ]);
});

it('has nothing to do where there is nothing of the network', () => {
  expect(hostPortRules('*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n', 'podnet')).toBeUndefined();
  expect(hostPortRules(saved('podman'), 'podnet')).toBeUndefined();
});
