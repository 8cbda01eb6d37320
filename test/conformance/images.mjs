// The images that the specs use, made on this machine out of its programs, Debian's packages and the binaries built before: nothing is pulled.
// Names and versions are those of k8s.io/kubernetes/test/utils/image/manifest.go.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, step } from './process.mjs';
import { Rootfs } from './rootfs.mjs';

const packages = ['nginx-light', 'bind9-dnsutils', 'bind9-host', 'netcat-openbsd', 'iperf', 'stress', 'wget', 'curl'];

/** Fetches the packages and what they need, and unpacks them into a folder; installs nothing. */
async function unpackPackages(work) {
  const cache = join(work, 'apt');
  const root = join(work, 'packages');
  if (existsSync(root)) return root;
  await mkdir(join(cache, 'partial'), { recursive: true });
  const fetch = ['install', '-y', '--no-install-recommends', '--download-only', '--reinstall', '-o', `Dir::Cache::archives=${cache}`];
  await step('fetching Debian packages for the images', () => run('apt-get', [...fetch, ...packages]));
  const half = `${root}.half`;
  await rm(half, { recursive: true, force: true });
  for (const name of await readdir(cache)) if (name.endsWith('.deb')) await run('dpkg', ['-x', join(cache, name), half]);
  await run('mv', [half, root]);
  return root;
}

const passwd = `root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/bin/false
bin:x:2:2:bin:/bin:/bin/false
www-data:x:33:33:www-data:/var/www:/bin/false
user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh
nobody:x:65534:65534:nobody:/home:/bin/false
`;
const group = `root:x:0:
daemon:x:1:
bin:x:2:
mail:x:8:
www-data:x:33:
user-defined-in-image:x:1000:
group-defined-in-image:x:50000:user-defined-in-image
nogroup:x:65534:
`;
const nginxConf = `worker_processes 1;
user nobody nogroup;
error_log /dev/stderr notice;
pid /run/nginx.pid;
events { worker_connections 1024; }
http {
  default_type text/html;
  access_log /dev/stdout;
  server { listen 80; server_name localhost; root /usr/share/nginx/html; index index.html; }
}
`;
const welcome = '<!DOCTYPE html>\n<html><head><title>Welcome to nginx!</title></head><body><h1>Welcome to nginx!</h1></body></html>\n';

/**
 * The shell of upstream's busybox image: its own, whose words about a read-only file system one spec compares. Debian's build of it drops variables whose
 * names no shell could use, which upstream's hands on; where there are such, bash takes its place.
 */
const ash = `#!/bin/bash
while IFS= read -r -d '' entry; do
  [[ "\${entry%%=*}" =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || exec -a "$0" /bin/bash "$@"
done < /proc/$$/environ
exec -a "$0" /bin/busybox "$@"
`;

/** Applets of upstream's busybox that Debian's build of it leaves out: GNU's programs take their places. */
const gnu = ['cksum', 'comm', 'install', 'nohup', 'printenv', 'split', 'sum'];

/** Busybox with a root file system around it. Its shell is bash: busybox's own prefers applets to what PATH says. */
export async function addBase(rootfs, without = []) {
  await rootfs.folders('bin etc home root usr/bin usr/local/bin usr/sbin sbin var/run var/log lib lib64 proc sys dev mnt opt'.split(' '));
  await rootfs.folders(['tmp', 'var/tmp'], 0o1777);
  await rootfs.copy('bin/busybox', '/bin/busybox', 0o755);
  const applets = (await run('/bin/busybox', ['--list'])).split('\n').filter((name) => name !== '' && name !== 'busybox');
  for (const applet of applets) if (!without.includes(applet)) await rootfs.link(`bin/${applet}`, 'busybox');
  for (const name of gnu) if (!applets.includes(name)) await rootfs.program(`bin/${name}`, name);
  await rootfs.program('bin/bash', 'bash');
  await rootfs.link('bin/sh', 'bash');
  await rootfs.link('usr/bin/env', '/bin/busybox');
  await rootfs.file('etc/passwd', passwd);
  await rootfs.file('etc/group', group);
  await rootfs.file('etc/shadow', 'root:*:::::::\n', 0o640);
  await rootfs.file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n');
  // A spec about volumes of images reads what upstream's images, made of Alpine, say of themselves.
  await rootfs.file('etc/os-release', 'NAME="Alpine Linux"\nID=alpine\nPRETTY_NAME="Alpine Linux, as far as the specs look"\n');
  for (const name of ['services', 'protocols']) if (existsSync(`/etc/${name}`)) await rootfs.copy(`etc/${name}`, `/etc/${name}`);
}

