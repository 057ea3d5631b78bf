/** The Dockerfile without a container engine: its steps, then its command as an engine starts it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exec, isEnabled, repository, type Root } from './debian.ts'
import { buildImage, type Image, parseDockerfile } from './dockerfile.ts'

const BUILD_TIMEOUT_MS = 600_000

test('the Dockerfile ends with an entry point that gets signals and a user that is not root', async () => {
  const steps = parseDockerfile(await readFile(join(repository, 'Dockerfile'), 'utf8'))
  const last = (name: string) => steps.findLast((step) => step.name === name)?.text
  expect(last('ENTRYPOINT')).toBe('["strongroom"]')
  expect(last('STOPSIGNAL')).toBe('SIGTERM')
  expect(last('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
})

describe.skipIf(!isEnabled)('the container', () => {
  const roots: Root[] = []
  let image: Image

  beforeAll(async () => {
    image = await buildImage(repository, roots)
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    for (const root of roots) await root.remove()
  })

  test('starts as a user without rights on a read-only root, becomes healthy and ends on its stop signal', async () => {
    const work = await mkdtemp(join(tmpdir(), 'container-'))
    const data = join(work, 'data')
    const secrets = join(work, 'secrets')
    for (const directory of [data, secrets]) await mkdir(directory, { mode: 0o700 })
    await exec('chown', ['-R', image.user, work])
    try {
      const volumes = [
        { from: data, to: image.volume },
        { from: secrets, to: '/mnt' },
      ]
      const created = container(image, volumes, [
        'strongroom',
        'kms',
        'master-key',
        'create',
        '/mnt/k',
      ])
      expect(await created.ended).toMatchObject({ code: 0 })

      const env = { PORT: String(await freePort()), STRONGROOM_MASTER_KEY_FILE: '/mnt/k' }
      const server = container(image, volumes, image.command, env)
      try {
        await expect
          .poll(() => server.execute(image.healthcheck), { interval: 500 })
          .toMatchObject({ code: 0 })
        expect(await server.execute(['touch', '/opt/strongroom/file'])).toMatchObject({ code: 1 })
        expect(await server.execute(['strongroom', 'operator', 'bootstrap'])).toMatchObject({
          code: 0,
        })
        expect(await server.execute(['strongroom', 'backup', '/data/a.backup'])).toMatchObject({
          code: 0,
        })
        await server.kill(image.stopSignal)
        expect(await server.ended).toMatchObject({
          code: 0,
          output: expect.stringContaining('Stopping: waiting for running requests'),
        })
        expect((await readdir(data)).toSorted()).toEqual(['a.backup', 'store'])
      } finally {
        server.remove()
      }
    } finally {
      await rm(work, { recursive: true })
    }
  })

  test('has nothing of the build', async () => {
    expect(await readdir(join(image.root.path, 'opt/strongroom/lib/node_modules'))).toEqual([
      'strongroom',
    ])
    await expect(readdir(join(image.root.path, 'src'))).rejects.toThrow('ENOENT')
  })
})

/** As an engine does: own mounts and processes, a read-only root, no capabilities; process 1 is the command. */
function container(
  { root, env, user, workdir }: Image,
  volumes: readonly { from: string; to: string }[],
  command: readonly string[],
  more: Record<string, string> = {},
) {
  const mounts = [
    `mount --bind '${root.path}' '${root.path}'`,
    `mount -o remount,bind,ro '${root.path}'`,
    ...volumes.map(({ from, to }) => `mount --bind '${from}' '${root.path}${to}'`),
    `mount -t proc proc '${root.path}/proc'`,
    `mount --rbind /dev '${root.path}/dev'`,
  ]
  const settings = Object.entries({ ...env, ...more }).map(([name, value]) => `${name}=${value}`)
  const [uid = '', gid = ''] = user.split(':')
  const unprivileged = `setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --bounding-set=-all`
  const inside = [
    '/usr/bin/env',
    '-i',
    `--chdir=${workdir}`,
    ...settings,
    ...unprivileged.split(' '),
  ]
  const child = spawn(
    'unshare',
    [
      '--mount',
      '--propagation=private',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-euc',
      `${mounts.join('\n')}\nexec chroot '${root.path}' "$@"`,
      'sh',
      ...inside,
      ...command,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))

  /** The process 1 of the container, as this machine numbers it. */
  async function mainProcess(): Promise<string> {
    return (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim()
  }
  return {
    ended,
    async execute(line: readonly string[]) {
      const entered = ['--target', await mainProcess(), '--mount', '--pid', '--root', '--']
      return exec('nsenter', [...entered, ...inside, ...line]).then(
        ({ stdout }) => ({ code: 0, output: stdout }),
        (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr }),
      )
    },
    kill: async (signal: string) => process.kill(Number(await mainProcess()), signal),
    remove: () => void child.kill('SIGKILL'),
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
