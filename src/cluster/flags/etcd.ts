// Flags that name an etcd, as kube-apiserver has them.
import { type Flag, flag } from '#component-base/flags';

export const etcdRows = (row: Pick<Flag<unknown>, 'section' | 'kept'>) => ({
  etcdServers: flag.strings({
    ...row,
    name: 'etcd-servers',
    default: [],
    usual: 'a store of its own',
    help: 'An etcd to keep the data in, http(s)://host:port, comma separated.',
  }),
  etcdCafile: flag.string({ ...row, name: 'etcd-cafile', default: '', help: 'Certificate authority of the etcd servers.' }),
  etcdCertfile: flag.string({ ...row, name: 'etcd-certfile', default: '', help: 'Client certificate for etcd.' }),
  etcdKeyfile: flag.string({ ...row, name: 'etcd-keyfile', default: '', help: 'Client key for etcd.' }),
});