/** The image pause:testing as agnhost's fake registry serves it: blobs and manifests by digest, and a tag that names one. */
async function addRegistry(rootfs, folder, pause) {
  const content = await Rootfs.create(`${folder}/registry`, '');
  await content.program('pause', pause);
  await content.tar(`${folder}/registry.tar`);
  const put = async (kind, data) => {
    const digest = sha256(data);
    await rootfs.file(`var/registry/pause/${kind}/sha256/${digest.slice(0, 2)}/${digest}/data`, data);
    return { digest: `sha256:${digest}`, size: Buffer.byteLength(data) };
  };
  const layer = await put('blobs', await readFile(`${folder}/registry.tar`));
  const settings = { config: { Entrypoint: ['/pause'], User: '65535:65535' }, rootfs: { type: 'layers', diff_ids: [layer.digest] } };
  const config = await put('blobs', JSON.stringify({ ...platform, created, ...settings }));
  const mediaType = (what) => `application/vnd.oci.image.${what}`;
  const manifest = await put(
    'manifests',
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaType('manifest.v1+json'),
      config: { mediaType: mediaType('config.v1+json'), ...config },
      layers: [{ mediaType: mediaType('layer.v1.tar'), ...layer }],
    }),
  );
  await rootfs.file('var/registry/pause/manifests/testing', manifest.digest);
}

const networkTools = ['curl', 'wget', 'dig', 'nslookup', 'host', 'iperf', 'ipcs', 'ipcmk', 'ipcrm', 'getent', 'stress', 'stat', 'lsns', 'nsenter', 'unshare'];

/** The layers by name: how each is filled. */
function layersOf({ bin, sources }) {
  const testImages = join(sources, 'test/images');
  const built = (name, path, mode) => (rootfs) => rootfs.program(path ?? name, join(bin, name), mode);
  const page = (name) => async (rootfs) => {
    await rootfs.copy(`${name}.jpg`, join(testImages, name, 'html', `${name}.jpg`));
    await rootfs.copy('data.json', join(testImages, name, 'html', 'data.json'));
  };
  return {
    busybox: (rootfs) => addBase(rootfs),
    ash: (rootfs) => rootfs.file('bin/sh', ash, 0o755),
    tools: async (rootfs) => {
      await addBase(rootfs, ['wget', 'nc', 'nslookup', 'ip', 'ipcs']);
      for (const name of networkTools) await rootfs.program(`usr/bin/${name}`, name);
      await rootfs.program('usr/bin/nc', 'nc.openbsd');
      await rootfs.program('sbin/ip', 'ip');
      await rootfs.program('usr/sbin/ss', 'ss');
      await rootfs.link('usr/local/bin/iperf', '/usr/bin/iperf');
    },
    agnhost: async (rootfs) => {
      await built('agnhost')(rootfs);
      await rootfs.link('agnhost-2', 'agnhost');
      await rootfs.folders(['uploads']);
      await addRegistry(rootfs, `${rootfs.folder}-served`, join(bin, 'pause'));
      for (const name of ['localhost.crt', 'localhost.key']) await rootfs.copy(name, join(testImages, 'agnhost/porter', name));
    },
    nginx: async (rootfs) => {
      await rootfs.program('usr/sbin/nginx', 'nginx');
      await rootfs.folders(['var/log/nginx', 'var/lib/nginx/body', 'var/cache/nginx', 'run']);
      await rootfs.file('usr/share/nginx/html/index.html', welcome);
      await rootfs.file('etc/nginx/nginx.conf', nginxConf);
    },
    kitten: page('kitten'),
    nautilus: page('nautilus'),
    nnp: built('nnp', 'usr/local/bin/nnp', 0o6755),
    'sample-apiserver': built('sample-apiserver'),
    etcd: built('etcd', 'usr/local/bin/etcd'),
    consumer: async (rootfs) => {
      await built('consumer')(rootfs);
      await built('consume-cpu')(rootfs);
    },
    pause: built('pause'),
  };
}

const ports = (...numbers) => Object.fromEntries(numbers.map((number) => [`${number}/tcp`, {}]));
const agnhost = { Entrypoint: ['/agnhost'], Cmd: ['pause'], ExposedPorts: ports(80, 8080, 8081, 9376, 5000) };
const nginx = { Cmd: ['nginx', '-g', 'daemon off;'], ExposedPorts: ports(80), StopSignal: 'SIGTERM' };
const shell = { Cmd: ['sh'] };

