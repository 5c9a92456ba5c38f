// `npm test` in twelve surroundings, in each of which it must be green. `npm run stress -- surroundings [name]...`
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'runctl-surroundings-'));

/** Each is what a shell does before `npm test`. */
const surroundings = {
  ci: 'export CI=true',
  runner: 'export GITHUB_ACTIONS=true GITHUB_OUTPUT=/nowhere GITLAB_CI=true TF_BUILD=True TEAMCITY_VERSION=1',
  umask: 'umask 077; rm -rf dist',
  blank: `mkdir '${folder}/a folder'; export TMPDIR='${folder}/a folder'`,
  homeless: 'unset HOME; export LANG=C LC_ALL=C TZ=Asia/Kathmandu npm_config_cache=/tmp/npm',
  dumb: 'export TERM=dumb NO_COLOR=1; exec < /dev/null',
  colorful: 'export FORCE_COLOR=3 COLORTERM=truecolor COLUMNS=40',
  settings: `${['BASE_URL', 'API_KEY', 'PROFILE', 'STATE_DIR', 'CONFIG_DIR'].map((name) => `export RUNCTL_${name}=/nowhere`).join('; ')}
    export HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 XDG_CONFIG_HOME=/nowhere XDG_STATE_HOME=/nowhere`,
  elsewhere: `cd '${copyTo('a clone')}'`,
  stranger: `cd '${folder}/a clone' && chown -R 54321 '${folder}' && export HOME='${folder}' && set -- setpriv --reuid 54321 --clear-groups "$@"`,
  'read-only': `cd '${copyTo('fixed')}' && chown -R 54321 . && chmod 555 '${folder}' && export HOME='${folder}' && set -- setpriv --reuid 54321 --clear-groups "$@"`,
  'no-ipv6': `set -- unshare --net sh -c 'ip link set lo up && echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 && exec "$@"' sh "$@"`,
};

/** A clone with the packages that are installed here. */
function copyTo(name) {
  const clone = join(folder, name);
  mkdirSync(clone);
  spawnSync('git', ['clone', '-q', root, clone]);
  cpSync(join(root, 'node_modules'), join(clone, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  return clone;
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(surroundings);
const red = names.filter((name) => {
  console.log(`\n# ${name}`);
  chmodSync(folder, 0o755);
  const argv = ['-c', `${surroundings[name]}; exec "$@"`, 'sh', 'npm', 'test'];
  const { status } = spawnSync('sh', argv, { cwd: root, stdio: 'inherit' });
  return status !== 0;
});
rmSync(folder, { recursive: true, force: true });
console.log(red.length > 0 ? `red: ${red.join(', ')}` : 'green in all of them');
process.exitCode = red.length > 0 ? 1 : 0;
