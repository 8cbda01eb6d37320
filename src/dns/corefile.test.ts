import { describe, expect, it } from 'vitest';
import { parseCorefile } from './corefile.ts';

const kubeadm = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`;
const server = (...lines: string[]): string => `. {\n${lines.join('\n')}\n}`;
const zone = 'kubernetes k8s.example';

describe('a Corefile', () => {
  it('of kubeadm is read, and what it says without effect is named', () => {
    const { warnings, ...file } = parseCorefile(kubeadm);
    expect(file).toEqual({ port: 53, domain: 'cluster.local', upstreams: ['/etc/resolv.conf'], health: 8080, ready: 8181 });
    expect(warnings.map((text) => /: (\w+) has no effect/.exec(text)?.[1])).toEqual(['prometheus', 'loop', 'reload']);
  });
  it('may name ports, upstreams and another domain, and hold comments', () => {
    const text = server('# names', zone, 'health localhost:8081 { lameduck 1s }', 'forward . 10.0.0.1 10.0.0.2:54 # two');
    expect(parseCorefile(text)).toEqual({
      ...{ port: 53, domain: 'k8s.example', upstreams: ['10.0.0.1', '10.0.0.2:54'], health: 8081, warnings: [] },
    });
  });
  it.each([
    ['', 'Corefile: there is no server block'],
    [server('errors'), 'Corefile:1: the plugin kubernetes is missing'],
    [server(zone, 'rewrite name a b'), 'Corefile:3: the plugin rewrite is not served here'],
    [server(zone, 'constructor'), 'Corefile:3: the plugin constructor is not served here'],
    [server(`${zone} {`, 'pods verified', '}'), 'Corefile:3: kubernetes: pods must be insecure'],
    [server('kubernetes a.example b.example'), 'Corefile:2: kubernetes must name one zone'],
    [server(zone, 'forward example.org 10.0.0.1'), 'Corefile:3: forward is for all names'],
    [server(zone, 'forward . tls://10.0.0.1'), 'Corefile:3: forward to tls://10.0.0.1 is not served here'],
    [server(zone, 'ready :99999'), 'Corefile:3: :99999 must be an address with a port'],
    [`${server(zone)}\nexample.org {\n}`, 'Corefile:4: a second server block is not served here'],
    ['example.org:53 {\n}', 'Corefile:1: the server block must be for all names'],
    [`. {\n${zone}`, 'a brace is not closed'],
    [`${server(zone)}\n}`, 'Corefile:4: a brace is closed that was not opened'],
  ])('%j is refused', (text, message) => {
    expect(() => parseCorefile(text)).toThrow(message);
  });
});