/** Image, its layers from the lowest up, its configuration. */
const images = [
  ['e2e-test-images/agnhost:2.63.0', ['tools', 'agnhost'], agnhost],
  ['e2e-test-images/agnhost:2.55', ['tools', 'agnhost'], agnhost],
  ['e2e-test-images/busybox:1.37.0-1', ['busybox', 'ash'], shell],
  ['e2e-test-images/busybox:1.36.1-1', ['busybox'], shell],
  ['e2e-test-images/nginx:1.15-4', ['busybox', 'nginx'], nginx],
  ['e2e-test-images/nginx:1.27-0', ['busybox', 'nginx'], nginx],
  ['pause:3.10.2', ['pause'], { Entrypoint: ['/pause'], User: '65535:65535' }],
  ['e2e-test-images/nonewprivs:1.4', ['busybox', 'nnp'], { Cmd: ['nnp'] }],
  ['e2e-test-images/nonroot:1.5', ['busybox'], { ...shell, User: '1234' }],
  ['e2e-test-images/kitten:1.8', ['tools', 'agnhost', 'kitten'], { ...agnhost, Cmd: ['test-webserver'] }],
  ['e2e-test-images/nautilus:1.8', ['tools', 'agnhost', 'nautilus'], { ...agnhost, Cmd: ['test-webserver'] }],
  ['e2e-test-images/glibc-dns-testing:2.0.0', ['tools'], { Cmd: ['bash'] }],
  ['e2e-test-images/ipc-utils:1.4', ['tools'], shell],
  ['e2e-test-images/sample-apiserver:1.29.2', ['busybox', 'sample-apiserver'], { Entrypoint: ['/sample-apiserver'] }],
  ['etcd:3.6.8-0', ['busybox', 'etcd'], {}],
  ['e2e-test-images/resource-consumer:1.14', ['tools', 'consumer'], { Entrypoint: ['/consumer'], ExposedPorts: ports(8080) }],
];

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const platform = { architecture: arch() === 'x64' ? 'amd64' : arch(), os: 'linux' };
const created = '1970-01-01T00:00:00Z';

const ownText = (url) => readFile(fileURLToPath(url), 'utf8');

/** Writes all images of the specs as one archive in the form of `docker save`. Resolves with its path. */
export async function buildImages(work, binaries) {
  return archiveOf(work, 'images', { layers: layersOf(binaries), images, stamp: await ownText(import.meta.url) });
}

/** What the images are made of is in `stamp`: another one makes them anew. */
export async function archiveOf(work, name, { layers, images, stamp }) {
  const archive = join(work, `${name}-${sha256(stamp).slice(0, 12)}.tar`);
  if (existsSync(archive)) return archive;
  for (const old of await readdir(work)) if (old.startsWith(`${name}-`) && old.includes('.tar')) await rm(join(work, old));
  const extra = await unpackPackages(work);
  await step(`making ${images.length} images`, () => writeArchive({ folder: join(work, name), layers, images, extra, archive }));
  return archive;
}

async function writeArchive({ folder, layers: fillers, images, extra, archive }) {
  const content = join(folder, 'archive');
  await rm(folder, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  const ids = {};
  for (const [name, fill] of Object.entries(fillers)) {
    const rootfs = await Rootfs.create(join(folder, name), extra);
    await fill(rootfs);
    await rootfs.tar(join(content, `${name}.tar`));
    ids[name] = `sha256:${sha256(await readFile(join(content, `${name}.tar`)))}`;
    await rm(rootfs.folder, { recursive: true });
  }
  const manifest = [];
  for (const [name, layers, settings] of images) {
    const reference = `registry.k8s.io/${name}`;
    const config = JSON.stringify({
      ...platform,
      created,
      // Without a label of its own an image with the layers and settings of another would be the same image.
      config: { Env: [path], Labels: { image: reference }, ...settings },
      rootfs: { type: 'layers', diff_ids: layers.map((layer) => ids[layer]) },
      history: layers.map((layer) => ({ created, created_by: layer })),
    });
    const file = `${sha256(config)}.json`;
    await writeFile(join(content, file), config);
    manifest.push({ Config: file, RepoTags: [reference], Layers: layers.map((layer) => `${layer}.tar`) });
  }
  await writeFile(join(content, 'manifest.json'), JSON.stringify(manifest));
  await run('tar', ['-cf', `${archive}.half`, '-C', content, '.']);
  await run('mv', [`${archive}.half`, archive]);
  await rm(folder, { recursive: true });
}
