// The members of an etcd cluster, asked for and changed over its Cluster service (https://etcd.io/docs/v3.6/learning/api/): for who runs members
// and replaces them. Ids are 64-bit numbers and stay texts here.
import { Client, credentials, type MethodDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import type { Clock } from '#utils';
import { memberTimeoutMs } from '../limits.ts';
import type { EtcdTls } from './endpoints.ts';

export interface EtcdMember {
  id: string;
  /** '' for one that was added and has not started yet. */
  name: string;
  peerUrls: string[];
  /** It follows the others and has no vote yet. */
  isLearner: boolean;
}

export interface EtcdMembers {
  list(): Promise<EtcdMember[]>;
  /** Adds a learner, which cannot cost the others their quorum. Gives all members, with the new one. */
  addLearner(peerUrl: string): Promise<EtcdMember[]>;
  /** Gives a learner its vote. Rejects while it has not caught up. */
  promote(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  close(): void;
}

const uint64 = (id: number) => ({ id, type: 'uint64' });
const text = (id: number) => ({ id, type: 'string' });
const bool = (id: number) => ({ id, type: 'bool' });
const texts = (id: number) => ({ id, type: 'string', rule: 'repeated' as const });
const members = (id: number) => ({ id, type: 'Member', rule: 'repeated' as const });

const descriptor = {
  options: { syntax: 'proto3' },
  nested: {
    etcdserverpb: {
      nested: {
        Member: { fields: { ID: uint64(1), name: text(2), peerURLs: texts(3), clientURLs: texts(4), isLearner: bool(5) } },
        MemberListRequest: { fields: {} },
        MemberListResponse: { fields: { members: members(2) } },
        MemberAddRequest: { fields: { peerURLs: texts(1), isLearner: bool(2) } },
        MemberAddResponse: { fields: { members: members(3) } },
        MemberRemoveRequest: { fields: { ID: uint64(1) } },
        MemberRemoveResponse: { fields: { members: members(2) } },
        MemberPromoteRequest: { fields: { ID: uint64(1) } },
        MemberPromoteResponse: { fields: { members: members(2) } },
        Cluster: {
          methods: Object.fromEntries(
            ['MemberList', 'MemberAdd', 'MemberRemove', 'MemberPromote'].map((name) => [
              name,
              { requestType: `${name}Request`, responseType: `${name}Response` },
            ]),
          ),
        },
      },
    },
  },
};

interface Answer {
  members: { ID: string; name: string; peerURLs: string[]; isLearner: boolean }[];
}

/** Speaks to one member at `host:port`. */
export function connectMembers(
  address: string,
  { ca, cert, key }: Required<Pick<EtcdTls, 'ca' | 'cert' | 'key'>>,
  clock: Clock,
): EtcdMembers {
  const service = fromJSON(descriptor as Parameters<typeof fromJSON>[0], { longs: String, defaults: true, arrays: true })[
    'etcdserverpb.Cluster'
  ] as unknown as Record<string, MethodDefinition<object, object>>;
  const [authority, chain, secret] = [ca, cert, key].map((pem) => Buffer.from(pem as Uint8Array)) as [Buffer, Buffer, Buffer];
  const client = new Client(address, credentials.createSsl(authority, secret, chain));
  const call = (method: string, request: object): Promise<EtcdMember[]> =>
    new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = service[method] as MethodDefinition<object, object>;
      const options = { deadline: clock.now() + memberTimeoutMs };
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, options, (error, answer) =>
        error
          ? reject(error)
          : resolve((answer as Answer).members.map(({ ID, peerURLs, ...rest }) => ({ id: ID, peerUrls: peerURLs, ...rest }))),
      );
    });
  return {
    list: () => call('MemberList', {}),
    addLearner: (peerUrl) => call('MemberAdd', { peerURLs: [peerUrl], isLearner: true }),
    promote: async (id) => void (await call('MemberPromote', { ID: id })),
    remove: async (id) => void (await call('MemberRemove', { ID: id })),
    close: () => client.close(),
  };
}
