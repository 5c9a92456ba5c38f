// `npm run stress -- slurm`: the same array of fifty on Slurm: one controller, two nodes, of which one is lost in the middle.
// Needs root and Debian's slurmctld, slurmd, slurm-client and munge. Takes about two minutes; all of it is on this machine.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { judge, output, program, retryable, startService, tasks } from './array-of-fifty.mjs';

const folder = mkdtempSync(join(tmpdir(), 'runctl-slurm-'));
const at = (name) => join(folder, name);
const nodes = { one: 17_001, two: 17_002 };
const { settings, runs, stop } = await startService(folder);

writeFileSync(at('munge.key'), randomBytes(128), { mode: 0o400 });
mkdirSync(at('state'));
writeFileSync(
  at('slurm.conf'),
  `ClusterName=runctl
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=17000
SlurmUser=root
AuthType=auth/munge
# A job that comes back waits until its old credential has expired.
AuthInfo=socket=${at('munge.socket')},cred_expire=5
StateSaveLocation=${at('state')}
SlurmdSpoolDir=${at('spool-%n')}
SlurmctldPidFile=${at('slurmctld.pid')}
SlurmdPidFile=${at('slurmd-%n.pid')}
SlurmctldLogFile=${at('slurmctld.log')}
SlurmdLogFile=${at('slurmd-%n.log')}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=5
KillWait=2
RequeueExit=${retryable}
${Object.entries(nodes)
  .map(([name, port]) => `NodeName=${name} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${port} CPUs=8`)
  .join('\n')}
PartitionName=all Nodes=${Object.keys(nodes)} Default=YES State=UP
`,
);
const env = { ...process.env, ...settings, SLURM_CONF: at('slurm.conf'), RUNCTL_CONFIG_DIR: at('config') };
const started = [];
const start = (command, ...args) => {
  const child = spawn(command, args, { env, stdio: 'ignore' });
  started.push(child);
  return child;
};
const slurm = (command, ...args) => output(command, args, { env });

start(
  'munged',
  '--foreground',
  '--force',
  ...['key', 'log', 'pid', 'seed'].map((what) => `--${what}-file=${at(`munge.${what}`)}`),
  `--socket=${at('munge.socket')}`,
);
await pause(1_000);
start('slurmctld', '-D');
const daemons = Object.fromEntries(Object.keys(nodes).map((name) => [name, start('slurmd', '-D', '-N', name)]));

writeFileSync(
  at('job.sh'),
  `#!/bin/sh
export RUNCTL_STATE_DIR=${folder}/state-$SLURMD_NODENAME
exec ${process.execPath} ${program} trigger job-$SLURM_ARRAY_TASK_ID --watch --quiet --if-active wait \\
  --idempotency-key "slurm-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID"
`,
);

/** The processes of the tasks on a node, and those of the step daemons above them. */
function processesOn(node) {
  const own = [`SLURMD_NODENAME=${node}`, `SLURM_CONF=${at('slurm.conf')}`];
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return own.every((variable) => variables.includes(variable))
        ? [{ task: Number(pid), daemon: Number(parent) }]
        : [];
    } catch {
      return [];
    }
  });
}

try {
  for (let n = 0; slurm('sinfo', '-h', '-o', '%T') !== 'idle'; n++) {
    if (n > 30) throw new Error(`the nodes do not come up: ${slurm('sinfo', '-N')}`);
    await pause(1_000);
  }
  const array = `--array=${tasks[0]}-${tasks.at(-1)}`;
  const job = slurm('sbatch', '--parsable', '--requeue', '--output=/dev/null', array, at('job.sh'));
  await pause(12_000);
  // First what would report the end of the tasks, then the tasks.
  let lost = [];
  for (let n = 0; n < 60 && lost.length < 8; n++) {
    await pause(250);
    lost = processesOn('two');
  }
  daemons.two.kill('SIGKILL');
  for (const { daemon } of lost) kill(daemon, 'SIGKILL');
  for (const { task } of lost) kill(task, 'SIGKILL');
  const show = () =>
    slurm('scontrol', '-o', 'show', 'job', job)
      .split('\n')
      .map((line) => Object.fromEntries([...line.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])));
  let jobs = show();
  for (let n = 0; n < 180 && jobs.some(({ JobState }) => /PENDING|RUNNING|COMPLETING|REQUEUE/.test(JobState)); n++) {
    await pause(1_000);
    jobs = show();
  }
  const codeOf = ({ ExitCode }) => (ExitCode.endsWith(':0') ? Number.parseInt(ExitCode, 10) : ExitCode);
  const codes = new Map(jobs.map((task) => [Number(task.ArrayTaskId), codeOf(task)]));
  const again = jobs.filter(({ Restarts }) => Restarts !== '0');
  judge(await runs(), codes, {
    'tasks cut off with their node': lost.length,
    'tried again after their exit code': jobs.find(({ ArrayTaskId }) => ArrayTaskId === '30').Restarts,
    'tasks that came back': again.length,
    'of them on the other node': again.filter(({ NodeList }) => NodeList === 'one').length,
  });
} finally {
  for (const child of started.reverse()) child.kill('SIGKILL');
  stop();
  if (!process.env.KEEP) rmSync(folder, { recursive: true, force: true });
}
