/** Debian roots for tests: layers over one that `debian.sh` builds, in which commands run as in a container. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const exec = promisify(execFile)
export const repository = fileURLToPath(new URL('../../', import.meta.url))

/** Set by CI: these tests need root, Debian and the network. */
export const isEnabled = Boolean(process.env['DEPLOY'])

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'strongroom/deploy')

export interface Root {
  /** Its path on this machine. */
  path: string
  /** Runs a shell command in it, with the network of this machine and its npm cache. */
  run(command: string, options?: { cwd?: string; env?: Record<string, string> }): Promise<string>
  remove(): Promise<void>
}

/** A new layer over the base; changes are gone with it. */
export async function createRoot(): Promise<Root> {
  const base = join(cache, 'debian-13')
  await exec(join(repository, 'deploy/test/debian.sh'), [base])
  const work = await mkdtemp(join(cache, 'layer-'))
  const [upper, scratch, path] = ['upper', 'scratch', 'root'].map((name) => join(work, name)) as [
    string,
    string,
    string,
  ]
  for (const directory of [upper, scratch, path]) await mkdir(directory)
  const layers = `lowerdir=${base},upperdir=${upper},workdir=${scratch}`
  await exec('mount', ['-t', 'overlay', 'overlay', '-o', layers, path])
  await installNpm(path)
  const npmEnv = await npmEnvironment(path)
  const npmCache = await npmSetting('cache')
  await mkdir(npmCache, { recursive: true })
  return {
    path,
    async run(command, { cwd = '/', env = {} } = {}) {
      const settings = Object.entries({ ...npmEnv, ...env }).map(
        ([name, value]) => `--setenv=${name}=${value}`,
      )
      const { stdout } = await exec(
        'systemd-nspawn',
        [
          '--quiet',
          '--register=no',
          '--keep-unit',
          '--as-pid2',
          '--pipe',
          `--directory=${path}`,
          `--chdir=${cwd}`,
          `--bind=${npmCache}:/npm-cache`,
          ...settings,
          '/bin/sh',
          '-euc',
          command,
        ],
        { env: nspawnEnvironment, maxBuffer: MAX_OUTPUT_BYTES },
      )
      return stdout
    },
    async remove() {
      await exec('umount', [path])
      await rm(work, { recursive: true })
    },
  }
}

/** Newer systemd boots only with the unified hierarchy, whatever the machine has. */
export const nspawnEnvironment = { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' }

/** Debian's npm is hundreds of packages: the one of this machine, where the image of Node has it. */
async function installNpm(root: string): Promise<void> {
  const { stdout } = await exec('sh', ['-c', 'command -v npm'])
  const source = dirname(dirname(await realpath(stdout.trim())))
  await cp(source, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name))
  }
}

/** The registry and its certificates, as this machine has them. */
async function npmEnvironment(root: string): Promise<Record<string, string>> {
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  if (certificates !== undefined) await cp(certificates, join(root, 'etc/npm-ca.pem'))
  return {
    npm_config_registry: await npmSetting('registry'),
    npm_config_cache: '/npm-cache',
    npm_config_update_notifier: 'false',
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: '/etc/npm-ca.pem' }),
  }
}

async function npmSetting(name: string): Promise<string> {
  const { stdout } = await exec('npm', ['config', 'get', name, '--loglevel=error'])
  return stdout.trim()
}

/** Writes a file of the root, with its directory. */
export async function writeIn(root: Root, path: string, text: string): Promise<void> {
  const file = join(root.path, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
