// The etcd front: our own etcd client and the contract suite through it, over TLS with client certificates.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { EmbeddedStore, EtcdFront, Store } from '#store';
import { openEtcdStore, openMemoryStore, serveEtcd, UnavailableError } from '#store';
import { manualClock, storeSuite } from '#store/suite';

const ca = createCertificateAuthority({ commonName: 'etcd-ca' });
const server = issueCertificate({ ca, commonName: 'etcd', ips: ['127.0.0.1'], usages: ['digital signature', 'server auth'] });
const client = issueCertificate({ ca, commonName: 'apiserver', usages: ['digital signature', 'client auth'] });
const tls = { ca: ca.cert, ...client };

async function serveTls(store: EmbeddedStore): Promise<EtcdFront> {
  return serveEtcd({ store, tls: { ...server, clientCa: ca.cert } });
}

storeSuite('our etcd client on the front over TLS', {
  async open() {
    const clock = manualClock();
    const embedded = openMemoryStore({ clock });
    const front = await serveTls(embedded);
    const store = await openEtcdStore({ endpoints: [front.endpoint], tls });
    const release = async (): Promise<void> => {
      await store.close();
      await front.close();
      await embedded.close();
    };
    return { store, advance: async (milliseconds) => clock.advance(milliseconds), release };
  },
});

describe('connections', () => {
  let embedded: EmbeddedStore;
  let front: EtcdFront;
  beforeAll(async () => {
    embedded = openMemoryStore();
    front = await serveTls(embedded);
  });
  afterAll(async () => {
    await front.close();
    await embedded.close();
  });

  test.each([
    ['without a client certificate', { ca: ca.cert }],
    ['with a certificate of another authority', { ca: ca.cert, ...strangersCertificate() }],
    ['trusting another authority', { ...client, ca: createCertificateAuthority({ commonName: 'other' }).cert }],
  ])('a client %s is refused', async (_, wrong) => {
    const opened = openEtcdStore({ endpoints: [front.endpoint], tls: wrong, connectTimeoutMs: 300 });
    await expect(opened).rejects.toBeInstanceOf(UnavailableError);
  });

  test('a watch outlives its connection and misses nothing', async () => {
    const store: Store = await openEtcdStore({ endpoints: [front.endpoint], tls });
    const seen: string[] = [];
    let wake = (): void => {};
    const until = (count: number): Promise<void> =>
      new Promise((resolve) => {
        wake = () => seen.length >= count && resolve();
        wake();
      });
    store.watch({
      key: '/w/',
      rangeEnd: '/w0',
      onEvents(events) {
        seen.push(...events.map(({ kv }) => kv.key));
        wake();
      },
      onEnd: (error) => seen.push(String(error)),
    });
    const put = (key: string) => embedded.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from('1') }] });
    // The watch begins with the first change after it was made: write until it is there.
    const ready = setInterval(() => void put('/w/ready'), 20);
    await until(1).finally(() => clearInterval(ready));
    const before = seen.length;
    await put('/w/1');
    const { port } = front;
    await front.close();
    await put('/w/2');
    await put('/w/3');
    front = await serveEtcd({ store: embedded, port, tls: { ...server, clientCa: ca.cert } });
    await put('/w/4');
    const named = (): string[] => seen.slice(before).filter((key) => key !== '/w/ready');
    while (named().length < 4) await until(seen.length + 1);
    expect(named()).toEqual(['/w/1', '/w/2', '/w/3', '/w/4']);
    await store.close();
  });
});

function strangersCertificate() {
  const stranger = createCertificateAuthority({ commonName: 'stranger' });
  return issueCertificate({ ca: stranger, commonName: 'apiserver', usages: ['digital signature', 'client auth'] });
}
