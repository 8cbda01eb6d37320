// Writes src/cri/facts.gen.json: names and numbers of the Container Runtime Interface (k8s.io/cri-api, runtime/v1) and of containerd's events
// and snapshots, without comments. Run with the Go module cache in place: `node spec/cri/generate.mjs`.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';

const module = 'k8s.io/cri-api';
const version = 'v0.36.2';

const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();
const proto = readFileSync(join(cache, `${module}@${version}`, 'pkg/apis/runtime/v1/api.proto'), 'utf8');

// containerd's own events, for versions whose CRI has none: only what is read of them.
const events = `syntax = "proto3";
package containerd.services.events.v1;
service Events { rpc Subscribe(SubscribeRequest) returns (stream Envelope); }
message SubscribeRequest { repeated string filters = 1; }
message Any { string type_url = 1; bytes value = 2; }
message Envelope { string namespace = 2; string topic = 3; Any event = 4; }
message TaskEvent { string container_id = 1; }
`;

// Its snapshots, for volumes that are images: runtimes before CRI v0.33 cannot mount them (containerd api/services/snapshots/v1).
const snapshots = `syntax = "proto3";
package containerd.services.snapshots.v1;
service Snapshots {
  rpc View(ViewSnapshotRequest) returns (MountsResponse);
  rpc Mounts(SnapshotRequest) returns (MountsResponse);
  rpc Remove(SnapshotRequest) returns (Empty);
}
message ViewSnapshotRequest { string snapshotter = 1; string key = 2; string parent = 3; map<string, string> labels = 4; }
message SnapshotRequest { string snapshotter = 1; string key = 2; }
message Mount { string type = 1; string source = 2; string target = 3; repeated string options = 4; }
message MountsResponse { repeated Mount mounts = 1; }
message Empty {}
`;

const root = new protobuf.Root();
for (const text of [proto, events, snapshots]) protobuf.parse(text, root, { keepCase: false });

/** Drops options and everything without meaning on the wire. A field may be called `options` too: names below `fields` are kept. */
function slim(node, names = false) {
  if (Array.isArray(node)) return node.map((item) => slim(item));
  if (typeof node !== 'object' || node === null) return node;
  if (names) return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, slim(value)]));
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== 'options' && key !== 'comment' && key !== 'reserved')
      .map(([key, value]) => [key, slim(value, key === 'fields' || key === 'nested' || key === 'methods')]),
  );
}

const facts = { source: `${module}@${version} pkg/apis/runtime/v1`, ...slim(root.toJSON()) };
const body = JSON.stringify(facts).replaceAll('},"', '},\n"');
writeFileSync(new URL('../../src/cri/facts.gen.json', import.meta.url), `${body}\n`);
